"""Leads a run from its first tick to its verdict; exists once, in locust's only or master process."""

import time

import gevent
from locust.env import Environment

from loadtest import verdict
from loadtest.exit_codes import ExitCode
from loadtest.journal import Moment, Step, add_up, finished_steps
from loadtest.run import Run
from loadtest.service_levels import judge
from loadtest.shapes import limits
from loadtest.staircase import find_knee
from loadtest.tally import Tally

_PROGRESS_SECONDS = 2


class Conductor:
    def __init__(self, run: Run) -> None:
        self._run = run
        self._plan = run.plan
        self._moments: list[Moment] = []
        self._gathered = Tally()  # from worker processes, since the last moment
        self._started = self._last = time.monotonic()
        self._greenlet: gevent.Greenlet | None = None

    def start(self, environment: Environment) -> None:
        """Begins anew, as locust's own interface can any number of times."""
        self._moments.clear()
        self._run.take()
        self._started = self._last = time.monotonic()
        if self._greenlet is None:
            self._greenlet = gevent.spawn(self._watch, environment)

    def gather(self, tally: Tally) -> None:
        self._gathered.merge(tally)

    def tick(self, seconds: float) -> tuple[int, float] | None:
        """How many users there should be, and how many may come a second; None ends the run."""
        if seconds >= self._plan.seconds or self._is_knee_found(seconds):
            return None
        share = self._run.profile.shape(seconds / self._plan.seconds, self._plan.seconds)
        users = max(1, round(share * self._plan.users))
        return users, max(100, self._plan.users / 2)

    def conclude(self) -> ExitCode:
        """Prints the end of the run and gives its exit code."""
        if self._greenlet is not None:
            self._greenlet.kill()
        self._note(users=0)
        total = add_up(self._moments)
        print("\n" + verdict.describe_run(total))
        kept = self._conclude_limits() if self._is_staircase else self._conclude_levels(total)
        for note in (verdict.describe_generator(total.tally), *self._plan.notes):
            if note is not None:
                print(f"\n{note}")
        return ExitCode.KEPT if kept else ExitCode.MISSED

    @property
    def _is_staircase(self) -> bool:
        return self._run.profile.shape is limits

    def _conclude_levels(self, total: Step) -> bool:
        judgements = judge(total.tally, self._plan.levels)
        print(verdict.describe_levels(judgements))
        print("\n" + verdict.conclude(judgements, total))
        return all(judgement.kept for judgement in judgements)

    def _conclude_limits(self) -> bool:
        steps = self._steps(self._plan.seconds)
        print(verdict.describe_steps(steps, self._plan.levels))
        return find_knee(steps, self._plan.levels).held is not None

    def _is_knee_found(self, seconds: float) -> bool:
        return self._is_staircase and find_knee(self._steps(seconds), self._plan.levels).broke is not None

    def _steps(self, now: float) -> list[Step]:
        return finished_steps(self._moments, self._plan.seconds, now)

    def _watch(self, environment: Environment) -> None:
        second = 0
        while True:
            gevent.sleep(1)
            second += 1
            assert environment.runner is not None
            is_running = self._note(environment.runner.user_count)
            if is_running and second % _PROGRESS_SECONDS == 0:
                self._print_progress()

    def _note(self, users: int) -> bool:
        """Keeps what was seen since the last moment; false when nobody was there."""
        now = time.monotonic()
        tally = self._run.take()
        tally.merge(self._gathered)
        self._gathered = Tally()
        if users or tally.requests:
            self._moments.append(Moment(now - self._started, now - self._last, users, tally))
        self._last = now
        return users > 0

    def _print_progress(self) -> None:
        recent = add_up(self._moments[-_PROGRESS_SECONDS:])
        at = self._moments[-1].at
        times = recent.tally.latencies
        print(
            f"{at:5.0f} s {recent.users:7,} users {recent.per_second:9,.0f} req/s"
            f"   p50 {times.percentile(50) or 0:7.1f} ms   p99 {times.percentile(99) or 0:7.1f} ms"
            f"   failed {recent.tally.failures.total():,}",
            flush=True,
        )
