"""How long to measure what."""

from collections.abc import Callable
from dataclasses import dataclass

from bench.bench import Bench, all_running, interleave
from bench.parts.crowd import measure_crowd, measure_workers
from bench.parts.endurance import measure_flood, measure_memory
from bench.parts.growth import measure_growth
from bench.parts.publishing import measure_publishing, measure_visibility
from bench.parts.starts import measure_starts
from bench.scenario_section import describe_scenario
from bench.scenarios import common_scenarios
from bench.section import Section


@dataclass(frozen=True)
class Plan:
    mode: str
    rounds: int
    seconds: int
    with_copying_floor: bool
    parts: tuple[Callable[[Bench], Section], ...]


# The flood asks for pages of the database's first generation: it comes before those that publish more.
FULL = Plan(
    "full",
    rounds=8,
    seconds=2,
    with_copying_floor=True,
    parts=(
        lambda bench: measure_starts(bench, 15),
        measure_memory,
        lambda bench: measure_flood(bench, 4, 3),
        lambda bench: measure_crowd(bench, 8),
        lambda bench: measure_workers(bench, 5),
        lambda bench: measure_publishing(bench, 8, 3),
        lambda bench: measure_visibility(bench, 10),
        lambda bench: measure_growth(bench, 4),
    ),
)
QUICK = Plan("quick", 3, 1, with_copying_floor=False, parts=(lambda bench: measure_starts(bench, 3),))


def carry_out(plan: Plan, bench: Bench) -> list[Section]:
    scenarios = common_scenarios(bench.mix, with_copying_floor=plan.with_copying_floor)
    names = {name for scenario in scenarios for name in scenario.targets}
    with all_running(bench, sorted(names)) as servers:
        samples = interleave(scenarios, servers, rounds=plan.rounds, seconds=plan.seconds, cores=bench.cores)
    sections = [describe_scenario(scenario, samples[scenario.name]) for scenario in scenarios]
    return sections + [part(bench) for part in plan.parts]
