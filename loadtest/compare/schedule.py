"""Which scenarios run with which servers, how often and how long."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from loadtest.compare.environment import BenchEnvironment
from loadtest.compare.errors import FAILURES
from loadtest.compare.measurement import Rounds
from loadtest.compare.options import TITLES
from loadtest.compare.progress import progress
from loadtest.compare.result import ScenarioResult
from loadtest.compare.scenarios import scaling
from loadtest.compare.scenarios.edge import measure_edge
from loadtest.compare.scenarios.flood import measure_flood
from loadtest.compare.scenarios.pages import PAGES, measure_pages
from loadtest.compare.scenarios.publishing import measure_publishing, measure_visibility
from loadtest.compare.scenarios.seeds import TABLES, measure_seeds
from loadtest.compare.scenarios.stores import measure_follower, measure_originless
from loadtest.compare.scenarios.writer import measure_writer
from loadtest.compare.servers import NGINX, NGINX_COPYING, ORIGIN, PEERS
from loadtest.goal import Goal


@dataclass(frozen=True)
class ScheduledScenario:
    measure: Callable[[BenchEnvironment, Rounds], ScenarioResult]
    servers: tuple[str, ...]
    rounds: Rounds


PAGE_ROUNDS = Rounds(8, 2)

# The flood requests pages of the database's first generation: it runs before those that publish more.
SCHEDULE = {
    "start": ScheduledScenario(scaling.measure_starts, (ORIGIN, NGINX, *PEERS), Rounds(15, 0)),
    "memory": ScheduledScenario(scaling.measure_memory, (ORIGIN,), Rounds(1, 2)),
    "flood": ScheduledScenario(measure_flood, (ORIGIN,), Rounds(3, 4)),
    "connections": ScheduledScenario(
        scaling.measure_connections, (ORIGIN, NGINX), Rounds(1, 8, quick_seconds=5)
    ),
    "workers": ScheduledScenario(scaling.measure_workers, (ORIGIN,), Rounds(1, 5)),
    "publishing": ScheduledScenario(measure_publishing, (ORIGIN,), Rounds(3, 8)),
    "visible": ScheduledScenario(measure_visibility, (ORIGIN,), Rounds(50, 0)),
    "growth": ScheduledScenario(scaling.measure_growth, (ORIGIN, "Bun"), Rounds(1, 4)),
    "edge": ScheduledScenario(measure_edge, (), Rounds(3, 0)),
    "writer": ScheduledScenario(measure_writer, (), Rounds(5, 0)),
    "follower": ScheduledScenario(measure_follower, (), Rounds(20, 0)),
    "originless": ScheduledScenario(measure_originless, (), Rounds(4, 0)),
}
_SEED_ROUNDS = {"nextpress": Rounds(5, 4), "encore": Rounds(5, 3), "xypriss": Rounds(3, 5, quick_seconds=5)}
_SEED_ROUNDS |= {"bulk": Rounds(3, 5), "viralvidvault": Rounds(3, 20)}
SCHEDULE |= {
    name: ScheduledScenario(partial(measure_seeds, name), table.servers, _SEED_ROUNDS[name])
    for name, table in TABLES.items()
}
_MOST_WORKER_MB = 60


def servers_of(scenarios: Sequence[str], *, quick: bool) -> set[str]:
    """The names of the servers that these scenarios measure."""
    names = {ORIGIN}.union(*((PAGES.get(name) or SCHEDULE[name]).servers for name in scenarios))
    return names - {NGINX_COPYING} if quick else names


def measure_scenarios(
    scenarios: Sequence[str], bench: BenchEnvironment, *, quick: bool
) -> list[ScenarioResult]:
    """One that fails is a missed goal with the reason: it does not end the run."""
    pages = [name for name in scenarios if name in PAGES]
    results: list[ScenarioResult] = []
    if pages:
        rounds = PAGE_ROUNDS.shortened(quick=quick)
        results += _measured(bench, pages, lambda: measure_pages(bench, pages, rounds))
    others = [name for name in scenarios if name in SCHEDULE]
    for number, name in enumerate(others):
        progress.log(f"part {number + 1} of {len(others)}, {name}: {TITLES[name]}")
        results += _measured(bench, [name], partial(_measure, SCHEDULE[name], bench, quick=quick))
    return results


def _measure(scenario: ScheduledScenario, bench: BenchEnvironment, *, quick: bool) -> list[ScenarioResult]:
    return [scenario.measure(bench, scenario.rounds.shortened(quick=quick))]


def _measured(
    bench: BenchEnvironment, names: Sequence[str], measure: Callable[[], list[ScenarioResult]]
) -> list[ScenarioResult]:
    bench.worker_mb.clear()
    try:
        results = measure()
    except FAILURES as reason:
        progress.log(f"{', '.join(names)}: {reason}")
        results = [_failed(name, str(reason)) for name in names]
    if bench.worker_mb:
        what = f"memory of a worker, {', '.join(names)}"
        results[-1].goals.append(Goal(what, max(bench.worker_mb), _MOST_WORKER_MB, "MB"))
    return results


def _failed(name: str, reason: str) -> ScenarioResult:
    result = ScenarioResult(name, (), notes=[f"not measured: {reason}"])
    result.goals.append(Goal(result.title, None, 0, ""))
    return result
