from dataclasses import replace

from bench import databases
from bench.measurement import COLUMNS, cells
from bench.result import Goal, ScenarioResult
from bench.servers import ORIGIN
from bench.testbed import Testbed
from bench.wrk import Load

_SIZES = (5_000, 50_000, 500_000)
_MOST_TIMES_SMALLEST = 1.1


def measure_growth(testbed: Testbed, _rounds: int, seconds: int) -> ScenarioResult:
    """Does a request cost more when there are more videos?"""
    result = ScenarioResult("growth", COLUMNS)
    cpu_us = []  # of the origin, by size
    for size in _SIZES:
        testbed = replace(testbed, database=testbed.folder / f"{size}.db")
        databases.make(testbed.database, size)
        for name in testbed.available((ORIGIN, "Bun")):
            measurement = testbed.measure_alone(name, Load(), seconds, warm=True)
            result.rows.append((f"{name}, {size:,} videos", cells(measurement)))
            cpu_us += [measurement["CPU us"]] if name == ORIGIN else []
    growth, what = cpu_us[-1] / cpu_us[0], f"CPU with {_SIZES[-1]:,} videos"
    result.goals.append(Goal(what, growth, _MOST_TIMES_SMALLEST, f"x with {_SIZES[0]:,}"))
    return result
