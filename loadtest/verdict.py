"""The end of a run in words and numbers."""

from collections.abc import Iterable, Sequence

from loadtest.journal import Step
from loadtest.latency import Latencies
from loadtest.service_levels import Judgement, Levels, judge
from loadtest.staircase import find_knee
from loadtest.tally import Tally

_UNDISTURBED_PERCENT = 1.0
_COLUMNS = ("requests", "req/s", "p50 ms", "p95 ms", "p99 ms", "max ms", "failed")


def describe_run(total: Step) -> str:
    """A table of the routes, then the failures by kind."""
    tally = total.tally
    routes = sorted(tally.routes.items())
    lines = [_row("", _COLUMNS)]
    for name, route in routes:
        lines.append(_row(name, _cells(route.latencies, route.failures.total(), total.seconds)))
    lines.append(_row("all", _cells(tally.latencies, tally.failures.total(), total.seconds)))
    return "\n".join([*lines, *_failures(tally), *_cache(tally)])


def describe_levels(judgements: Iterable[Judgement]) -> str:
    return "\n".join(["", "service levels", *(f"  {_describe(judgement)}" for judgement in judgements)])


def conclude(judgements: Sequence[Judgement], total: Step) -> str:
    missed = [judgement for judgement in judgements if not judgement.kept]
    if not missed:
        return f"Verdict: it holds at {total.per_second:,.0f} requests a second."
    return f"Verdict: it does not hold: {len(missed)} of {len(judgements)} service levels missed."


def describe_steps(steps: Sequence[Step], levels: Levels) -> str:
    """The staircase of `limits`, a line a step, and what stopped it."""
    lines = ["", _row("users", ("req/s", "p50 ms", "p99 ms", "failed %", "delayed %"))]
    for step in steps:
        times = step.tally.latencies
        cells = (_round(step.per_second), _ms(times.percentile(50)), _ms(times.percentile(99)))
        failed = f"{step.tally.failed_percent or 0:.2f}"
        lines.append(_row(f"{step.users:,}", (*cells, failed, f"{step.tally.delayed_percent:.0f}")))
    return "\n".join([*lines, "", conclude_limits(steps, levels)])


def conclude_limits(steps: Sequence[Step], levels: Levels) -> str:
    knee = find_knee(list(steps), levels)
    if knee.held is None:
        return "Verdict: the service levels broke at the first step: start lower with --users."
    held = f"Verdict: it holds at {knee.held.per_second:,.0f} requests a second"
    if knee.broke is None:
        return f"{held}, the highest step: --users takes it further."
    missed = [judgement for judgement in judge(knee.broke.tally, levels) if not judgement.kept]
    reasons = "; ".join(_measured(judgement) for judgement in missed)
    if describe_generator(knee.broke.tally) is not None:
        return f"{held}. Above that the load generator itself was late, so it may hold more: {reasons}."
    return f"{held} and breaks at {knee.broke.per_second:,.0f}: {reasons}."


def describe_generator(tally: Tally) -> str | None:
    """Whether the slowest hundredth may be the load generator's doing: None when not."""
    if tally.delayed_percent < _UNDISTURBED_PERCENT:
        return None
    return (
        f"{tally.delayed_percent:.0f} % of the requests were measured while the load generator was late,\n"
        "so the origin is at least as good as these times. For more: --processes (loadtest/README.md)."
    )


def _describe(judgement: Judgement) -> str:
    return f"{'kept  ' if judgement.kept else 'MISSED'}  {_measured(judgement)}"


def _measured(judgement: Judgement) -> str:
    least = "least" if judgement.is_lower_bound else "most"
    bound = f"(at {least} {judgement.bound:g} {judgement.unit})"
    if judgement.measured is None:
        return f"{judgement.label}: nothing was measured {bound}"
    return f"{judgement.label} {_round(judgement.measured)} {judgement.unit} {bound}"


def _failures(tally: Tally) -> list[str]:
    lines = [
        f"{count:9,}  {name}: {kind}"
        for name, route in sorted(tally.routes.items())
        for kind, count in route.failures.most_common()
    ]
    return ["", "failures", *lines] if lines else []


def _cache(tally: Tally) -> list[str]:
    if not tally.cache_answers:
        return []
    others = ", ".join(f"{why} {count:,}" for why, count in tally.cache_answers.most_common() if why != "hit")
    hits = f"{tally.hit_percent:.1f} % of {tally.cache_answers.total():,} answers from the edge's cache"
    return ["", f"{hits} ({others or 'no other'})"]


def _cells(latencies: Latencies, failed: int, seconds: float) -> tuple[str, ...]:
    times = (latencies.percentile(50), latencies.percentile(95), latencies.percentile(99), latencies.max_ms)
    rate = latencies.count / seconds if seconds else 0.0
    return (f"{latencies.count:,}", _round(rate), *(_ms(time) for time in times), f"{failed:,}")


def _row(name: str, cells: Iterable[str]) -> str:
    return f"{name:32}" + "".join(f"{cell:>10}" if len(cell) <= 9 else f"  {cell}" for cell in cells)


def _ms(milliseconds: float | None) -> str:
    return "-" if milliseconds is None else _round(milliseconds)


def _round(number: float) -> str:
    if number >= 100:
        return f"{number:,.0f}"
    return f"{number:.1f}" if number >= 10 else f"{number:.2f}"
