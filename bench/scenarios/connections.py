from dataclasses import replace

from bench.machine import available_cores, divide_cores
from bench.measurement import COLUMNS, cells
from bench.result import Goal, ScenarioResult
from bench.servers import NGINX, ORIGIN
from bench.testbed import Testbed
from bench.wrk import Load

_CONNECTIONS = 5000
_WORKERS = 2


def measure_connections(testbed: Testbed, _rounds: int, seconds: int) -> ScenarioResult:
    """Five thousand keep-alive connections, two workers."""
    testbed = replace(testbed, cores=divide_cores(available_cores(), _WORKERS))
    load = Load(connections=_CONNECTIONS)
    servers = testbed.available((ORIGIN, NGINX))
    measured = {name: testbed.measure_alone(name, load, seconds, workers=_WORKERS) for name in servers}
    rows = [(name, cells(one)) for name, one in measured.items()]
    goals = [Goal("errors at 5,000 connections", measured[ORIGIN]["errors"], 0, "")]
    return ScenarioResult("connections", COLUMNS, [*rows], goals)


def measure_workers(testbed: Testbed, _rounds: int, seconds: int) -> ScenarioResult:
    testbed = replace(testbed, cores=divide_cores(available_cores(), _WORKERS))
    result = ScenarioResult("workers", COLUMNS)
    for workers in (1, _WORKERS):
        measurement = testbed.measure_alone(ORIGIN, Load(), seconds, workers=workers, warm=True)
        result.rows.append((f"{ORIGIN}, {workers}", cells(measurement)))
    count = len(testbed.cores.server)
    shared = "Both workers share one core: the other one drives. A second core would be the second worker's."
    result.notes.append(shared if count == 1 else f"The workers have {count} cores.")
    return result
