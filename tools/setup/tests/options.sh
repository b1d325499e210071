# What every program in bin/ promises before anything is downloaded.
# shellcheck shell=bash disable=SC2153

# A sandbox with all that git has of this project, and the system's Python, which reads the options of two programs.
new_fresh_clone() {
  new_sandbox "$1"
  git -C "$ROOT" ls-files -z -- bin toolchain '*usage.txt' '*.py' '*.toml' | tar -C "$ROOT" --null -T - -cf - | tar -C "$CLONE" -xf -
  ln -s -- "$(type -P python3)" "$FAKES/python3"
}

# A program of the clone, as in a shell of somebody without any tool.
program() { env -i PATH="$FAKES:$SYSTEM" HOME="$SCRATCH" CALLS="$CALLS" OFFLINE=1 "$CLONE/bin/$1" "${@:2}"; }

test_every_program_answers_help_without_any_tool_and_downloads_nothing() {
  local name
  new_fresh_clone programs-help
  for name in "$CLONE"/bin/*; do
    name=${name##*/}
    says "bin/$name" "$(program "$name" --help)"
  done
  absent "$CLONE/.tools"
}

# WORD with a character more, less or changed.
mistype() {
  local word=$1 at letters=abcdefghijklmnopqrstuvwxyz
  at=$((3 + RANDOM % (${#word} - 3)))
  case $((RANDOM % 3)) in
    0) printf '%s\n' "${word:0:at}${letters:RANDOM % 26:1}${word:at}" ;;
    1) printf '%s\n' "${word:0:at}${word:at+1}" ;;
    2) printf '%s\n' "${word:0:at}${letters:RANDOM % 26:1}${word:at+1}" ;;
  esac
}

test_a_mistyped_option_of_any_program_is_refused_before_anything_is_downloaded() {
  local seed=${TRENDVAULT_TEST_SEED:-$SRANDOM} name options option typed said
  RANDOM=$seed
  echo "seed $seed"
  new_fresh_clone programs-mistyped
  for name in "$CLONE"/bin/*; do
    name=${name##*/}
    mapfile -t options < <(program "$name" --help | grep -oE -- '--[a-z][a-z-]{2,}' | sort -u)
    for _ in 1 2 3; do
      option=${options[RANDOM % ${#options[@]}]}
      typed=$(mistype "$option")
      [[ " ${options[*]} " != *" $typed "* ]] || continue
      if said=$(program "$name" "$typed" 2>&1); then
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

test_an_option_without_its_value_and_a_value_where_none_belongs_are_refused_before_anything_is_downloaded() {
  local words said
  new_fresh_clone programs-values
  for words in 'up --port' 'up --fresh=yes' 'up --db --fresh' 'test --jobs' 'test --list=all' 'follow s3://a/b --database'; do
    # shellcheck disable=SC2086  # a command and its arguments
    if said=$(program $words 2>&1); then return 1; else [[ $? -eq 2 ]]; fi
    says "See bin/${words%% *} --help." "$said"
  done
  absent "$CLONE/.tools"
}

test_without_a_new_enough_Python_its_programs_say_so_before_anything_is_downloaded() {
  local name said
  new_fresh_clone programs-python
  rm -- "$FAKES/python3"
  for name in bench loadtest; do
    if said=$(program "$name" --help 2>&1); then return 1; fi
    says 'Python 3.11 or newer is needed' "$said"
  done
  absent "$CLONE/.tools"
}
