"""The writer by itself: what ingesting and a run of cron cost."""

import resource
import time
from statistics import median
from typing import NamedTuple

from loadtest.compare import databases
from loadtest.compare.environment import BenchEnvironment
from loadtest.compare.machine import on_cores
from loadtest.compare.measurement import Rounds, spread_percent
from loadtest.compare.result import ScenarioResult
from loadtest.goal import Goal
from loadtest.local_origin import run_writer

_LINES = 50_000
_LEAST_LINES_PER_CPU_SECOND = 60_000
_MOST_CRON_SECONDS = 2


class _Cost(NamedTuple):
    wall_seconds: float
    cpu_seconds: float  # user and system


def measure_writer(bench: BenchEnvironment, rounds: Rounds) -> ScenarioResult:
    """The database's videos observed once more: ingested alone, and by cron, which also publishes."""
    ingested, by_cron = [], []
    for number in range(rounds.count):
        ingested.append(_run(bench, f"ingest-{number}", ["ingest"]))
        by_cron.append(_run(bench, f"cron-{number}", ["cron"]))
    result = ScenarioResult("writer", ("s", "CPU s", "+- %", "lines per CPU s"))
    for name, costs in (("ingest", ingested), ("cron", by_cron)):
        cpu = [cost.cpu_seconds for cost in costs]
        row = (
            median(cost.wall_seconds for cost in costs),
            median(cpu),
            spread_percent(cpu),
            _LINES / median(cpu),
        )
        result.rows.append((f"{name}, {_LINES:,} observations", row))
    lines, seconds = result.rows[0][1][3], result.rows[1][1][0]
    result.goals = [
        Goal("lines ingested", lines, _LEAST_LINES_PER_CPU_SECOND, "per s of CPU", at_least=True),
        Goal(f"cron with {_LINES:,} fresh observations", seconds, _MOST_CRON_SECONDS, "s"),
    ]
    return result


def _run(bench: BenchEnvironment, name: str, command: list[str]) -> _Cost:
    """Runs the command on a copy of the database, with fresh observations."""
    database, source = bench.folder / f"{name}.db", bench.folder / f"{name}.ndjson"
    databases.copy(bench.database, database)
    databases.write_observations(source, _LINES, int(time.time()) - 10)
    environment = {**databases.writer_environment(database), "SOURCES": str(source)}
    arguments = [*command, str(source)] if command == ["ingest"] else command
    before, began = _children_cpu_seconds(), time.perf_counter()
    with on_cores(bench.cores.server):
        run_writer(arguments, environment)
    cost = _Cost(time.perf_counter() - began, _children_cpu_seconds() - before)
    for file in (database, source):
        file.unlink()
    return cost


def _children_cpu_seconds() -> float:
    """Of the processes that have ended: nothing else ends meanwhile."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
