from dataclasses import replace

from bench import databases
from bench.environment import BenchEnvironment
from bench.measurement import COLUMNS, cells
from bench.result import ScenarioResult
from bench.servers import ORIGIN
from bench.wrk import Load
from loadtest.goal import Goal

_SIZES = (5_000, 50_000, 500_000)
_MOST_TIMES_SMALLEST = 1.1


def measure_growth(bench: BenchEnvironment, _rounds: int, seconds: int) -> ScenarioResult:
    """Does a request cost more when there are more videos?"""
    result = ScenarioResult("growth", COLUMNS)
    cpu_us = []  # of the origin, by size
    for size in _SIZES:
        bench = replace(bench, database=bench.folder / f"{size}.db")
        databases.make(bench.database, size)
        for name in bench.available((ORIGIN, "Bun")):
            measurement = bench.measure_alone(name, Load(), seconds, warm=True)
            result.rows.append((f"{name}, {size:,} videos", cells(measurement)))
            cpu_us += [measurement["CPU us"]] if name == ORIGIN else []
    growth, what = cpu_us[-1] / cpu_us[0], f"CPU with {_SIZES[-1]:,} videos"
    result.goals.append(Goal(what, growth, _MOST_TIMES_SMALLEST, f"x with {_SIZES[0]:,}"))
    return result
