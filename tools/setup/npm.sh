# Fetches single packages from npm's registry through npm itself, so that the user's
# registry, proxy and certificate settings apply.
# shellcheck shell=bash

# Unpacks NAME at VERSION into FOLDER if its hash is the one in npm-hashes.txt.
unpack_npm() {
  local name=$1 version=$2 folder=$3 tarball
  type -P npm >/dev/null ||
    fail "Fetching $name needs npm: install Node.js 18 or newer with npm (on Debian: apt-get install npm) and run bin/setup again."
  # npm needs a cache; a user without a home folder gets a temporary one.
  [[ -w ${HOME:-/nowhere} ]] || export npm_config_cache=$NEW.npm
  mkdir -p -- "$folder"
  run "npm could not fetch $name@$version: check the network and at \`npm config get registry\`, then run bin/setup again." \
    npm pack --pack-destination "$folder" -- "$name@$version"
  tarball=$(echo "$folder"/*.tgz)
  [[ $(sha512 "$tarball") == "$(pinned_sha512 "$name" "$version")" ]] ||
    fail "$name@$version is not what tools/setup/npm-hashes.txt expects: if the version was just raised, update the hash as tools/README.md says; otherwise the registry serves another file than before."
  run "$name@$version cannot be unpacked: is there space left in $TOOLS?" \
    tar -xzf "$tarball" --strip-components=1 -C "$folder"
  rm -rf -- "$tarball" "$NEW.npm"
}

# In the form npm uses, base64.
sha512() {
  node -p 'require("crypto").createHash("sha512").update(require("fs").readFileSync(process.argv[1])).digest("base64")' "$1"
}

pinned_sha512() {
  awk -v name="$1" -v version="$2" '$1 == name && $2 == version { sub("sha512-", "", $3); print $3 }' \
    "$ROOT/tools/setup/npm-hashes.txt"
}
