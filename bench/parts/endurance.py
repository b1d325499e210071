import random
from collections.abc import Iterator
from pathlib import Path

from bench import wrk
from bench.bench import Bench
from bench.measure import Sample, measure
from bench.processes import largest_rss_mb
from bench.progress import say
from bench.running import Running
from bench.section import Goal, Section
from bench.short_table import SHORT_HEADER, middle, short_row
from bench.summary import figure
from bench.targets import ORIGIN
from bench.wrk import Load
from loadtest.answers import Asked
from loadtest.markets import CODES

_MILLION = 1_000_000
_MOST_WORKER_MB = 60
_MOST_TIMES_SLOWER = 2
_FLOOD_QUERIES = 200_000
_FLOOD_CONNECTIONS = 4
_ALONE, _DISTINCT = "alone", "distinct queries"


def measure_memory(bench: Bench) -> Section:
    """A million mixed requests; the memory of the largest process as they are answered."""
    section = Section("memory", "memory of a worker over a million mixed requests", ("requests", "RSS MB"))
    requests = 0
    with bench.started(ORIGIN) as server:
        section.rows.append((ORIGIN, (requests, largest_rss_mb(server.sessions))))
        while requests < _MILLION:
            requests += wrk.drive(server.url, Load(mix=bench.mix), 2, bench.cores.driver).requests
            section.rows.append((ORIGIN, (requests, largest_rss_mb(server.sessions))))
            say(f"memory: {requests:,} requests")
    final = section.rows[-1][1][1]
    section.goals.append(Goal("memory of a worker after a million requests", final, _MOST_WORKER_MB, "MB"))
    return section


def measure_flood(bench: Bench, seconds: int, rounds: int) -> Section:
    """Ordinary requests alone, beside a flood of one query, and beside one of ever new queries."""
    section = Section("flood", "beside a flood of queries", (*SHORT_HEADER[1:], "worker MB"))
    floods = {
        _ALONE: None,
        "one query": _write_flood(bench, 1),
        _DISTINCT: _write_flood(bench, _FLOOD_QUERIES),
    }
    found: dict[str, list[Sample]] = {name: [] for name in floods}
    largest = dict.fromkeys(floods, 0.0)
    with bench.started(ORIGIN, warm=True) as server:
        for number in range(rounds):
            for name, flood in floods.items():
                say(f"flood: {name}, round {number + 1} of {rounds}")
                found[name].append(_measure_beside(flood, bench, server, seconds))
                largest[name] = max(largest[name], largest_rss_mb(server.sessions))
    for name, samples in found.items():
        section.rows.append((name, (*short_row(middle(samples))[1:], largest[name])))
    pairs = zip(found[_DISTINCT], found[_ALONE], strict=True)
    slower = figure([flooded.p99_ms / alone.p99_ms for flooded, alone in pairs])
    section.goals.append(Goal("p99 of others in the flood", slower.median, _MOST_TIMES_SLOWER, "x p99 alone"))
    return section


def _measure_beside(flood: Path | None, bench: Bench, server: Running, seconds: int) -> Sample:
    if flood is None:
        return measure(server, Load(), seconds, bench.cores.driver)[0]
    load = Load(mix=flood, connections=_FLOOD_CONNECTIONS)
    process = wrk.start(server.url, load, seconds + 1, bench.cores.driver)
    sample, _ = measure(server, Load(), seconds, bench.cores.driver)
    process.communicate()
    return sample


def _write_flood(bench: Bench, count: int) -> Path:
    file = bench.setting.folder / f"flood-{count}.txt"
    file.write_text("".join(f"{target}\tbr, gzip\n" for target in _flood_targets(count)))
    return file


def _flood_targets(count: int) -> Iterator[str]:
    """Half of them valid pages that nobody asked for before, half of them refused."""
    dice = random.Random(6)
    for number in range(count):
        if number % 2 == 0:
            cursor = None if number == 0 else f"1-{dice.randint(1, 480)}"
            window = dice.choice(("now", "day", "week"))
            yield Asked(dice.choice(CODES), window, dice.randint(1, 50), cursor).target
        else:
            yield f"/api/trending?region=GB&x{number}={dice.random()}"
