"""Starts and stops a server, and reads the CPU time and memory of all its processes."""

import contextlib
import os
import random
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import psutil
import urllib3

from loadtest.compare.edge_header import EdgeHeader
from loadtest.compare.errors import CannotMeasure
from loadtest.compare.machine import on_cores
from loadtest.compare.servers import LaunchOptions, Server
from loadtest.compare.wrk import DEFAULT_PAGE

_START_SECONDS = 60
_RESPONSE_SECONDS = 10
_STOP_SECONDS = 10
_ANSWERED = (200, 304)  # a floor program may know nothing but a 304
_POLL_SECONDS = 0.0005


class CpuSeconds(NamedTuple):
    user: float
    system: float


class RunningServer:
    def __init__(self, server: Server, url: str, log: Path, edge_header: EdgeHeader | None = None) -> None:
        self.server = server
        self.url = url
        self.log = log
        self._edge_header = edge_header
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

    def fields(self) -> dict[str, str]:
        """The header fields without which it does not answer."""
        return {} if self._edge_header is None else self._edge_header.fields()

    def get(self, target: str, headers: Mapping[str, str] | None = None) -> urllib3.BaseHTTPResponse:
        """The response to a single request over a connection of its own, its body as it was sent.

        Bun closes a connection that is asked to without saying so: a pool would use it again.
        """
        sent = {**self.fields(), **(headers or {})}
        url = self.url + target
        with urllib3.PoolManager() as pool:
            return pool.request(
                "GET", url, headers=sent, decode_content=False, retries=False, timeout=_RESPONSE_SECONDS
            )

    def cpu_seconds(self) -> CpuSeconds:
        """Also of the children that have ended and been waited for."""
        times = [process.cpu_times() for process in self.processes()]
        user = sum(one.user + one.children_user for one in times)
        return CpuSeconds(user, sum(one.system + one.children_system for one in times))

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
    environment = server.environment(options, port)
    keys = environment.get("EDGE_KEYS")
    edge_header = None if keys is None else EdgeHeader(keys)
    log = options.folder / f"{server.name}-{port}.log"
    instance = RunningServer(server, f"http://127.0.0.1:{port}", log, edge_header)
    instance.fields()  # computed before the clock runs
    try:
        began = time.perf_counter()
        with on_cores(cores):
            for command in commands:
                instance.start_process(command, environment)
        _wait_until_it_answers(instance)
        instance.start_ms = (time.perf_counter() - began) * 1000
        yield instance
    finally:
        instance.stop()


def _wait_until_it_answers(instance: RunningServer) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and not instance.has_ended:
        try:
            if instance.get(DEFAULT_PAGE).status in _ANSWERED:
                return
        except urllib3.exceptions.HTTPError:
            time.sleep(_POLL_SECONDS)  # not listening yet
    raise CannotMeasure(f"does not answer: {instance.log.read_text(errors='replace')[-400:].strip()}")


def _free_port() -> int:
    """Below the ports that the system gives to connections: one of those may be taken meanwhile."""
    while True:
        port = random.randrange(10_240, 32_240)
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
