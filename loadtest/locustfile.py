"""What locust runs: the users of the plan's profile, its shape, and the ears that count.

Started by bin/loadtest, which describes the run in an environment variable (see run.py).
"""

import logging
from collections.abc import Sequence
from typing import Any

from locust import LoadTestShape, events, runners
from locust.env import Environment
from locust.runners import MasterRunner, WorkerRunner

from loadtest.conductor import Conductor
from loadtest.exit_codes import ExitCode
from loadtest.run import require_current
from loadtest.tally import Tally
from loadtest.users.client import Client
from loadtest.users.hostile import Hostile
from loadtest.users.mistaken import Mistaken
from loadtest.users.partner import Partner
from loadtest.users.reader import Reader
from loadtest.users.revalidator import Revalidator
from loadtest.users.visitor import Newcomer, Visitor

run = require_current()

conductor = Conductor(run)
runners.WORKER_REPORT_INTERVAL = 1.0  # seconds, of 3: what workers have seen belongs to a second of the run


def weigh(users: Sequence[type[Client]]) -> None:
    for user in users:
        user.weight = run.profile.mix.get(user.__name__, 0)
        user.abstract = user.weight == 0  # locust spawns only classes that are not


weigh([Visitor, Newcomer, Reader, Revalidator, Partner, Mistaken, Hostile])


class ProfileShape(LoadTestShape):
    def tick(self) -> tuple[int, float] | None:
        return conductor.tick(self.get_run_time())  # type: ignore[no-untyped-call]


def count(name: str, response_time: float, exception: Exception | None, **_: object) -> None:
    run.tally.add(name, response_time, None if exception is None else str(exception))


def count_error(user_instance: Client, exception: Exception, **_: object) -> None:
    """A mistake of the load test itself: it must not pass for an answer that was right."""
    run.tally.add(type(user_instance).__name__, 0, f"the load test failed: {type(exception).__name__}")


def listen(environment: Environment, **_: object) -> None:
    logging.getLogger("locust.stats_logger").setLevel(logging.ERROR)  # the end is told by our own table
    logging.getLogger("locust.runners").addFilter(lambda record: "spawn rate" not in record.getMessage())
    if isinstance(environment.runner, WorkerRunner):
        events.report_to_master.add_listener(report)
        return
    if isinstance(environment.runner, MasterRunner):
        events.worker_report.add_listener(gather)
    events.quitting.add_listener(conclude)


def start(environment: Environment, **_: object) -> None:
    run.start()
    if not isinstance(environment.runner, WorkerRunner):
        conductor.start(environment)


def report(data: dict[str, Any], **_: object) -> None:
    data["trendvault"] = run.take().to_json()


def gather(data: dict[str, Any], **_: object) -> None:
    conductor.gather(Tally.from_json(data["trendvault"]))


def conclude(environment: Environment, **_: object) -> None:
    environment.process_exit_code = ExitCode.COULD_NOT_RUN  # stays if there is no verdict
    environment.process_exit_code = conductor.conclude()


events.request.add_listener(count)
events.user_error.add_listener(count_error)
events.init.add_listener(listen)
events.test_start.add_listener(start)
