# What is promised of each tool.
# shellcheck shell=bash disable=SC2153

test_the_systems_Bun_is_used_if_it_is_the_pinned_one() {
  new_sandbox bun-same
  fake_bun 1.2.3
  says "using $FAKES/bun" "$(setup bun)"
  [[ ! -s $CALLS ]]
  [[ $("$CLONE/.tools/bin/bun") == 1.2.3 ]]
}

test_any_other_Bun_of_the_system_is_passed_over_even_a_newer_one() {
  new_sandbox bun-newer
  fake_bun 1.2.4
  setup bun
  [[ $("$CLONE/.tools/bin/bun") == 1.2.3 ]]
}

test_a_package_json_without_a_Bun_version_is_said_to_lack_it() {
  new_sandbox bun-unnamed
  echo '{}' >"$CLONE/package.json"
  says '"packageManager": "bun@X.Y.Z"' "$(complaint bun)"
}

test_a_package_whose_hash_differs_is_refused() {
  new_sandbox tampered
  sed -i.orig 's/sha512-./sha512-_/' "$CLONE/tools/setup/npm-hashes.txt"
  says 'is not what tools/setup/npm-hashes.txt expects' "$(complaint bun)"
  absent "$CLONE/.tools/bin/bun"
}

test_without_npm_the_error_says_to_install_it() {
  new_sandbox no-npm
  rm "$FAKES/npm"
  says 'install Node.js 18 or newer with npm' "$(complaint bun)"
}

test_the_systems_Node_is_used_from_22_18_on() {
  new_sandbox node-new
  fake_node 22.18.0
  echo : | fake npx
  setup node
  [[ ! -s $CALLS ]]
  [[ $("$CLONE/.tools/bin/node" -p process.versions.node) == 22.18.0 ]]
}

test_an_older_Node_is_passed_over_for_one_with_its_own_npm() {
  new_sandbox node-old
  fake_node 22.11.9
  setup node
  [[ $("$CLONE/.tools/bin/node") == "$NODE_VERSION" ]]
  [[ $("$CLONE/.tools/bin/npm") == "$NPM_VERSION" ]]
}

test_a_Node_that_was_downgraded_since_is_noticed() {
  new_sandbox node-downgraded
  fake_node 22.18.0
  echo : | fake npx
  setup node
  fake_node 9.9.9
  setup node
  [[ $("$CLONE/.tools/bin/node") == "$NODE_VERSION" ]]
}

test_every_pinned_npm_package_has_its_hash() {
  # shellcheck source=tools/setup/versions.sh
  . "$ROOT/tools/setup/versions.sh"
  pins=$(awk '!/^#/ { print $1 "@" $2 }' "$ROOT/tools/setup/npm-hashes.txt")
  for name in @oven/bun-linux-{x64,aarch64}{,-musl} @oven/bun-linux-x64{,-musl}-baseline @oven/bun-darwin-{x64,aarch64}; do
    says "$name@$BUN_VERSION" "$pins"
  done
  for name in node-linux-{x64,arm64}; do says "$name@$NODE_VERSION" "$pins"; done
  says "npm@$NPM_VERSION" "$pins"
  says "@sparticuz/chromium@$CHROMIUM_VERSION" "$pins"
}

test_Chromium_comes_unpacked_from_its_package_with_its_own_fonts() {
  new_sandbox browser
  echo 'echo Linux x86_64' | fake uname
  setup browser
  [[ $("$CLONE/.tools/bin/chromium") == Chromium ]]
  says '<dir prefix="relative">fonts</dir>' "$(<"$CLONE/.tools/browser/fonts.conf")"
  absent "$CLONE/.tools/browser/package"
}

test_where_the_package_has_no_Chromium_the_systems_is_used() {
  new_sandbox browser-elsewhere
  echo 'echo Linux aarch64' | fake uname
  says 'apt-get install chromium' "$(complaint browser)"
  echo 'echo Chromium' | fake chromium
  says "using $FAKES/chromium" "$(setup browser)"
  [[ ! -s $CALLS ]]
}

# A sandbox whose Bun installs into node_modules.
new_sandbox_with_packages() {
  new_sandbox "$1"
  : >"$CLONE/bun.lock"
  mkdir -p -- "$CLONE/node_modules"
}

test_packages_are_installed_as_the_lock_says_after_Bun_is_there() {
  new_sandbox_with_packages packages
  setup bun packages
  says 'bun install --frozen-lockfile' "$(tail -n 1 "$CALLS")"
  [[ $(tail -n 1 "$CALLS") != *--filter* ]]
}

test_who_asks_for_the_packages_of_the_origin_or_the_edge_gets_no_others() {
  new_sandbox_with_packages packages-part
  setup bun origin
  said=$(tail -n 1 "$CALLS")
  says '--filter=@trendvault/api' "$said"
  [[ $said != *edge-worker* && $said != *client* ]]
  setup edge
  says '--filter=@trendvault/edge-worker' "$(tail -n 1 "$CALLS")"
}

test_packages_that_are_there_stay_when_less_is_asked_for() {
  new_sandbox_with_packages packages-stay
  setup bun edge origin
  says '--filter=@trendvault/edge-worker' "$(tail -n 1 "$CALLS")"
  setup origin
  says '--filter=@trendvault/edge-worker' "$(tail -n 1 "$CALLS")"
  setup packages
  setup edge
  [[ $(tail -n 1 "$CALLS") == 'bun install'* && $(tail -n 1 "$CALLS") != *--filter* ]]
}

test_packages_that_do_not_fit_the_lock_end_in_a_sentence_on_what_to_do() {
  new_sandbox packages-stale
  : >"$CLONE/bun.lock"
  setup bun
  says 'commit bun.lock' "$(OFFLINE=1 complaint packages)"
}

test_packages_without_Bun_are_refused() {
  new_sandbox packages-early
  : >"$CLONE/bun.lock"
  says 'run bin/setup without naming tools' "$(complaint packages)"
}

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

test_a_new_PHP_on_an_old_SQLite_is_refused() {
  new_sandbox php-sqlite
  fake_debian
  fake_php 8.4.1
  sed -i 's/^SQLITE=.*/SQLITE=3.40.1/' "$FAKES/php"
  says 'has an SQLite older than 3.46' "$(setup php)"
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
  sed -i.orig 's|^KEYRING=.*|KEYRING=/nowhere.gpg|' "$CLONE/tools/setup/archives.sh"
  says 'install debian-archive-keyring' "$(complaint php)"
  [[ ! -s $CALLS ]]
}

test_a_Python_without_ensurepip_gets_its_pip_from_Debian() {
  new_sandbox python-bare
  fake_debian
  fake_python 3.11.2
  setup python
  says 'download python3-pip-whl' "$(<"$CALLS")"
  says 'pip from python.new/usr/share/python-wheels/pip-25.whl/pip' "$(<"$CALLS")"
  [[ $("$CLONE/.tools/bin/locust") == locust ]]
  [[ $("$CLONE/.tools/bin/python3") == 'fake python 3.11.2' ]]
}

test_a_Python_older_than_3_11_is_refused() {
  new_sandbox python-old
  fake_python 3.10.12
  says 'Python 3.11 or newer is needed' "$(complaint python)"
}

test_an_environment_that_pip_could_not_fill_is_not_linked() {
  new_sandbox python-offline
  fake_python 3.11.2
  fake_debian
  says 'run bin/setup again' "$(OFFLINE=1 complaint python)"
  absent "$CLONE/.tools/bin/locust"
}

test_the_lock_holds_every_version_that_pyproject_names() {
  local requirements
  mapfile -t requirements < <(grep -o '[a-z-]*==[0-9.]*' "$ROOT/pyproject.toml")
  ((${#requirements[@]} > 5))
  for requirement in "${requirements[@]}"; do
    says "$requirement " "$(<"$ROOT/tools/setup/requirements.txt")"
  done
}

test_the_systems_Go_builds_versitygw_once() {
  new_sandbox versitygw
  fake_go 1.22.1
  bring versitygw
  [[ $("$CLONE/.tools/bin/versitygw") == 9.9 ]]
  : >"$CALLS"
  bring versitygw
  [[ ! -s $CALLS ]]
}

test_another_pin_of_versitygw_builds_it_again() {
  new_sandbox versitygw-pin
  fake_go 1.26.0
  bring versitygw
  : >"$CALLS"
  echo '// raised' >>"$CLONE/tools/setup/versitygw/go.mod"
  bring versitygw
  says 'go build' "$(<"$CALLS")"
}

test_without_a_new_enough_Go_and_without_apt_there_is_a_sentence_on_what_to_install() {
  new_sandbox versitygw-old
  fake_go 1.19.8
  says 'install Go 1.21 or newer' "$(complaint_of bring versitygw)"
  absent "$CLONE/.tools/bin/versitygw"
}

test_a_build_of_versitygw_that_fails_ends_in_a_sentence_with_the_reason() {
  new_sandbox versitygw-offline
  fake_go 1.26.0
  said=$(OFFLINE=1 complaint_of bring versitygw)
  says 'no such host' "$said"
  says 'Go reaches no module proxy' "$said"
  absent "$CLONE/.tools/bin/versitygw"
}

test_Prometheus_and_its_exporters_come_from_Debian_once() {
  new_sandbox prometheus
  fake_debian
  bring prometheus
  says 'promtool' "$(grep ' download ' "$CALLS")"
  says 'fake promtool' "$("$CLONE/.tools/bin/promtool" --version)"
  : >"$CALLS"
  bring prometheus
  [[ ! -s $CALLS ]]
}

test_without_apt_there_is_a_sentence_on_why_there_is_no_Prometheus() {
  new_sandbox prometheus-macos
  says "there is no apt here" "$(complaint_of bring prometheus)"
  absent "$CLONE/.tools/bin/promtool"
}

test_a_Prometheus_that_cannot_be_downloaded_ends_in_a_sentence() {
  new_sandbox prometheus-offline
  fake_debian
  says 'could not be read: check the network' "$(UNREACHABLE=. complaint_of bring prometheus)"
  absent "$CLONE/.tools/bin/promtool"
}

# A date that says what its clock is told, or what it was YEAR.
fake_date() {
  # shellcheck disable=SC2016  # the fake expands it
  printf '#!/bin/sh\necho "%s"\n' "${1-\${FAKETIME:1:4\}}" | sed '1s/sh/bash/' | fake date
}

test_libfaketime_comes_from_Debian_once_for_the_system_and_once_with_a_libc() {
  new_sandbox faketime
  fake_debian
  fake_date
  bring faketime
  says 'download libfaketime' "$(grep ' download ' "$CALLS")"
  says 'download libc6 libfaketime' "$(grep ' download ' "$CALLS")"
  [[ -f $CLONE/.tools/faketime/libfaketimeMT.so.1 ]]
  [[ -f $CLONE/.tools/faketime/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1 ]]
  : >"$CALLS"
  bring faketime
  [[ ! -s $CALLS ]]
}

test_a_libfaketime_that_moves_no_clock_is_not_installed() {
  new_sandbox faketime-still
  fake_debian
  fake_date 2026
  says 'moves no clock on this system' "$(complaint_of bring faketime)"
  absent "$CLONE/.tools/faketime"
}

test_without_apt_there_is_a_sentence_on_why_there_is_no_libfaketime() {
  new_sandbox faketime-macos
  says "there is no apt here" "$(complaint_of bring faketime)"
}

# A compiler of C, whose programs say what compiled them.
fake_compiler() {
  # shellcheck disable=SC2016  # the fake expands these
  printf '#!/bin/sh\necho "compile with %s" >>"$CALLS"\nwhile [ "$1" != -o ]; do shift; done\nprintf "#!/bin/sh\\necho %s" >"$2"\nchmod +x "$2"\n' \
    "$1" "$1"
}

# A sandbox with the supervisor's source.
new_sandbox_with_source() {
  new_sandbox "$1"
  mkdir -- "$CLONE/api"
  cp -R -- "$ROOT/api/supervisor" "$CLONE/api/supervisor"
}

test_the_supervisor_is_compiled_by_the_systems_compiler_and_again_when_its_source_has_changed() {
  new_sandbox_with_source supervisor
  fake_compiler cc | fake cc
  bring supervisor
  says cc "$("$CLONE/.tools/bin/supervisor")"
  : >"$CALLS"
  bring supervisor
  [[ ! -s $CALLS ]]
  echo >>"$CLONE/api/supervisor/supervisor.c"
  bring supervisor
  says 'compile with cc' "$(<"$CALLS")"
}

test_without_a_compiler_the_supervisor_is_compiled_by_Debians_tcc_on_its_own_libc() {
  new_sandbox_with_source supervisor-tcc
  fake_debian
  fake_compiler tcc >"$FAKES/fake-tcc"
  bring supervisor
  says 'download libc6 tcc musl-dev' "$(grep ' download ' "$CALLS" | tr '\n' ' ')"
  says tcc "$("$CLONE/.tools/bin/supervisor")"
}

test_without_a_compiler_and_apt_there_is_a_sentence_on_what_the_supervisor_needs() {
  new_sandbox_with_source supervisor-none
  says 'install a C compiler' "$(complaint_of bring supervisor)"
}
