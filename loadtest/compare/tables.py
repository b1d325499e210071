"""The result at the terminal."""

from rich.console import Console
from rich.table import Table

from loadtest.compare.options import SEEDS
from loadtest.compare.result import REFERENCE_FIGURES, BenchResult, ScenarioResult
from loadtest.compare.seeds_table import HEADER, seed_lines
from loadtest.tables import format_number, goal_table, new_table


def print_result(result: BenchResult, console: Console) -> None:
    for name, text in {**result.machine, **result.versions}.items():
        console.print(f"{name}: {text}")
    for scenario in result.scenarios:
        console.print("", scenario.title, _scenario_table(scenario), *scenario.notes, sep="\n")
    if lines := list(seed_lines(result)):
        console.print("", "the tables of other projects", _seeds_table(lines), sep="\n")
        for name in SEEDS:
            console.print(f"{name}: {REFERENCE_FIGURES[name]['source']}")
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


def _seeds_table(lines: list[tuple[str, ...]]) -> Table:
    table = new_table(*HEADER)
    for line in lines:
        table.add_row(*line)
    return table
