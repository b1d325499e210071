import random
from collections.abc import Iterator
from pathlib import Path

from bench import wrk
from bench.environment import BenchEnvironment
from bench.measurement import COLUMNS, Measurement, Rounds, cells, ratio, with_median_p99
from bench.result import ScenarioResult
from bench.running_server import RunningServer
from bench.servers import ORIGIN
from bench.wrk import Load
from loadtest.contract import LARGEST_LIMIT, REGIONS, WINDOWS
from loadtest.goal import Goal
from loadtest.responses import PageRequest

_MOST_TIMES_SLOWER = 2
_QUERIES = 200_000
_CONNECTIONS = 4
_ALONE, _ONE, _DISTINCT = "alone", "one query", "distinct queries"


def measure_flood(bench: BenchEnvironment, rounds: Rounds) -> ScenarioResult:
    """Ordinary requests alone, beside a flood of one query, and beside one of ever new queries."""
    header = (*COLUMNS[1:], "worker MB")  # CPU per request would count the flood's, too
    result = ScenarioResult("flood", header)
    floods = {_ALONE: None, _ONE: _write_flood(bench, 1), _DISTINCT: _write_flood(bench, _QUERIES)}
    measured: dict[str, list[Measurement]] = {name: [] for name in floods}
    largest = dict.fromkeys(floods, 0.0)
    with bench.started(ORIGIN, warm=True) as server:
        for _ in range(rounds.count):
            for name, flood in floods.items():
                measured[name].append(_measure_beside(flood, bench, server, rounds.seconds))
                largest[name] = max(largest[name], *server.rss_mb())
    for name, of_flood in measured.items():
        result.rows.append((name, (*cells(with_median_p99(of_flood))[1:], largest[name])))
    slower = ratio("p99 ms", measured[_DISTINCT], measured[_ALONE])
    result.goals.append(Goal("p99 of other requests in the flood", slower, _MOST_TIMES_SLOWER, "x p99 alone"))
    return result


def _measure_beside(
    flood: Path | None, bench: BenchEnvironment, server: RunningServer, seconds: int
) -> Measurement:
    cores = bench.cores.driver
    if flood is None:
        return bench.measure(server, Load(), seconds)
    process = wrk.start(server.url, Load(mix=flood, connections=_CONNECTIONS), seconds + 1, cores)
    measurement = bench.measure(server, Load(), seconds)
    process.wait()
    return measurement


def _write_flood(bench: BenchEnvironment, count: int) -> Path:
    file = bench.folder / f"flood-{count}.txt"
    file.write_text("".join(f"{target}\tbr, gzip\n" for target in _flood_targets(count)))
    return file


def _flood_targets(count: int) -> Iterator[str]:
    """Half of them valid pages that were not requested before, half of them refused."""
    rng = random.Random(6)
    for number in range(count):
        if number % 2 == 0:
            cursor = None if number == 0 else f"1-{rng.randint(1, 480)}"
            limit = rng.randint(1, LARGEST_LIMIT)
            yield PageRequest(rng.choice(REGIONS), rng.choice(WINDOWS), limit, cursor).target
        else:
            yield f"/api/trending?region=GB&x{number}={rng.random()}"
