"""The tables that other projects publish, each as its authors measured it, with ours beside."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from statistics import median

from loadtest.compare.environment import BenchEnvironment
from loadtest.compare.machine import FAILURES, progress
from loadtest.compare.results import (
    COLUMNS,
    Measurement,
    Rounds,
    ScenarioResult,
)
from loadtest.compare.running import DEFAULT_PAGE, EXPORT, Load, RunningServer
from loadtest.compare.servers import NGINX, ORIGIN, PEERS

SEED_HEADER = (*COLUMNS, "start ms")
_INVALID_TARGET = "/api/trending?region=XX"


@dataclass(frozen=True)
class SeedRow:
    server: str
    target: str = DEFAULT_PAGE

    @property
    def label(self) -> str:
        return f"{self.server}, invalid" if self.target == _INVALID_TARGET else self.server


@dataclass(frozen=True)
class SeedTable:
    load: Load
    rows: tuple[SeedRow, ...]
    note: str = ""

    @property
    def servers(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(row.server for row in self.rows))


def _table_rows(*names: str, target: str = DEFAULT_PAGE) -> tuple[SeedRow, ...]:
    return tuple(SeedRow(name, target) for name in names)


_VALIDATING = ("Bun + Zod", "Elysia, validating", "Hono on Bun + Zod", "Fastify + Ajv", "Express 5 + Zod")
_INVALID_ROWS = tuple(SeedRow(name, _INVALID_TARGET) for name in (*_VALIDATING, ORIGIN))
TABLES = {
    "nextpress": SeedTable(
        Load(connections=100, pipelined=10),
        _table_rows("node:http", "Fastify", "Express 5", "Hono on Node", ORIGIN),
        "Times are of ten requests together. Nextpress itself is not published.",
    ),
    "encore": SeedTable(
        Load(connections=150),
        (
            *_table_rows("Encore.ts", "Bun.serve", "Elysia", "Hono on Bun", "Fastify", "Express 5"),
            *_table_rows(*_VALIDATING, ORIGIN),
            *_INVALID_ROWS,
        ),
        "Errors of an invalid query are its refusals.",
    ),
    "xypriss": SeedTable(
        Load(connections=5_000),
        _table_rows("Express 5", "Fastify", ORIGIN),
    ),
    "bulk": SeedTable(
        Load(connections=100),
        _table_rows("Express 5", "Fastify", NGINX, ORIGIN, target=EXPORT),
        "The export of a market. All send the same bytes and fields; only ours compares a signature first.",
    ),
    "viralvidvault": SeedTable(Load(connections=64), _table_rows(*PEERS, ORIGIN)),
}


@dataclass
class _Turns:
    """A server that fails is left out of this table only: the next may ask less of it."""

    bench: BenchEnvironment
    table: SeedTable
    stack: ExitStack
    running: dict[str, RunningServer] = field(default_factory=dict)
    measured: dict[str, list[Measurement]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)  # why, by server

    def start(self) -> None:
        for name in self.table.servers:
            if name in self.bench.missing:
                self.failed[name] = self.bench.missing[name]
            else:
                progress.log(f"warming {name} up")
                with self._left_out_if_it_fails(name):
                    started = self.bench.started(name, warm=True)
                    self.running[name] = self.stack.enter_context(started)

    def measure_round(self, seconds: int) -> None:
        for row in self.table.rows:
            if row.server not in self.failed:
                load = replace(self.table.load, target=row.target)
                with self._left_out_if_it_fails(row.server):
                    one = self.bench.measure(self.running[row.server], load, seconds)
                    self.measured.setdefault(row.label, []).append(one)

    @contextmanager
    def _left_out_if_it_fails(self, name: str) -> Iterator[None]:
        try:
            yield
        except FAILURES as reason:
            progress.log(f"leaving out {name}: {reason}")
            self.failed[name] = str(reason)


def measure_seeds(name: str, bench: BenchEnvironment, rounds: Rounds) -> ScenarioResult:
    """A table's rows in turns, round by round; the medians. A server that fails is a row that says so."""
    table = TABLES[name]
    result = ScenarioResult(name, SEED_HEADER, notes=[table.note] if table.note else [])
    with ExitStack() as stack:
        turns = _Turns(bench, table, stack)
        turns.start()
        for _ in range(rounds.count):
            turns.measure_round(rounds.seconds)
    for row in table.rows:
        if row.server in turns.failed:
            result.rows.append((row.label, (None,) * len(SEED_HEADER)))
        else:
            medians = (median(one[column] for one in turns.measured[row.label]) for column in COLUMNS)
            result.rows.append((row.label, (*medians, turns.running[row.server].start_ms)))
    result.notes += [f"{server} was not measured: {reason}" for server, reason in turns.failed.items()]
    return result
