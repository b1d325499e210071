# PHP and PHPUnit: the system's if they are new enough and have the extensions, else those of
# Debian $DEBIAN_SUITE, unpacked into .tools/php. They run on the libc and the libraries they
# were built with, so an older Debian serves them unchanged. The writer's PHP libraries and
# Composer come from there in any case; Composer then writes writer/vendor/autoload.php.
# shellcheck shell=bash disable=SC2154  # sourced by `bring`

LIBRARY_NAMES='^(composer|jsonlint|php-.*|phpunit.*)$'

bring_php() {
  local php='' phpunit composer
  phpunit=$PLACE/usr/bin/phpunit composer=$PLACE/usr/bin/composer
  if first_on_path php is_usable_php; then
    use_system_php "$("$FOUND" -r 'echo PHP_BINARY;')"
  else
    install_php
  fi
  wrap_php phpunit "$phpunit"
  wrap_php composer "$composer"
  run "PHP does not start from .tools/bin/php: remove .tools and run bin/setup again." is_usable_php "$TOOLS/bin/php"
  run "PHPUnit does not start from .tools/bin/phpunit: remove .tools and run bin/setup again." is_usable_phpunit "$phpunit"
  bring_classes
  stamp_covers "$TOOL" "$ROOT/writer/vendor/autoload.php"
}

# Puts a program that is PHP into .tools/bin as NAME.
wrap_php() {
  printf 'exec %s %s "$@"\n' "$(in_checkout "$TOOLS/bin/php")" "$(in_checkout "$2")" | wrap "$1"
  stamp_covers "$TOOL" "$2"
}

is_usable_php() {
  # shellcheck disable=SC2016,SC2086  # PHP code; a list of names
  "$1" -r 'foreach (array_slice($argv, 3) as $name) { extension_loaded($name) || exit(1); }
    $isOld = version_compare(PHP_VERSION, $argv[1], "<") || version_compare(SQLite3::version()["versionString"], $argv[2], "<");
    exit((int) $isOld);' -- "$PHP_MINIMUM" "$SQLITE_MINIMUM" $PHP_EXTENSIONS >/dev/null 2>&1
}

# Asks with the PHP that will run it, not with the one its first line names.
is_usable_phpunit() {
  at_least "$("${php:-$TOOLS/bin/php}" "$1" --version 2>/dev/null | awk '$1 == "PHPUnit" { print $2 }')" "$PHPUNIT_MINIMUM"
}

use_system_php() {
  php=$1
  say "using $php, $("$php" -r 'echo PHP_VERSION;')"
  if [[ -f $KEYRING ]] && type -P apt-get dpkg-deb >/dev/null; then unpack_libraries; else install_libraries; fi
  place
  link php "$php"
}

unpack_libraries() {
  local packages=$PHP_LIBRARIES
  if first_on_path phpunit is_usable_phpunit; then
    phpunit=$FOUND
  else
    packages+=' phpunit'
  fi
  say "downloading ${packages// /, } from Debian $DEBIAN_SUITE (5 MB)"
  # shellcheck disable=SC2086  # a list of package names
  unpack_debian "$LIBRARY_NAMES" $packages
  leave_out_the_rest
  unfix_paths
}

# Where Debian's archive cannot be read, Composer installs them from its own registry, PHPUnit among them.
install_libraries() {
  type -P composer >/dev/null ||
    fail "The writer's libraries are needed, and without apt and Debian's keyring only Composer can fetch them: install it (on macOS: brew install composer) and run bin/setup again."
  composer=$(type -P composer) phpunit=$ROOT/writer/vendor/bin/phpunit
  say "installing the writer's libraries with $composer"
  run "Composer could not install what writer/composer.json requires: check the network and run bin/setup again." \
    "$composer" install --no-interaction --working-dir "$ROOT/writer"
}

install_php() {
  type -P apt-get dpkg-deb >/dev/null ||
    fail "PHP ${PHP_MINIMUM%.0} or newer with SQLite $SQLITE_MINIMUM or newer and ${PHP_EXTENSIONS// /, } is needed, and without apt it cannot be fetched privately: install it (on macOS: brew install php composer) and run bin/setup again."
  ! type -P php >/dev/null || say "$(type -P php) is older than $PHP_MINIMUM, has an SQLite older than $SQLITE_MINIMUM, or lacks one of $PHP_EXTENSIONS"
  ! apt-cache show php8.4-cli >/dev/null 2>&1 ||
    say "this system has packages of PHP 8.4, which bin/setup would use instead: apt-get install $PHP_PACKAGES phpunit"
  say "downloading PHP, PHPUnit and the writer's libraries from Debian $DEBIAN_SUITE (45 MB)"
  # shellcheck disable=SC2086  # lists of package names
  unpack_debian "$LIBRARY_NAMES|^(lib([^j]|j[^s])|php|zlib1g|openssl-provider)" $PHP_PACKAGES $PHP_LIBRARIES phpunit
  leave_out_the_rest
  unfix_paths
  place
  php_on_its_own_libc | wrap php
}

# 20 MB that nothing here reads: pages, translations, and converters of text that PHP has its own for.
leave_out_the_rest() {
  rm -rf -- "$NEW"/usr/share/{bug,doc,doc-base,gdb,javascript,lintian,locale,man,perl5,pkg-php-tools} "$NEW"/usr/share/bootstrap-html \
    "$NEW"/usr/lib/*-linux-gnu/{gconv,perl5} "$NEW"/usr/lib/systemd
}

# Debian's libraries find each other under /usr/share/php; here they are beside each other.
unfix_paths() {
  local file slashes folder=$NEW/usr/share/php
  while IFS= read -r file; do
    slashes=$(tr -cd / <<<"${file#"$folder/"}")
    sed -i "s|'/usr/share/php/|dirname(__DIR__, ${#slashes}) . '/|" "$file"
  done < <(grep -rl --include=autoload.php "'/usr/share/php/" "$folder")
}

# One exec and no process before it: PHP's start is on the path of every cron and every test.
# --argv0 lets PHP_BINARY name this wrapper, -n keeps the system's php.ini out.
php_on_its_own_libc() {
  local loader extensions name
  loader=$(echo "$PLACE"/usr/lib/*-linux-gnu/ld-linux-*.so.*)
  extensions=$(echo "$PLACE"/usr/lib/php/20*)
  # shellcheck disable=SC2016  # the wrapper expands these
  printf 'certificates=${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}\nexec %s --inhibit-cache --argv0 "$self"' \
    "$(in_checkout "$loader")"
  printf ' --library-path %s %s -n' "$(in_checkout "${loader%/*}")" "$(in_checkout "$(echo "$PLACE"/usr/bin/php8.?)")"
  printf ' -d extension_dir=%s' "$(in_checkout "$extensions")"
  for name in $PHP_EXTENSIONS; do
    [[ ! -f $extensions/$name.so ]] || printf ' -d extension=%s' "$name"
  done
  # shellcheck disable=SC2016  # the wrapper expands it
  printf ' -d %s="$certificates"' openssl.cafile curl.cainfo
  printf ' "$@"\n'
}

# Lets Composer list the writer's classes again when a file or a folder of them is newer than that list: a class may have
# been added, moved or removed. Takes a quarter of a second and no network.
bring_classes() {
  local list=$ROOT/writer/vendor/autoload.php
  [[ ! -f $list || -n $(find "$ROOT"/writer/{composer.json,src,tests} \( -type d -o -name '*.php' -o -name composer.json \) \
    -newer "$list" -print -quit 2>/dev/null) ]] || return 0
  COMPOSER_HOME=$NEW.composer COMPOSER_ALLOW_SUPERUSER=1 \
    run "Composer could not write writer/vendor/autoload.php: is there space left, and is the folder yours?" \
    "$TOOLS/bin/composer" dump-autoload --dev --no-interaction --no-plugins --working-dir "$ROOT/writer"
  rm -rf -- "$NEW.composer"
  touch -- "$list" # Composer leaves a file as it is when nothing in it changes
}
