# A checkout that is moved or copied goes on working.
# shellcheck shell=bash

# Sets up a sandbox named NAME with tools that the system has and tools that were downloaded.
set_up() {
  new_sandbox "$1"
  fake_debian
  fake_python 3.11.2
  fake_go 1.26.0
  setup bun node php python
  versitygw
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
  OFFLINE=1 versitygw
  [[ ! -s $CALLS ]]
}

# A folder name of up to eight characters, some of which shells and patterns read in their own way.
draw_name() {
  local characters=$'ab7 ,-_%&()[]{}#!*?$\'"`+=~@;^' name=x
  while ((${#name} < 2 + RANDOM % 7)); do name+=${characters:RANDOM % ${#characters}:1}; done
  printf '%s\n' "$name"
}

test_a_moved_checkout_goes_on_working_and_downloads_nothing_whatever_its_new_name() {
  local seed=${TRENDVAULT_TEST_SEED:-$SRANDOM} round
  RANDOM=$seed
  echo "seed $seed"
  set_up moved
  for round in 1 2 3; do
    CLONE_BEFORE=$CLONE CLONE="$SCRATCH/moved/$round$(draw_name)"
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
