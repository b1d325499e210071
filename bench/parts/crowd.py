from bench.bench import Bench
from bench.cores import Cores
from bench.measure import measure
from bench.progress import say
from bench.section import Goal, Section
from bench.short_table import SHORT_HEADER, short_row
from bench.targets import FLOOR, ORIGIN
from bench.wrk import Load

_CONNECTIONS = 5000
_WORKERS = 2


def measure_crowd(bench: Bench, seconds: int) -> Section:
    """Five thousand keep-alive connections, two workers."""
    bench = bench.with_server_cores(_WORKERS)
    section = Section("crowd", f"{_CONNECTIONS:,} connections, 2 workers", SHORT_HEADER)
    for name in bench.names(ORIGIN, FLOOR):
        say(f"{_CONNECTIONS:,} connections: {name}")
        with bench.started(name, workers=_WORKERS) as server:
            load = Load(connections=_CONNECTIONS)
            sample, _ = measure(server, load, seconds, bench.cores.driver)
        section.rows.append((name, short_row(sample)))
        if name == ORIGIN:
            section.goals.append(Goal(f"errors at {_CONNECTIONS:,} connections", sample.errors, 0, ""))
    return section


def measure_workers(bench: Bench, seconds: int) -> Section:
    bench = bench.with_server_cores(_WORKERS)
    section = Section("workers", "1 and 2 workers, default page", SHORT_HEADER)
    for workers in (1, _WORKERS):
        say(f"{workers} workers")
        with bench.started(ORIGIN, workers=workers, warm=True) as server:
            sample, _ = measure(server, Load(), seconds, bench.cores.driver)
        section.rows.append((f"{ORIGIN}, {workers}", short_row(sample)))
    section.notes.append(_describe(bench.cores))
    return section


def _describe(cores: Cores) -> str:
    count = len(cores.server)
    if count == 1:
        return (
            "Both workers share one core: the other one drives. A second core would be the second worker's."
        )
    return f"The workers have {count} cores."
