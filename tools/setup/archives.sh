# Packages of npm's registry and of Debian's archive, unpacked without installing them and without root.
# shellcheck shell=bash disable=SC2154  # sourced by `bring`

# Unpacks NAME at VERSION into FOLDER if its hash is the one in npm-hashes.txt. npm fetches it, so that the user's registry,
# proxy and certificate settings apply.
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

KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg

# Reads the archive with a private apt state in $NEW.apt that has $DEBIAN_SUITE only. It uses the system's proxy settings
# and changes nothing of the system. Signatures are checked against Debian's own keyring.
# Unpacks those of PACKAGE… and of all they depend on whose names match PATTERN into $NEW,
# and lists them in $NEW/PACKAGES, with their hashes.
unpack_debian() {
  local pattern=$1 names package
  shift
  open_archive
  names=$(apt_get --simulate install "$@" 2>>"$LOG" | awk '/^Inst / { print $2 }' | grep -E "$pattern") ||
    fail "Debian $DEBIAN_SUITE does not offer $* any more: see tools/README.md on raising the suite."
  mkdir -- "$NEW.apt/packages"
  # shellcheck disable=SC2086  # a list of package names
  run "A package of Debian $DEBIAN_SUITE could not be downloaded: check the network and run bin/setup again." \
    in_folder "$NEW.apt/packages" apt_get download $names
  for package in "$NEW.apt/packages"/*.deb; do
    run "${package##*/} cannot be unpacked: is there space left in $TOOLS?" dpkg-deb --extract "$package" "$NEW"
    in_folder "${package%/*}" sha256sum -- "${package##*/}" >>"$NEW/PACKAGES"
  done
  rm -rf -- "$NEW.apt"
}

in_folder() { (cd -- "$1" && shift && "$@"); }

apt_get() { apt-get -c "$NEW.apt/apt.conf" "$@"; }

# Reads the suite's package lists from the mirror that the system uses, or from Debian's own
# when that mirror does not have the suite.
open_archive() {
  [[ -f $KEYRING ]] ||
    fail "$KEYRING is missing, so nothing from Debian's archive could be trusted: install debian-archive-keyring and run bin/setup again."
  rm -rf -- "$NEW.apt"
  mkdir -p -- "$NEW.apt/lists/partial" "$NEW.apt/cache/archives/partial"
  : >"$NEW.apt/status"
  apt_configuration >"$NEW.apt/apt.conf"
  read_lists "$(mirror debian)" "$(mirror debian-security)" ||
    read_lists http://deb.debian.org/debian http://deb.debian.org/debian-security ||
    fail "The package lists of Debian $DEBIAN_SUITE could not be read: check the network and run bin/setup again."
}

read_lists() {
  archive_sources "$@" >"$NEW.apt/debian.sources"
  apt_get update >>"$LOG" 2>&1
}

# The system's own mirror of ARCHIVE (debian or debian-security), without a trailing slash.
mirror() {
  local found
  # shellcheck disable=SC2016  # apt's placeholders
  found=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
    sed 's|/$||' | grep -m1 "^https\?://.*/$1\$") || found=http://deb.debian.org/$1
  printf '%s\n' "$found"
}

archive_sources() {
  local uri=$1 suites="$DEBIAN_SUITE $DEBIAN_SUITE-updates"
  for uri in "$1" "$2"; do
    printf '%s: %s\n' Types deb URIs "$uri" Suites "$suites" Components main \
      Architectures "$(dpkg --print-architecture)" Signed-By "$KEYRING"
    echo
    suites=$DEBIAN_SUITE-security
  done
}

apt_configuration() {
  cat <<CONFIGURATION
#clear APT::Update;
#clear APT::Default-Release;
Dir::State "$NEW.apt";
Dir::State::Status "$NEW.apt/status";
Dir::Cache "$NEW.apt/cache";
Dir::Etc::SourceList "$NEW.apt/debian.sources";
Dir::Etc::SourceParts "/dev/null";
Dir::Etc::Preferences "/dev/null";
Dir::Etc::PreferencesParts "/dev/null";
APT::Install-Recommends "false";
APT::Sandbox::User "";
APT::Update::Error-Mode "any";
Acquire::Retries "3";
Acquire::Languages "none";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
CONFIGURATION
}
