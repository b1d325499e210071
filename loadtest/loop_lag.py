"""Measures how late the load generator itself is: responses wait that long before they are read and timed."""

import math
import time

import gevent

TICK_SECONDS = 0.02
LATE_SECONDS = 0.025  # more than this makes a tick late


class LoopLag:
    """Watches gevent's event loop with a clock that should tick every 20 ms."""

    def __init__(self) -> None:
        self._next_tick = math.inf
        self._last_late = -math.inf
        self._greenlet: gevent.Greenlet | None = None

    def start(self) -> None:
        """Starts the clock, once per process."""
        self._greenlet = self._greenlet or gevent.spawn(self._run)

    def was_late_since(self, moment: float) -> bool:
        """Whether the loop was late at any time since `moment`, seconds of time.monotonic()."""
        return self._last_late >= moment or time.monotonic() - self._next_tick > LATE_SECONDS

    def _run(self) -> None:
        while True:
            self._next_tick = time.monotonic() + TICK_SECONDS
            gevent.sleep(TICK_SECONDS)
            now = time.monotonic()
            if now - self._next_tick > LATE_SECONDS:
                self._last_late = now
