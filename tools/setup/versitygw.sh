#!/usr/bin/env bash
# versitygw, an S3 server for the tests of publishing and following, which nothing else needs, so bin/setup does not
# bring it: built from its module, as pinned in tools/setup/versitygw, by the system's Go, else by that of Debian
# $DEBIAN_SUITE. Either fetches the Go that the module asks for by itself when it is older.
set -euo pipefail
TOOL=versitygw
# shellcheck source=tools/setup/tool.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/tool.sh"
# shellcheck source=tools/setup/debian.sh
. "$ROOT/tools/setup/debian.sh"

GO_MINIMUM=1.21 # the first that fetches a newer one

main() {
  wait_for_other_builds
  ! is_current "$TOOL" || exit 0
  start
  if first_on_path go is_usable_go; then
    go=$FOUND
  else
    install_go
  fi
  say "building versitygw with $go (minutes the first time, seconds after that)"
  build "$NEW/versitygw"
  run "The versitygw that was built does not start." "$NEW/versitygw" --version
  rm -rf -- "${NEW:?}/usr"
  place
  link versitygw "$PLACE/versitygw"
  finish
}

# Suites that need it run side by side.
wait_for_other_builds() {
  mkdir -p -- "$TOOLS"
  type -P flock >/dev/null || return 0
  exec 9>>"$TOOLS/versitygw.lock"
  flock -w 900 9 || fail "Another build of versitygw has been running for 15 minutes: end it and try again."
}

is_usable_go() { at_least "$("$1" env GOVERSION 2>/dev/null | sed 's/^go//')" "$GO_MINIMUM"; }

install_go() {
  type -P apt-get dpkg-deb >/dev/null ||
    fail "versitygw is built with Go, and there is none: install Go $GO_MINIMUM or newer, and try again."
  say "downloading Go from Debian $DEBIAN_SUITE (70 MB)"
  unpack_debian '^golang-' golang-go
  go=$(echo "$NEW"/usr/lib/go-*/bin/go)
}

# go.sum has the hash of every module: a registry cannot change one. A user without a home folder gets temporary caches.
build() {
  [[ -w ${HOME:-/nowhere} ]] || export GOPATH=$NEW.go GOCACHE=$NEW.go-cache
  run "versitygw cannot be built: Go reaches no module proxy, or there is no space left (2 GB); $LOG says which." \
    env CGO_ENABLED=0 GOTOOLCHAIN=auto GOFLAGS=-modcacherw GOWORK=off \
    "$go" build -C "$ROOT/tools/setup/versitygw" -mod=readonly -trimpath -ldflags='-s -w' -o "$1" \
    github.com/versity/versitygw/cmd/versitygw
  rm -rf -- "$NEW".go "$NEW".go-cache
}

main
