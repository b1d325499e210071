"""What was promised, and whether it was kept."""

import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from loadtest.tally import Tally

DEFAULT_FILE = Path(__file__).parent / "service-levels.toml"
_LOWER_BOUND = "least_"

Levels = dict[str, float]

# What each level judges, and how it is said. A level that is not here is refused.
_MEASURES: Mapping[str, tuple[str, str, Callable[[Tally], float | None]]] = {
    "p50_ms": ("p50", "ms", lambda tally: tally.latencies.percentile(50)),
    "p99_ms": ("p99", "ms", lambda tally: tally.latencies.percentile(99)),
    "failed_percent": ("failed", "%", lambda tally: tally.failed_percent),
    "staleness_seconds": ("oldest generation served", "s", lambda tally: tally.oldest_seconds),
    "least_hit_percent": ("served from the edge's cache", "%", lambda tally: tally.hit_percent),
}
_ONLY_IF_SEEN = {"least_hit_percent"}


class LevelError(ValueError):
    """A service level that cannot be used. The message names it and what was expected."""


@dataclass(frozen=True)
class Judgement:
    name: str
    label: str
    unit: str
    bound: float
    measured: float | None  # None: nothing was measured, so the level is missed

    @property
    def kept(self) -> bool:
        if self.measured is None:
            return False
        return self.measured >= self.bound if self.is_lower_bound else self.measured <= self.bound

    @property
    def is_lower_bound(self) -> bool:
        return self.name.startswith(_LOWER_BOUND)


def read_levels(file: Path, profile: str, overrides: Iterable[str] = ()) -> Levels:
    """The levels of a profile: [default], then its own table, then NAME=NUMBER. Raises LevelError."""
    tables = _read_toml(file)
    pairs: dict[str, object] = {**tables.get("default", {}), **tables.get(profile, {})}
    for override in overrides:
        name, _, value = override.partition("=")
        pairs[name] = value
    return {name: _number(name, value) for name, value in pairs.items()}


def judge(tally: Tally, levels: Levels) -> list[Judgement]:
    """One judgement per level, in the order of the file."""
    judgements = []
    for name, bound in levels.items():
        label, unit, measure = _MEASURES[name]
        measured = measure(tally)
        if measured is None and name in _ONLY_IF_SEEN:
            continue
        judgements.append(Judgement(name, label, unit, bound, measured))
    return judgements


def _read_toml(file: Path) -> dict[str, dict[str, object]]:
    try:
        return tomllib.loads(file.read_text())
    except OSError as error:
        raise LevelError(f"Cannot read the service levels {file}: {error.strerror}") from error
    except tomllib.TOMLDecodeError as error:
        raise LevelError(f"Cannot read the service levels {file}: {error}") from error


def _number(name: str, value: object) -> float:
    if name not in _MEASURES:
        raise LevelError(f"There is no service level {name!r}: expected one of {', '.join(_MEASURES)}")
    try:
        number = float(str(value))
    except ValueError:
        number = -1.0
    if not number >= 0:
        raise LevelError(f"{name} is {str(value)!r}: expected a number of 0 or more, as in {name}=5")
    return number
