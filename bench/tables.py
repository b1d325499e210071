"""The result at the terminal."""

from rich.console import Console
from rich.table import Table

from bench.reference_figures import REFERENCE_FIGURES, SOURCE
from bench.result import BenchResult, ScenarioResult
from loadtest.tables import format_number, goal_table, new_table


def print_result(result: BenchResult, console: Console) -> None:
    for name, text in {**result.machine, **result.versions}.items():
        console.print(f"{name}: {text}")
    for scenario in result.scenarios:
        console.print("", scenario.title, _scenario_table(scenario), *scenario.notes, sep="\n")
    if (plain := result.scenario("plain")) is not None:
        console.print("", f"beside what is quoted ({SOURCE})", _quoted_table(result, plain), sep="\n")
    console.print("", "goals", goal_table(result.goals), "", sep="\n")
    for name, reason in result.missing.items():
        console.print(f"missing: {name}: {reason}")
    for warning in result.warnings:
        console.print(f"warning: {warning}", style="yellow")


def _scenario_table(scenario: ScenarioResult) -> Table:
    table = new_table("", *scenario.header)
    for name, cells in scenario.rows:
        table.add_row(name, *map(format_number, cells))
    return table


def _quoted_table(result: BenchResult, plain: ScenarioResult) -> Table:
    """Ours of one core beside what is quoted of others."""
    start = result.scenario("start")
    starts = {name: cells[0] for name, cells in start.rows} if start else {}
    quoted = {quoted.name: quoted for quoted in REFERENCE_FIGURES}
    table = new_table("", "req/s", "p99 ms", "start ms", "RSS MB")
    for name, cells in plain.rows:
        ours = dict(zip(plain.header, cells, strict=True))
        shown = (ours["req/s"], ours["p99 ms"], starts.get(name), ours["RSS MB"])
        table.add_row(f"{name}, one core", *map(format_number, shown))
        if name in quoted:
            one = quoted[name]
            shown = (one.per_second, one.p99_ms, one.start_ms, one.rss_mb)
            table.add_row("  quoted, 4 vCPU", *map(format_number, shown))
    return table
