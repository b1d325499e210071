# What tools/setup/faketime.sh promises.
# shellcheck shell=bash

faketime() {
  env -i PATH="$FAKES:$SYSTEM" HOME="$SCRATCH" CALLS="$CALLS" UNREACHABLE="${UNREACHABLE-}" "$CLONE/tools/setup/faketime.sh"
}

complaint_of_faketime() {
  local said
  if said=$(faketime 2>&1); then return 1; fi
  printf '%s\n' "$said"
}

# A date that says what its clock is told, or what it was YEAR.
fake_date() {
  # shellcheck disable=SC2016  # the fake expands it
  printf '#!/bin/sh\necho "%s"\n' "${1-\${FAKETIME:1:4\}}" | sed '1s/sh/bash/' | fake date
}

test_libfaketime_comes_from_Debian_once_for_the_system_and_once_with_a_libc() {
  new_sandbox faketime
  fake_debian
  fake_date
  faketime
  says 'download libfaketime' "$(grep ' download ' "$CALLS")"
  says 'download libc6 libfaketime' "$(grep ' download ' "$CALLS")"
  [[ -f $CLONE/.tools/faketime/libfaketimeMT.so.1 ]]
  [[ -f $CLONE/.tools/faketime/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1 ]]
  : >"$CALLS"
  faketime
  [[ ! -s $CALLS ]]
}

test_a_libfaketime_that_moves_no_clock_is_not_installed() {
  new_sandbox faketime-still
  fake_debian
  fake_date 2026
  says 'moves no clock on this system' "$(complaint_of_faketime)"
  absent "$CLONE/.tools/faketime"
}

test_without_apt_there_is_a_sentence_on_why_there_is_no_libfaketime() {
  new_sandbox faketime-macos
  says "there is no apt here" "$(complaint_of_faketime)"
}
