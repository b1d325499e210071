from statistics import median

from bench.environment import BenchEnvironment
from bench.measurement import spread_percent
from bench.result import ScenarioResult
from bench.servers import ORIGIN
from loadtest.goal import Goal

_MOST_MS = 40


def measure_starts(bench: BenchEnvironment, rounds: int, _seconds: int) -> ScenarioResult:
    """From starting the process to the last byte of the first 200, with 50,000 videos."""
    result = ScenarioResult("start", ("ms", "+- %"))
    for server in bench.servers:
        times = [_start_ms(bench, server.name) for _ in range(rounds)]
        result.rows.append((server.name, (median(times), spread_percent(times))))
        if server.name == ORIGIN:
            result.goals.append(Goal(result.title, median(times), _MOST_MS, "ms"))
    return result


def _start_ms(bench: BenchEnvironment, name: str) -> float:
    with bench.started(name) as server:
        return server.start_ms
