# The npm packages of the workspaces.
# shellcheck shell=bash disable=SC2153

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
