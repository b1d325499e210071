"""Leads a run from its first second to its exit code, in locust's only process or in its master."""

from typing import Any

import gevent
from locust import User
from locust.env import Environment

from loadtest import summary
from loadtest.context import context
from loadtest.options import ExitCode
from loadtest.profiles import PROFILES
from loadtest.service_levels import evaluate, read_levels
from loadtest.shapes import limit_step, limits
from loadtest.staircase import Staircase, find_capacity
from loadtest.timeline import Sample

_PROGRESS_SECONDS = 2
_LEAST_SPAWN_RATE = 100  # users a second

Tick = tuple[int, float, list[type[User]]]  # users, users to spawn a second, their classes


class Coordinator:
    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._progress: gevent.Greenlet | None = None
        self.begin()

    def begin(self) -> None:
        """Begins a run; locust's web interface can start several with other options. Raises LevelError."""
        options: Any = self._environment.parsed_options
        self._profile = PROFILES[options.load_profile]
        self._seconds = float(options.run_time or self._profile.seconds)
        self._levels = read_levels(options.levels, options.load_profile, options.level)
        self._staircase = Staircase()
        self._users = int(options.num_users or self._profile.users)
        options.num_users = self._users  # locust's own default is 1
        options.run_seconds = self._seconds  # for the workers, which get no run_time

    def tick(self, seconds: float) -> Tick | None:
        """What locust asks for about once a second: how many users of which classes; None ends the run."""
        self._progress = self._progress or gevent.spawn(self._print_progress)
        is_over = seconds >= self._seconds
        if self._profile.shape is limits:
            step = None if is_over else limit_step(seconds / self._seconds, self._seconds)
            self._staircase.tick(step, seconds, self._sample)
            is_over = is_over or find_capacity(self._staircase.steps, self._levels).broke is not None
        if is_over:
            return None
        users = self._users * self._profile.shape(seconds / self._seconds, self._seconds)
        return max(1, round(users)), max(_LEAST_SPAWN_RATE, self._users / 2), self._classes()

    def conclude(self) -> ExitCode:
        """Prints the result of the run and gives its exit code."""
        if self._progress is not None:
            self._progress.kill()
        assert self._environment.runner is not None
        total = self._sample()
        print(summary.describe_requests(self._environment.stats, total))
        for exception in self._environment.runner.exceptions.values():
            print(f"The load test itself failed: {exception['msg']}\n{exception['traceback']}", flush=True)
            return ExitCode.COULD_NOT_RUN
        if self._profile.shape is limits:
            print(summary.describe_steps(self._staircase.steps, self._levels))
            kept = find_capacity(self._staircase.steps, self._levels).held is not None
        else:
            results = evaluate(total, self._levels)
            print(summary.describe_levels(results, total))
            kept = all(result.kept for result in results)
        print(summary.describe_caveats(total, has_token_keys=context.token_keys is not None), flush=True)
        return ExitCode.KEPT if kept else ExitCode.MISSED

    def _classes(self) -> list[type[User]]:
        """Those of the profile's mix, with its weights."""
        for user in self._environment.user_classes:
            user.weight = self._profile.mix.get(user.__name__, 0)
        return [user for user in self._environment.user_classes if user.weight]

    def _sample(self) -> Sample:
        users = self._environment.runner.user_count if self._environment.runner else 0
        return Sample.take(self._environment.stats, context.extra, users)

    def _print_progress(self) -> None:
        last = self._sample()
        while True:
            gevent.sleep(_PROGRESS_SECONDS)
            now = self._sample()
            if now.users and now.requests >= last.requests:
                print(summary.describe_progress(now, now.since(last)), flush=True)
            last = now
