"""All that a run of the bench found, in the form that is printed, drawn and kept."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from bench.quoted import QUOTED, SOURCE
from bench.section import Goal, Section

FOLDER = Path(__file__).parent / "published"


@dataclass
class Result:
    mode: str  # "full" or "quick"
    rounds: int
    seconds: int
    machine: dict[str, str]
    versions: dict[str, str] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)

    @property
    def goals(self) -> Sequence[Goal]:
        return [goal for section in self.sections for goal in section.goals]

    def section(self, name: str) -> Section | None:
        return next((section for section in self.sections if section.name == name), None)


def write_json(result: Result, file: Path) -> None:
    document = {
        "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
        **asdict(result),
        "goals": [{**asdict(goal), "is_met": goal.is_met} for goal in result.goals],
        "quoted": {"source": SOURCE, "figures": [asdict(quoted) for quoted in QUOTED]},
    }
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(document, indent=2, ensure_ascii=False, default=str) + "\n")
