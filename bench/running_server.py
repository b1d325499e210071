"""Starts and stops a server, and reads the CPU time and memory of all its processes."""

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import psutil
import urllib3

from bench.errors import CannotMeasure
from bench.machine import on_cores
from bench.servers import LaunchOptions, Server
from bench.wrk import DEFAULT_PAGE

_START_SECONDS = 20
_STOP_SECONDS = 10
_POLL_SECONDS = 0.0005


class RunningServer:
    def __init__(self, server: Server, url: str, log: Path) -> None:
        self.server = server
        self.url = url
        self.log = log
        self.start_ms = 0.0  # from starting the first process to the last byte of the first response
        self._leaders: list[psutil.Popen] = []  # each of a process group

    def start_process(self, command: list[str], environment: Mapping[str, str]) -> None:
        with self.log.open("a") as log:
            streams = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log}
            process = psutil.Popen(command, env=environment, start_new_session=True, **streams)
        self._leaders.append(process)

    @property
    def has_ended(self) -> bool:
        return any(process.poll() is not None for process in self._leaders)

    def processes(self) -> list[psutil.Process]:
        """The leaders and all that they have started."""
        return [one for leader in self._leaders for one in (leader, *leader.children(recursive=True))]

    def cpu_seconds(self) -> float:
        """User and system time, also of the children that have ended and been waited for."""
        return sum(sum(process.cpu_times()[:4]) for process in self.processes())

    def rss_mb(self) -> list[float]:
        """One value per process; pages that processes share count for each."""
        return [process.memory_info().rss / 2**20 for process in self.processes()]

    def stop(self) -> None:
        for process in self._leaders:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.terminate()
        psutil.wait_procs(self._leaders, _STOP_SECONDS)
        for process in self._leaders:
            with contextlib.suppress(ProcessLookupError):  # the group has ended
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@contextmanager
def running(server: Server, options: LaunchOptions, cores: frozenset[int]) -> Iterator[RunningServer]:
    """Runs a server on its cores until the block ends. Raises CannotMeasure when it does not answer."""
    port = _free_port()
    commands = server.commands(options, port)
    instance = RunningServer(server, f"http://127.0.0.1:{port}", options.folder / f"{server.name}-{port}.log")
    try:
        began = time.perf_counter()
        with on_cores(cores):
            for command in commands:
                instance.start_process(command, server.environment(options, port))
        _wait_until_it_answers(instance)
        instance.start_ms = (time.perf_counter() - began) * 1000
        yield instance
    finally:
        instance.stop()


def _wait_until_it_answers(instance: RunningServer) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and not instance.has_ended:
        try:
            if urllib3.request("GET", instance.url + DEFAULT_PAGE, retries=False, timeout=10).status == 200:
                return
        except urllib3.exceptions.HTTPError:
            time.sleep(_POLL_SECONDS)  # not listening yet
    raise CannotMeasure(f"does not answer: {instance.log.read_text(errors='replace')[-400:].strip()}")


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])
