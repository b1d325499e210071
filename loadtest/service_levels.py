"""What is promised under load, and whether it was kept."""

import tomllib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

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


class LevelResult(NamedTuple):
    name: str
    bound: float
    measured: float | None  # None: nothing was measured, so the level is missed

    @property
    def is_lower_bound(self) -> bool:
        return self.name.startswith("least_")

    @property
    def kept(self) -> bool:
        if self.measured is None:
            return False
        return self.measured >= self.bound if self.is_lower_bound else self.measured <= self.bound

    def describe(self) -> str:
        label, unit = _LABELS_AND_UNITS[self.name]
        bound = f"(at {'least' if self.is_lower_bound else 'most'} {self.bound:g} {unit})"
        if self.measured is None:
            return f"{label}: nothing was measured {bound}"
        return f"{label} {self.measured:,.2f} {unit} {bound}"


def read_levels(file: Path | str, profile: str, overrides: Iterable[str] = ()) -> Levels:
    """The levels of a profile: [default], then its own table, then NAME=NUMBER. Raises LevelError."""
    try:
        tables = tomllib.loads(Path(file).read_text())
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise LevelError(f"Cannot read the service levels {file}: {error}") from error
    levels: dict[str, object] = {**tables.get("default", {}), **tables.get(profile, {})}
    levels.update((name, value) for name, _, value in (override.partition("=") for override in overrides))
    return {name: _number(name, value) for name, value in levels.items()}


def _number(name: str, value: object) -> float:
    if name not in _LABELS_AND_UNITS:
        raise LevelError(
            f"There is no service level {name!r}: expected one of {', '.join(_LABELS_AND_UNITS)}"
        )
    with suppress(ValueError):
        if (number := float(str(value))) >= 0:
            return number
    raise LevelError(f"{name} is {str(value)!r}: expected a number of 0 or more, as in {name}=5")
