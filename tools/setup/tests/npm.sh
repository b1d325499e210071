# Bun and Node: the system's or npm's.
# shellcheck shell=bash

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
