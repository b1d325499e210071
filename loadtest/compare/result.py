"""The result of a run of the bench, which is printed, drawn and written as JSON."""

import json
import tomllib
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from loadtest.compare.options import TITLES
from loadtest.goal import Goal

REFERENCE_FIGURES: dict[str, Any] = tomllib.loads(
    Path(__file__).with_name("reference-figures.toml").read_text()
)


@dataclass
class ScenarioResult:
    """A table and its goals. Numbers are as measured; tables.py rounds them."""

    name: str
    header: tuple[str, ...]
    rows: list[tuple[str, tuple[float | None, ...]]] = field(default_factory=list)
    goals: list[Goal] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    title: str = field(init=False)

    def __post_init__(self) -> None:
        self.title = TITLES[self.name]


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


def write_json(result: BenchResult, file: Path) -> None:
    document = {
        "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
        **asdict(result),
        "goals": [{**asdict(goal), "is_met": goal.is_met} for goal in result.goals],
        "reference_figures": REFERENCE_FIGURES,
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
