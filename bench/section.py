"""What a part of the bench found: a table, and whether it reaches what was set as a goal."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Goal:
    """`reached` is None where it could not be measured; that is not met."""

    what: str
    reached: float | None
    bound: float
    unit: str
    at_least: bool = False

    @property
    def is_met(self) -> bool:
        if self.reached is None:
            return False
        return self.reached >= self.bound if self.at_least else self.reached <= self.bound


@dataclass
class Section:
    """Numbers are given as they were measured; what prints them rounds."""

    name: str
    title: str
    header: tuple[str, ...]
    rows: list[tuple[str, tuple[float | None, ...]]] = field(default_factory=list)
    goals: list[Goal] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
