"""The kinds of load: which users, how many at each moment, for how long.

A shape is a pure function from `progress` (0 to 1) and the `seconds` of the whole run, for what takes seconds
whatever its length, to a share of the users at the peak.
"""

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

Shape = Callable[[float, float], float]

VIRAL_FACTOR = 20
VIRAL_START = 0.25  # of the run
VIRAL_END = 0.8
_VIRAL_CLIMB_SECONDS = 3.0
_MOST_STEPS = 16
_SHORTEST_STEP_SECONDS = 6
_SMALLEST_STEP = 1 / 64  # of the peak


def steady(progress: float, seconds: float) -> float:
    """Full after the first tenth."""
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
    return usual + (1 - usual) * min(1.0, (progress - VIRAL_START) * seconds / _VIRAL_CLIMB_SECONDS)


def stampede(progress: float, seconds: float) -> float:
    """Everybody at once, from the first moment."""
    return 1.0


def limits(progress: float, seconds: float) -> float:
    """Even steps, each a constant factor above the one before, so that the limit is found at any scale."""
    return float(_SMALLEST_STEP ** (1 - limit_step(progress, seconds) / (step_count(seconds) - 1)))


def limit_step(progress: float, seconds: float) -> int:
    """Which step of `limits` it is, from 0."""
    return min(step_count(seconds) - 1, int(progress * step_count(seconds)))


def step_count(seconds: float) -> int:
    return max(2, min(_MOST_STEPS, int(seconds // _SHORTEST_STEP_SECONDS)))


_WEIGHTS = {  # of the user classes in loadtest/users: usual, in a spike, in a stampede
    "VisitorUser": (68, 88, 0),
    "NewConnectionUser": (0, 0, 97),
    "PagingUser": (12, 4, 0),
    "RevalidatingUser": (10, 4, 0),
    "PartnerUser": (3, 1, 0),
    "InvalidRequestUser": (5, 2, 2),
    "AttackUser": (2, 1, 1),
}
_USUAL, _SPIKE, _STAMPEDE = ({user: mix[n] for user, mix in _WEIGHTS.items()} for n in range(3))


class Profile(NamedTuple):
    meaning: str
    shape: Shape
    users: int  # at the peak; each makes about one request a second
    seconds: int
    mix: Mapping[str, int]  # weights of the user classes
    publish_seconds: float = 15  # between two generations, where the origin is our own


PROFILES: Mapping[str, Profile] = {
    "steady": Profile("an even load", steady, 200, 60, _USUAL),
    "evening": Profile("a whole evening, compressed", evening, 400, 180, _USUAL),
    "viral": Profile("twenty times the usual, nearly all for one region", viral, 600, 60, _SPIKE, 3),
    "stampede": Profile("everybody at once, a new connection a request", stampede, 300, 30, _STAMPEDE),
    "limits": Profile("ever more users, until a service level is missed", limits, 6400, 120, _USUAL),
}
