"""Pages as visitors request them: all servers run at once and are measured in turns, round by round."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from statistics import median

from loadtest.compare.environment import ACCEPT_BR, BenchEnvironment
from loadtest.compare.machine import CannotMeasure, progress
from loadtest.compare.options import SCENARIOS
from loadtest.compare.results import (
    COLUMNS,
    Measurement,
    Rounds,
    ScenarioResult,
    goal_of,
    median_of,
    ratios,
    spread_percent,
)
from loadtest.compare.running import DEFAULT_PAGE, Load, RunningServer
from loadtest.compare.servers import (
    BASELINES,
    NGINX,
    ORIGIN,
    ORIGIN_OPEN,
    ORIGINS,
    READER,
    RUNTIMES,
    SOCKET,
)
from loadtest.levels import Goal

_RATIOS = {"x nginx": NGINX, "x reader": READER, "x ours": ORIGIN}
HEADER = (*COLUMNS[:3], "+- %", *_RATIOS, *COLUMNS[3:])
_LARGEST_304_BYTES = 1500
_MOST_TIMES_BASELINE = 1.05  # than the open origin, and than the shortest handler with the same answer

ByServer = Mapping[str, Sequence[Measurement]]


@dataclass(frozen=True)
class PageScenario:
    servers: tuple[str, ...]
    load: Callable[[BenchEnvironment, RunningServer], Load]
    most_times_nginx: float  # the goal: CPU per request of the origin
    most_bytes: int | None = None  # of a response: more means that something else was answered


def _not_modified(_: BenchEnvironment, server: RunningServer) -> Load:
    etag = server.get(DEFAULT_PAGE, ACCEPT_BR).headers["etag"]
    return Load(headers={**ACCEPT_BR, "If-None-Match": etag})


_SAME_BYTES = (*ORIGINS, NGINX)
PAGES = {
    "plain": PageScenario((*_SAME_BYTES, *BASELINES, *RUNTIMES), lambda _bench, _server: Load(), 1.0),
    "compressed": PageScenario(
        (*_SAME_BYTES, *BASELINES), lambda _bench, _server: Load(headers=ACCEPT_BR), 1.0
    ),
    "unchanged": PageScenario((*_SAME_BYTES, *BASELINES), _not_modified, 1.1, _LARGEST_304_BYTES),
    "mix": PageScenario(_SAME_BYTES, lambda bench, _server: Load(mix=bench.mix), 1.0),
}


@dataclass
class _Turns:
    """The running servers of some pages. A baseline knows one answer, so it runs once per page."""

    bench: BenchEnvironment
    names: Sequence[str]
    stack: ExitStack
    measured: dict[str, dict[str, list[Measurement]]] = field(default_factory=dict)
    running: dict[tuple[str, str], RunningServer] = field(default_factory=dict)

    def start(self) -> None:
        wanted = {name for page in self.names for name in PAGES[page].servers}
        for server in [one for one in self.bench.servers if one.name in wanted]:
            progress.log(f"warming {server.name} up")
            with self.bench.skip_if_unavailable(server):
                for page in self.names if server.name in BASELINES else self.names[:1]:
                    self._start(server.name, page)

    def _start(self, name: str, page: str) -> None:
        if name in BASELINES and name not in PAGES[page].servers:
            return
        started = self.bench.started(name, warm=True, answer=page)
        self.running[name, page if name in BASELINES else ""] = self.stack.enter_context(started)

    def measure_round(self, page: str, seconds: int) -> None:
        for server in list(self.bench.servers):
            if server.name not in PAGES[page].servers:
                continue
            with self.bench.skip_if_unavailable(server):
                instance = self.running[server.name, page if server.name in BASELINES else ""]
                one = _measure_page(self.bench, page, instance, seconds)
                self.measured.setdefault(page, {}).setdefault(server.name, []).append(one)

    def of_available(self, page: str) -> ByServer:
        """Without the servers that failed in one of the rounds."""
        names = self.bench.available(PAGES[page].servers)
        return {name: self.measured[page][name] for name in names}


def measure_pages(bench: BenchEnvironment, names: Sequence[str], rounds: Rounds) -> list[ScenarioResult]:
    """Results of the named PAGES; every round measures each of their servers once."""
    with ExitStack() as stack:
        turns = _Turns(bench, names, stack)
        turns.start()
        for number in range(rounds.count):
            for name in names:
                progress.log(f"round {number + 1} of {rounds.count}, {SCENARIOS[name]}")
                turns.measure_round(name, rounds.seconds)
    return [describe_page(name, turns.of_available(name), bench.missing) for name in names]


def describe_page(name: str, measured: ByServer, missing: Mapping[str, str] | None = None) -> ScenarioResult:
    result = ScenarioResult(name, HEADER, [(server, _row(server, measured)) for server in measured])
    result.goals = _goals(name, measured)
    for server, reason in (missing or {}).items():
        if server in PAGES[name].servers:
            result.rows.append((server, (None,) * len(HEADER)))
            result.notes.append(f"{server} was not measured: {reason}")
    return result


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
    ratios = {column: _cpu_ratio(measured, server, reference) for column, reference in _RATIOS.items()}
    row = {
        **{column: median(values) for column, values in columns.items()},
        "errors": sum(columns["errors"]),
        "+- %": spread_percent(columns["CPU us"]),
        **ratios,
    }
    return tuple(row[column] for column in HEADER)


def _goals(name: str, measured: ByServer) -> list[Goal]:
    bounds = {NGINX: PAGES[name].most_times_nginx, ORIGIN_OPEN: _MOST_TIMES_BASELINE}
    if READER in PAGES[name].servers:
        bounds |= {READER: _MOST_TIMES_BASELINE}
    what = f"CPU, {SCENARIOS[name]}"
    return [
        goal_of(what, _cpu_ratios(measured, ORIGIN, to), bound, f"x {to}", floor=_floor(measured, to))
        for to, bound in bounds.items()
    ]


def _floor(measured: ByServer, reference: str) -> float | None:
    """What Bun takes of the reference's CPU when it sends the bytes and reads nothing."""
    return 1 if reference == ORIGIN_OPEN else _cpu_ratio(measured, SOCKET, reference)


def _cpu_ratio(measured: ByServer, server: str, reference: str) -> float | None:
    return median_of(_cpu_ratios(measured, server, reference))


def _cpu_ratios(measured: ByServer, server: str, reference: str) -> list[float]:
    return ratios("CPU us", measured.get(server, ()), measured.get(reference, ()))
