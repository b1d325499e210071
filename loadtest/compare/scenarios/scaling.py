"""The origin by itself: its start, its memory, many connections, more workers, more videos."""

from dataclasses import replace
from statistics import median

from loadtest.compare import databases
from loadtest.compare.environment import BenchEnvironment
from loadtest.compare.machine import available_cores, divide_cores
from loadtest.compare.measurement import COLUMNS, Rounds, cells, spread_percent
from loadtest.compare.result import ScenarioResult
from loadtest.compare.servers import NGINX, ORIGIN, PEERS
from loadtest.compare.wrk import Load
from loadtest.goal import Goal

_MOST_START_MS = 40
_REQUESTS = 1_000_000
_CONNECTIONS = 5000
_WORKERS = 2
_SIZES = (5_000, 50_000, 500_000)
_MOST_TIMES_SMALLEST = 1.1


def measure_starts(bench: BenchEnvironment, rounds: Rounds) -> ScenarioResult:
    """From starting the process to the last byte of the first 200, with 50,000 videos."""
    result = ScenarioResult("start", ("ms", "+- %"))
    for name in bench.available((ORIGIN, NGINX, *PEERS)):
        times = [_start_ms(bench, name) for _ in range(rounds.count)]
        result.rows.append((name, (median(times), spread_percent(times))))
        if name == ORIGIN:
            result.goals.append(Goal(result.title, median(times), _MOST_START_MS, "ms"))
    return result


def _start_ms(bench: BenchEnvironment, name: str) -> float:
    with bench.started(name) as server:
        return server.start_ms


def measure_memory(bench: BenchEnvironment, rounds: Rounds) -> ScenarioResult:
    """The memory of the largest process, read between rounds, while the mix is requested a million times."""
    result = ScenarioResult("memory", ("requests", "RSS MB"))
    requests: float = 0
    with bench.started(ORIGIN) as server:
        result.rows.append((ORIGIN, (requests, max(server.rss_mb()))))
        while requests < _REQUESTS:
            requests += bench.measure(server, Load(mix=bench.mix), rounds.seconds)["requests"]
            result.rows.append((ORIGIN, (requests, max(server.rss_mb()))))
    return result


def measure_connections(bench: BenchEnvironment, rounds: Rounds) -> ScenarioResult:
    """Five thousand keep-alive connections, two workers."""
    bench = replace(bench, cores=divide_cores(available_cores(), _WORKERS))
    load, result = Load(connections=_CONNECTIONS), ScenarioResult("connections", COLUMNS)
    for name in bench.available((ORIGIN, NGINX)):
        measurement = bench.measure_alone(name, load, rounds.seconds, workers=_WORKERS)
        result.rows.append((name, cells(measurement)))
        if name == ORIGIN:
            result.goals.append(Goal("errors at 5,000 connections", measurement["errors"], 0, ""))
    return result


def measure_workers(bench: BenchEnvironment, rounds: Rounds) -> ScenarioResult:
    bench = replace(bench, cores=divide_cores(available_cores(), _WORKERS))
    result = ScenarioResult("workers", COLUMNS)
    for workers in (1, _WORKERS):
        measurement = bench.measure_alone(ORIGIN, Load(), rounds.seconds, workers=workers, warm=True)
        result.rows.append((f"{ORIGIN}, {workers}", cells(measurement)))
    count = len(bench.cores.server)
    shared = "Both workers share one core, since wrk has the other; a third core would be the second's."
    result.notes.append(shared if count == 1 else f"The workers have {count} cores.")
    return result


def measure_growth(bench: BenchEnvironment, rounds: Rounds) -> ScenarioResult:
    """Does a request cost more when there are more videos?"""
    result = ScenarioResult("growth", COLUMNS)
    cpu_us = []  # of the origin, by size
    for size in _SIZES:
        bench = replace(bench, database=bench.folder / f"{size}.db")
        databases.make(bench.database, size)
        for name in bench.available((ORIGIN, "Bun")):
            measurement = bench.measure_alone(name, Load(), rounds.seconds, warm=True)
            result.rows.append((f"{name}, {size:,} videos", cells(measurement)))
            cpu_us += [measurement["CPU us"]] if name == ORIGIN else []
    growth, what = cpu_us[-1] / cpu_us[0], f"CPU with {_SIZES[-1]:,} videos"
    result.goals.append(Goal(what, growth, _MOST_TIMES_SMALLEST, f"x with {_SIZES[0]:,}"))
    return result
