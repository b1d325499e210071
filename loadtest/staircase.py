"""Finds the knee: climbs step by step until the service levels break."""

from dataclasses import dataclass

from loadtest.journal import Step
from loadtest.service_levels import Levels, judge


@dataclass(frozen=True)
class Knee:
    held: Step | None  # the highest step that kept every level, None when the first one broke
    broke: Step | None  # the one after it, None when the stairs ended first


def find_knee(steps: list[Step], levels: Levels) -> Knee:
    """The last step before the first that missed a level: what comes after a break is not looked at."""
    held = None
    for step in steps:
        if not all(judgement.kept for judgement in judge(step.tally, levels)):
            return Knee(held, step)
        held = step
    return Knee(held, None)
