"""Goals, each a figure and the bound that it has to keep to, and the service levels of the load test."""

import tomllib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import comb
from pathlib import Path


@dataclass(frozen=True)
class Goal:
    what: str
    reached: float | None  # None: nothing was measured, so the goal is missed
    bound: float
    unit: str
    at_least: bool = False  # the bound is the smallest value, not the largest
    samples: Sequence[float] = ()  # whose median was reached
    floor: float | None = None  # what nothing goes below that does this at all

    @property
    def interval(self) -> tuple[float, float] | None:
        """In which the median is in 19 of 20 cases; of fewer than six samples, their extremes."""
        if self.reached is None:
            return None
        ordered, least = sorted(self.samples) or [self.reached], 0
        while sum(comb(len(ordered), below) for below in range(least + 2)) <= 2 ** len(ordered) / 40:
            least += 1
        return ordered[least], ordered[-1 - least]

    @property
    def verdict(self) -> str:
        """Met or missed only where all of the interval is."""
        if self.interval is None:
            return "missed"
        met = {one >= self.bound if self.at_least else one <= self.bound for one in self.interval}
        return "undecided" if len(met) > 1 else "met" if met == {True} else "missed"

    @property
    def is_met(self) -> bool:
        return self.verdict == "met"


DEFAULT_FILE = Path(__file__).parent / "service-levels.toml"
Levels = dict[str, float]

_LABELS_AND_UNITS = {
    "p50_ms": ("p50", "ms"),
    "p99_ms": ("p99", "ms"),
    "failed_percent": ("failed", "%"),
    "staleness_seconds": ("oldest generation served", "s"),
    "least_hit_percent": ("served from the edge's cache", "%"),
}


class LevelError(ValueError):
    """A service level that cannot be used. The message names it and what was expected."""


def make_goal(name: str, bound: float, reached: float | None) -> Goal:
    """The goal of the level `name`; least_… is a lower bound."""
    what, unit = _LABELS_AND_UNITS[name]
    return Goal(what, reached, bound, unit, at_least=name.startswith("least_"))


def read_levels(file: Path | str, profile: str, overrides: Iterable[str] = ()) -> Levels:
    """The levels of a profile: [default], then its own table, then NAME=NUMBER. Raises LevelError."""
    try:
        tables = tomllib.loads(Path(file).read_text())
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise LevelError(f"Cannot read the service levels {file}: {error}") from error
    levels: dict[str, object] = {**tables.get("default", {}), **tables.get(profile, {})}
    levels.update((name, value) for name, _, value in (override.partition("=") for override in overrides))
    return {name: _level_number(name, value) for name, value in levels.items()}


def _level_number(name: str, value: object) -> float:
    if name not in _LABELS_AND_UNITS:
        raise LevelError(f"No service level {name!r} (choose from {', '.join(_LABELS_AND_UNITS)})")
    with suppress(ValueError):
        if (number := float(str(value))) >= 0:
            return number
    raise LevelError(f"{name} is {str(value)!r}: expected a number from 0, as in {name}=5")
