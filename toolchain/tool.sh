# Sourced by the script of each tool, which sets TOOL first: paths, messages, and the steps of
# an installation. A tool is built in $NEW and moved to $PLACE when it is complete, so that an
# interrupted download is never taken for a finished one. While $NEW exists, the tool is being
# installed.
# shellcheck shell=bash disable=SC2153  # TOOL is set by the script that sources this

ROOT=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
TOOLS=$ROOT/.tools
PLACE=$TOOLS/$TOOL
NEW=$TOOLS/$TOOL.new
LOG=$TOOLS/log/$TOOL.log
# Only the system's own tools are looked up, not those that this or another checkout installed.
PATH=$(tr ':' '\n' <<<"$PATH" | sed '/\/\.tools\/bin$/d' | paste -sd: -)
# shellcheck source=toolchain/versions.sh
. "$ROOT/toolchain/versions.sh"
# shellcheck source=toolchain/stamp.sh
. "$ROOT/toolchain/stamp.sh"

# From here until `finish` the tool counts as absent.
start() {
  set -E
  trap 'fail "toolchain/$TOOL.sh stopped (${BASH_SOURCE[0]##*/}, line $LINENO): please report it with .tools/log/$TOOL.log."' ERR
  mkdir -p -- "$TOOLS/bin" "$TOOLS/log"
  forget_stamp "$TOOL"
  rm -rf -- "$NEW" "$NEW".*
  mkdir -- "$NEW"
  : >"$LOG"
}

# Puts what was built in $NEW (nothing, if the system's tool is used) in its place.
place() {
  rm -rf -- "$PLACE"
  mv -- "$NEW" "$PLACE"
}

finish() {
  rm -rf -- "$NEW"
  write_stamp "$TOOL"
  say "ready after $SECONDS s"
}

# Puts TARGET into .tools/bin as NAME.
link() {
  ln -sfn -- "$2" "$TOOLS/bin/$1"
  stamp_covers "$TOOL" "$TOOLS/bin/$1"
}

# Puts the script on standard input into .tools/bin as NAME.
wrap() {
  cat >"$NEW.$1"
  chmod +x -- "$NEW.$1"
  mv -f -- "$NEW.$1" "$TOOLS/bin/$1"
  stamp_covers "$TOOL" "$TOOLS/bin/$1"
}

say() { printf '[%s] %s\n' "$TOOL" "$*"; }

# Ends the installation: the end of its log, then one sentence on what failed and what to do.
fail() {
  trap - ERR
  [[ ! -s $LOG ]] || tail -n 5 -- "$LOG" | sed 's/^/    /' >&2
  printf '[%s] %s\n' "$TOOL" "$*" >&2
  rm -rf -- "$NEW" "$NEW".*
  exit 1
}

# Runs COMMAND with its output in the log; if it fails, the installation ends with SENTENCE.
run() {
  local sentence=$1
  shift
  "$@" >>"$LOG" 2>&1 </dev/null || fail "$sentence"
}

# Sets FOUND to the first NAME on PATH that CHECK accepts; fails if there is none.
first_on_path() {
  while IFS= read -r FOUND; do
    if "$2" "$FOUND"; then return 0; fi
  done < <(type -aP -- "$1" || true)
  return 1
}

# Is version HAVE at least WANT?
at_least() { printf '%s\n' "$2" "$1" | sort -V -C; }
