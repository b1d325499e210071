"""What locust runs. bin/loadtest starts it, and so does `locust -f loadtest/locustfile.py --host URL`,
from the root of the repository. Options of its own: --load-profile, --level, --levels."""

import logging
import sys
import time
from typing import Any

from locust import LoadTestShape, events, runners, stats
from locust.argument_parser import LocustArgumentParser
from locust.env import Environment
from locust.runners import MasterRunner, WorkerRunner
from locust.web import WebUI

from loadtest.context import context
from loadtest.coordinator import Coordinator, Tick
from loadtest.listening import is_listening
from loadtest.options import LOCAL_URL, ExitCode
from loadtest.profiles import PROFILES
from loadtest.public_keys import read_public_keys
from loadtest.samples import ExtraStats
from loadtest.service_levels import DEFAULT_FILE, LevelError
from loadtest.tables import result_console
from loadtest.users.base import edge_headers
from loadtest.users.classes import *  # noqa: F403  locust runs the user classes that it finds here

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
    add(
        "--load-profile",
        choices=list(PROFILES),
        default="steady",
        help="Kind of load",
    )
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
