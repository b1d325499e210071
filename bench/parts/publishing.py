import json
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench import databases
from bench.bench import Bench
from bench.cores import on_cores
from bench.measure import Sample, measure
from bench.progress import say
from bench.running import FIRST_TARGET
from bench.section import Goal, Section
from bench.short_table import SHORT_HEADER, middle, short_row
from bench.single_request import get
from bench.summary import figure
from bench.targets import ORIGIN
from bench.wrk import Load

_INTERVAL_SECONDS = 1
_MOST_TIMES_SLOWER = 2
_MOST_VISIBLE_MS = 250
_POLL_SECONDS = 0.002


def measure_publishing(bench: Bench, seconds: int, rounds: int) -> Section:
    """A generation a second, into the origin's database or, for comparison, into a copy of it."""
    section = Section("publishing", "while a generation is published every second", SHORT_HEADER)
    elsewhere = bench.setting.folder / "elsewhere.db"
    databases.copy(bench.setting.database, elsewhere)
    samples: dict[Path, list[Sample]] = {elsewhere: [], bench.setting.database: []}
    with bench.started(ORIGIN, warm=True) as server:
        for number in range(rounds):
            for database, found in samples.items():
                say(f"publishing into {database.name}, round {number + 1} of {rounds}")
                with _publishing(database, bench.cores.driver):
                    found.append(measure(server, Load(), seconds, bench.cores.driver)[0])
    without, during = samples.values()
    section.rows = [
        ("published elsewhere", short_row(middle(without))),
        ("published here", short_row(middle(during))),
    ]
    slower = figure([here.p99_ms / there.p99_ms for here, there in zip(during, without, strict=True)])
    section.goals = [
        Goal("p99 while publishing", slower.median, _MOST_TIMES_SLOWER, "x p99 without"),
        Goal("errors while publishing", sum(sample.errors for sample in during), 0, ""),
    ]
    section.notes.append("The writer runs in both rows, on the load generator's core: only where to differs.")
    return section


def measure_visibility(bench: Bench, times: int) -> Section:
    """From the writer's commit to the first answer of the new generation."""
    section = Section("visible", "commit to visible", ("ms", "+- %"))
    delays = []
    with bench.started(ORIGIN, warm=True) as server:
        for number in range(times):
            say(f"a new generation, {number + 1} of {times}")
            delays.append(_publish_and_wait(bench.setting.database, server.url + FIRST_TARGET))
    found = figure(delays)
    section.rows.append((ORIGIN, (found.median, found.spread_percent)))
    section.goals.append(Goal("commit to visible, slowest", found.high, _MOST_VISIBLE_MS, "ms"))
    return section


@contextmanager
def _publishing(database: Path, cores: frozenset[int]) -> Iterator[None]:
    stop = threading.Event()

    def publish() -> None:
        while not stop.wait(_INTERVAL_SECONDS):
            databases.run_writer(["rank"], database)

    with on_cores(cores):
        thread = threading.Thread(target=publish)
        thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _publish_and_wait(database: Path, url: str) -> float:
    """Milliseconds between seeing the new generation in the file and seeing it answered."""
    reader = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    newest = _newest(reader)
    writer = threading.Thread(target=databases.run_writer, args=(["rank"], database))
    writer.start()
    while _newest(reader) == newest:
        time.sleep(_POLL_SECONDS)
    committed = time.perf_counter()
    while json.loads(get(url).body)["generation"] == newest:
        time.sleep(_POLL_SECONDS)
    delay = (time.perf_counter() - committed) * 1000
    writer.join()
    reader.close()
    return delay


def _newest(reader: sqlite3.Connection) -> int:
    return int(reader.execute("SELECT max(id) FROM generations").fetchone()[0])
