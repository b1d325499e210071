import sqlite3
import threading
import time
from pathlib import Path
from statistics import median

from loadtest.compare import databases
from loadtest.compare.environment import BenchEnvironment
from loadtest.compare.machine import on_cores
from loadtest.compare.measurement import (
    COLUMNS,
    Measurement,
    Rounds,
    cells,
    ratio,
    spread_percent,
    with_median_p99,
)
from loadtest.compare.result import ScenarioResult
from loadtest.compare.running_server import RunningServer
from loadtest.compare.servers import ORIGIN
from loadtest.compare.wrk import DEFAULT_PAGE, Load
from loadtest.goal import Goal
from loadtest.local_origin import publishing, run_writer

_INTERVAL_SECONDS = 1
_WORKERS = 2
_MOST_TIMES_SLOWER = 1.2
_MOST_VISIBLE_MS = 100
_POLL_SECONDS = 0.002
_IN_A_ROW = 8  # new answers over new connections: then every worker has it, but for one case in 128


def measure_publishing(bench: BenchEnvironment, rounds: Rounds) -> ScenarioResult:
    """A generation a second, into the origin's database or, for comparison, into a copy of it."""
    elsewhere = bench.folder / "elsewhere.db"
    databases.copy(bench.database, elsewhere)
    measured: dict[Path, list[Measurement]] = {elsewhere: [], bench.database: []}
    with bench.started(ORIGIN, warm=True, workers=_WORKERS) as server:
        for _ in range(rounds.count):
            for database, into_it in measured.items():
                environment = databases.writer_environment(database)
                with on_cores(bench.cores.driver), publishing(_INTERVAL_SECONDS, environment):
                    into_it.append(bench.measure(server, Load(), rounds.seconds))
    without, during = measured.values()
    result = ScenarioResult("publishing", COLUMNS)
    result.rows = [
        ("published elsewhere", cells(with_median_p99(without))),
        ("published here", cells(with_median_p99(during))),
    ]
    result.goals = [
        Goal("p99 while publishing", ratio("p99 ms", during, without), _MOST_TIMES_SLOWER, "x p99 without"),
        Goal("errors while publishing", sum(one["errors"] for one in during), 0, ""),
    ]
    result.notes = ["The writer runs in both rows, on the core of wrk; only its database differs."]
    return result


def measure_visibility(bench: BenchEnvironment, rounds: Rounds) -> ScenarioResult:
    """From the writer's commit until no worker answers with the old generation."""
    with bench.started(ORIGIN, warm=True, workers=_WORKERS) as server:
        delays_ms = [_publish_and_wait(bench.database, server) for _ in range(rounds.count)]
    rows = [(ORIGIN, (median(delays_ms), max(delays_ms), spread_percent(delays_ms)))]
    goals = [Goal(f"commit to visible, slowest of {rounds.count}", max(delays_ms), _MOST_VISIBLE_MS, "ms")]
    return ScenarioResult("visible", ("ms", "slowest ms", "+- %"), [*rows], goals)


def _publish_and_wait(database: Path, server: RunningServer) -> float:
    """Milliseconds between reading the new generation in the file and in the responses."""
    reader = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    newest = _newest(reader)
    writer = threading.Thread(target=run_writer, args=(["rank"], databases.writer_environment(database)))
    writer.start()
    while _newest(reader) == newest:
        time.sleep(_POLL_SECONDS)
    committed = visible = time.perf_counter()
    in_a_row = 0
    while in_a_row < _IN_A_ROW:
        if _answered(server) == newest:
            in_a_row = 0
            time.sleep(_POLL_SECONDS)
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
