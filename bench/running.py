"""Starts and stops what is measured."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from bench.cores import on_cores
from bench.processes import Session
from bench.single_request import free_port, wait_for_answer
from bench.targets import MissingTool, Setting, Target

FIRST_TARGET = "/api/trending?region=GB"


@dataclass(frozen=True)
class Running:
    target: Target
    url: str
    sessions: list[Session]
    start_ms: float  # from starting the first process to the first answer's last byte

    @property
    def has_ended(self) -> bool:
        return any(session.has_ended for session in self.sessions)


@contextmanager
def running(target: Target, setting: Setting, cores: frozenset[int]) -> Iterator[Running]:
    """Runs a server on its cores until the block ends. Raises MissingTool when it does not answer."""
    port = free_port()
    commands = target.launch(setting, port)
    with ExitStack() as stack:
        sessions: list[Session] = []
        started = time.perf_counter()
        with on_cores(cores):
            for number, command in enumerate(commands):
                log = setting.folder / f"{target.name}-{number}.log"
                session = Session(command.argv, command.environment, log)
                stack.callback(session.stop)
                sessions.append(session)
        url = f"http://127.0.0.1:{port}"
        answers = wait_for_answer(url + FIRST_TARGET, lambda: any(session.has_ended for session in sessions))
        start_ms = (time.perf_counter() - started) * 1000
        if not answers:
            raise MissingTool(f"does not answer: {' '.join(session.last_words() for session in sessions)}")
        yield Running(target, url, sessions, start_ms)
