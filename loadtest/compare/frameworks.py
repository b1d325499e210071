"""The tables that other projects publish, each as its authors measured it, with ours beside."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import product
from statistics import median

from loadtest.compare.environment import BenchEnvironment
from loadtest.compare.machine import FAILURES, progress
from loadtest.compare.results import (
    COLUMNS,
    INVALID,
    Measurement,
    Rounds,
    ScenarioResult,
)
from loadtest.compare.running import EXPORT, Load, RunningServer
from loadtest.compare.servers import NGINX, ORIGIN, RUNTIMES

FRAMEWORK_HEADER = (*COLUMNS, "start ms")
_INVALID_TARGET = "/api/trending?region=XX"


@dataclass(frozen=True)
class FrameworkTable:
    load: Load
    rows: tuple[str, ...]
    note: str = ""

    @property
    def servers(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(row.removesuffix(INVALID) for row in self.rows))


_VALIDATING = (
    "Bun + Zod",
    "Elysia, validating",
    "Hono on Bun + Zod",
    "Fastify + Ajv",
    "Express 5 + Zod",
    ORIGIN,
)
_PLAIN = ("Encore.ts", "Bun.serve", "Elysia", "Hono on Bun", "Fastify", "Express 5")
TABLES = {
    "nextpress": FrameworkTable(
        Load(connections=100, pipelined=10),
        ("node:http", "Fastify", "Express 5", "Hono on Node", ORIGIN),
        "Times are of ten requests together. Nextpress itself is not published.",
    ),
    "encore": FrameworkTable(
        Load(connections=150),
        (*_PLAIN, *_VALIDATING, ORIGIN, *(name + INVALID for name in (*_VALIDATING, ORIGIN))),
        "Errors of an invalid query are its refusals.",
    ),
    "xypriss": FrameworkTable(Load(connections=5_000), ("Express 5", "Fastify", ORIGIN)),
    "bulk": FrameworkTable(
        Load(EXPORT, connections=100),
        ("Express 5", "Fastify", NGINX, ORIGIN),
        "The export of a region. All send the same bytes and fields; only ours compares a signature first.",
    ),
    "viralvidvault": FrameworkTable(Load(connections=64), (*RUNTIMES, ORIGIN)),
}


def measure_frameworks(name: str, bench: BenchEnvironment, rounds: Rounds) -> ScenarioResult:
    """A table's rows in turns, round by round; the medians. A server that fails is a row that says so."""
    table = TABLES[name]
    failed = {server: bench.missing[server] for server in table.servers if server in bench.missing}
    measured = _measure(table, bench, rounds, failed)
    result = ScenarioResult(name, FRAMEWORK_HEADER, notes=[table.note] if table.note else [])
    for row in table.rows:
        if row.removesuffix(INVALID) in failed:
            result.rows.append((row, (None,) * len(FRAMEWORK_HEADER)))
        else:
            medians = (median(one[column] for one in measured[row]) for column in FRAMEWORK_HEADER)
            result.rows.append((row, tuple(medians)))
    result.notes += [f"{server} was not measured: {reason}" for server, reason in failed.items()]
    return result


def _measure(
    table: FrameworkTable, bench: BenchEnvironment, rounds: Rounds, failed: dict[str, str]
) -> dict[str, list[Measurement]]:
    """By row. A server that fails goes to `failed`, of this table only: the next may ask less of it."""
    measured: dict[str, list[Measurement]] = {row: [] for row in table.rows}
    running: dict[str, RunningServer] = {}

    @contextmanager
    def left_out_if_it_fails(server: str) -> Iterator[None]:
        try:
            yield
        except FAILURES as reason:
            progress.log(f"leaving out {server}: {reason}")
            failed[server] = str(reason)

    with ExitStack() as stack:
        for server in [one for one in table.servers if one not in failed]:
            progress.log(f"warming {server} up")
            with left_out_if_it_fails(server):
                running[server] = stack.enter_context(bench.started(server, warm=True))
        for _, row in product(range(rounds.count), table.rows):
            server = row.removesuffix(INVALID)
            load = table.load if row == server else replace(table.load, target=_INVALID_TARGET)
            if server not in failed:
                with left_out_if_it_fails(server):
                    one = bench.measure(running[server], load, rounds.seconds)
                    measured[row].append({**one, "start ms": running[server].start_ms})
    return measured
