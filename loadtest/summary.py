"""The result of a run, as it is printed."""

from collections.abc import Sequence

from rich.console import Group

from loadtest.goal import Goal
from loadtest.samples import Sample, find_capacity
from loadtest.service_levels import Levels
from loadtest.tables import describe_goal, format_number, goal_table, new_table

_LATE_PERCENT = 1.0  # of the requests: from here on p99 may be the load generator's


def describe_levels(goals: Sequence[Goal], total: Sample) -> Group:
    """A line per service level, and the verdict."""
    missed = sum(not goal.is_met for goal in goals)
    verdict = f"all service levels are met at {total.per_second:,.0f} requests a second."
    if missed:
        verdict = f"{missed} of {len(goals)} service levels are missed."
    outcomes = ", ".join(f"{outcome} {count:,}" for outcome, count in total.cache_outcomes.most_common())
    cache = [f"Cache-Status: {outcomes}", ""] if outcomes else []
    return Group(*cache, "Service levels", goal_table(goals), "", f"Verdict: {verdict}")


def describe_steps(steps: Sequence[Sample], levels: Levels) -> Group:
    """The steps of `limits`, a line each, and the verdict."""
    table = new_table("users", "req/s", "p50 ms", "p99 ms", "failed %", "delayed %")
    for step in steps:
        times = (step.per_second, step.percentile_ms(50), step.percentile_ms(99))
        figures = map(format_number, (*times, step.failed_percent, step.delayed_percent))
        table.add_row(f"{step.users:,}", *figures)
    return Group(table, "", f"Verdict: {describe_capacity(steps, levels)}")


def describe_capacity(steps: Sequence[Sample], levels: Levels) -> str:
    """The largest rate at which the levels are met, and what is missed above it."""
    last_met, first_missed = find_capacity(steps, levels)
    if last_met is None:
        return "service levels are missed at the first step: start with fewer --users."
    rate = f"all service levels are met at {last_met.per_second:,.0f} requests a second"
    if first_missed is None:
        return f"{rate}, the highest step: start with more --users to find the limit."
    missed = [describe_goal(goal) for goal in first_missed.evaluate(levels) if not goal.is_met]
    reasons = "; ".join(missed)
    if first_missed.delayed_percent >= _LATE_PERCENT:
        return f"{rate}, perhaps at more: above that the load generator itself was late. Missed: {reasons}."
    return f"{rate}. Missed at {first_missed.per_second:,.0f}: {reasons}."


def describe_caveats(total: Sample, *, has_public_keys: bool) -> str:
    """What weakens the result; empty when nothing does."""
    text = ""
    if total.delayed_percent >= _LATE_PERCENT:
        text += (
            f"\n{total.delayed_percent:.0f} % of the requests were timed while the load generator was late,\n"
            "so the origin is at least as good as these times. More --processes may help.\n"
        )
    if not has_public_keys:
        text += "\nNo public keys could be read: of tokens only the claims were checked, no signatures.\n"
    return text
