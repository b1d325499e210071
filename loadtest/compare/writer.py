"""The writer by itself: what ingesting and a run of cron cost."""

import os
import re
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
    source_beside,
    write_observations,
    writer_environment,
)
from loadtest.compare.machine import CannotMeasure, on_cores
from loadtest.compare.results import Rounds, ScenarioResult, goal_of, spread_percent
from loadtest.levels import Goal
from loadtest.processes import ROOT

_LINES = 50_000
_LEAST_LINES_PER_CPU_SECOND = 60_000
_MOST_CRON_SECONDS = 2
_MOST_INGEST_MB = 64
_MOST_TIMES_FLOOR = 1.3
_POLL_SECONDS = 0.02

# What an ingest cannot do without: it decodes each line, and writes the same two rows.
_FLOOR = "decode and insert"
_DECODE_AND_INSERT = r"""
$database = new SQLite3(getenv('DB_PATH'));
$database->exec('PRAGMA synchronous = NORMAL; BEGIN');
$observe = $database->prepare('INSERT INTO observations VALUES (?, ?, ?, ?, ?, ?, ?)');
$save = $database->prepare('INSERT INTO velocity VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET last_observed_at = excluded.last_observed_at, views = excluded.views,
  observation_count = excluded.observation_count, views_per_hour = excluded.views_per_hour,
  rated_at = excluded.rated_at, previous_views_per_hour = excluded.previous_views_per_hour,
  levels = excluded.levels, description_hash = excluded.description_hash');
foreach (new SplFileObject($argv[1]) as $json) {
    if ($json === '') continue;
    ['id' => $id, 'region' => $region, 'views' => $views, 'observed_at' => $time] = json_decode($json, true);
    $at = strtotime($time);
    $rows = [[$observe, [$at, $region, $id, $views, null, null, $at - 60]],
             [$save, [$id, $region, $at, $at, 2, $views, 1.5, $at, 1.5, 7, null, $at]]];
    foreach ($rows as [$statement, $values]) {
        foreach ($values as $number => $value) $statement->bindValue($number + 1, $value);
        $statement->execute()->reset();
    }
}
$database->exec('COMMIT');
"""


class _Cost(NamedTuple):
    wall_seconds: float
    cpu_seconds: float  # user and system
    peak_mb: float


def measure_writer(bench: BenchEnvironment, rounds: Rounds) -> ScenarioResult:
    """The database's videos observed once more: ingested alone, and by cron, which also publishes."""
    checking = _observe(bench, bench.database, "cron", seconds_ago=30).cpu_seconds
    measured: dict[str, list[_Cost]] = {"ingest": [], "cron": [], _FLOOR: []}
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
    speeds = {command: [_LINES / cost.cpu_seconds for cost in costs] for command, costs in measured.items()}
    (_, ingest), _, (_, floor) = result.rows
    least, unit = _LEAST_LINES_PER_CPU_SECOND, "per s of CPU"
    slower = [most / reached for most, reached in zip(speeds[_FLOOR], speeds["ingest"], strict=True)]
    seconds = [cost.cpu_seconds for cost in measured["cron"]]
    result.notes = [f"Once a day cron reads the whole file, too: such a run took {checking:.2f} s of CPU."]
    result.goals = [
        goal_of("lines ingested", speeds["ingest"], least, unit, at_least=True, floor=floor[3]),
        goal_of("CPU of ingest", slower, _MOST_TIMES_FLOOR, f"x {_FLOOR}", floor=1),
        Goal("memory of ingest", ingest[4], _MOST_INGEST_MB, "MB", floor=floor[4]),
        goal_of(f"cron with {_LINES:,} fresh observations", seconds, _MOST_CRON_SECONDS, "s of CPU"),
    ]
    return result


def _observe(bench: BenchEnvironment, database: Path, command: str, *, seconds_ago: int = 10) -> _Cost:
    """Runs ingest or cron with one observation of each video."""
    source = source_beside(database)
    write_observations(source, _LINES, int(time.time()) - seconds_ago)
    words = [str(ROOT / "writer/bin/writer"), command, *([str(source)] if command == "ingest" else [])]
    if command == _FLOOR:
        words = ["php", "-r", _DECODE_AND_INSERT, str(source)]
    environment = {**writer_environment(database), "SOURCES": str(source)}
    log, peak_kb, began = database.with_suffix(".log"), 0, time.perf_counter()
    with on_cores(bench.cores.server), log.open("w") as said:
        process = subprocess.Popen(words, env=environment, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
        # Not ru_maxrss: it begins with the memory of this process, which has started it.
        while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            peak_kb = max(peak_kb, _peak_kb(process.pid))
            time.sleep(_POLL_SECONDS)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        last = log.read_text().strip().rpartition("\n")[2]
        raise CannotMeasure(f"writer {command} failed ({process.returncode}): {last[:500]}")
    source.unlink()
    cpu_seconds = usage.ru_utime + usage.ru_stime
    return _Cost(time.perf_counter() - began, cpu_seconds, peak_kb / 1024)


def _peak_kb(pid: int) -> int:
    found = re.search(r"^VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    return int(found[1]) if found else 0  # it has ended


@contextmanager
def _copied(source: Path) -> Iterator[Path]:
    database = source.with_name("copy.db")
    copy_database(source, database)
    try:
        yield database
    finally:
        for file in database.parent.glob("copy.*"):
            file.unlink()
