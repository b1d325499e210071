"""The kinds of evening there are: who comes, how many, for how long."""

from collections.abc import Mapping
from dataclasses import dataclass

from loadtest import shapes

# Weights of the user classes in loadtest/users: out of a hundred who come, how many behave so.
_USUAL = {"Visitor": 68, "Reader": 12, "Revalidator": 10, "Partner": 3, "Mistaken": 5, "Hostile": 2}
_SPIKE = {"Visitor": 88, "Reader": 4, "Revalidator": 4, "Partner": 1, "Mistaken": 2, "Hostile": 1}
_CROWD = {"Newcomer": 97, "Mistaken": 2, "Hostile": 1}


@dataclass(frozen=True)
class Profile:
    meaning: str
    shape: shapes.Shape
    users: int  # at the peak; each makes about one request a second
    seconds: int
    mix: Mapping[str, int]
    publish_seconds: float  # between two generations, where the origin is our own


PROFILES: Mapping[str, Profile] = {
    "steady": Profile("an even load", shapes.steady, 200, 60, _USUAL, 15),
    "evening": Profile("a whole evening, compressed", shapes.evening, 400, 180, _USUAL, 15),
    "viral": Profile(
        "twenty times the usual within seconds, nearly all for one market, while generations are published",
        shapes.viral,
        600,
        60,
        _SPIKE,
        3,
    ),
    "stampede": Profile(
        "everybody at once, a new connection for every request", shapes.stampede, 300, 30, _CROWD, 15
    ),
    "limits": Profile("ever more, until the service levels break", shapes.limits, 6400, 120, _USUAL, 15),
}
