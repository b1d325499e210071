"""The common scenarios as tables."""

from collections.abc import Mapping, Sequence

from bench.measure import Sample
from bench.scenarios import Scenario
from bench.section import Goal, Section
from bench.summary import cpu_ratio, figures
from bench.targets import FLOOR, ORIGIN

_HEADER = (
    *(
        "CPU us",
        "+- %",
        "x nginx",
        "x ours",
        "req/s",
        "p50 ms",
        "p95 ms",
        "p99 ms",
        "max ms",
        "RSS MB",
        "errors",
    ),
)

# What issue "The origin" asks of each: CPU per request of the origin, at most this many times nginx's.
_MOST_TIMES_NGINX = {"plain": 1.05, "compressed": 1.05, "unchanged": 1.25, "mix": 1.15}
_LEAST_TIMES_CHEAPER = 8.0  # than a query and JSON per request in Bun


def describe_scenario(scenario: Scenario, rounds: Mapping[str, Sequence[Sample]]) -> Section:
    section = Section(scenario.name, scenario.title, _HEADER)
    for target, samples in rounds.items():
        section.rows.append((target, _row(target, samples, rounds)))
    section.goals = _goals(scenario, rounds)
    return section


def _row(
    target: str, samples: Sequence[Sample], rounds: Mapping[str, Sequence[Sample]]
) -> tuple[float | None, ...]:
    found = figures(samples)
    to_floor, to_ours = cpu_ratio(rounds, target, FLOOR), cpu_ratio(rounds, target, ORIGIN)
    cpu = found["cpu_us"]
    return (
        cpu.median,
        cpu.spread_percent,
        None if to_floor is None else to_floor.median,
        None if to_ours is None else to_ours.median,
        *(found[name].median for name in ("per_second", "p50_ms", "p95_ms", "p99_ms", "max_ms", "rss_mb")),
        sum(sample.errors for sample in samples),
    )


def _goals(scenario: Scenario, rounds: Mapping[str, Sequence[Sample]]) -> list[Goal]:
    to_floor = cpu_ratio(rounds, ORIGIN, FLOOR)
    reached = None if to_floor is None else to_floor.median
    goals = [Goal(f"CPU, {scenario.title}", reached, _MOST_TIMES_NGINX[scenario.name], "x nginx")]
    if scenario.name == "plain":
        cheaper = cpu_ratio(rounds, "Bun", ORIGIN)
        times = None if cheaper is None else cheaper.median
        what = "CPU of a query and JSON per request in Bun"
        goals.append(Goal(what, times, _LEAST_TIMES_CHEAPER, "x ours", at_least=True))
    return goals
