"""The writer by itself: what ingesting and a run of cron cost."""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import NamedTuple

from loadtest.compare.environment import (
    BenchEnvironment,
    copy_database,
    write_observations,
    writer_environment,
)
from loadtest.compare.machine import CannotMeasure, on_cores
from loadtest.compare.results import Rounds, ScenarioResult, spread_percent
from loadtest.levels import Goal
from loadtest.processes import ROOT

_LINES = 50_000
_LEAST_LINES_PER_CPU_SECOND = 60_000
_MOST_CRON_SECONDS = 2
_MOST_INGEST_MB = 64


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


def _observe(bench: BenchEnvironment, database: Path, command: str) -> _Cost:
    """Runs ingest or cron with one observation of each video."""
    source = database.with_suffix(".ndjson")
    write_observations(source, _LINES, int(time.time()) - 10)
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


@contextmanager
def _copied(source: Path) -> Iterator[Path]:
    database = source.with_name("copy.db")
    copy_database(source, database)
    try:
        yield database
    finally:
        for file in database.parent.glob("copy.*"):
            file.unlink()
