from dataclasses import replace

from bench.environment import BenchEnvironment
from bench.machine import available_cores, divide_cores
from bench.measurement import COLUMNS, cells
from bench.result import ScenarioResult
from bench.servers import NGINX, ORIGIN
from bench.wrk import Load
from loadtest.goal import Goal

_CONNECTIONS = 5000
_WORKERS = 2


def measure_connections(bench: BenchEnvironment, _rounds: int, seconds: int) -> ScenarioResult:
    """Five thousand keep-alive connections, two workers."""
    bench = replace(bench, cores=divide_cores(available_cores(), _WORKERS))
    load = Load(connections=_CONNECTIONS)
    servers = bench.available((ORIGIN, NGINX))
    measured = {name: bench.measure_alone(name, load, seconds, workers=_WORKERS) for name in servers}
    rows = [(name, cells(one)) for name, one in measured.items()]
    goals = [Goal("errors at 5,000 connections", measured[ORIGIN]["errors"], 0, "")]
    return ScenarioResult("connections", COLUMNS, [*rows], goals)


def measure_workers(bench: BenchEnvironment, _rounds: int, seconds: int) -> ScenarioResult:
    bench = replace(bench, cores=divide_cores(available_cores(), _WORKERS))
    result = ScenarioResult("workers", COLUMNS)
    for workers in (1, _WORKERS):
        measurement = bench.measure_alone(ORIGIN, Load(), seconds, workers=workers, warm=True)
        result.rows.append((f"{ORIGIN}, {workers}", cells(measurement)))
    count = len(bench.cores.server)
    shared = "Both workers share one core: the other one drives. A second core would be the second worker's."
    result.notes.append(shared if count == 1 else f"The workers have {count} cores.")
    return result
