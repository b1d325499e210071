"""The result of a run as text."""

from collections.abc import Sequence

from loadtest.samples import Sample, find_capacity
from loadtest.service_levels import LevelResult, Levels

_LATE_PERCENT = 1.0  # of the requests: from here on p99 may be the load generator's


def describe_levels(results: Sequence[LevelResult], total: Sample) -> str:
    lines = [f"  {'kept  ' if result.kept else 'MISSED'}  {result.describe()}" for result in results]
    missed = sum(not result.kept for result in results)
    verdict = f"it holds at {total.per_second:,.0f} requests a second."
    if missed:
        verdict = f"it does not hold: {missed} of {len(results)} service levels missed."
    outcomes = ", ".join(f"{outcome} {count:,}" for outcome, count in total.cache_outcomes.most_common())
    cache = [f"Cache-Status: {outcomes}", ""] if outcomes else []
    return "\n".join([*cache, "Service levels", *lines, "", f"Verdict: {verdict}"])


def describe_steps(steps: Sequence[Sample], levels: Levels) -> str:
    """The steps of `limits`, a line each, and at which rate a service level broke."""
    lines = [_row("users", "req/s", "p50 ms", "p99 ms", "failed %", "delayed %")]
    for step in steps:
        times = (step.per_second, step.percentile_ms(50), step.percentile_ms(99))
        lines.append(_row(f"{step.users:,}", *times, step.failed_percent, step.delayed_percent))
    return "\n".join([*lines, "", f"Verdict: {describe_capacity(steps, levels)}"])


def describe_capacity(steps: Sequence[Sample], levels: Levels) -> str:
    held, broke = find_capacity(steps, levels)
    if held is None:
        return "the service levels broke at the first step: start lower with --users."
    rate = f"it holds at {held.per_second:,.0f} requests a second"
    if broke is None:
        return f"{rate}, the highest step: --users takes it further."
    reasons = "; ".join(result.describe() for result in broke.evaluate(levels) if not result.kept)
    if broke.delayed_percent >= _LATE_PERCENT:
        return f"{rate}. Above that the load generator itself was late, so it may hold more: {reasons}."
    return f"{rate} and breaks at {broke.per_second:,.0f}: {reasons}."


def describe_caveats(total: Sample, *, has_token_keys: bool) -> str:
    """What weakens the result, empty when nothing does."""
    text = ""
    if total.delayed_percent >= _LATE_PERCENT:
        text += (
            f"\n{total.delayed_percent:.0f} % of the requests were timed while the load generator was late,\n"
            "so the origin is at least as good as these times. More --processes may help.\n"
        )
    if not has_token_keys:
        text += "\nWithout TOKEN_KEYS the signatures of the tokens were not verified, only their claims.\n"
    return text


def _row(*cells: str | float | None) -> str:
    texts = (cell if isinstance(cell, str) else "-" if cell is None else f"{cell:,.2f}" for cell in cells)
    return "".join(f"{text:>10}" for text in texts)
