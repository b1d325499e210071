"""The result at the terminal."""

from rich.console import Console
from rich.table import Table

from bench.result import REFERENCE_FIGURES, BenchResult, ScenarioResult
from loadtest.tables import format_number, goal_table, new_table


def print_result(result: BenchResult, console: Console) -> None:
    for name, text in {**result.machine, **result.versions}.items():
        console.print(f"{name}: {text}")
    for scenario in result.scenarios:
        console.print("", scenario.title, _scenario_table(scenario), *scenario.notes, sep="\n")
    if (plain := result.scenario("plain")) is not None:
        title = f"beside reference figures ({REFERENCE_FIGURES['source']})"
        console.print("", title, _reference_table(result, plain), sep="\n")
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


def _reference_table(result: BenchResult, plain: ScenarioResult) -> Table:
    """Ours of one core beside what others quote."""
    start = result.scenario("start")
    starts = {name: cells[0] for name, cells in start.rows} if start else {}
    references = {one["name"]: one for one in REFERENCE_FIGURES["figures"]}
    table = new_table("", "req/s", "p99 ms", "start ms", "RSS MB")
    for name, cells in plain.rows:
        ours = dict(zip(plain.header, cells, strict=True))
        shown = (ours["req/s"], ours["p99 ms"], starts.get(name), ours["RSS MB"])
        table.add_row(f"{name}, one core", *map(format_number, shown))
        if name in references:
            quoted = map(references[name].get, ("per_second", "p99_ms", "start_ms", "rss_mb"))
            table.add_row("  quoted, 4 vCPU", *map(format_number, quoted))
    return table
