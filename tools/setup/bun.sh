#!/usr/bin/env bash
# Bun, exactly the version that package.json names: the system's if it is that one, else
# the binary package of this platform from npm.
set -euo pipefail
TOOL=bun
# shellcheck source=tools/setup/tool.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/tool.sh"
# shellcheck source=tools/setup/npm.sh
. "$ROOT/tools/setup/npm.sh"

main() {
  start
  if first_on_path bun is_pinned_bun; then
    bun=$("$FOUND" -p process.execPath) # the real program, not a version manager's shim
    say "using $bun, $BUN_VERSION"
  else
    install_bun
  fi
  place
  link bun "$bun"
  link bunx "$bun"
  finish
}

is_pinned_bun() { [[ $("$1" --version 2>/dev/null) == "$BUN_VERSION" ]]; }

install_bun() {
  local package
  [[ -n $BUN_VERSION ]] || fail 'package.json names no version of Bun: it needs "packageManager": "bun@X.Y.Z".'
  package=$(package_for_platform) ||
    fail "There is no Bun for $(uname -sm): TrendVault runs on Linux and macOS, on x86-64 and arm64."
  say "downloading Bun $BUN_VERSION (50 MB)"
  unpack_npm "$package" "$BUN_VERSION" "$NEW"
  run "Bun $BUN_VERSION does not start on this machine." "$NEW/bin/bun" --version
  bun=$PLACE/bin/bun
}

package_for_platform() {
  case $(uname -s)-$(uname -m) in
    Linux-x86_64) echo "@oven/bun-linux-x64$(musl)$(baseline)" ;;
    Linux-aarch64 | Linux-arm64) echo "@oven/bun-linux-aarch64$(musl)" ;;
    Darwin-x86_64) echo @oven/bun-darwin-x64 ;;
    Darwin-arm64) echo @oven/bun-darwin-aarch64 ;;
    *) return 1 ;;
  esac
}

musl() { [[ $(ldd --version 2>&1 || true) != *musl* ]] || echo -musl; }

# Bun's ordinary build wants a processor with AVX2 (2013).
baseline() { grep -qw avx2 /proc/cpuinfo || echo -baseline; }

main
