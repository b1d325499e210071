"""How many users are there at each moment of a run: pure functions from its progress to a share of the peak.

`progress` runs from 0 to 1; `seconds` is the length of the run, for what takes seconds whatever its length.
"""

import math
from collections.abc import Callable

Shape = Callable[[float, float], float]

VIRAL_FACTOR = 20
VIRAL_START = 0.25  # of the run
VIRAL_END = 0.8
VIRAL_CLIMB_SECONDS = 3.0
_MOST_STEPS = 16
_SHORTEST_STEP_SECONDS = 6
_SMALLEST_STEP = 1 / 64  # of the peak


def steady(progress: float, seconds: float) -> float:
    """Full after the first tenth, to stay there."""
    return min(1.0, progress * 10)


def evening(progress: float, seconds: float) -> float:
    """17:00 to 01:00, compressed: from a third of the peak up to prime time at 60 % of the run, and down."""
    return 0.3 + 0.7 * math.exp(-(((progress - 0.6) / 0.2) ** 2))


def viral(progress: float, seconds: float) -> float:
    """An ordinary hour, then twenty times as many within seconds, then slowly fewer."""
    usual = 1 / VIRAL_FACTOR
    if progress < VIRAL_START:
        return usual
    if progress >= VIRAL_END:
        return usual + (1 - usual) * math.exp(-(progress - VIRAL_END) * 15)
    climbing = (progress - VIRAL_START) * seconds / VIRAL_CLIMB_SECONDS
    return usual + (1 - usual) * min(1.0, climbing)


def stampede(progress: float, seconds: float) -> float:
    """Everybody at once, from the first moment."""
    return 1.0


def limits(progress: float, seconds: float) -> float:
    """Even steps, each a constant factor above the one before, so that the knee is found at any scale."""
    steps = step_count(seconds)
    return float(_SMALLEST_STEP ** (1 - limit_step(progress, seconds) / (steps - 1)))


def limit_step(progress: float, seconds: float) -> int:
    """Which step of `limits` it is, from 0."""
    steps = step_count(seconds)
    return min(steps - 1, int(progress * steps))


def step_count(seconds: float) -> int:
    return max(2, min(_MOST_STEPS, int(seconds // _SHORTEST_STEP_SECONDS)))


def is_viral(progress: float) -> bool:
    return VIRAL_START <= progress < VIRAL_END
