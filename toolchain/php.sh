#!/usr/bin/env bash
# PHP and PHPUnit: the system's if they are new enough and have the extensions, else those of
# Debian $DEBIAN_SUITE, unpacked into .tools/php. They run on the libc and the libraries they
# were built with, so an older Debian serves them unchanged.
set -euo pipefail
PART=php
# shellcheck source=toolchain/part.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/part.sh"
# shellcheck source=toolchain/debian.sh
. "$ROOT/toolchain/debian.sh"

main() {
  start
  if first_on_path php is_usable_php; then
    use_system_php "$("$FOUND" -r 'echo PHP_BINARY;')"
  else
    bring_php
  fi
  printf '#!/bin/sh\nexec %q %q "$@"\n' "$TOOLS/bin/php" "$phpunit" | wrap phpunit
  stamp_covers "$PART" "$phpunit"
  run "PHP does not start from .tools/bin/php: remove .tools and run bin/setup again." is_usable_php "$TOOLS/bin/php"
  run "PHPUnit does not start from .tools/bin/phpunit: remove .tools and run bin/setup again." is_usable_phpunit "$phpunit"
  finish
}

is_usable_php() {
  # shellcheck disable=SC2016,SC2086  # PHP code; a list of names
  "$1" -r 'foreach (array_slice($argv, 2) as $name) { extension_loaded($name) || exit(1); }
    exit((int) version_compare(PHP_VERSION, $argv[1], "<"));' -- "$PHP_MINIMUM" $PHP_EXTENSIONS >/dev/null 2>&1
}

# Asks with the PHP that will run it, not with the one its first line names.
is_usable_phpunit() {
  at_least "$("${php:-$TOOLS/bin/php}" "$1" --version 2>/dev/null | awk '$1 == "PHPUnit" { print $2 }')" "$PHPUNIT_MINIMUM"
}

use_system_php() {
  php=$1
  say "using $php, $("$php" -r 'echo PHP_VERSION;')"
  if first_on_path phpunit is_usable_phpunit; then
    phpunit=$FOUND
  else
    need_apt "PHPUnit $PHPUNIT_MINIMUM or newer"
    say "downloading PHPUnit from Debian $DEBIAN_SUITE (12 MB)"
    unpack_debian '^php(unit)?-|^phpunit$' phpunit
    unfix_paths
    phpunit=$PLACE/usr/bin/phpunit
  fi
  place
  link php "$php"
}

bring_php() {
  need_apt "PHP ${PHP_MINIMUM%.0} or newer with ${PHP_EXTENSIONS// /, }"
  ! type -P php >/dev/null || say "$(type -P php) is older than $PHP_MINIMUM or lacks one of $PHP_EXTENSIONS"
  ! apt-cache show php8.4-cli >/dev/null 2>&1 ||
    say "PHP is an ordinary package here and would be used: apt-get install $PHP_PACKAGES phpunit"
  say "downloading PHP and PHPUnit from Debian $DEBIAN_SUITE (35 MB)"
  # shellcheck disable=SC2086  # a list of package names
  unpack_debian '^(lib|php|zlib1g|openssl-provider)' $PHP_PACKAGES phpunit
  unfix_paths
  place
  php_on_its_own_libc | wrap php
  phpunit=$PLACE/usr/bin/phpunit
}

need_apt() {
  type -P apt-get dpkg-deb >/dev/null ||
    fail "$1 is needed, and without apt it cannot be fetched privately: install it (on macOS: brew install php phpunit) and run bin/setup again."
}

# Debian's PHPUnit finds its parts under /usr/share/php; here they lie beside each other.
unfix_paths() {
  grep -rlZ --include=autoload.php "'/usr/share/php/" "$NEW/usr/share/php" |
    xargs -0 sed -i "s|'/usr/share/php/|dirname(__DIR__, 2) . '/|"
}

# One exec and nothing before it: PHP's start is on the path of every cron and every test.
# --argv0 lets PHP_BINARY name this wrapper, -n keeps the system's php.ini out.
php_on_its_own_libc() {
  local loader extensions name
  loader=$(echo "$PLACE"/usr/lib/*-linux-gnu/ld-linux-*.so.*)
  extensions=$(echo "$PLACE"/usr/lib/php/20*)
  # shellcheck disable=SC2016  # the wrapper expands it
  printf '#!/bin/sh\ncertificates=${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}\nexec'
  printf ' %q' "$loader" --inhibit-cache --argv0 "$TOOLS/bin/php" --library-path "${loader%/*}" \
    "$(echo "$PLACE"/usr/bin/php8.?)" -n -d "extension_dir=$extensions" -d zend_extension=opcache
  for name in $PHP_EXTENSIONS; do
    [[ ! -f $extensions/$name.so ]] || printf ' -d extension=%q' "$name"
  done
  # shellcheck disable=SC2016  # the wrapper expands it
  printf ' -d %s="$certificates"' openssl.cafile curl.cainfo
  printf ' "$@"\n'
}

main
