"""Tables and figures at the terminal, of the load test and of the bench."""

from collections.abc import Iterable

from rich import box
from rich.console import Console
from rich.table import Table

from loadtest.levels import Goal

_LEAST_WIDTH = 240  # in a pipe and in narrow windows, where the tables would lose columns


def result_console() -> Console:
    """Writes to standard output; colours only where that is a terminal."""
    console = Console(markup=False, highlight=False, soft_wrap=True)
    console.width = max(console.width, _LEAST_WIDTH)
    return console


def new_table(*header: str) -> Table:
    """The first column is left-aligned; the others are right-aligned, for figures."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False)
    for column, name in enumerate(header):
        table.add_column(name, justify="right" if column else "left", no_wrap=True)
    return table


def goal_table(goals: Iterable[Goal]) -> Table:
    """Intervals and floors have columns where a goal has one."""
    rows = list(goals)
    judged = any(goal.samples or goal.floor is not None for goal in rows)
    table = new_table("", "reached", *(("interval", "floor") if judged else ()), "goal")
    for goal in rows:
        name = f"{goal.verdict if goal.is_met else goal.verdict.upper():9}  {goal.what}"
        interval = " to ".join(map(format_number, goal.interval)) if goal.samples and goal.interval else "-"
        between = (interval, format_number(goal.floor)) if judged else ()
        table.add_row(name, _reached(goal), *between, _bound(goal), style=None if goal.is_met else "bold red")
    return table


def describe_goal(goal: Goal) -> str:
    return f"{goal.what} {_reached(goal)} ({_bound(goal)})"


def format_number(value: float | None) -> str:
    if value is None:
        return "-"
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 100 else f"{value:.2f}"


def _reached(goal: Goal) -> str:
    return "not measured" if goal.reached is None else f"{format_number(goal.reached)} {goal.unit}"


def _bound(goal: Goal) -> str:
    return f"{'at least' if goal.at_least else 'at most'} {goal.bound:g}"
