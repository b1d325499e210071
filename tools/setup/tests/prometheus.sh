# What tools/setup/prometheus.sh promises.
# shellcheck shell=bash

prometheus() {
  env -i PATH="$FAKES:$SYSTEM" HOME="$SCRATCH" CALLS="$CALLS" UNREACHABLE="${UNREACHABLE-}" "$CLONE/tools/setup/prometheus.sh"
}

complaint_of_prometheus() {
  local said
  if said=$(prometheus 2>&1); then return 1; fi
  printf '%s\n' "$said"
}

test_Prometheus_and_its_exporters_come_from_Debian_once() {
  new_sandbox prometheus
  fake_debian
  prometheus
  says 'promtool' "$(grep ' download ' "$CALLS")"
  says 'fake promtool' "$("$CLONE/.tools/bin/promtool" --version)"
  : >"$CALLS"
  prometheus
  [[ ! -s $CALLS ]]
}

test_without_apt_there_is_a_sentence_on_why_there_is_no_Prometheus() {
  new_sandbox prometheus-macos
  says "there is no apt here" "$(complaint_of_prometheus)"
  absent "$CLONE/.tools/bin/promtool"
}

test_a_Prometheus_that_cannot_be_downloaded_ends_in_a_sentence() {
  new_sandbox prometheus-offline
  fake_debian
  says 'could not be read: check the network' "$(UNREACHABLE=. complaint_of_prometheus)"
  absent "$CLONE/.tools/bin/promtool"
}
