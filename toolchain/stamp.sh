# Remembers that a tool is installed. A stamp is a checksum over all that decided its outcome
# (pins, lockfiles, scripts, machine, folder) and over the files it put into .tools/bin, with
# links followed. When anything of that changes, the tool is installed again.
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

stamp_covers() { printf '%s\n' "$2" >>"$TOOLS/stamps/$1.files"; }

write_stamp() {
  fingerprint "$1" >"$TOOLS/stamps/$1.new"
  mv -- "$TOOLS/stamps/$1.new" "$TOOLS/stamps/$1"
}

fingerprint() {
  {
    printf '%s\n' "$ROOT" "$(uname -sm)"
    [[ $1 != bun ]] || printf '%s\n' "$BUN_VERSION"
    decisive_files "$1" | tr '\n' '\0' | xargs -0 cat --
    # A link that leads nowhere is missing here, which is a difference, too.
    tr '\n' '\0' <"$TOOLS/stamps/$1.files" | LC_ALL=C xargs -0 ls -lLn -- 2>/dev/null || true
  } | cksum
}

decisive_files() {
  local folder=$ROOT/toolchain
  printf '%s\n' "$folder/versions.sh" "$folder/tool.sh" "$folder/$1.sh"
  case $1 in
    bun | node | browser) printf '%s\n' "$folder/npm.sh" "$folder/npm-hashes.txt" ;;
    php) printf '%s\n' "$folder/debian.sh" "$ROOT/writer/composer.json" ;;
    bench) printf '%s\n' "$folder/debian.sh" ;;
    versitygw) printf '%s\n' "$folder/debian.sh" "$folder/versitygw/go.mod" "$folder/versitygw/go.sum" ;;
    python) printf '%s\n' "$folder/debian.sh" "$folder/requirements.txt" ;;
  esac
}
