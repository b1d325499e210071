# The tools that bin/setup really put into this checkout's .tools/bin.
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
