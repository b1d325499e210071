"""How late is the load generator itself? An answer waits as long before it is read and timed."""

import time

import gevent

_BEAT_SECONDS = 0.02


class Pulse:
    """Beats beside the users, on the same loop. Starts with `start`, once per process."""

    def __init__(self) -> None:
        self._worst = 0.0
        self._greenlet: gevent.Greenlet | None = None

    def start(self) -> None:
        if self._greenlet is None:
            self._greenlet = gevent.spawn(self._beat)

    def take_worst(self) -> float:
        """Seconds by which the latest beat since the last call was late."""
        worst, self._worst = self._worst, 0.0
        return worst

    def _beat(self) -> None:
        while True:
            due = time.monotonic() + _BEAT_SECONDS
            gevent.sleep(_BEAT_SECONDS)
            self._worst = max(self._worst, time.monotonic() - due)
