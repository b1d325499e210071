"""The velocity and the forecast, as writer/src/Ranking computes them, for fitting.

    score = rate * w * (c + T)^2 / ((a + T) * (a + w + T))      hours, views an hour

rate is views_per_hour, measured when the video was c hours old; it is a hours old now; w is the window;
T is the taper. docs/ranking.md derives it. The tests of both programs read tests/Ranking/forecast-cases.json.
"""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

RATE_HALF_LIFE = 1.0  # hours; how fast a new measurement replaces views_per_hour
MINIMUM_AGE = 1.0  # hours; the first views_per_hour is views divided by at least this

GZIP_MAGIC = b"\x1f\x8b"

Key = tuple[str, str]  # region, video
Row = tuple[float, int, float | None]  # observed at, views, published at; hours since 1970
Series = dict[Key, list[Row]]


@dataclass(slots=True)
class Velocity:
    """What is kept of one video in one region, named as in the table. Times are hours since 1970."""

    age_starts_at: float  # not a column: publication, or what is assumed for it
    last_observed_at: float
    views: int
    views_per_hour: float
    rated_at: float  # the time that views_per_hour is about: the weighted mean of what it averages over


def first(at: float, views: int, published_at: float | None, assumed_age: float) -> Velocity:
    """The velocity after the first observation: the average since publication."""
    age_starts_at = at - assumed_age if published_at is None else min(published_at, at)
    return Velocity(age_starts_at, at, views, views / max(at - age_starts_at, MINIMUM_AGE), at)


def observe(velocity: Velocity, at: float, views: int) -> None:
    """Updates the velocity with a later observation. A count that went down is a gain of nothing."""
    elapsed = at - velocity.last_observed_at
    if elapsed <= 0:
        return
    kept = 2.0 ** (-elapsed / RATE_HALF_LIFE)
    measured = max(0, views - velocity.views) / elapsed
    velocity.views_per_hour = kept * velocity.views_per_hour + (1 - kept) * measured
    velocity.rated_at = kept * velocity.rated_at + (1 - kept) * (at - elapsed / 2)
    velocity.last_observed_at, velocity.views = at, views


def expected_views(velocity: Velocity, now: float, window: float, taper: float) -> float:
    """Views expected from now to now + window hours."""
    then = max(0.0, velocity.rated_at - velocity.age_starts_at) + taper
    age = max(0.0, now - velocity.age_starts_at) + taper
    return velocity.views_per_hour * window * then * then / (age * (age + window))


def read(paths: list[str]) -> Series:
    """Every video's observations in order of time; ends the program at a line that is not one."""
    series: Series = defaultdict(list)
    for path in paths:
        for number, line in enumerate(text(path).rstrip("\n").split("\n"), 1):
            try:
                add(series, json.loads(line))
            except (ValueError, TypeError, KeyError) as problem:
                raise SystemExit(f"{path}:{number}: not an observation: {problem!r}") from problem
    for rows in series.values():
        rows.sort(key=lambda row: row[0])
    return dict(series)


def text(path: str) -> str:
    content = Path(path).read_bytes()
    return (gzip.decompress(content) if content.startswith(GZIP_MAGIC) else content).decode()


def add(series: Series, line: dict[str, str]) -> None:
    published = line.get("published_at")
    row = hours(line["observed_at"]), int(line["views"]), None if published is None else hours(published)
    series[line["region"], line["id"]].append(row)


def hours(time: str) -> float:
    return datetime.fromisoformat(time).timestamp() / 3600


def replay(series: Series, assumed_age: float) -> Iterator[tuple[Key, int, Velocity]]:
    """Each observation's key and index, with the velocity after it: one object, which later ones change."""
    for key, rows in series.items():
        velocity = first(*rows[0], assumed_age)
        yield key, 0, velocity
        for index, (at, views, _) in enumerate(rows[1:], 1):
            observe(velocity, at, views)
            yield key, index, velocity
