"""The result at the terminal."""

from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from bench.reference_figures import REFERENCE_FIGURES, SOURCE
from bench.result import BenchResult, Goal, ScenarioResult

_LEAST_WIDTH = 120  # in a pipe and in narrow windows, where the tables would lose columns


def print_result(result: BenchResult, console: Console | None = None) -> None:
    console = console or Console(markup=False, highlight=False)
    console.width = max(console.width, _LEAST_WIDTH)
    for name, text in {**result.machine, **result.versions}.items():
        console.print(f"{name}: {text}")
    for scenario in result.scenarios:
        console.print("", scenario.title, _scenario_table(scenario), *scenario.notes, sep="\n")
    if (plain := result.scenario("plain")) is not None:
        console.print("", f"beside what is quoted ({SOURCE})", _quoted_table(result, plain), sep="\n")
    console.print("", "goals", _goal_table(result.goals), "", sep="\n")
    for name, reason in result.missing.items():
        console.print(f"missing: {name}: {reason}")
    for warning in result.warnings:
        console.print(f"warning: {warning}", style="yellow")


def format_number(value: float | None) -> str:
    if value is None:
        return "-"
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 100 else f"{value:.2f}"


def _scenario_table(scenario: ScenarioResult) -> Table:
    table = _table(scenario.header)
    for name, cells in scenario.rows:
        table.add_row(name, *map(format_number, cells))
    return table


def _quoted_table(result: BenchResult, plain: ScenarioResult) -> Table:
    """Ours of one core beside what is quoted of others."""
    start = result.scenario("start")
    starts = {name: cells[0] for name, cells in start.rows} if start else {}
    quoted = {quoted.name: quoted for quoted in REFERENCE_FIGURES}
    table = _table(("req/s", "p99 ms", "start ms", "RSS MB"))
    for name, cells in plain.rows:
        ours = dict(zip(plain.header, cells, strict=True))
        shown = (ours["req/s"], ours["p99 ms"], starts.get(name), ours["RSS MB"])
        table.add_row(f"{name}, one core", *map(format_number, shown))
        if name in quoted:
            one = quoted[name]
            shown = (one.per_second, one.p99_ms, one.start_ms, one.rss_mb)
            table.add_row("  quoted, 4 vCPU", *map(format_number, shown))
    return table


def _goal_table(goals: Iterable[Goal]) -> Table:
    table = _table(("reached", "goal"))
    for goal in goals:
        reached = "not measured" if goal.reached is None else f"{format_number(goal.reached)} {goal.unit}"
        bound = f"{'at least' if goal.at_least else 'at most'} {goal.bound:g}"
        style = None if goal.is_met else "bold red"
        table.add_row(f"{'met' if goal.is_met else 'MISSED':6}  {goal.what}", reached, bound, style=style)
    return table


def _table(header: Sequence[str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False)
    table.add_column("", no_wrap=True)
    for name in header:
        table.add_column(name, justify="right", no_wrap=True)
    return table
