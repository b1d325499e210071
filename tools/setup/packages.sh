#!/usr/bin/env bash
# The npm packages of the workspaces, exactly as bun.lock names them: all, or those that the named PART runs with. It runs
# every time and needs no stamp: Bun finds in a few milliseconds that nothing has changed.
#
#   packages.sh [origin|edge|packages]
set -euo pipefail
TOOL=packages
# shellcheck source=tools/setup/tool.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/tool.sh"

# Each has what the one before it has. Which one is installed is noted beside the packages.
PARTS='origin edge packages'
NOTE=$ROOT/node_modules/.trendvault-part

main() {
  local part
  [[ -f $ROOT/bun.lock ]] || exit 0
  mkdir -p -- "$TOOLS/log" "$NEW"
  : >"$LOG"
  [[ -x $TOOLS/bin/bun ]] || fail "Bun is not installed yet: run bin/setup without naming tools."
  part=$(largest_of "${1:-packages}" "$(cat -- "$NOTE" 2>/dev/null || true)")
  [[ -d $ROOT/node_modules ]] || say "installing the npm packages of bun.lock"
  # shellcheck disable=SC2046  # a list of options
  run "bun install failed: if bun.lock does not match package.json, run \`bun install\` and commit bun.lock; otherwise check the network and run bin/setup again." \
    "$TOOLS/bin/bun" install --frozen-lockfile --cwd "$ROOT" $(filters_of "$part")
  [[ ! -d $ROOT/node_modules ]] || note "$part"
  rm -r -- "$NEW"
  [[ ! -f $ROOT/web/page/build.ts ]] || run "The page could not be built: see the log." "$TOOLS/bin/bun" "$ROOT/web/page/build.ts"
}

# The page is built from the client's source, too, which finds the contract as it does after a whole installation.
note() {
  mkdir -p -- "$ROOT/node_modules/@trendvault"
  ln -sfn -- ../../contract "$ROOT/node_modules/@trendvault/contract"
  printf '%s\n' "$1" >"$NOTE"
}

# What is installed stays: who has run bin/test once keeps all packages.
largest_of() {
  local part largest=
  for part in $PARTS; do
    [[ $part != "$1" && $part != "$2" ]] || largest=$part
  done
  printf '%s\n' "$largest"
}

filters_of() {
  case $1 in
    origin) printf -- '--filter=@trendvault/%s\n' api contract follow page ;;
    edge) printf -- '--filter=@trendvault/%s\n' api contract edge-worker follow page ;;
  esac
}

main "$@"
