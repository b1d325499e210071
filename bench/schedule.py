"""Which scenarios run with which servers, how often and how long."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bench.environment import BenchEnvironment
from bench.measurement import Rounds
from bench.options import SCENARIOS
from bench.progress import progress
from bench.result import ScenarioResult
from bench.scenarios import scaling
from bench.scenarios.edge import measure_edge
from bench.scenarios.flood import measure_flood
from bench.scenarios.pages import PAGES, measure_pages
from bench.scenarios.publishing import measure_publishing, measure_visibility
from bench.servers import NGINX, NGINX_COPYING, ORIGIN, SERVERS


@dataclass(frozen=True)
class ScheduledScenario:
    measure: Callable[[BenchEnvironment, Rounds], ScenarioResult]
    servers: tuple[str, ...]
    rounds: Rounds


PAGE_ROUNDS = Rounds(8, 2)

# The flood requests pages of the database's first generation: it runs before those that publish more.
SCHEDULE = {
    "start": ScheduledScenario(scaling.measure_starts, tuple(SERVERS), Rounds(15, 0)),
    "memory": ScheduledScenario(scaling.measure_memory, (ORIGIN,), Rounds(1, 2)),
    "flood": ScheduledScenario(measure_flood, (ORIGIN,), Rounds(3, 4)),
    "connections": ScheduledScenario(scaling.measure_connections, (ORIGIN, NGINX), Rounds(1, 8)),
    "workers": ScheduledScenario(scaling.measure_workers, (ORIGIN,), Rounds(1, 5)),
    "publishing": ScheduledScenario(measure_publishing, (ORIGIN,), Rounds(3, 8)),
    "visible": ScheduledScenario(measure_visibility, (ORIGIN,), Rounds(10, 0)),
    "growth": ScheduledScenario(scaling.measure_growth, (ORIGIN, "Bun"), Rounds(1, 4)),
    "edge": ScheduledScenario(measure_edge, (), Rounds(3, 0)),
}


def servers_of(scenarios: Sequence[str], *, quick: bool) -> set[str]:
    """The names of the servers that these scenarios measure."""
    names = {ORIGIN}.union(*((PAGES.get(name) or SCHEDULE[name]).servers for name in scenarios))
    return names - {NGINX_COPYING} if quick else names


def measure_scenarios(
    scenarios: Sequence[str], bench: BenchEnvironment, *, quick: bool
) -> list[ScenarioResult]:
    pages = [name for name in scenarios if name in PAGES]
    results = measure_pages(bench, pages, PAGE_ROUNDS.shortened(quick=quick)) if pages else []
    for name in scenarios:
        if name in SCHEDULE:
            progress.log(f"{name}: {SCENARIOS[name]}")
            scenario = SCHEDULE[name]
            results.append(scenario.measure(bench, scenario.rounds.shortened(quick=quick)))
    return results
