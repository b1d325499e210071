# What tools/setup/versitygw.sh promises.
# shellcheck shell=bash

# A go that says it is VERSION and builds a program that starts.
fake_go() {
  fake go <<FAKE
#!/bin/sh
echo "go \$*" >>"\$CALLS"
[ "\$1" != env ] || { echo go$1; exit; }
[ -z "\$OFFLINE" ] || { echo 'dial tcp: lookup proxy: no such host' >&2; exit 1; }
while [ "\$1" != -o ]; do shift; done
printf '#!/bin/sh\necho 9.9\n' >"\$2"
chmod +x "\$2"
FAKE
}

versitygw() {
  env -i PATH="$FAKES:$SYSTEM" HOME="$SCRATCH" CALLS="$CALLS" OFFLINE="${OFFLINE-}" "$CLONE/tools/setup/versitygw.sh"
}

complaint_of_versitygw() {
  local said
  if said=$(versitygw 2>&1); then return 1; fi
  printf '%s\n' "$said"
}

test_the_systems_Go_builds_versitygw_once() {
  new_sandbox versitygw
  fake_go 1.22.1
  versitygw
  [[ $("$CLONE/.tools/bin/versitygw") == 9.9 ]]
  : >"$CALLS"
  versitygw
  [[ ! -s $CALLS ]]
}

test_another_pin_of_versitygw_builds_it_again() {
  new_sandbox versitygw-pin
  fake_go 1.26.0
  versitygw
  : >"$CALLS"
  echo '// raised' >>"$CLONE/tools/setup/versitygw/go.mod"
  versitygw
  says 'go build' "$(<"$CALLS")"
}

test_without_a_new_enough_Go_and_without_apt_there_is_a_sentence_on_what_to_install() {
  new_sandbox versitygw-old
  fake_go 1.19.8
  says 'install Go 1.21 or newer' "$(complaint_of_versitygw)"
  absent "$CLONE/.tools/bin/versitygw"
}

test_a_build_of_versitygw_that_fails_ends_in_a_sentence_with_the_reason() {
  new_sandbox versitygw-offline
  fake_go 1.26.0
  said=$(OFFLINE=1 complaint_of_versitygw)
  says 'no such host' "$said"
  says 'Go reaches no module proxy' "$said"
  absent "$CLONE/.tools/bin/versitygw"
}
