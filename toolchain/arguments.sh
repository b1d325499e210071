# Sourced by the scripts in bin/: answers --help and refuses mistyped arguments before anything is downloaded.
# The usage text says what is allowed: one line per option, indented by two spaces, with the option's value in
# capitals, and a line "WORD … of: a, b, c" when there are words besides options, or "WORD  …" when they may be any.
# shellcheck shell=bash

# check_arguments COMMAND USAGE_FILE ARGUMENT…
check_arguments() {
  local command=$1 usage=$2 words kind any word line is_value=
  shift 2
  for word in "$@"; do
    case $word in --help | -h) cat -- "$usage" && exit ;; esac
  done
  words=$(sed -n 's/^  [A-Z].* of: *//p' "$usage")
  kind=$(sed -n 's/^  \([A-Z]*\) .* of: .*/\1/p' "$usage" | tr '[:upper:]' '[:lower:]')
  any=$(sed -n '/ of: /d; s/^  \([A-Z][A-Z]*\)  .*/\1/p' "$usage")
  for word in "$@"; do
    if [[ -n $is_value ]]; then
      is_value=
    elif [[ $word == -* ]]; then
      line=$(grep -m 1 -E -- "^  ${word%%=*}( |\$)" "$usage") || refuse "$command" "There is no option ${word%%=*}"
      [[ $word == *=* || ! ${line#  } =~ ^-[^\ ]*\ [A-Z] ]] || is_value=1
    elif [[ -n $any ]]; then
      continue
    elif [[ -z $words ]]; then
      refuse "$command" "It takes options only, not \"$word\""
    elif [[ " ${words//,/} " != *" $word "* ]]; then
      refuse "$command" "There is no $kind \"$word\": the ${kind}s are $words"
    fi
  done
}

# check_python_arguments ROOT MODULE ARGUMENT…
# The same for a program in Python: MODULE's parse_options answers, run by the system's Python. Without a new enough
# one nothing is checked here, and bin/setup says which is needed.
check_python_arguments() {
  local root=$1 module=$2 word
  shift 2
  python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || return 0
  PYTHONPATH=$root python3 -B -c "import sys; from $module import parse_options; parse_options(sys.argv[1:])" \
    "$@" || exit
  for word in "$@"; do
    case $word in --) return ;; --help | -h) exit ;; esac
  done
}

refuse() {
  printf '%s: %s.\nSee %s --help.\n' "$1" "$2" "$1" >&2
  exit 2
}
