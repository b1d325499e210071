"""The writer by itself: what ingesting and a run of cron cost, and how that grows."""

import os
import sqlite3
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from statistics import median
from typing import NamedTuple

from loadtest.compare.environment import (
    BenchEnvironment,
    copy_database,
    make_database,
    write_observations,
    writer_environment,
)
from loadtest.compare.machine import CannotMeasure, on_cores
from loadtest.compare.results import Rounds, ScenarioResult, spread_percent
from loadtest.levels import Goal
from loadtest.processes import ROOT, run_writer

_LINES = 50_000
_LEAST_LINES_PER_CPU_SECOND = 60_000
_MOST_CRON_SECONDS = 2
_MOST_INGEST_MB = 64
_MINUTES = (3, 30)  # of history
_MOST_TIMES_HISTORY = 1.2  # for ten times as much
_MOST_TIMES_VIDEOS = 12.0  # for ten times as many
_WAL_RUNS = 60  # of an hour
_MOST_WAL_MB = 64


class _Cost(NamedTuple):
    wall_seconds: float
    cpu_seconds: float  # user and system
    peak_mb: float


def measure_writer(bench: BenchEnvironment, rounds: Rounds) -> ScenarioResult:
    """The database's videos observed once more: ingested alone, and by cron, which also publishes."""
    measured: dict[str, list[_Cost]] = {"ingest": [], "cron": []}
    for _ in range(rounds.count):
        for command, costs in measured.items():
            with _copied(bench.database) as database:
                costs.append(_observe(bench, database, command))
    result = ScenarioResult("writer", ("s", "CPU s", "+- %", "lines per CPU s", "peak MB"))
    for command, costs in measured.items():
        cpu = [cost.cpu_seconds for cost in costs]
        wall, peak = median(cost.wall_seconds for cost in costs), max(cost.peak_mb for cost in costs)
        row = (wall, median(cpu), spread_percent(cpu), _LINES / median(cpu), peak)
        result.rows.append((f"{command}, {_LINES:,} observations", row))
    (_, ingest), (_, cron) = result.rows
    result.goals = [
        Goal("lines ingested", ingest[3], _LEAST_LINES_PER_CPU_SECOND, "per s of CPU", at_least=True),
        Goal("memory of ingest", ingest[4], _MOST_INGEST_MB, "MB"),
        Goal(f"cron with {_LINES:,} fresh observations", cron[0], _MOST_CRON_SECONDS, "s"),
    ]
    return result


def measure_cron(bench: BenchEnvironment, _rounds: Rounds) -> ScenarioResult:
    """Does a run cost more with more history and more videos? How large is the log beside a reader?"""
    result = ScenarioResult("cron", ("s", "CPU s", "peak MB"))

    def measure_one(label: str, database: Path, videos: int) -> float:
        cost = _observe(bench, database, "cron", videos)
        result.rows.append((label, (cost.wall_seconds, cost.cpu_seconds, cost.peak_mb)))
        return cost.cpu_seconds

    by_history = []
    for minutes in _MINUTES:
        with _copied(bench.database) as database:
            for minute in range(minutes, 0, -1):
                _observe(bench, database, "ingest", seconds_ago=60 * minute + 10)
            by_history.append(measure_one(f"{minutes} minutes of history", database, _LINES))
    by_videos = [by_history[0]]
    many = bench.folder / "many.db"
    make_database(many, 10 * _LINES)
    by_videos.append(measure_one(f"{10 * _LINES:,} videos", many, 10 * _LINES))
    largest, paused = _measure_log(bench.folder / "demo.db")
    result.goals = [
        Goal("CPU with ten times the history", by_history[1] / by_history[0], _MOST_TIMES_HISTORY, "x"),
        Goal("CPU with ten times the videos", by_videos[1] / by_videos[0], _MOST_TIMES_VIDEOS, "x"),
        Goal(f"log after each of {_WAL_RUNS} runs beside a reader", largest, _MOST_WAL_MB, "MB"),
        Goal("log after the reader", paused, 0, "MB"),
    ]
    return result


def _observe(
    bench: BenchEnvironment, database: Path, command: str, videos: int = _LINES, *, seconds_ago: int = 10
) -> _Cost:
    """Runs ingest or cron with one observation of each video."""
    source = database.with_suffix(".ndjson")
    write_observations(source, videos, int(time.time()) - seconds_ago)
    words = [str(ROOT / "writer/bin/writer"), command, *([str(source)] if command == "ingest" else [])]
    environment = {**writer_environment(database), "SOURCES": str(source)}
    log, began = database.with_suffix(".log"), time.perf_counter()
    with on_cores(bench.cores.server), log.open("w") as said:
        process = subprocess.Popen(words, env=environment, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        last = log.read_text().strip().rpartition("\n")[2]
        raise CannotMeasure(f"writer {command} failed ({process.returncode}): {last[:500]}")
    source.unlink()
    cpu_seconds = usage.ru_utime + usage.ru_stime
    return _Cost(time.perf_counter() - began, cpu_seconds, usage.ru_maxrss / 1024)


def _measure_log(database: Path) -> tuple[float, float]:
    """MB of the write-ahead log: the most after runs beside a reader, and after one without."""
    environment = {**writer_environment(database), "SOURCES": "demo"}
    log, sizes = Path(f"{database}-wal"), []
    for command in (["migrate"], ["ingest", "demo"]):
        run_writer(command, environment)
    with _reading(database):
        for _ in range(_WAL_RUNS):
            run_writer(["cron"], environment)
            sizes.append(log.stat().st_size)
    run_writer(["cron"], environment)
    return max(sizes) / 1e6, (log.stat().st_size if log.exists() else 0) / 1e6


@contextmanager
def _reading(database: Path) -> Iterator[None]:
    """Reads lists in short transactions, as the origin does, until the block ends."""
    stop = threading.Event()
    newest = "SELECT max(id) FROM generations"
    rows = f"SELECT * FROM trending WHERE generation = ({newest}) AND window = 'day' LIMIT 5000"

    def read() -> None:
        with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=1)) as connection:
            while not stop.is_set():
                for _ in connection.execute(rows):
                    time.sleep(0.00002)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        yield
    finally:
        stop.set()
        reader.join()


@contextmanager
def _copied(source: Path) -> Iterator[Path]:
    database = source.with_name("copy.db")
    copy_database(source, database)
    try:
        yield database
    finally:
        for file in database.parent.glob("copy.*"):
            file.unlink()
