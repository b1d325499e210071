# Sourced by the programs in bin/: finds the project, answers --help and refuses mistyped arguments before anything is
# downloaded, brings what the program needs. The usage text says what is allowed: one line per option, indented by two
# spaces, with the option's value in capitals, and a line "WORD … of: a, b, c" when there are words besides options, or
# "WORD  …" when they may be any.
# shellcheck shell=bash
set -euo pipefail
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
program=bin/${0##*/}

# set_up [TOOL…]: installs what is missing of the tools, and puts them first on PATH.
set_up() {
  "$root/bin/setup" "$@" >&2
  # shellcheck source=tools/setup/env.sh
  . "$root/tools/setup/env.sh"
}

# check_arguments USAGE_FILE ARGUMENT…
check_arguments() {
  local usage=$root/$1 words kind any word line is_value=
  shift
  for word in "$@"; do
    case $word in --help | -h) cat -- "$usage" && exit ;; esac
  done
  words=$(sed -n 's/^  [A-Z].* of: *//p' "$usage")
  kind=$(sed -n 's/^  \([A-Z]*\) .* of: .*/\1/p' "$usage" | tr '[:upper:]' '[:lower:]')
  any=$(sed -n '/ of: /d; s/^  \([A-Z][A-Z]*\)  .*/\1/p' "$usage")
  for word in "$@"; do
    if [[ -n $is_value ]]; then
      [[ $word != -* ]] || refuse "$is_value needs a value, and \"$word\" is an option"
      is_value=
    elif [[ $word == -* ]]; then
      line=$(option_line "${word%%=*}" "$usage") || refuse "There is no option ${word%%=*}"
      if [[ ${line#  } =~ ^-[^\ ]*\ [A-Z] ]]; then
        [[ $word == *=* ]] || is_value=$word
      elif [[ $word == *=* ]]; then
        refuse "${word%%=*} takes no value"
      fi
    elif [[ -n $any ]]; then
      continue
    elif [[ -z $words ]]; then
      refuse "It takes options only, not \"$word\""
    elif [[ " ${words//,/} " != *" $word "* ]]; then
      refuse "There is no $kind \"$word\": the ${kind}s are $words"
    fi
  done
  [[ -z $is_value ]] || refuse "$is_value needs a value"
}

# The line of USAGE_FILE that describes OPTION.
option_line() {
  OPTION=$1 awk '/^  -/ && $1 == ENVIRON["OPTION"] { print; found = 1; exit } END { exit !found }' "$2"
}

# check_python_arguments MODULE ARGUMENT…
# The same for a program in Python: MODULE's parse_options answers, run by the system's Python.
check_python_arguments() {
  local module=$1 word
  shift
  if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    echo 'Python 3.11 or newer is needed: install it (on Debian: apt-get install python3, on macOS: brew install python).' >&2
    exit 1
  fi
  PYTHONPATH=$root python3 -B -c "import sys; from $module import parse_options; parse_options(sys.argv[1:])" \
    "$@" || exit
  for word in "$@"; do
    case $word in --) return ;; --help | -h) exit ;; esac
  done
}

refuse() {
  printf '%s: %s.\nSee %s --help.\n' "$program" "$1" "$program" >&2
  exit 2
}
