# The tools that bin/setup put in place: in this checkout, and in one that is moved or copied.
# shellcheck shell=bash

test_the_installed_tools_are_the_versions_asked_for() {
  TOOL=setup
  # shellcheck source=tools/setup/tool.sh
  . "$ROOT/tools/setup/tool.sh"
  [[ $("$TOOLS/bin/bun" --version) == "$BUN_VERSION" ]]
  at_least "$("$TOOLS/bin/node" -p process.versions.node)" "$NODE_MINIMUM"
  at_least "$("$TOOLS/bin/php" -r 'echo PHP_VERSION;')" "$PHP_MINIMUM"
  at_least "$("$TOOLS/bin/phpunit" --version | awk 'NF { print $2 }')" "$PHPUNIT_MINIMUM"
}

test_the_installed_PHP_opens_databases_and_can_start_itself_again() {
  # shellcheck disable=SC2016  # PHP code
  said=$("$ROOT/.tools/bin/php" -r '
    $database = new SQLite3(":memory:");
    echo $database->querySingle("SELECT 6 * 7"), mb_strlen("日本"), " ";
    passthru(escapeshellarg(PHP_BINARY) . " -r \"echo extension_loaded(\\\"sqlite3\\\") ? 1 : 0;\"");')
  [[ $said == '422 1' ]]
}

test_the_writer_finds_its_libraries() {
  # shellcheck disable=SC2016  # PHP code
  "$ROOT/.tools/bin/php" -r '
    require $argv[1];
    exit(class_exists(Symfony\Component\Console\Application::class) && class_exists(Symfony\Component\HttpClient\HttpClient::class)
      && interface_exists(Psr\Log\LoggerInterface::class) && interface_exists(Psr\Clock\ClockInterface::class) ? 0 : 1);' \
    "$ROOT/writer/vendor/autoload.php"
}

test_the_installed_Python_finds_the_packages_from_any_folder() {
  cd /
  "$ROOT/.tools/bin/python" -c 'import pytest'
}

test_a_copy_of_the_installed_tools_works_elsewhere_and_nothing_in_it_names_this_checkout() {
  local name tools="$ROOT/.tools/test copy/.tools"
  # shellcheck disable=SC2064  # the folder as it is now
  trap "rm -rf -- '${tools%/*}'" EXIT
  mkdir -p -- "$tools"
  for name in bin bun node php python stamps; do
    [[ ! -d $ROOT/.tools/$name ]] || cp -a --link -- "$ROOT/.tools/$name" "$tools/"
  done
  if find "$tools/bin" -type l -lname "$ROOT/*" | grep .; then return 1; fi
  if grep -F -- "$ROOT" "$tools"/bin/* "$tools"/stamps/*; then return 1; fi
  cd /
  for name in bun node npm php composer phpunit python pytest mypy ruff locust schemathesis shellcheck; do
    PATH=$tools/bin:$PATH "$tools/bin/$name" --version >"$SCRATCH/version" 2>&1
  done
  [[ $("$tools/bin/php" -r 'echo PHP_BINARY, extension_loaded("intl");') == "$tools/bin/php1" ]]
}

# Sets up a sandbox named NAME with tools that the system has and tools that were downloaded.
set_up() {
  new_sandbox "$1"
  fake_debian
  fake_python 3.11.2
  fake_go 1.26.0
  setup bun node php python
  bring versitygw
  : >"$CALLS"
}

each_tool_answers() {
  local tools=$1/.tools/bin
  [[ $("$tools/bun") == 1.2.3 && $("$tools/node") == "$NODE_VERSION" && $("$tools/npm") == "$NPM_VERSION" ]]
  [[ $("$tools/versitygw") == 9.9 && $("$tools/locust") == locust && $("$tools/python") == 'fake python 3.11.2' ]]
  says 'fake php 8.4.99' "$("$tools/php")"
  says 'PHPUnit 11.5.19' "$("$tools/phpunit" --version)"
}

nothing_is_downloaded() {
  OFFLINE=1 UNREACHABLE=. setup bun node php python
  OFFLINE=1 bring versitygw
  [[ ! -s $CALLS ]]
}

# Sets `name` to one of up to eight characters, some of which shells and patterns read in their own way. No subshell: it
# would draw from no seed.
draw_name() {
  local characters=$'ab7 ,-_%&()[]{}#!*?$\'"`+=~@;^'
  name=x
  while ((${#name} < 2 + RANDOM % 7)); do name+=${characters:RANDOM % ${#characters}:1}; done
}

test_a_moved_checkout_goes_on_working_and_downloads_nothing_whatever_its_new_name() {
  local seed=${TEST_SEED:-$SRANDOM} round name
  set_up moved
  RANDOM=$seed
  for round in 1 2 3; do
    draw_name
    CLONE_BEFORE=$CLONE CLONE="$SCRATCH/moved/$round$name"
    echo "seed $seed: $CLONE"
    mv -- "$CLONE_BEFORE" "$CLONE"
    each_tool_answers "$CLONE"
    nothing_is_downloaded
    each_tool_answers "$CLONE"
  done
}

test_a_copy_works_without_the_checkout_that_it_was_copied_from() {
  set_up copied
  cp -a -- "$CLONE" "$SCRATCH/copied/copy"
  cp -R -- "$CLONE" "$SCRATCH/copied/younger" # with the time of now
  rm -r -- "$CLONE"
  for CLONE in "$SCRATCH/copied/copy" "$SCRATCH/copied/younger"; do
    each_tool_answers "$CLONE"
    nothing_is_downloaded
  done
}

test_no_file_that_setup_writes_names_the_checkout() {
  set_up nameless
  if grep -rIF -- "$CLONE" "$CLONE/.tools" --exclude-dir=log; then return 1; fi
  if find "$CLONE/.tools" -type l -lname "$CLONE*" | grep .; then return 1; fi
}

test_a_tool_that_is_called_by_a_link_or_from_beside_it_finds_its_checkout() {
  set_up linked
  ln -s -- "$CLONE/.tools/bin/php" "$SCRATCH/linked/php"
  says 'fake php 8.4.99' "$("$SCRATCH/linked/php")"
  cd -- "$CLONE/.tools/bin" || return
  says 'fake php 8.4.99' "$(./php)"
  says 'fake php 8.4.99' "$(sh php)"
  cd -- "$CLONE" || return
  says 'fake php 8.4.99' "$(.tools/bin/php)"
}
