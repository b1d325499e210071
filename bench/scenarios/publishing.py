import sqlite3
import threading
import time
from pathlib import Path
from statistics import median

import urllib3

from bench import databases
from bench.environment import BenchEnvironment
from bench.machine import on_cores
from bench.measurement import COLUMNS, Measurement, Rounds, cells, ratio, spread_percent, with_median_p99
from bench.result import ScenarioResult
from bench.servers import ORIGIN
from bench.wrk import DEFAULT_PAGE, Load
from loadtest.goal import Goal
from loadtest.local_origin import publishing, run_writer

_INTERVAL_SECONDS = 1
_MOST_TIMES_SLOWER = 2
_MOST_VISIBLE_MS = 250
_POLL_SECONDS = 0.002


def measure_publishing(bench: BenchEnvironment, rounds: Rounds) -> ScenarioResult:
    """A generation a second, into the origin's database or, for comparison, into a copy of it."""
    elsewhere = bench.folder / "elsewhere.db"
    databases.copy(bench.database, elsewhere)
    measured: dict[Path, list[Measurement]] = {elsewhere: [], bench.database: []}
    with bench.started(ORIGIN, warm=True) as server:
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
    """From the writer's commit to the first response of the new generation."""
    with bench.started(ORIGIN, warm=True) as server:
        url = server.url + DEFAULT_PAGE
        delays_ms = [_publish_and_wait(bench.database, url) for _ in range(rounds.count)]
    rows = [(ORIGIN, (median(delays_ms), spread_percent(delays_ms)))]
    goals = [Goal("commit to visible, slowest", max(delays_ms), _MOST_VISIBLE_MS, "ms")]
    return ScenarioResult("visible", ("ms", "+- %"), [*rows], goals)


def _publish_and_wait(database: Path, url: str) -> float:
    """Milliseconds between reading the new generation in the file and in a response."""
    reader = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    newest = _newest(reader)
    writer = threading.Thread(target=run_writer, args=(["rank"], databases.writer_environment(database)))
    writer.start()
    while _newest(reader) == newest:
        time.sleep(_POLL_SECONDS)
    committed = time.perf_counter()
    while urllib3.request("GET", url).json()["generation"] == newest:
        time.sleep(_POLL_SECONDS)
    delay = (time.perf_counter() - committed) * 1000
    writer.join()
    reader.close()
    return delay


def _newest(reader: sqlite3.Connection) -> int:
    return int(reader.execute("SELECT max(id) FROM generations").fetchone()[0])
