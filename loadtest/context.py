"""What the users of one process share."""

import os
import random
import time
from collections.abc import Mapping
from pathlib import Path

from dotenv import dotenv_values

from loadtest.analytics_token import KeyRing, parse_key_ring
from loadtest.contract import REGIONS
from loadtest.loop_lag import LoopLag
from loadtest.profiles import PROFILES, Profile
from loadtest.regions import RegionMix
from loadtest.responses import ResponseCheck
from loadtest.shapes import is_viral, viral
from loadtest.timeline import ExtraStats


class Context:
    """Reads TOKEN_KEYS and EDGE_KEYS. Raises ValueError when a key ring is wrong."""

    def __init__(self, environment: Mapping[str, str | None]) -> None:
        self.token_keys = _key_ring(environment, "TOKEN_KEYS")
        self.edge_keys = _key_ring(environment, "EDGE_KEYS")
        self.check = ResponseCheck(self.token_keys, time.time)
        self.extra = ExtraStats()
        self.loop_lag = LoopLag()
        self.rng = random.Random()
        self._mix = RegionMix(self.rng, viral_region=REGIONS[1])
        self.start(PROFILES["steady"], 1)

    def start(self, profile: Profile, seconds: float) -> None:
        """Begins a run, of which locust's web interface can start several."""
        self._profile, self._seconds = profile, seconds
        self._started = time.monotonic()
        self.extra = ExtraStats()

    def draw_region(self) -> str:
        progress = (time.monotonic() - self._started) / self._seconds
        return self._mix.draw(viral=self._profile.shape is viral and is_viral(progress))

    def take_extra(self) -> ExtraStats:
        """What was counted since the last call."""
        taken, self.extra = self.extra, ExtraStats()
        return taken


def _key_ring(environment: Mapping[str, str | None], name: str) -> KeyRing | None:
    text = environment.get(name)
    return parse_key_ring(text) if text else None


# The keys that bin/up keeps in .env, unless the environment has others.
context = Context({**dotenv_values(Path(__file__).parents[1] / ".env"), **os.environ})
