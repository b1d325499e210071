#!/usr/bin/env bash
# Prometheus, promtool, node_exporter and blackbox_exporter for the tests of ops/, which nothing else needs, so bin/setup
# does not bring them: the packages of Debian $DEBIAN_SUITE, unpacked. What the tests find then is what that Debian runs.
set -euo pipefail
TOOL=prometheus
# shellcheck source=tools/setup/tool.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/tool.sh"
# shellcheck source=tools/setup/debian.sh
. "$ROOT/tools/setup/debian.sh"

PROGRAMS='prometheus promtool prometheus-node-exporter prometheus-blackbox-exporter'

main() {
  wait_for_other_installations
  ! is_current "$TOOL" || exit 0
  start
  type -P apt-get dpkg-deb >/dev/null ||
    fail "Prometheus is taken from Debian's packages, and there is no apt here."
  say "downloading Prometheus from Debian $DEBIAN_SUITE (40 MB)"
  unpack_debian '^prom' prometheus promtool prometheus-node-exporter prometheus-blackbox-exporter
  run "The Prometheus of Debian $DEBIAN_SUITE does not start on this system." "$NEW/usr/bin/promtool" --version
  place
  for program in $PROGRAMS; do
    link "$program" "$PLACE/usr/bin/$program"
  done
  finish
}

# Suites that need it run side by side.
wait_for_other_installations() {
  mkdir -p -- "$TOOLS"
  type -P flock >/dev/null || return 0
  exec 9>>"$TOOLS/prometheus.lock"
  flock -w 900 9 || fail "Another installation of Prometheus has been running for 15 minutes: end it and try again."
}

main
