"""The tables that other projects publish, each as its authors measured it, with ours beside."""

from contextlib import ExitStack
from dataclasses import dataclass, replace
from statistics import median

from bench.environment import BenchEnvironment
from bench.measurement import COLUMNS, Measurement, Rounds
from bench.progress import progress
from bench.result import ScenarioResult
from bench.servers import ORIGIN, PEERS
from bench.wrk import DEFAULT_PAGE, Load

HEADER = (*COLUMNS, "start ms")
_INVALID = "/api/trending?region=XX"


@dataclass(frozen=True)
class SeedRow:
    server: str
    target: str = DEFAULT_PAGE

    @property
    def label(self) -> str:
        return f"{self.server}, invalid" if self.target == _INVALID else self.server


@dataclass(frozen=True)
class SeedTable:
    load: Load
    rows: tuple[SeedRow, ...]
    note: str = ""

    @property
    def servers(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(row.server for row in self.rows))


def _rows(*names: str) -> tuple[SeedRow, ...]:
    return tuple(SeedRow(name) for name in names)


_VALIDATING = ("Bun + Zod", "Elysia, validating", "Hono on Bun + Zod", "Fastify + Ajv", "Express 5 + Zod")
_INVALID_ROWS = tuple(SeedRow(name, _INVALID) for name in (*_VALIDATING, ORIGIN))
TABLES = {
    "nextpress": SeedTable(
        Load(connections=100, pipelined=10),
        _rows("node:http", "Fastify", "Express 5", "Hono on Node", ORIGIN),
        "Times are of ten requests together. Nextpress itself is not published.",
    ),
    "encore": SeedTable(
        Load(connections=150),
        (
            *_rows("Encore.ts", "Bun.serve", "Elysia", "Hono on Bun", "Fastify", "Express 5"),
            *_rows(*_VALIDATING, ORIGIN),
            *_INVALID_ROWS,
        ),
        "Errors of an invalid query are its refusals.",
    ),
    "xypriss": SeedTable(
        Load(connections=5_000),
        _rows("Express 5", "Fastify", ORIGIN),
        "Open: 500 KB after 2 ms of authentication at 50 and 100 connections: no answer of ours is as large.",
    ),
    "viralvidvault": SeedTable(Load(connections=64), _rows(*PEERS, ORIGIN)),
}


def measure_seeds(name: str, bench: BenchEnvironment, rounds: Rounds) -> ScenarioResult:
    """A table's rows in turns, round by round; the medians. A server that fails is a row that says so."""
    table = TABLES[name]
    result = ScenarioResult(name, HEADER, notes=[table.note] if table.note else [])
    measured: dict[str, list[Measurement]] = {}
    with ExitStack() as stack:
        running = {}
        for server in [one for one in bench.servers if one.name in table.servers]:
            progress.log(f"warming {server.name} up")
            with bench.skip_if_unavailable(server):
                running[server.name] = stack.enter_context(bench.started(server.name, warm=True))
        for _ in range(rounds.count):
            for row in table.rows:
                for server in [one for one in bench.servers if one.name == row.server]:
                    load = replace(table.load, target=row.target)
                    with bench.skip_if_unavailable(server):
                        one = bench.measure(running[row.server], load, rounds.seconds)
                        measured.setdefault(row.label, []).append(one)
        starts = {server: instance.start_ms for server, instance in running.items()}
    for row in table.rows:
        if row.server in bench.missing:
            result.rows.append((row.label, (None,) * len(HEADER)))
            result.notes.append(f"{row.label} was not measured: {bench.missing[row.server]}")
        else:
            medians = (median(one[column] for one in measured[row.label]) for column in COLUMNS)
            result.rows.append((row.label, (*medians, starts[row.server])))
    return result
