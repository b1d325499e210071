"""What a run measured (up to a moment, between two moments, in each step of `limits`), and how it is told."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from locust.stats import RequestStats, calculate_response_time_percentile
from rich.console import Group

from loadtest.levels import Goal, Levels, make_goal
from loadtest.tables import describe_goal, format_number, goal_table, new_table

_SETTLING_SECONDS = 2  # after the number of users changed


@dataclass
class ExtraStats:
    """Counts that locust's statistics do not have, of one process or of several merged."""

    oldest_seconds: float | None = None  # age of the oldest generation that was served
    cache_outcomes: Counter[str] = field(default_factory=Counter)  # "hit" or why not, from Cache-Status
    delayed_requests: int = 0  # timed while the load generator itself was late

    def add_age(self, seconds: float) -> None:
        self.oldest_seconds = max(self.oldest_seconds or 0.0, seconds)

    def merge(self, other: "ExtraStats") -> None:
        if other.oldest_seconds is not None:
            self.add_age(other.oldest_seconds)
        self.cache_outcomes.update(other.cache_outcomes)
        self.delayed_requests += other.delayed_requests


class Sample(NamedTuple):
    seconds: float
    users: int
    requests: int
    failures: int
    response_times: Counter[float]  # requests by milliseconds, in locust's buckets
    oldest_seconds: float | None  # age of the oldest generation served since the start of the run
    cache_outcomes: Counter[str]
    delayed_requests: int

    @classmethod
    def take(cls, stats: RequestStats, extra: ExtraStats, users: int) -> "Sample":
        """What was counted since the start of the run."""
        total = stats.total
        seconds = (total.last_request_timestamp or total.start_time) - total.start_time
        times: Counter[float] = Counter(total.response_times)
        counts = (total.num_requests, total.num_failures, times)
        return cls(
            seconds, users, *counts, extra.oldest_seconds, extra.cache_outcomes.copy(), extra.delayed_requests
        )

    def since(self, earlier: "Sample") -> "Sample":
        """What was counted after `earlier`."""
        counted = ("seconds", "requests", "failures", "response_times", "cache_outcomes", "delayed_requests")
        return self._replace(**{name: getattr(self, name) - getattr(earlier, name) for name in counted})

    @property
    def per_second(self) -> float:
        return self.requests / self.seconds if self.seconds > 0 else 0.0

    @property
    def failed_percent(self) -> float:
        return _percent(self.failures, self.requests) or 0.0

    @property
    def delayed_percent(self) -> float:
        """Share of requests that were timed while the load generator was late."""
        return _percent(self.delayed_requests, self.requests) or 0.0

    def evaluate(self, levels: Levels) -> list[Goal]:
        """One goal per level; of the hit ratio only where responses had Cache-Status."""
        measured = {
            "p50_ms": self.percentile_ms(50),
            "p99_ms": self.percentile_ms(99),
            "failed_percent": _percent(self.failures, self.requests),
            "staleness_seconds": self.oldest_seconds,
            "least_hit_percent": _percent(self.cache_outcomes["hit"], self.cache_outcomes.total()),
        }
        goals = [make_goal(name, bound, measured[name]) for name, bound in levels.items()]
        return [goal for goal in goals if goal.reached is not None or not goal.at_least]

    def percentile_ms(self, percent: float) -> float | None:
        """Percentile of the response times in milliseconds; None without requests."""
        times: dict[int, int] = dict(self.response_times)  # type: ignore[arg-type]  # locust's are whole
        return calculate_response_time_percentile(times, self.requests, percent / 100) if times else None


class StepRecorder:
    """Measures the steps of a run, each without the time in which it settled. A step without a response says
    nothing, as when the workers had no processor time, unless it is the last: the origin may hang then."""

    def __init__(self) -> None:
        self.steps: list[Sample] = []  # those that are over
        self._number: int | None = None
        self._started = 0.0
        self._settled: Sample | None = None

    def tick(self, number: int | None, seconds: float, take_sample: Callable[[], Sample]) -> None:
        """Call it about once a second with the number of the current step, None when the run is over."""
        if number != self._number:
            step = None if self._settled is None else take_sample().since(self._settled)
            if step is not None and (step.requests or number is None):
                self.steps.append(step)
            self._number, self._started, self._settled = number, seconds, None
        elif self._settled is None and seconds - self._started >= _SETTLING_SECONDS:
            self._settled = take_sample()


def find_capacity(steps: Sequence[Sample], levels: Levels) -> tuple[Sample | None, Sample | None]:
    """(last_met, first_missed): the first step that missed a level, None when none did, and the step before
    it, None when the first step missed one."""
    last_met = None
    for step in steps:
        if not all(goal.is_met for goal in step.evaluate(levels)):
            return last_met, step
        last_met = step
    return last_met, None


def _percent(count: int, total: int) -> float | None:
    return 100 * count / total if total else None


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
