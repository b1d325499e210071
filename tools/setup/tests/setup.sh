# What bin/setup promises whatever the tool.
# shellcheck shell=bash

test_an_unknown_tool_is_named_together_with_the_tools_there_are() {
  new_sandbox unknown
  said=$(complaint bun pyhton)
  says 'no tool "pyhton"' "$said"
  says 'bun, node, php, python, browser, packages' "$said"
  absent "$CLONE/.tools"
}

test_an_unknown_option_is_refused_by_bin_setup_up_and_test_before_anything_is_downloaded() {
  new_sandbox options
  cp -- "$ROOT/bin/up" "$ROOT/bin/test" "$CLONE/bin/"
  mkdir "$CLONE/tools/up" "$CLONE/tools/check"
  cp -- "$ROOT/tools/up/usage.txt" "$CLONE/tools/up/" && cp -- "$ROOT/tools/check/usage.txt" "$CLONE/tools/check/"
  for words in 'setup --prot' 'up --prot 1' 'up --port 1 --prot=2' 'test --jbos 3' 'test --jobs 3 apy' 'up now'; do
    # shellcheck disable=SC2086  # a command and its arguments
    if said=$("$CLONE/bin/"$words 2>&1); then return 1; else [[ $? -eq 2 ]]; fi
    says "See bin/${words%% *} --help." "$said"
  done
  absent "$CLONE/.tools"
}

test_a_store_may_be_any_word_and_an_unknown_option_is_refused_before_anything_is_downloaded() {
  new_sandbox stores
  cp -- "$ROOT/bin/follow" "$ROOT/bin/verify-history" "$CLONE/bin/"
  mkdir -p "$CLONE/api/follow"
  cp -- "$ROOT"/api/follow/*usage.txt "$CLONE/api/follow/"
  for words in 'follow s3://bucket/lists --databse a.db' 'follow --metrics a --onec' 'verify-history /copy --dat'; do
    # shellcheck disable=SC2086  # a command and its arguments
    if said=$("$CLONE/bin/"$words 2>&1); then return 1; else [[ $? -eq 2 ]]; fi
    says "See bin/${words%% *} --help." "$said"
  done
  for program in follow verify-history; do
    says "bin/$program STORE" "$("$CLONE/bin/$program" s3://bucket/lists --help)"
  done
  absent "$CLONE/.tools"
}

test_bin_bench_and_bin_loadtest_read_their_options_before_anything_is_downloaded() {
  new_sandbox python-options
  ln -s "$(type -P python3)" "$FAKES/python3"
  mkdir -p "$CLONE/loadtest/compare"
  cp -- "$ROOT"/loadtest/*.py "$CLONE/loadtest/" && cp -- "$ROOT"/loadtest/compare/*.py "$CLONE/loadtest/compare/"
  for program in bench loadtest; do
    cp -- "$ROOT/bin/$program" "$CLONE/bin/"
    says "usage: bin/$program" "$(PATH=$FAKES:$SYSTEM "$CLONE/bin/$program" --help)"
    if said=$(PATH=$FAKES:$SYSTEM "$CLONE/bin/$program" --hlep 2>&1); then return 1; else [[ $? -eq 2 ]]; fi
    says '--hlep' "$said"
  done
  absent "$CLONE/.tools"
}

test_help_names_every_tool_and_installs_nothing() {
  new_sandbox help
  said=$(setup --help)
  for tool in bun node php python browser packages; do says "  $tool " "$said"; done
  absent "$CLONE/.tools"
}

test_a_second_run_downloads_nothing_and_changes_nothing() {
  new_sandbox second
  setup bun node
  before=$(snapshot)
  : >"$CALLS"
  setup bun node
  [[ ! -s $CALLS ]]
  [[ $(snapshot) == "$before" ]]
}

test_a_removed_tool_is_installed_again() {
  new_sandbox removed
  setup bun
  rm -r "$CLONE/.tools/bun"
  setup bun
  [[ $("$CLONE/.tools/bin/bun") == 1.2.3 ]]
}

test_a_raised_pin_installs_the_new_version_of_that_tool_only() {
  new_sandbox raised
  setup bun node
  sed -i.orig '/@oven/d' "$CLONE/tools/setup/npm-hashes.txt"
  pin_bun 1.2.4
  : >"$CALLS"
  setup bun
  [[ $("$CLONE/.tools/bin/bun") == 1.2.4 ]]
  [[ $(<"$CALLS") == *bun-*@1.2.4 ]]
}

test_a_failed_download_ends_in_a_sentence_on_what_to_do() {
  new_sandbox offline
  said=$(OFFLINE=1 complaint bun)
  says 'npm error network' "$said"
  says 'npm could not fetch @oven/bun-' "$said"
  says 'run bin/setup again' "$said"
  says 'These tools could not be installed, for the reasons above: bun.' "$said"
  absent "$CLONE/.tools/bin/bun"
}

test_an_interrupted_download_is_ended_and_not_taken_for_finished() {
  new_sandbox interrupted
  HANG=1 become_setup bun >"$SCRATCH/interrupted/said" 2>&1 &
  running=$!
  await grep -q '^hanging' "$CALLS"
  kill -TERM "$running"
  if wait "$running"; then return 1; fi
  says 'Interrupted' "$(<"$SCRATCH/interrupted/said")"
  await has_ended "$(sed -n 's/^hanging as //p' "$CALLS")"
  absent "$CLONE/.tools/bin/bun"
  setup bun
  [[ $("$CLONE/.tools/bin/bun") == 1.2.3 ]]
}

test_a_second_setup_waits_for_the_first() {
  new_sandbox together
  mkdir "$CLONE/.tools"
  exec 8>>"$CLONE/.tools/lock"
  flock 8
  setup bun >"$SCRATCH/together/said" 8>&- &
  await grep -q 'another bin/setup is running' "$SCRATCH/together/said"
  [[ ! -s $CALLS ]]
  exec 8>&-
  wait $!
  [[ $("$CLONE/.tools/bin/bun") == 1.2.3 ]]
}

test_the_tools_of_another_checkout_on_PATH_are_not_used() {
  new_sandbox other
  mkdir -p "$SCRATCH/other/.tools/bin"
  printf '#!/bin/sh\necho 1.2.3\n' >"$SCRATCH/other/.tools/bin/bun"
  chmod +x "$SCRATCH/other/.tools/bin/bun"
  PREPEND=$SCRATCH/other/.tools/bin setup bun
  says '@oven/bun' "$(<"$CALLS")"
}

test_env_sh_puts_the_tools_first_once_from_any_folder() {
  new_sandbox env
  cd /
  # shellcheck source=tools/setup/env.sh
  . "$CLONE/tools/setup/env.sh"
  once=$PATH
  . "$CLONE/tools/setup/env.sh"
  [[ $PATH == "$CLONE/.tools/bin:"* ]]
  [[ $PATH == "$once" ]]
}
