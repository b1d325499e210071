# Remembers that a tool is installed. A stamp is a checksum over all that decided its outcome
# (pins, lockfiles, scripts, machine) and over the files it put into .tools/bin and what it found
# on the system, with links followed. When anything of that changes, the tool is installed again.
# Where the checkout is does not matter: it may be moved, or copied for another user.
# shellcheck shell=bash

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
  printf '%s\n' "$folder/versions.sh" "$folder/tool.sh" "$folder/$1.sh"
  case $1 in
    bun | node | browser) printf '%s\n' "$folder/npm.sh" "$folder/npm-hashes.txt" ;;
    php) printf '%s\n' "$folder/debian.sh" "$ROOT/writer/composer.json" ;;
    bench | faketime) printf '%s\n' "$folder/debian.sh" ;;
    prometheus) printf '%s\n' "$folder/debian.sh" ;;
    versitygw) printf '%s\n' "$folder/debian.sh" "$folder/versitygw/go.mod" "$folder/versitygw/go.sum" ;;
    python) printf '%s\n' "$folder/debian.sh" "$folder/requirements.txt" ;;
  esac
}
