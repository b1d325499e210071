"""Pages as visitors request them: all servers run at once and are measured in turns, round by round."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from statistics import median

import urllib3

from bench.environment import BenchEnvironment
from bench.errors import CannotMeasure
from bench.measurement import COLUMNS, Measurement, Rounds, ratio, spread_percent
from bench.options import SCENARIOS
from bench.progress import progress
from bench.result import ScenarioResult
from bench.running_server import RunningServer
from bench.servers import NGINX, NGINX_COPYING, ORIGIN, PEERS
from bench.wrk import DEFAULT_PAGE, Load
from loadtest.goal import Goal

HEADER = ("CPU us", "+- %", "x nginx", "x ours", *COLUMNS[1:])
_ACCEPT_BR = {"Accept-Encoding": "br, gzip"}
_LARGEST_304_BYTES = 1500
_LEAST_TIMES_CHEAPER = 8.0  # than a query and JSON per request in Bun

ByServer = Mapping[str, Sequence[Measurement]]


@dataclass(frozen=True)
class PageScenario:
    servers: tuple[str, ...]
    load: Callable[[BenchEnvironment, RunningServer], Load]
    most_times_nginx: float  # the goal: CPU per request of the origin
    most_bytes: int | None = None  # of a response: more means that something else was answered


def _not_modified(_: BenchEnvironment, server: RunningServer) -> Load:
    etag = urllib3.request("GET", server.url + DEFAULT_PAGE, headers=_ACCEPT_BR).headers["etag"]
    return Load(headers={**_ACCEPT_BR, "If-None-Match": etag})


_FILES = (ORIGIN, NGINX, NGINX_COPYING)
PAGES = {
    "plain": PageScenario((*_FILES, *PEERS), lambda _bench, _server: Load(), 1.05),
    "compressed": PageScenario(_FILES, lambda _bench, _server: Load(headers=_ACCEPT_BR), 1.05),
    "unchanged": PageScenario(_FILES, _not_modified, 1.25, _LARGEST_304_BYTES),
    "mix": PageScenario(_FILES, lambda bench, _server: Load(mix=bench.mix), 1.15),
}


def measure_pages(bench: BenchEnvironment, names: Sequence[str], rounds: Rounds) -> list[ScenarioResult]:
    """Results of the named PAGES; every round measures each of their servers once."""
    measured: dict[str, dict[str, list[Measurement]]] = {name: {} for name in names}
    with ExitStack() as stack:
        servers = {}
        for server in bench.servers:
            progress.log(f"warming {server.name} up")
            servers[server.name] = stack.enter_context(bench.started(server.name, warm=True))
        for number in range(rounds.count):
            for name in names:
                progress.log(f"round {number + 1} of {rounds.count}, {SCENARIOS[name]}")
                for present in bench.available(PAGES[name].servers):
                    one = _measure_page(bench, name, servers[present], rounds.seconds)
                    measured[name].setdefault(present, []).append(one)
    return [describe_page(name, measured[name]) for name in names]


def describe_page(name: str, measured: ByServer) -> ScenarioResult:
    rows = [(server, _row(server, measured)) for server in measured]
    return ScenarioResult(name, HEADER, rows, _goals(name, measured))


def _measure_page(bench: BenchEnvironment, name: str, server: RunningServer, seconds: int) -> Measurement:
    most_bytes = PAGES[name].most_bytes
    if most_bytes is not None:
        _wait_for_room_in_minute(seconds)
    one = bench.measure(server, PAGES[name].load(bench, server), seconds)
    bytes_each = one["bytes"] / one["requests"]
    if most_bytes is not None and bytes_each > most_bytes:
        raise CannotMeasure(f"{server.server.name}, {SCENARIOS[name]}: {bytes_each:.0f} bytes a response")
    return one


def _wait_for_room_in_minute(seconds: int) -> None:
    """Tokens change with the minute, and entity tags with them: a run of 304s has to end before."""
    left = 60 - time.time() % 60
    if left < seconds + 1.5:
        time.sleep(left + 0.3)


def _row(server: str, measured: ByServer) -> tuple[float | None, ...]:
    columns = {column: [one[column] for one in measured[server]] for column in COLUMNS}
    row = {
        **{column: median(values) for column, values in columns.items()},
        "errors": sum(columns["errors"]),
        "+- %": spread_percent(columns["CPU us"]),
        "x nginx": _cpu_ratio(measured, server, NGINX),
        "x ours": _cpu_ratio(measured, server, ORIGIN),
    }
    return tuple(row[column] for column in HEADER)


def _goals(name: str, measured: ByServer) -> list[Goal]:
    to_nginx = _cpu_ratio(measured, ORIGIN, NGINX)
    goals = [Goal(f"CPU, {SCENARIOS[name]}", to_nginx, PAGES[name].most_times_nginx, "x nginx")]
    if name == "plain":
        what, times = "CPU of a query and JSON per request in Bun", _cpu_ratio(measured, "Bun", ORIGIN)
        goals.append(Goal(what, times, _LEAST_TIMES_CHEAPER, "x ours", at_least=True))
    return goals


def _cpu_ratio(measured: ByServer, server: str, reference: str) -> float | None:
    return ratio("CPU us", measured.get(server, ()), measured.get(reference, ()))
