#!/usr/bin/env bash
# The npm packages of the workspaces, exactly as bun.lock names them. It runs every time and
# needs no stamp: Bun finds in a few milliseconds that nothing has changed.
set -euo pipefail
TOOL=packages
# shellcheck source=toolchain/tool.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/tool.sh"

main() {
  [[ -f $ROOT/bun.lock ]] || exit 0
  mkdir -p -- "$TOOLS/log" "$NEW"
  : >"$LOG"
  [[ -x $TOOLS/bin/bun ]] || fail "Bun is not installed yet: run bin/setup without naming tools."
  [[ -d $ROOT/node_modules ]] || say "installing the npm packages of bun.lock"
  run "bun install failed: if bun.lock does not match package.json, run \`bun install\` and commit bun.lock; otherwise check the network and run bin/setup again." \
    "$TOOLS/bin/bun" install --frozen-lockfile --cwd "$ROOT"
  rm -r -- "$NEW"
  [[ ! -f $ROOT/page/build.ts ]] || run "The page could not be built: see the log." "$TOOLS/bin/bun" "$ROOT/page/build.ts"
}

main
