# PHP and PHPUnit: the system's or Debian's.
# shellcheck shell=bash disable=SC2153

test_a_new_PHP_and_PHPUnit_of_the_system_are_used_and_only_the_libraries_come_from_Debian() {
  new_sandbox php-new
  fake_debian
  fake_php 8.5.0
  : | fake phpunit
  says "using $FAKES/php, 8.5.0" "$(setup php)"
  calls=$(<"$CALLS")
  says 'php-symfony-console php-symfony-http-client php-psr-log php-psr-clock composer' "$calls"
  [[ $calls != *download*php8.4-cli* && $calls != *download*phpunit* ]]
  says 'PHPUnit 11.5.19' "$("$CLONE/.tools/bin/phpunit" --version)"
}

test_a_new_PHP_without_PHPUnit_gets_that_and_the_libraries_from_Debian() {
  new_sandbox php-only
  fake_debian
  fake_php 8.4.1
  setup php
  says 'composer phpunit' "$(grep ' download ' "$CALLS")"
  says 'fake php 8.4.1' "$("$CLONE/.tools/bin/php")"
}

test_Composer_writes_the_autoloader_and_one_that_is_gone_is_written_again() {
  new_sandbox php-autoloader
  fake_debian
  setup php
  says 'dump-autoload' "$(<"$CLONE/writer/vendor/autoload.php")"
  rm -r "$CLONE/writer/vendor"
  setup php
  says 'dump-autoload' "$(<"$CLONE/writer/vendor/autoload.php")"
}

test_the_writers_classes_are_listed_again_when_one_is_newer_or_gone_and_only_then() {
  new_sandbox php-classes
  fake_debian
  mkdir -p "$CLONE/writer/src/Time"
  touch "$CLONE/writer/src/Time/Clock.php"
  setup php
  list=$CLONE/writer/vendor/autoload.php
  written() { setup php && [[ $list -nt $CLONE/mark ]]; }
  age() { find "$CLONE/writer" -exec touch -d '1 hour ago' {} + && touch -d '1 minute ago' "$CLONE/mark"; }
  age
  if written; then return 1; fi
  touch "$CLONE/writer/src/Time/Clock.php"
  written
  age
  rm "$CLONE/writer/src/Time/Clock.php"
  written
}

test_a_changed_composer_json_is_taken_up() {
  new_sandbox php-composer-json
  fake_debian
  setup php
  : >"$CALLS"
  setup php
  [[ ! -s $CALLS ]]
  echo >>"$CLONE/writer/composer.json"
  setup php
  says 'download' "$(<"$CALLS")"
}

test_without_apt_the_systems_Composer_installs_the_libraries_and_PHPUnit() {
  new_sandbox php-composer
  fake_php 8.4.1
  says 'install composer' "$(complaint php)"
  fake composer <<'COMPOSER'
#!/bin/sh
[ "$1" = install ]
mkdir -p "$4/vendor/bin"
: >"$4/vendor/bin/phpunit"
echo installed >"$4/vendor/autoload.php"
COMPOSER
  setup php
  says 'PHPUnit 11.5.19' "$("$CLONE/.tools/bin/phpunit" --version)"
  says 'installed' "$(<"$CLONE/writer/vendor/autoload.php")"
}

test_an_old_PHP_on_PATH_is_refused_and_a_private_one_installed() {
  new_sandbox php-old
  fake_debian
  fake_php 8.3.99
  says "$FAKES/php is older than 8.4.0" "$(setup php)"
  says 'fake php 8.4.99' "$("$CLONE/.tools/bin/php")"
}

test_a_new_PHP_without_sqlite3_is_refused() {
  new_sandbox php-lacking
  fake_debian
  fake_php 8.4.1 "${PHP_EXTENSIONS/ sqlite3/}"
  setup php
  says 'fake php 8.4.99' "$("$CLONE/.tools/bin/php")"
}

test_a_private_PHP_takes_only_what_it_runs_on_from_the_systems_mirror() {
  new_sandbox php-private
  fake_debian
  setup php
  calls=$(<"$CALLS")
  says 'reads http://mirror.example/debian' "$calls"
  says 'reads http://mirror.example/debian-security' "$calls"
  says 'download libc6 php8.4-cli' "$calls"
  [[ $calls != *download*perl-base* ]]
  says 'php8.4-cli_1_all.deb' "$(<"$CLONE/.tools/php/PACKAGES")"
}

test_the_libraries_find_each_other_where_they_were_unpacked() {
  new_sandbox php-paths
  fake_debian
  setup php
  says "dirname(__DIR__, 2) . '/Y/autoload.php'" "$(<"$CLONE/.tools/php/usr/share/php/Vendor/X/autoload.php")"
  says "dirname(__DIR__, 1) . '/Y/autoload.php'" "$(<"$CLONE/.tools/php/usr/share/php/Vendor/autoload.php")"
}

test_without_apt_the_error_says_to_install_PHP() {
  new_sandbox php-no-apt
  said=$(complaint php)
  says 'PHP 8.4 or newer with' "$said"
  says 'sqlite3' "$said"
  says 'brew install php' "$said"
}

test_an_unreachable_archive_leaves_no_PHP_behind() {
  new_sandbox php-offline
  fake_debian
  says 'package lists of Debian' "$(UNREACHABLE=debian complaint php)"
  absent "$CLONE/.tools/php"
  absent "$CLONE/.tools/bin/php"
}

test_where_the_mirror_lacks_the_suite_Debians_own_is_read() {
  new_sandbox php-mirror
  fake_debian
  UNREACHABLE=mirror.example setup php
  says 'reads http://deb.debian.org/debian-security' "$(<"$CALLS")"
  says 'fake php 8.4.99' "$("$CLONE/.tools/bin/php")"
}

test_where_PHP_is_an_ordinary_package_the_command_for_it_is_named() {
  new_sandbox php-ordinary
  fake_debian
  said=$(setup php)
  [[ $said != *apt-get\ install* ]]
  echo 'exit 0' | fake apt-cache
  rm -r "$CLONE/.tools"
  says 'apt-get install php8.4-cli' "$(setup php)"
}

test_without_Debians_keyring_nothing_is_taken_from_its_archive() {
  new_sandbox php-no-keyring
  fake_debian
  sed -i.orig 's|^KEYRING=.*|KEYRING=/nowhere.gpg|' "$CLONE/tools/setup/debian.sh"
  says 'install debian-archive-keyring' "$(complaint php)"
  [[ ! -s $CALLS ]]
}
