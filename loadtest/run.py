"""One run of the load test, as every process of the load generator knows it.

bin/loadtest describes it in one environment variable, since locust starts processes of its own.
"""

import json
import os
import random
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from loadtest.analytics_token import KeyRing, parse_key_ring
from loadtest.answers import AnswerCheck
from loadtest.contract import Contract
from loadtest.markets import CODES, MarketMix
from loadtest.profiles import PROFILES, Profile
from loadtest.pulse import Pulse
from loadtest.service_levels import Levels
from loadtest.shapes import is_viral, viral
from loadtest.tally import Tally

VARIABLE = "TRENDVAULT_LOADTEST"
VIRAL_MARKET = CODES[1]
LATE_SECONDS = 0.025  # by which a process of the load generator may wake up too late


@dataclass(frozen=True)
class Plan:
    profile: str
    seconds: int
    users: int
    levels: Levels
    notes: tuple[str, ...]  # what the reader of the result should know

    def to_environment(self) -> dict[str, str]:
        return {VARIABLE: json.dumps(asdict(self))}

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "Plan":
        described = json.loads(environment[VARIABLE])
        return cls(**{**described, "notes": tuple(described["notes"])})


class Run:
    """The plan, and what the users of this process share."""

    def __init__(self, plan: Plan, environment: Mapping[str, str]) -> None:
        self.plan = plan
        self.profile: Profile = PROFILES[plan.profile]
        self.check = AnswerCheck(Contract.read(), _ring(environment, "TOKEN_KEYS"), time.time)
        self.edge_keys = _ring(environment, "EDGE_KEYS")
        self.tally = Tally()  # since `take`
        self.dice = random.Random()
        self._mix = MarketMix(self.dice, VIRAL_MARKET)
        self.pulse = Pulse()
        self._started = time.monotonic()

    def start(self) -> None:
        self.pulse.start()
        self._started = time.monotonic()

    @property
    def progress(self) -> float:
        return (time.monotonic() - self._started) / self.plan.seconds

    def draw_market(self) -> str:
        return self._mix.draw(viral=self.profile.shape is viral and is_viral(self.progress))

    def take(self) -> Tally:
        """What was seen since the last call."""
        taken, self.tally = self.tally, Tally()
        if self.pulse.take_worst() > LATE_SECONDS:
            taken.delayed_requests = taken.requests
        return taken


def _ring(environment: Mapping[str, str], name: str) -> KeyRing | None:
    return parse_key_ring(environment[name]) if environment.get(name) else None


current = Run(Plan.from_environment(os.environ), os.environ) if VARIABLE in os.environ else None


def require_current() -> Run:
    if current is None:
        raise RuntimeError("Start the load test with bin/loadtest: locust alone does not know the plan")
    return current
