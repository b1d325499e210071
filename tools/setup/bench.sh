#!/usr/bin/env bash
# wrk, nginx, PHP-FPM and a C compiler, which only bin/bench needs, so bin/setup does not bring
# them: the system's where it has them, else the packages of Debian $DEBIAN_SUITE in .tools/bench,
# run on their own libc as in tools/setup/php.sh, and Zig, which compiles C. loadtest/compare/servers.py builds
# the other servers themselves.
set -euo pipefail
TOOL=bench
# shellcheck source=tools/setup/tool.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/tool.sh"
# shellcheck source=tools/setup/debian.sh
. "$ROOT/tools/setup/debian.sh"

ZIG='ziglang==0.16.0
  --hash=sha256:9fcda73f62b851dd72a54b710ad40a209896db14cfb13649e62191243556342b
  --hash=sha256:e27d409812b11e0fb89ed0200cf2e55b6464d43f9461553104e4a4f9a94a1fd5' # Linux: x86-64, arm64
FPM_EXTENSIONS='pdo pdo_sqlite'

main() {
  ! is_current "$TOOL" || exit 0
  PATH=$PATH:/usr/sbin:/sbin
  start
  missing=()
  want wrk wrk is_there
  want nginx nginx is_there
  want php-fpm php8.4-fpm is_usable_fpm
  [[ ${#missing[@]} -eq 0 ]] || install_missing
  type -P cc >/dev/null || install_compiler
  place
  finish
}

# Links the system's NAME, or notes PACKAGE as missing.
want() {
  local name=$1 package=$2 check=$3 candidate
  for candidate in "$name" "${name}8.4"; do
    if first_on_path "$candidate" "$check"; then
      say "using $FOUND"
      link "$name" "$FOUND"
      return
    fi
  done
  missing+=("$package")
}

is_there() { [[ $1 != "$TOOLS/"* ]]; }

is_usable_fpm() { is_there "$1" && at_least "$("$1" -n -v 2>/dev/null | awk 'NR == 1 { print $2 }')" "$PHP_MINIMUM"; }

install_missing() {
  local package packages=("${missing[@]}")
  type -P apt-get dpkg-deb >/dev/null ||
    fail "Without apt these cannot be fetched privately: install ${missing[*]} and run bin/bench again."
  [[ " ${missing[*]} " != *" php8.4-fpm "* ]] || packages+=(php8.4-sqlite3)
  say "downloading ${missing[*]} from Debian $DEBIAN_SUITE"
  unpack_debian '^(lib|nginx$|wrk$|php8.4-(fpm|common|opcache|sqlite3)$|zlib1g$|openssl-provider)' "${packages[@]}"
  for package in "${missing[@]}"; do
    case $package in
      wrk) on_its_own_libc usr/bin/wrk | wrap wrk ;;
      nginx) on_its_own_libc usr/sbin/nginx | wrap nginx ;;
      php8.4-fpm) on_its_own_libc usr/sbin/php-fpm8.4 | wrap php-fpm ;;
    esac
  done
}

# Without it, the C and Go rows say that it is missing.
install_compiler() {
  say 'downloading Zig from PyPI (95 MB), as the C compiler'
  tr -d '\n' <<<"$ZIG" >"$NEW.zig"
  "$TOOLS/bin/python" -m pip install --disable-pip-version-check --require-hashes --no-deps --only-binary :all: \
    --target "$NEW/zig" --requirement "$NEW.zig" >>"$LOG" 2>&1 </dev/null || { say 'Zig cannot be installed'; return; }
  printf 'ZIG_GLOBAL_CACHE_DIR=%s exec %s cc "$@"\n' \
    "$(in_checkout "$PLACE/zig-cache")" "$(in_checkout "$PLACE/zig/ziglang/zig")" | wrap cc
}

on_its_own_libc() {
  local folder
  folder=$(cd -- "$NEW"/usr/lib/*-linux-gnu && pwd)
  folder=$PLACE${folder#"$NEW"}
  printf 'exec %s --inhibit-cache --library-path %s %s%s "$@"\n' \
    "$(in_checkout "$folder/$(basename -- "$NEW"/usr/lib/*-linux-gnu/ld-linux-*.so.*)")" "$(in_checkout "$folder")" \
    "$(in_checkout "$PLACE/$1")" "$(fpm_options "$1")"
}

# -n keeps the system's php.ini out.
fpm_options() {
  local extensions name
  [[ $1 == *php-fpm* ]] || return 0
  extensions=$(echo "$NEW"/usr/lib/php/20*)
  printf ' -n -d extension_dir=%s -d zend_extension=opcache' "$(in_checkout "$PLACE${extensions#"$NEW"}")"
  for name in $FPM_EXTENSIONS; do
    printf ' -d extension=%q' "$name"
  done
}

main
