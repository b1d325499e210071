#!/usr/bin/env bash
# A fake `dpkg-deb --extract PACKAGE FOLDER` for the packages of the fake apt-get: PHP's libc
# has a loader that starts the program it is given, PHP says what $PHP_FAKE says.
set -euo pipefail
folder=$3
put() {
  mkdir -p -- "$(dirname -- "$folder/$1")"
  cat >"$folder/$1"
  chmod +x -- "$folder/$1"
}
case $(basename -- "$2") in
  libc6_*)
    put usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2 <<'LOADER'
#!/bin/sh
while [ "${1##*/}" != php8.4 ]; do shift; done
exec "$@"
LOADER
    ;;
  php8.4-cli_*)
    mkdir -p -- "$folder/usr/lib/php/20240924"
    put usr/bin/php8.4 <"$(dirname -- "$0")/php-8.4"
    ;;
  phpunit_*) put usr/bin/phpunit </dev/null ;;
  composer_*)
    put usr/bin/composer </dev/null
    echo "require_once '/usr/share/php/Y/autoload.php';" |
      tee >(put usr/share/php/Vendor/X/autoload.php) | put usr/share/php/Vendor/autoload.php
    ;;
  promtool_*)
    for program in prometheus promtool prometheus-node-exporter prometheus-blackbox-exporter; do
      printf '#!/bin/sh\necho fake %s\n' "$program" | put "usr/bin/$program"
    done
    ;;
  libfaketime_*) echo library | put usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1 ;;
  python3-pip-whl_*) echo wheel | put usr/share/python-wheels/pip-25.whl ;;
esac
