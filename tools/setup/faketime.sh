#!/usr/bin/env bash
# libfaketime, with which bin/endurance moves the clocks of programs. Nothing else needs it, so bin/setup does not bring
# it: packages of Debian, unpacked. It is loaded into programs, and needs a libc that is no older than its own:
# - for those of the system, that of Debian 12 (.tools/faketime/libfaketimeMT.so.1)
# - for workerd, whose allocator waits for ever for that one, that of $DEBIAN_SUITE with its libc (.tools/faketime/usr)
set -euo pipefail
TOOL=faketime
# shellcheck source=tools/setup/tool.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/tool.sh"
# shellcheck source=tools/setup/debian.sh
. "$ROOT/tools/setup/debian.sh"

LIBRARY=libfaketimeMT.so.1 # the one for programs with threads

main() {
  ! is_current "$TOOL" || exit 0
  start
  type -P apt-get dpkg-deb >/dev/null ||
    fail "libfaketime is taken from Debian's packages, and there is no apt here."
  say "downloading libfaketime from Debian bookworm and $DEBIAN_SUITE (23 MB, most of it package lists)"
  of_suite bookworm unpack_debian '^libfaketime$' libfaketime
  mv -- "$NEW"/usr/lib/*/faketime/"$LIBRARY" "$NEW/$LIBRARY"
  rm -rf -- "${NEW:?}/usr"
  unpack_debian '^(libfaketime|libc6)$' libfaketime
  rm -rf -- "$NEW"/usr/lib/*/gconv "${NEW:?}/usr/share"
  run "libfaketime moves no clock on this system." tells_the_time_it_is_told env LD_PRELOAD="$NEW/$LIBRARY" date
  place
  stamp_covers "$TOOL" "$PLACE/$LIBRARY"
  finish
}

of_suite() {
  local DEBIAN_SUITE=$1
  "${@:2}"
}

# A library that cannot be loaded is a warning only, and the true time.
tells_the_time_it_is_told() {
  [[ $(FAKETIME='@2001-02-03 04:05:06' "$@" +%Y) == 2001 ]]
}

main
