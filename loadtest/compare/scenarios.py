"""The scenarios of the origin by itself and of publishing; and which run with which servers, how
often and how long."""

import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import median

from loadtest.compare.environment import (
    BenchEnvironment,
    copy_database,
    writer_environment,
)
from loadtest.compare.flood import FLOODED, measure_flood, write_flood
from loadtest.compare.machine import (
    FAILURES,
    available_cores,
    divide_cores,
    on_cores,
    progress,
)
from loadtest.compare.options import SCENARIOS
from loadtest.compare.pages import PAGES, measure_pages
from loadtest.compare.results import (
    COLUMNS,
    Measurement,
    Rounds,
    ScenarioResult,
    cells,
    goal_of,
    median_of,
    ratios,
    spread_percent,
    with_median_p99,
)
from loadtest.compare.running import DEFAULT_PAGE, Load, RunningServer, drive
from loadtest.compare.servers import NGINX, ORIGIN, RUNTIMES, SOCKET
from loadtest.compare.writer import measure_writer
from loadtest.levels import Goal
from loadtest.processes import publishing, run_writer

_MOST_START_MS = 25
_STARTED = (ORIGIN, NGINX, SOCKET, *RUNTIMES)
_CONNECTIONS = 5000
_WORKERS = 2
_READ_SECONDS = 15  # until the origin has read all of a database, and the process that did it has ended
_MIX_SECONDS, _FLOOD_SECONDS, _QUIET_SECONDS = 15, 4, 300
_MOST_MB = {"idle": 45, "after a million requests": 71, "after a flood": 71, "five minutes later": 50}


def measure_starts(bench: BenchEnvironment, rounds: Rounds) -> ScenarioResult:
    """From starting the process to the last byte of the first 200, with 50,000 videos."""
    result = ScenarioResult("start", ("ms", "+- %"))
    measured = {
        name: [_start_ms(bench, name) for _ in range(rounds.count)] for name in bench.available(_STARTED)
    }
    result.rows = [(name, (median(times), spread_percent(times))) for name, times in measured.items()]
    floor = median_of(measured.get(SOCKET, ()))
    result.goals = [goal_of(result.title, measured[ORIGIN], _MOST_START_MS, "ms", floor=floor)]
    return result


def _start_ms(bench: BenchEnvironment, name: str) -> float:
    with bench.started(name) as server:
        return server.start_ms


def measure_connections(bench: BenchEnvironment, rounds: Rounds) -> ScenarioResult:
    """Five thousand keep-alive connections, two workers."""
    bench = replace(bench, cores=divide_cores(available_cores(), _WORKERS))
    load, result = Load(connections=_CONNECTIONS), ScenarioResult("connections", COLUMNS)
    for name in bench.available((ORIGIN, NGINX)):
        measurement = bench.measure_alone(name, load, rounds.seconds, workers=_WORKERS)
        result.rows.append((name, cells(measurement)))
        if name == ORIGIN:
            result.goals.append(Goal("errors at 5,000 connections", measurement["errors"], 0, ""))
    return result


def measure_memory(bench: BenchEnvironment, _rounds: Rounds) -> ScenarioResult:
    """PSS of all processes: idle, of the origin also after a million requests of the mix, after a flood of
    exports and further pages, and five minutes later."""
    result = ScenarioResult("memory", ("idle MB", "after mix MB", "after flood MB", "five minutes later MB"))
    for name in bench.available(FLOODED):
        with bench.started(name) as server:
            time.sleep(_READ_SECONDS if name == ORIGIN else 1)
            found = [server.pss_mb()]
            if name == ORIGIN:
                fields, driver = server.fields(), bench.cores.driver
                drive(server.url, Load(headers=fields, mix=bench.mix), _MIX_SECONDS, driver)
                found.append(server.pss_mb())
                for kind in ("exports", "pages, br"):
                    flood = write_flood(bench, kind, 1, 0)
                    drive(server.url, Load(headers=fields, mix=flood, connections=4), _FLOOD_SECONDS, driver)
                found.append(server.pss_mb())
                time.sleep(_QUIET_SECONDS)
                found.append(server.pss_mb())
            result.rows.append((name, tuple([*found, None, None, None][:4])))
    of = dict(result.rows)
    result.goals = [
        Goal(f"memory, {when}", reached, bound, "MB", floor=of.get("Bun", (None,))[0])
        for (when, bound), reached in zip(_MOST_MB.items(), of[ORIGIN], strict=True)
    ]
    return result


_INTERVAL_SECONDS = 1
_PUBLISHING_WORKERS = 2
_MOST_TIMES_P99 = 1.2
_MOST_VISIBLE_MS = 100
_DATABASE_POLL_SECONDS = 0.002
_IN_A_ROW = 8  # new answers over new connections: then every worker has it, but for one case in 128


def measure_publishing(bench: BenchEnvironment, rounds: Rounds) -> ScenarioResult:
    """A generation a second, into the origin's database or, for comparison, into a copy of it."""
    elsewhere = bench.folder / "elsewhere.db"
    copy_database(bench.database, elsewhere)
    measured: dict[Path, list[Measurement]] = {elsewhere: [], bench.database: []}
    with bench.started(ORIGIN, warm=True, workers=_PUBLISHING_WORKERS) as server:
        for _ in range(rounds.count):
            for database, into_it in measured.items():
                environment = writer_environment(database)
                with on_cores(bench.cores.driver), publishing(_INTERVAL_SECONDS, environment):
                    into_it.append(bench.measure(server, Load(), rounds.seconds))
    without, during = measured.values()
    result = ScenarioResult("publishing", COLUMNS)
    result.rows = [
        ("published elsewhere", cells(with_median_p99(without))),
        ("published here", cells(with_median_p99(during))),
    ]
    result.goals = [
        goal_of("p99 while publishing", ratios("p99 ms", during, without), _MOST_TIMES_P99, "x p99 without"),
        Goal("errors while publishing", sum(one["errors"] for one in during), 0, ""),
    ]
    result.notes = ["The writer runs in both rows, on the core of wrk; only its database differs."]
    return result


def measure_visibility(bench: BenchEnvironment, rounds: Rounds) -> ScenarioResult:
    """From the writer's commit until no worker answers with the old generation."""
    with bench.started(ORIGIN, warm=True, workers=_PUBLISHING_WORKERS) as server:
        delays_ms = [_publish_and_wait(bench.database, server) for _ in range(rounds.count)]
    rows = [(ORIGIN, (median(delays_ms), max(delays_ms), spread_percent(delays_ms)))]
    goals = [Goal(f"commit to visible, slowest of {rounds.count}", max(delays_ms), _MOST_VISIBLE_MS, "ms")]
    return ScenarioResult("visible", ("ms", "slowest ms", "+- %"), [*rows], goals)


def _publish_and_wait(database: Path, server: RunningServer) -> float:
    """Milliseconds between reading the new generation in the file and in the responses."""
    reader = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    newest = _newest(reader)
    writer = threading.Thread(target=run_writer, args=(["rank"], writer_environment(database)))
    writer.start()
    while _newest(reader) == newest:
        time.sleep(_DATABASE_POLL_SECONDS)
    committed = visible = time.perf_counter()
    in_a_row = 0
    while in_a_row < _IN_A_ROW:
        if _answered(server) == newest:
            in_a_row = 0
            time.sleep(_DATABASE_POLL_SECONDS)
        else:
            visible = time.perf_counter() if in_a_row == 0 else visible
            in_a_row += 1
    writer.join()
    reader.close()
    return (visible - committed) * 1000


def _answered(server: RunningServer) -> int:
    """The generation that is answered over a new connection."""
    return int(server.get(DEFAULT_PAGE, {"Connection": "close"}).json()["generation"])


def _newest(reader: sqlite3.Connection) -> int:
    return int(reader.execute("SELECT max(id) FROM generations").fetchone()[0])


@dataclass(frozen=True)
class ScheduledScenario:
    measure: Callable[[BenchEnvironment, Rounds], ScenarioResult]
    servers: tuple[str, ...]
    rounds: Rounds


PAGE_ROUNDS = Rounds(15, 1)

# The flood requests pages of the database's first generation: it runs before those that publish more.
SCHEDULE = {
    "start": ScheduledScenario(measure_starts, _STARTED, Rounds(15, 0)),
    "memory": ScheduledScenario(measure_memory, FLOODED, Rounds(1, 0)),
    "flood": ScheduledScenario(measure_flood, FLOODED, Rounds(9, 1)),
    "connections": ScheduledScenario(measure_connections, (ORIGIN, NGINX), Rounds(1, 8, quick_seconds=5)),
    "publishing": ScheduledScenario(measure_publishing, (ORIGIN,), Rounds(3, 8)),
    "visible": ScheduledScenario(measure_visibility, (ORIGIN,), Rounds(50, 0)),
    "writer": ScheduledScenario(measure_writer, (), Rounds(5, 0)),
}
_MOST_WORKER_MB = {"flood": 90}  # with exports; 60 in the other scenarios


def servers_of(scenarios: Sequence[str]) -> set[str]:
    """The names of the servers that these scenarios measure."""
    return {ORIGIN}.union(*((PAGES.get(name) or SCHEDULE[name]).servers for name in scenarios))


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
        progress.log(f"part {number + 1} of {len(others)}, {name}: {SCENARIOS[name]}")
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
    if ORIGIN in bench.worker_mb:
        what, most = f"memory of a worker, {', '.join(names)}", _MOST_WORKER_MB.get(names[0], 60)
        floor = bench.worker_mb.get(SOCKET)
        results[-1].goals.append(Goal(what, bench.worker_mb[ORIGIN], most, "MB", floor=floor))
    return results


def _failed(name: str, reason: str) -> ScenarioResult:
    result = ScenarioResult(name, (), notes=[f"not measured: {reason}"])
    result.goals.append(Goal(result.title, None, 0, ""))
    return result
