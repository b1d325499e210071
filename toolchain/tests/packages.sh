# The npm packages of the workspaces.
# shellcheck shell=bash disable=SC2153

test_packages_are_installed_as_the_lock_says_after_Bun_is_there() {
  new_sandbox packages
  : >"$CLONE/bun.lock"
  setup bun packages
  says 'bun install --frozen-lockfile' "$(tail -n 1 "$CALLS")"
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
