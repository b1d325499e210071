# Sourced by `bring`, bin/setup and relock.sh, which set TOOL first: paths, messages, the steps of
# an installation, and what is remembered of it. A tool is built in $NEW and moved to $PLACE when it is complete, so that an
# interrupted download is never taken for a finished one. While $NEW exists, the tool is being
# installed.
# shellcheck shell=bash disable=SC2153  # TOOL is set by the script that sources this

ROOT=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd -P)
TOOLS=$ROOT/.tools
PLACE=$TOOLS/$TOOL
NEW=$TOOLS/$TOOL.new
LOG=$TOOLS/log/$TOOL.log
# Only the system's own tools are looked up, not those that this or another checkout installed.
PATH=$(tr ':' '\n' <<<"$PATH" | sed '/\/\.tools\/bin$/d' | paste -sd: -)
# shellcheck source=tools/setup/versions.sh
. "$ROOT/tools/setup/versions.sh"

# From here until `finish` the tool counts as absent.
start() {
  set -E
  trap 'fail "Bringing $TOOL stopped (${BASH_SOURCE[0]##*/}, line $LINENO): please report it with .tools/log/$TOOL.log."' ERR
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

# Puts TARGET into .tools/bin as NAME. What is in this checkout is linked relatively, so that the checkout may be moved.
link() {
  local target=$2
  case $target in
    "$ROOT/"*) target=../../${target#"$ROOT/"} ;;
    *) stamp_covers "$TOOL" "$target" ;;
  esac
  ln -sfn -- "$target" "$TOOLS/bin/$1"
  stamp_covers "$TOOL" "$TOOLS/bin/$1"
}

# Puts a script of sh into .tools/bin as NAME; its last line is on standard input, with paths as `in_checkout` writes them.
# It finds the checkout from its own path, so that the checkout may be moved; only a link from elsewhere costs a process.
wrap() {
  {
    cat <<'SCRIPT'
#!/bin/sh
case $0 in /*) self=$0 ;; *) self=$PWD/$0 ;; esac
root=${self%/.tools/bin/*}
if [ "$root" = "$self" ]; then self=$(readlink -f -- "$0") root=${self%/.tools/bin/*}; fi
SCRIPT
    cat
  } >"$NEW.$1"
  chmod +x -- "$NEW.$1"
  mv -f -- "$NEW.$1" "$TOOLS/bin/$1"
  stamp_covers "$TOOL" "$TOOLS/bin/$1"
}

# PATH as a word of a script that `wrap` takes.
in_checkout() {
  # shellcheck disable=SC2016  # the wrapper expands it
  case $1 in
    "$ROOT/"*) printf '"$root/%s"' "${1#"$ROOT/"}" ;;
    *) printf '%q' "$1" ;;
  esac
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

# A stamp says that a tool is installed: a checksum over all that decided its outcome (pins, lockfiles, scripts, machine)
# and over the files it put into .tools/bin and what it found on the system, with links followed. When anything of that
# changes, the tool is installed again. Where the checkout is does not matter: it may be moved, or copied for another user.

# Is TOOL installed, and has nothing changed since?
is_current() {
  [[ -f $TOOLS/stamps/$1 ]] && [[ $(fingerprint "$1") == "$(<"$TOOLS/stamps/$1")" ]]
}

forget_stamp() {
  mkdir -p -- "$TOOLS/stamps"
  rm -f -- "$TOOLS/stamps/$1"
  : >"$TOOLS/stamps/$1.files"
}

# PATH is noted relative to the checkout when it is in it.
stamp_covers() { printf '%s\n' "${2#"$ROOT/"}" >>"$TOOLS/stamps/$1.files"; }

write_stamp() {
  fingerprint "$1" >"$TOOLS/stamps/$1.new"
  mv -- "$TOOLS/stamps/$1.new" "$TOOLS/stamps/$1"
}

fingerprint() {
  {
    uname -sm
    [[ $1 != bun ]] || printf '%s\n' "$BUN_VERSION"
    decisive_files "$1" | tr '\n' '\0' | xargs -0 cat --
    # A link that leads nowhere is missing here, which is a difference, too.
    listed "$1" '^/' || true
    listed "$1" '^[^/]' | awk '{ print $5, $NF }' || true # a copy has another time and owner
  } | cksum
}

# The files that the stamp of TOOL covers and whose names match PATTERN, as ls shows them.
listed() {
  local names
  names=$(grep -- "$2" "$TOOLS/stamps/$1.files") || return 0
  tr '\n' '\0' <<<"$names" | (cd -- "$ROOT" && LC_ALL=C xargs -0 ls -lLn -- 2>/dev/null)
}

decisive_files() {
  local folder=$ROOT/tools/setup
  printf '%s\n' "$folder"/{bring,versions.sh,tool.sh,archives.sh,"$(file_of "$1")"}
  case $1 in
    bun | node | browser) printf '%s\n' "$folder/npm-hashes.txt" ;;
    php) printf '%s\n' "$ROOT/writer/composer.json" ;;
    versitygw) printf '%s\n' "$folder"/versitygw/go.{mod,sum} ;;
    python) printf '%s\n' "$folder/requirements.txt" ;;
    supervisor) printf '%s\n' "$ROOT/api/supervisor/supervisor.c" ;;
  esac
}

# The file of this folder that brings TOOL.
file_of() {
  case $1 in
    bun | node | browser | packages) echo javascript.sh ;;
    php | classes) echo php.sh ;;
    python) echo python.sh ;;
    supervisor) echo ../../api/supervisor/bring.sh ;;
    *) echo extras.sh ;;
  esac
}
