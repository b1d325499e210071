# What bin/setup promises whatever the tool, and every program in bin/ before anything is downloaded.
# shellcheck shell=bash disable=SC2153

test_an_unknown_tool_is_named_together_with_the_tools_there_are() {
  new_sandbox unknown
  said=$(complaint bun pyhton)
  says 'no tool "pyhton"' "$said"
  says 'bun, node, php, python, browser, packages' "$said"
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
  HANG=1 become_program bin/setup bun >"$SCRATCH/interrupted/said" 2>&1 &
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

# A sandbox with all that git has of this project, and the system's Python, which reads the options of two programs.
new_fresh_clone() {
  new_sandbox "$1"
  git -C "$ROOT" ls-files -z -- bin tools/setup '*usage.txt' '*.py' '*.toml' | tar -C "$ROOT" --null -T - -cf - | tar -C "$CLONE" -xf -
  ln -s -- "$(type -P python3)" "$FAKES/python3"
}

test_every_program_answers_help_without_any_tool_and_downloads_nothing() {
  local name
  new_fresh_clone programs-help
  for name in "$CLONE"/bin/*; do
    name=${name##*/}
    says "bin/$name" "$(program "bin/$name" --help)"
  done
  absent "$CLONE/.tools"
}

# Sets `typed` to WORD with a character more, less or changed. No subshell: it would draw what follows from no seed.
mistype() {
  local word=$1 at letters=abcdefghijklmnopqrstuvwxyz
  at=$((3 + RANDOM % (${#word} - 3)))
  case $((RANDOM % 3)) in
    0) typed=${word:0:at}${letters:RANDOM % 26:1}${word:at} ;;
    1) typed=${word:0:at}${word:at+1} ;;
    2) typed=${word:0:at}${letters:RANDOM % 26:1}${word:at+1} ;;
  esac
}

test_a_mistyped_option_of_any_program_is_refused_before_anything_is_downloaded() {
  local seed=${TEST_SEED:-$SRANDOM} name options option typed said
  RANDOM=$seed
  echo "seed $seed"
  new_fresh_clone programs-mistyped
  for name in "$CLONE"/bin/*; do
    name=${name##*/}
    mapfile -t options < <(program "bin/$name" --help | grep -oE -- '--[a-z][a-z-]{2,}' | sort -u)
    for _ in 1 2 3; do
      option=${options[RANDOM % ${#options[@]}]}
      mistype "$option"
      [[ " ${options[*]} " != *" $typed "* ]] || continue
      if said=$(program "bin/$name" "$typed" 2>&1); then
        echo "bin/$name $typed was taken: $said"
        return 1
      elif [[ $? -ne 2 ]]; then
        echo "bin/$name $typed: $said"
        return 1
      fi
      says "$typed" "$said"
    done
  done
  absent "$CLONE/.tools"
}

test_a_wrong_word_an_option_without_its_value_and_a_value_where_none_belongs_are_refused_before_anything_is_downloaded() {
  local words said
  new_fresh_clone programs-values
  for words in 'up --port' 'up --fresh=yes' 'up --db --fresh' 'test --jobs' 'test --list=all' 'follow s3://a/b --database' \
    'follow s3://a/b --databse a.db' 'verify-history /copy --dat' 'test --jobs 3 apy' 'up now'; do
    # shellcheck disable=SC2086  # a command and its arguments
    if said=$(program bin/$words 2>&1); then return 1; else [[ $? -eq 2 ]]; fi
    says "See bin/${words%% *} --help." "$said"
  done
  absent "$CLONE/.tools"
}

test_without_a_new_enough_Python_its_programs_say_so_before_anything_is_downloaded() {
  local name said
  new_fresh_clone programs-python
  rm -- "$FAKES/python3"
  for name in bench loadtest; do
    if said=$(program "bin/$name" --help 2>&1); then return 1; fi
    says 'Python 3.11 or newer is needed' "$said"
  done
  absent "$CLONE/.tools"
}
