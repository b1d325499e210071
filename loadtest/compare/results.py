"""The result of a run: its figures, printed at the terminal and written as JSON."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table

from loadtest.compare.options import SCENARIOS
from loadtest.levels import Goal
from loadtest.tables import format_number, goal_table, new_table

# By column, with "requests" and "bytes" in all. CPU is user and system time of all processes of the server,
# per request; RSS is of all processes together.
Measurement = Mapping[str, float]

COLUMNS = (
    "CPU us",
    "user us",
    "system us",
    "req/s",
    "p50 ms",
    "p95 ms",
    "p99 ms",
    "max ms",
    "RSS MB",
    "errors",
)


@dataclass(frozen=True)
class Rounds:
    count: int
    seconds: int  # of load, each
    quick_seconds: int = 1  # the most with --quick

    def shortened(self, *, quick: bool) -> "Rounds":
        return Rounds(min(self.count, 3), min(self.seconds, self.quick_seconds)) if quick else self


def cells(measurement: Measurement) -> tuple[float, ...]:
    return tuple(measurement[column] for column in COLUMNS)


def with_median_p99(measured: Sequence[Measurement]) -> Measurement:
    return sorted(measured, key=lambda one: one["p99 ms"])[len(measured) // 2]


def spread_percent(values: Sequence[float]) -> float:
    """Half the distance between the extremes, of the median."""
    return 50 * (max(values) - min(values)) / (median(values) or 1)


def ratios(column: str, measured: Sequence[Measurement], references: Sequence[Measurement]) -> list[float]:
    """Those within each round, since the machine's other work slows both. None when one of the two was not
    measured. A round in which the reference took no measurable time counts for nothing."""
    if not measured or not references:
        return []
    rounds = zip(measured, references, strict=True)
    return [one[column] / reference[column] for one, reference in rounds if reference[column] > 0]


def ratio(column: str, measured: Sequence[Measurement], references: Sequence[Measurement]) -> float | None:
    """The median of the ratios."""
    return median_of(ratios(column, measured, references))


def median_of(values: Sequence[float]) -> float | None:
    return median(values) if values else None


def goal_of(what: str, samples: Sequence[float], bound: float, unit: str, **more: Any) -> Goal:
    return Goal(what, median_of(samples), bound, unit, samples=tuple(samples), **more)


@dataclass
class ScenarioResult:
    """A table and its goals. Numbers are as measured; tables round them."""

    name: str
    header: tuple[str, ...]
    rows: list[tuple[str, tuple[float | None, ...]]] = field(default_factory=list)
    goals: list[Goal] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    title: str = field(init=False)

    def __post_init__(self) -> None:
        self.title = SCENARIOS[self.name]


@dataclass
class BenchResult:
    mode: str  # "full" or "quick"
    rounds: int  # of the pages
    seconds: int  # each
    machine: dict[str, str]
    versions: dict[str, str] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    scenarios: list[ScenarioResult] = field(default_factory=list)

    @property
    def goals(self) -> list[Goal]:
        return [goal for scenario in self.scenarios for goal in scenario.goals]

    def scenario(self, name: str) -> ScenarioResult | None:
        return next((scenario for scenario in self.scenarios if scenario.name == name), None)


def print_result(result: BenchResult, console: Console) -> None:
    for name, text in {**result.machine, **result.versions}.items():
        console.print(f"{name}: {text}")
    for scenario in result.scenarios:
        console.print("", scenario.title, _scenario_table(scenario), *scenario.notes, sep="\n")
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


def write_json(result: BenchResult, file: Path) -> None:
    """A line for each row of a table and each goal."""
    document = {"measured_at": datetime.now(UTC).isoformat(timespec="seconds"), **asdict(result)}
    for scenario, described in zip(result.scenarios, document["scenarios"], strict=True):
        described["rows"] = [(name, *map(_rounded, cells)) for name, cells in scenario.rows]
        described["goals"] = [
            {
                **{name: value for name, value in asdict(goal).items() if name != "samples"},
                "reached": _rounded(goal.reached),
                "interval": goal.interval and [*map(_rounded, goal.interval)],
                "floor": _rounded(goal.floor),
                "verdict": goal.verdict,
            }
            for goal in scenario.goals
        ]
    text = json.dumps(document, indent=1, ensure_ascii=False)
    innermost = re.sub(r"[\[{][^\[\]{}]*[\]}]", lambda found: re.sub(r"\n\s*", " ", found[0]), text)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(innermost + "\n")


def _rounded(figure: float | None) -> float | None:
    return None if figure is None else float(f"{figure:.5g}")
