"""What was seen when: one moment after the other, from which totals and steps are read."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from loadtest.shapes import limit_step
from loadtest.tally import Tally

_SETTLING_SECONDS = 1.5  # after the number of users changed


@dataclass(frozen=True)
class Moment:
    at: float  # its end, in seconds into the run
    seconds: float
    users: int
    tally: Tally


@dataclass(frozen=True)
class Step:
    """A stretch of a run with the same number of users."""

    users: int
    seconds: float
    tally: Tally

    @property
    def per_second(self) -> float:
        return self.tally.requests / self.seconds if self.seconds else 0.0


def add_up(moments: Iterable[Moment]) -> Step:
    total, seconds, users = Tally(), 0.0, 0
    for moment in moments:
        total.merge(moment.tally)
        seconds += moment.seconds
        users = users or moment.users
    return Step(users, seconds, total)


def finished_steps(moments: Iterable[Moment], run_seconds: float, now: float) -> list[Step]:
    """The steps of `limits` that are over at `now`, each without the time in which it settled."""

    def number(moment: Moment) -> int:
        return limit_step((moment.at - moment.seconds / 2) / run_seconds, run_seconds)

    steps = []
    for step, group in groupby(moments, key=number):
        if step >= limit_step(now / run_seconds, run_seconds) and now < run_seconds:
            break
        together = [moment for moment in group if moment.users]
        if not together:
            continue
        begun = together[0].at - together[0].seconds
        steps.append(add_up([moment for moment in together if moment.at - begun > _SETTLING_SECONDS]))
    return steps
