"""The kinds of load: which users, how many at each moment, for how long."""

from collections.abc import Mapping
from dataclasses import dataclass

from loadtest import shapes

# Weights of the user classes in loadtest/users.
_USUAL = {
    "VisitorUser": 68,
    "PagingUser": 12,
    "RevalidatingUser": 10,
    "PartnerUser": 3,
    "InvalidRequestUser": 5,
    "AttackUser": 2,
}
_SPIKE = {
    "VisitorUser": 88,
    "PagingUser": 4,
    "RevalidatingUser": 4,
    "PartnerUser": 1,
    "InvalidRequestUser": 2,
    "AttackUser": 1,
}
_STAMPEDE = {"NewConnectionUser": 97, "InvalidRequestUser": 2, "AttackUser": 1}


@dataclass(frozen=True)
class Profile:
    meaning: str
    shape: shapes.Shape
    users: int  # at the peak; each makes about one request a second
    seconds: int
    mix: Mapping[str, int]
    publish_seconds: float = 15  # between two generations, where the origin is our own


PROFILES: Mapping[str, Profile] = {
    "steady": Profile("an even load", shapes.steady, 200, 60, _USUAL),
    "evening": Profile("a whole evening, compressed", shapes.evening, 400, 180, _USUAL),
    "viral": Profile(
        "twenty times the usual within seconds, nearly all for one region, while generations are published",
        shapes.viral,
        600,
        60,
        _SPIKE,
        3,
    ),
    "stampede": Profile(
        "everybody at once, a new connection for every request", shapes.stampede, 300, 30, _STAMPEDE
    ),
    "limits": Profile("ever more users, until a service level breaks", shapes.limits, 6400, 120, _USUAL),
}
