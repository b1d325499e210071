"""The running state and the forecast, as writer/src/Ranking computes them, for fitting.

    score = rate * w * (c + T)^2 / ((a + T) * (a + w + T))      hours, views an hour

rate was measured when the video was c hours old; it is a hours old now; w is the window; T is the
taper. docs/ranking.md derives it. Both programs are held to tests/Ranking/forecast-cases.json.
"""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

RATE_HALF_LIFE = 1.0  # hours; how fast a new measurement replaces the rate
MINIMUM_AGE = 1.0  # hours; a first rate is never views divided by less

GZIP_MAGIC = b"\x1f\x8b"

Key = tuple[str, str]  # region, video
Row = tuple[float, int, float | None]  # observed at, views, published at; hours since 1970
Series = dict[Key, list[Row]]


@dataclass(slots=True)
class State:
    """What is remembered of one video in one region. Times are hours since 1970."""

    born: float
    seen: float
    views: int
    rate: float
    rated: float  # the moment that the rate is about: the weighted middle of what it averages


def first(at: float, views: int, published: float | None, assumed_age: float) -> State:
    """The state after the first observation: the rate is the average of the video's whole life."""
    born = at - assumed_age if published is None else min(published, at)
    return State(born, at, views, views / max(at - born, MINIMUM_AGE), at)


def observe(state: State, at: float, views: int) -> None:
    """Brings the state up to a later observation. A count that went down is a gain of nothing."""
    elapsed = at - state.seen
    if elapsed <= 0:
        return
    kept = 2.0 ** (-elapsed / RATE_HALF_LIFE)
    state.rate = kept * state.rate + (1 - kept) * max(0, views - state.views) / elapsed
    state.rated = kept * state.rated + (1 - kept) * (at - elapsed / 2)
    state.seen, state.views = at, views


def expected_views(state: State, now: float, window: float, taper: float) -> float:
    """Views expected from now to now + window hours."""
    then = max(0.0, state.rated - state.born) + taper
    age = max(0.0, now - state.born) + taper
    return state.rate * window * then * then / (age * (age + window))


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


def replay(series: Series, assumed_age: float) -> Iterator[tuple[Key, int, State]]:
    """Each observation's key and index, with the state after it; the state lives on."""
    for key, rows in series.items():
        state = first(*rows[0], assumed_age)
        yield key, 0, state
        for index, (at, views, _) in enumerate(rows[1:], 1):
            observe(state, at, views)
            yield key, index, state
