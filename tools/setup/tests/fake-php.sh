#!/usr/bin/env bash
# A fake PHP that is VERSION and has EXTENSIONS (two lines that the sandbox fills in), as far
# as bin/setup asks.
version=VERSION extensions='EXTENSIONS'
while [[ $1 == -? && $1 != -r ]]; do
  [[ $1 == -n ]] || shift
  shift
done
case "$*" in
  *PHP_BINARY*) printf %s "$0" ;;
  *PHP_VERSION\;*) printf %s "$version" ;;
  -r*' -- '*)
    shift 3
    printf '%s\n' "$1" "$version" | sort -V -C || exit 1
    shift
    for name; do [[ " $extensions " == *" $name "* ]] || exit 1; done
    ;;
  *phpunit*' --version') echo 'PHPUnit 11.5.19 by Sebastian Bergmann and contributors.' ;;
  *composer' dump-autoload '*)
    mkdir -p -- "${!#}/vendor"
    echo "$*" >"${!#}/vendor/autoload.php"
    ;;
  *) printf 'fake php %s\n' "$version" ;;
esac
