import os
import random
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import psutil

from loadtest.compare.environment import BenchEnvironment
from loadtest.compare.results import (
    COLUMNS,
    Measurement,
    Rounds,
    ScenarioResult,
    cells,
    goal_of,
    median_of,
    ratios,
    with_median_p99,
)
from loadtest.compare.running import DEFAULT_PAGE, Load, RunningServer, parse_figures, start_load
from loadtest.compare.servers import NGINX, ORIGIN, RUNTIMES
from loadtest.contract import LARGEST_LIMIT, REGIONS, WINDOWS
from loadtest.levels import Goal
from loadtest.responses import PageRequest

_MOST_TIMES_SLOWER, _MOST_MB = 1.5, 75
_FLOOD_NICENESS, _CONNECTIONS = 10, 4
_POLL_SECONDS, _SENDS_WITHIN_SECONDS, _SETTLED_AFTER_SECONDS, _OTHERS_SECONDS = 0.01, 10, 1, 4
_ALONE, _EXPORTS = "alone", "exports"
_WORKER_MB = -3  # in a row
FLOODED = (ORIGIN, NGINX, *RUNTIMES)
_LAST_RANK, _DISTINCT = 480, 60_000  # pages end there; so many targets in a round

Targets = Callable[[random.Random, int], Iterator[str]]  # the int is the generation that is served


def measure_flood(bench: BenchEnvironment, rounds: Rounds) -> ScenarioResult:
    """Ordinary requests alone, and beside floods of several kinds. Pages and queries are asked once."""
    header = (*COLUMNS[3:], "x p99 alone", "worker MB", "flood/s", "refused/s")
    result = ScenarioResult("flood", header)  # without CPU per request: it would count the flood's, too
    with bench.started(ORIGIN, warm=True) as server:
        _measure_floods(bench, server, rounds, [name for name in FLOODS if name != _EXPORTS], result)
        largest = max(row[_WORKER_MB] or 0 for _, row in result.rows)  # before any export
        result.goals.append(Goal("memory of a worker, other floods than exports", largest, _MOST_MB, "MB"))
        _measure_floods(bench, server, rounds, [_EXPORTS], result)
    for name in bench.available(FLOODED):
        with bench.started(name, warm=True) as server:
            one = _measure_beside(bench.mix, bench, server, _OTHERS_SECONDS)
        result.rows.append((f"{name}, beside the mix", _row(one, None, one["worker MB"])))
    return result


def _measure_floods(
    bench: BenchEnvironment, server: RunningServer, rounds: Rounds, names: list[str], result: ScenarioResult
) -> None:
    measured: dict[str, list[Measurement]] = {name: [] for name in (_ALONE, *names)}
    for number in range(rounds.count):
        time.sleep(_SETTLED_AFTER_SECONDS)
        measured[_ALONE].append(_measure_ordinary(bench, server, rounds.seconds))
        for name in names:
            generation = int(server.get(DEFAULT_PAGE).json()["generation"])
            flood = write_flood(bench, name, generation, number)
            measured[name].append(_measure_beside(flood, bench, server, rounds.seconds))
    for name, of_flood in measured.items():
        slower = ratios("p99 ms", of_flood, measured[_ALONE])
        largest = max(one["worker MB"] for one in of_flood)
        result.rows.append((name, _row(with_median_p99(of_flood), median_of(slower), largest)))
        if name != _ALONE:
            what = f"p99 of other requests beside a flood of {name}"
            result.goals.append(goal_of(what, slower, _MOST_TIMES_SLOWER, "x p99 alone"))


def _row(one: Measurement, slower: float | None, worker_mb: float) -> tuple[float | None, ...]:
    return (*cells(one)[3:], slower, worker_mb, one["flood/s"], one["refused/s"])


def _measure_ordinary(bench: BenchEnvironment, server: RunningServer, seconds: int) -> Measurement:
    measurement = bench.measure(server, Load(), seconds)
    return {**measurement, "worker MB": max(server.rss_mb()), "flood/s": 0, "refused/s": 0}


def _measure_beside(flood: Path, bench: BenchEnvironment, server: RunningServer, seconds: int) -> Measurement:
    load = Load(mix=flood, connections=_CONNECTIONS, headers=server.fields())
    process = start_load(server.url, load, seconds + 1, bench.cores.driver)
    # Both wrks share a core: as equals, each waits for the other, milliseconds that are none of the server's.
    os.setpriority(os.PRIO_PROCESS, process.pid, _FLOOD_NICENESS)
    deadline = time.monotonic() + _SENDS_WITHIN_SECONDS  # it reads the lines first
    while (sent := _requests_of(process.pid)) == 0 and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
    started = time.monotonic()
    measurement = _measure_ordinary(bench, server, seconds)
    per_second = (_requests_of(process.pid) - sent) / (time.monotonic() - started)
    counted = parse_figures(process.communicate()[0])
    refused = per_second * counted["errors"] / counted["requests"]
    return {**measurement, "flood/s": per_second, "refused/s": refused}


def _requests_of(wrk: int) -> int:
    """That it has sent: one in each call of write(2). Its own count has those while it was alone, too."""
    return int(psutil.Process(wrk).io_counters().write_count)


def write_flood(bench: BenchEnvironment, name: str, generation: int, number: int) -> Path:
    """The lines that wrk.lua reads: others in every round, so that nothing has been built before."""
    targets, coding = FLOODS[name]
    count = 1 if targets is _one_query else _DISTINCT
    file = bench.folder / "flood.txt"
    drawn = islice(targets(random.Random(f"{name} {number}"), generation), count)
    file.write_text("".join(f"{target}\t{coding}\n" for target in drawn))
    return file


def _one_query(_rng: random.Random, generation: int) -> Iterator[str]:
    while True:
        yield PageRequest("GB", "week", LARGEST_LIMIT, f"{generation}-{LARGEST_LIMIT}").target


def _pages(rng: random.Random, generation: int) -> Iterator[str]:
    """Further pages of all lists, of any length: a cursor is a whole number of pages."""
    limits = range(1, LARGEST_LIMIT + 1)
    pages = [(limit, rank) for limit in limits for rank in range(limit, _LAST_RANK + 1, limit)]
    lists = [(region, window) for region in REGIONS for window in WINDOWS]
    drawn = [(one, page) for one in lists for page in pages]
    rng.shuffle(drawn)
    for (region, window), (limit, rank) in drawn:
        yield PageRequest(region, window, limit, f"{generation}-{rank}").target


def _invalid_queries(rng: random.Random, generation: int) -> Iterator[str]:
    """Each wrong in one of the ways of a mistake or an attack."""
    while True:
        junk = f"{rng.getrandbits(60):x}"
        mistakes = (
            f"x{junk}=1",
            f"window={junk}",
            f"limit={junk}",
            f"cursor={generation}-{junk}",
            f"region={junk}",
        )
        yield f"/api/trending?region=GB&{rng.choice(mistakes)}"


def _videos(rng: random.Random, _generation: int) -> Iterator[str]:
    while True:
        yield f"/api/videos/video{rng.randrange(50_000):07}"  # as databases.py names them


def _unknown_videos(rng: random.Random, _generation: int) -> Iterator[str]:
    while True:
        yield f"/api/videos/{rng.getrandbits(64):016x}"


def _exports(_rng: random.Random, _generation: int) -> Iterator[str]:
    """More than are kept: every region's, of all windows and of each."""
    windows = ("", *(f"?window={window}" for window in WINDOWS))
    while True:
        yield from (f"/api/export/{region}.ndjson{window}" for region in REGIONS for window in windows)


FLOODS: dict[str, tuple[Targets, str]] = {
    "one query": (_one_query, "br"),
    "pages, identity": (_pages, "identity"),
    "pages, br": (_pages, "br"),
    "pages, zstd": (_pages, "zstd"),
    "pages, gzip": (_pages, "gzip"),
    "invalid queries": (_invalid_queries, "br"),
    "videos": (_videos, "br"),
    "unknown videos": (_unknown_videos, "br"),
    "exports": (_exports, "identity"),
}
