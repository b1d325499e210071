"""Leads a run from its first second to its exit code, in locust's only process or in its master."""

from typing import Any

from locust import User
from locust.env import Environment
from rich.console import Group

from loadtest import summary
from loadtest.context import context
from loadtest.options import ExitCode
from loadtest.profiles import PROFILES, limit_step, limits
from loadtest.samples import Sample, StepRecorder, find_capacity
from loadtest.service_levels import read_levels

Tick = tuple[int, float, list[type[User]]]  # users, users to spawn a second, their classes


class Coordinator:
    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self.begin()

    def begin(self) -> None:
        """Begins a run; locust's web interface can start several with other options. Raises LevelError."""
        options: Any = self._environment.parsed_options
        self._profile = PROFILES[options.load_profile]
        self._seconds = float(options.run_time or self._profile.seconds)
        self._levels = read_levels(options.levels, options.load_profile, options.level)
        self._step_recorder = StepRecorder()
        self._users = int(options.num_users or self._profile.users)
        options.num_users = self._users  # locust's own default is 1
        options.run_seconds = self._seconds  # for the workers, which get no run_time

    def tick(self, seconds: float) -> Tick | None:
        """Locust calls this about once a second for the users that are to run; None ends the run."""
        is_over = seconds >= self._seconds
        if self._profile.shape is limits:
            step = None if is_over else limit_step(seconds / self._seconds, self._seconds)
            self._step_recorder.tick(step, seconds, self._sample)
            is_over = is_over or find_capacity(self._step_recorder.steps, self._levels)[1] is not None
        if is_over:
            return None
        users = self._users * self._profile.shape(seconds / self._seconds, self._seconds)
        return max(1, round(users)), max(100, self._users / 2), self._classes()

    def conclude(self) -> tuple[ExitCode, Group | str]:
        """The exit code of the run, and its result for rich to print."""
        assert self._environment.runner is not None
        for exception in self._environment.runner.exceptions.values():
            failure = f"The load test itself failed: {exception['msg']}\n{exception['traceback']}"
            return ExitCode.COULD_NOT_RUN, failure
        total = self._sample()
        caveats = summary.describe_caveats(total, has_public_keys=context.check.keys is not None)
        if self._profile.shape is limits:
            is_met = find_capacity(self._step_recorder.steps, self._levels)[0] is not None
            result = summary.describe_steps(self._step_recorder.steps, self._levels)
        else:
            goals = total.evaluate(self._levels)
            is_met = all(goal.is_met for goal in goals)
            result = summary.describe_levels(goals, total)
        return (ExitCode.MET if is_met else ExitCode.MISSED), Group(result, caveats)

    def _classes(self) -> list[type[User]]:
        """The classes of the profile's mix, with its weights."""
        for user in self._environment.user_classes:
            user.weight = self._profile.mix[user.__name__]
        return [user for user in self._environment.user_classes if user.weight]

    def _sample(self) -> Sample:
        users = self._environment.runner.user_count if self._environment.runner else 0
        return Sample.take(self._environment.stats, context.extra, users)
