"""What the users of one process share."""

import os
import random
import time
from collections.abc import Mapping
from pathlib import Path

from dotenv import dotenv_values

from loadtest.key_ring import parse_key_ring
from loadtest.loop_lag import LoopLag
from loadtest.popularity import draw_region
from loadtest.profiles import PROFILES, VIRAL_END, VIRAL_START, Profile, viral
from loadtest.responses import ResponseCheck
from loadtest.samples import ExtraStats


class Context:
    """Reads EDGE_KEYS and ORIGIN_JWKS. Raises ValueError when a key ring is wrong."""

    def __init__(self, environment: Mapping[str, str | None]) -> None:
        edge_keys = environment.get("EDGE_KEYS")
        self.edge_keys = parse_key_ring(edge_keys) if edge_keys else None
        self.origin_keys = environment.get("ORIGIN_JWKS")
        self.check = ResponseCheck(time.time)
        self.loop_lag = LoopLag()
        self.rng = random.Random()
        self.start(PROFILES["steady"], 1)

    def start(self, profile: Profile, seconds: float) -> None:
        """Begins a run, of which locust's web interface can start several."""
        self._profile, self._seconds, self._started = profile, seconds, time.monotonic()
        self.extra = ExtraStats()

    def draw_region(self) -> str:
        progress = (time.monotonic() - self._started) / self._seconds
        is_viral = self._profile.shape is viral and VIRAL_START <= progress < VIRAL_END
        return draw_region(self.rng, viral=is_viral)


# The keys that bin/up keeps in .env, unless the environment has others.
context = Context({**dotenv_values(Path(__file__).parents[1] / ".env"), **os.environ})
