"""Finds the largest rate that an origin holds: more users step by step, until a service level breaks."""

from collections.abc import Callable, Sequence

from loadtest.service_levels import Levels
from loadtest.timeline import Sample

_SETTLING_SECONDS = 2  # after the number of users changed


class Staircase:
    """Measures the steps of a run, each without the time in which it settled."""

    def __init__(self) -> None:
        self.steps: list[Sample] = []  # those that are over
        self._number: int | None = None
        self._started = 0.0
        self._settled: Sample | None = None

    def tick(self, number: int | None, seconds: float, take_sample: Callable[[], Sample]) -> None:
        """To be called about once a second: which step runs now, None when the run is over."""
        if number != self._number:
            if self._settled is not None:
                self.steps.append(take_sample().since(self._settled))
            self._number, self._started, self._settled = number, seconds, None
        elif self._settled is None and seconds - self._started >= _SETTLING_SECONDS:
            self._settled = take_sample()


def find_capacity(steps: Sequence[Sample], levels: Levels) -> tuple[Sample | None, Sample | None]:
    """The last step before the first that missed a level, None when that was the first of all; and the one
    that missed it, None when none did."""
    held = None
    for step in steps:
        if not all(result.kept for result in step.evaluate(levels)):
            return held, step
        held = step
    return held, None
