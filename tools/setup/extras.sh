# What single programs and tests need, so bin/setup does not bring it: they call `tools/setup/bring`.
# shellcheck shell=bash disable=SC2154  # sourced by `bring`

# Fails with a sentence that begins with REASON where packages of Debian cannot be unpacked.
need_apt() { type -P apt-get dpkg-deb >/dev/null || fail "$1"; }

# wrk and nginx, for bin/bench: the system's where it has them, else the packages of Debian $DEBIAN_SUITE, run on their
# own libc as PHP is.
bring_bench() {
  local missing=()
  PATH=$PATH:/usr/sbin:/sbin
  want wrk
  want nginx
  [[ ${#missing[@]} -eq 0 ]] || install_missing
  place
}

# Links the system's program, or notes its package, which has the same name, as missing.
want() {
  if first_on_path "$1" is_there; then
    say "using $FOUND"
    link "$1" "$FOUND"
  else
    missing+=("$1")
  fi
}

is_there() { [[ $1 != "$TOOLS/"* ]]; }

install_missing() {
  need_apt "Without apt these cannot be fetched privately: install ${missing[*]} and run bin/bench again."
  say "downloading ${missing[*]} from Debian $DEBIAN_SUITE"
  unpack_debian '^(lib|nginx$|wrk$|zlib1g$|openssl-provider)' "${missing[@]}"
  local program
  for program in "${missing[@]}"; do
    on_its_own_libc "$(cd -- "$NEW" && echo usr/*bin/"$program")" | wrap "$program"
  done
}

on_its_own_libc() {
  local folder
  folder=$(cd -- "$NEW"/usr/lib/*-linux-gnu && pwd)
  folder=$PLACE${folder#"$NEW"}
  printf 'exec %s --inhibit-cache --library-path %s %s "$@"\n' \
    "$(in_checkout "$folder/$(basename -- "$NEW"/usr/lib/*-linux-gnu/ld-linux-*.so.*)")" "$(in_checkout "$folder")" \
    "$(in_checkout "$PLACE/$1")"
}

# libfaketime, with which bin/endurance moves the clocks of programs. It is loaded into programs, and needs a libc that is
# no older than its own:
# - for those of the system, that of Debian 12 (.tools/faketime/libfaketimeMT.so.1)
# - for workerd, whose allocator waits for ever for that one, that of $DEBIAN_SUITE with its libc (.tools/faketime/usr)
bring_faketime() {
  local library=libfaketimeMT.so.1 # the one for programs with threads
  need_apt "libfaketime is taken from Debian's packages, and there is no apt here."
  say "downloading libfaketime from Debian bookworm and $DEBIAN_SUITE (23 MB, most of it package lists)"
  of_suite bookworm unpack_debian '^libfaketime$' libfaketime
  mv -- "$NEW"/usr/lib/*/faketime/"$library" "$NEW/$library"
  rm -rf -- "${NEW:?}/usr"
  unpack_debian '^(libfaketime|libc6)$' libfaketime
  rm -rf -- "$NEW"/usr/lib/*/gconv "${NEW:?}/usr/share"
  run "libfaketime moves no clock on this system." tells_the_time_it_is_told env LD_PRELOAD="$NEW/$library" date
  place
  stamp_covers "$TOOL" "$PLACE/$library"
}

of_suite() {
  local DEBIAN_SUITE=$1
  "${@:2}"
}

# A library that cannot be loaded is a warning only, and the true time.
tells_the_time_it_is_told() {
  [[ $(FAKETIME='@2001-02-03 04:05:06' "$@" +%Y) == 2001 ]]
}

# Prometheus, promtool, node_exporter and blackbox_exporter for the tests of ops/: what that Debian runs.
bring_prometheus() {
  local program programs='prometheus promtool prometheus-node-exporter prometheus-blackbox-exporter'
  need_apt "Prometheus is taken from Debian's packages, and there is no apt here."
  say "downloading Prometheus from Debian $DEBIAN_SUITE (40 MB)"
  # shellcheck disable=SC2086  # the packages have the programs' names
  unpack_debian '^prom' $programs
  run "The Prometheus of Debian $DEBIAN_SUITE does not start on this system." "$NEW/usr/bin/promtool" --version
  place
  for program in $programs; do
    link "$program" "$PLACE/usr/bin/$program"
  done
}

# versitygw, an S3 server for the tests of publishing and following: built from its module, as pinned in
# tools/setup/versitygw, by the system's Go, else by that of Debian $DEBIAN_SUITE. Either fetches the Go that the module
# asks for by itself when it is older.
bring_versitygw() {
  local go
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
}

# From 1.21 on, Go fetches a newer one.
is_usable_go() { at_least "$("$1" env GOVERSION 2>/dev/null | sed 's/^go//')" 1.21; }

install_go() {
  need_apt "versitygw is built with Go, and there is none: install Go 1.21 or newer, and try again."
  say "downloading Go from Debian $DEBIAN_SUITE (70 MB)"
  unpack_debian '^golang-' golang-go
  go=$(echo "$NEW"/usr/lib/go-*/bin/go)
}

# go.sum has the hash of every module: a registry cannot change one. A user without a home folder gets temporary caches.
build() {
  [[ -w ${HOME:-/nowhere} ]] || export GOPATH=$NEW.go GOCACHE=$NEW.go-cache
  CGO_ENABLED=0 GOTOOLCHAIN=auto GOFLAGS=-modcacherw GOWORK=off \
    run "versitygw cannot be built: Go reaches no module proxy, or there is no space left (2 GB); $LOG says which." \
    "$go" build -C "$ROOT/tools/setup/versitygw" -mod=readonly -trimpath -ldflags='-s -w' -o "$1" \
    github.com/versity/versitygw/cmd/versitygw
  rm -rf -- "$NEW".go "$NEW".go-cache
}
