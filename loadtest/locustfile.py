"""What locust runs. bin/loadtest starts it, and so does `locust -f loadtest/locustfile.py --host URL`,
from the root of the repository. Options of its own: --load-profile, --level, --levels."""

import logging
import sys
import time
from typing import Any

from locust import LoadTestShape, User, events, runners, stats
from locust.argument_parser import LocustArgumentParser
from locust.env import Environment
from locust.runners import MasterRunner, WorkerRunner
from locust.web import WebUI
from rich.console import Group

from loadtest.levels import DEFAULT_FILE, LevelError, read_levels
from loadtest.options import LOCAL_URL, ExitCode
from loadtest.processes import is_listening
from loadtest.profiles import PROFILES, limit_step, limits
from loadtest.samples import (
    ExtraStats,
    Sample,
    StepRecorder,
    describe_caveats,
    describe_levels,
    describe_steps,
    find_capacity,
)
from loadtest.tables import result_console
from loadtest.tokens import edge_headers, read_public_keys
from loadtest.users import *  # noqa: F403  locust runs the user classes that it finds here
from loadtest.users import context

Tick = tuple[int, float, list[type[User]]]  # users, users to spawn a second, their classes


class Coordinator:
    """Leads a run from its first second to its exit code, in locust's only process or in its master."""

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
        caveats = describe_caveats(total, has_public_keys=context.check.keys is not None)
        if self._profile.shape is limits:
            is_met = find_capacity(self._step_recorder.steps, self._levels)[0] is not None
            result = describe_steps(self._step_recorder.steps, self._levels)
        else:
            goals = total.evaluate(self._levels)
            is_met = all(goal.is_met for goal in goals)
            result = describe_levels(goals, total)
        return (ExitCode.MET if is_met else ExitCode.MISSED), Group(result, caveats)

    def _classes(self) -> list[type[User]]:
        """The classes of the profile's mix, with its weights."""
        for user in self._environment.user_classes:
            user.weight = self._profile.mix[user.__name__]
        return [user for user in self._environment.user_classes if user.weight]

    def _sample(self) -> Sample:
        users = self._environment.runner.user_count if self._environment.runner else 0
        return Sample.take(self._environment.stats, context.extra, users)


coordinator: Coordinator | None = None  # not in a worker

runners.WORKER_REPORT_INTERVAL = 1.0  # seconds, of 3: a step of `limits` lasts 6
stats.CONSOLE_STATS_INTERVAL_SEC = 10
stats.PERCENTILES_TO_REPORT = [0.5, 0.95, 0.99, 1.0]
stats.PERCENTILES_TO_CHART = [0.5, 0.99]
stats.STATS_TYPE_WIDTH, stats.STATS_NAME_WIDTH, stats.STATS_AUTORESIZE = 9, 40, False
# Locust's buckets are whole milliseconds; three digits keep a percentile within half a percent.
stats.bucket_response_time = lambda milliseconds: float(f"{milliseconds:.3g}")  # type: ignore[assignment, return-value]


class ProfileShape(LoadTestShape):
    use_common_options = True

    def reset_time(self) -> None:
        """Locust calls it at the start of a run."""
        super().reset_time()  # type: ignore[no-untyped-call]
        if coordinator is not None:
            coordinator.begin()

    def tick(self) -> Tick | None:
        assert coordinator is not None
        return coordinator.tick(self.get_run_time())  # type: ignore[no-untyped-call]


def add_options(parser: LocustArgumentParser) -> None:
    add = parser.add_argument
    add("--load-profile", choices=list(PROFILES), default="steady", help="Kind of load")
    add("--level", action="append", default=[], help="Override: NAME=NUMBER", include_in_web_ui=False)
    add("--levels", default=str(DEFAULT_FILE), help="File of the service levels", include_in_web_ui=False)


def initialize(environment: Environment, web_ui: WebUI | None, **_: object) -> None:
    global coordinator
    for handler in logging.getLogger("locust.stats_logger").handlers:
        if isinstance(handler, logging.StreamHandler):
            handler.setStream(sys.stdout)  # where the verdict is, and not standard error
    logging.getLogger("locust.runners").addFilter(lambda record: "spawn rate" not in record.getMessage())
    if isinstance(environment.runner, WorkerRunner):
        events.report_to_master.add_listener(report_extra)
        return
    if web_ui is None and not is_listening(
        url := environment.host or LOCAL_URL
    ):  # else the host may be entered there
        print(f"loadtest: Nothing listens at {url}", file=sys.stderr)
        sys.exit(ExitCode.COULD_NOT_RUN)
    try:
        coordinator = Coordinator(environment)
    except LevelError as error:
        print(f"loadtest: {error}", file=sys.stderr)
        sys.exit(ExitCode.USAGE)
    if isinstance(environment.runner, MasterRunner):
        events.worker_report.add_listener(merge_extra)
    if web_ui is not None:
        print(f"Locust's web interface: http://{web_ui.host or '127.0.0.1'}:{web_ui.port}", flush=True)
    events.quitting.add_listener(conclude)


def start(environment: Environment, **_: object) -> None:
    options: Any = environment.parsed_options
    context.start(PROFILES[options.load_profile], options.run_seconds)
    context.loop_lag.start()
    signed = {} if context.edge_keys is None else edge_headers(context.edge_keys)
    context.check.keys = read_public_keys(environment.host or LOCAL_URL, context.origin_keys, signed)


def count_delayed(response_time: float, **_: object) -> None:
    context.extra.delayed_requests += context.loop_lag.was_late_since(time.monotonic() - response_time / 1000)


def report_extra(data: dict[str, Any], **_: object) -> None:
    data["extra_stats"] = vars(context.extra)
    context.extra = ExtraStats()


def merge_extra(data: dict[str, Any], **_: object) -> None:
    context.extra.merge(ExtraStats(**data["extra_stats"]))


def conclude(environment: Environment, **_: object) -> None:
    assert coordinator is not None
    environment.process_exit_code = ExitCode.COULD_NOT_RUN  # stays when there is no result
    environment.process_exit_code, result = coordinator.conclude()
    events.quit.add_listener(lambda **_: result_console().print(result))  # after locust's tables


events.init_command_line_parser.add_listener(add_options)
events.init.add_listener(initialize)
events.test_start.add_listener(start)
events.request.add_listener(count_delayed)
