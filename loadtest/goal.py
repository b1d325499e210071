"""A figure and the bound that it has to keep to: a service level of the load test, a goal of the bench."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Goal:
    what: str
    reached: float | None  # None: nothing was measured, so the goal is missed
    bound: float
    unit: str
    at_least: bool = False  # the bound is the smallest value, not the largest

    @property
    def is_met(self) -> bool:
        if self.reached is None:
            return False
        return self.reached >= self.bound if self.at_least else self.reached <= self.bound
