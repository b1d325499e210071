"""Starts and stops a server, drives it with wrk over a number of connections, and reads CPU time and memory
of all its processes."""

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
import urllib3

from loadtest.compare.machine import CannotMeasure, available_cores, on_cores
from loadtest.compare.servers import LaunchOptions, Server
from loadtest.processes import free_port
from loadtest.tokens import KeyRing, edge_headers, parse_key_ring

DEFAULT_PAGE = "/api/trending?region=GB"
_SCRIPT = Path(__file__).parent / "wrk.lua"
_MARK = "figures "


@dataclass(frozen=True)
class Load:
    """What wrk requests: one target, or those of a file (see wrk.lua) in turn."""

    target: str = DEFAULT_PAGE
    headers: Mapping[str, str] | None = None
    mix: Path | None = None
    connections: int = 64


def drive(url: str, load: Load, seconds: int, cores: frozenset[int]) -> dict[str, float]:
    """The figures of wrk.lua. Raises CannotMeasure when no request was answered."""
    with on_cores(cores):
        done = subprocess.run(_wrk_command(url, load, seconds), capture_output=True, text=True)
    return parse_figures(done.stdout + done.stderr)


def start_load(url: str, load: Load, seconds: int, cores: frozenset[int]) -> subprocess.Popen[str]:
    """Starts load beside other load; `parse_figures` reads its output."""
    with on_cores(cores):
        return subprocess.Popen(_wrk_command(url, load, seconds), stdout=subprocess.PIPE, text=True)


def parse_figures(output: str) -> dict[str, float]:
    for line in output.splitlines():
        if line.startswith(_MARK):
            figures: dict[str, float] = json.loads(line.removeprefix(_MARK))
            if figures["requests"] > 0:
                return figures
    raise CannotMeasure(f"wrk counted no response: {output[-400:]}")


def _wrk_command(url: str, load: Load, seconds: int) -> list[str]:
    command = ["wrk", "-t1", f"-c{load.connections}", f"-d{seconds}s", "--timeout", "10s", "-s", str(_SCRIPT)]
    for name, value in (load.headers or {}).items():
        command += ["-H", f"{name}: {value}"]
    mix = [] if load.mix is None else ["--", str(load.mix)]
    return [*command, url + load.target, *mix]


# What Cloudflare adds to a Worker's request.
_EDGE_FIELDS = {
    "CDN-Loop": "cloudflare; loops=1; subreqs=1",
    "CF-Connecting-IP": "2a06:98c0:3600::103",
    "CF-EW-Via": "15",
    "CF-Ray": "9a3f1c2b4d5e6f70-FRA",
    "CF-Visitor": '{"scheme":"https"}',
    "CF-Worker": "site.example",
    "X-Forwarded-Proto": "https",
}
_START_SECONDS = 60
_RESPONSE_SECONDS = 10
_STOP_SECONDS = 10
_ANSWERED = (200, 304)  # a baseline may know nothing but a 304
_POLL_SECONDS = 0.0002


class RunningServer:
    def __init__(self, server: Server, url: str, log: Path, edge_keys: KeyRing | None = None) -> None:
        self.server = server
        self.url = url
        self.log = log
        self._edge_keys = edge_keys
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
        """Those of an edge: all servers get the same, with the signature without which the origin refuses."""
        return {} if self._edge_keys is None else {**_EDGE_FIELDS, **edge_headers(self._edge_keys)}

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

    def cpu_seconds(self) -> tuple[float, float]:
        """User and system time, also of the children that have ended and been waited for."""
        times = [process.cpu_times() for process in self.processes()]
        user = sum(one.user + one.children_user for one in times)
        return user, sum(one.system + one.children_system for one in times)

    def pss_mb(self) -> float:
        """Of all processes: pages that some of them share count once."""
        return float(sum(process.memory_full_info().pss for process in self.processes())) / 2**20

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
    port = free_port()
    commands = server.commands(options, port)
    environment = server.environment(options, port)
    keys = options.environment.get("EDGE_KEYS")
    log = options.folder / f"{server.name}-{port}.log"
    instance = RunningServer(
        server, f"http://127.0.0.1:{port}", log, None if keys is None else parse_key_ring(keys)
    )
    try:
        began = time.perf_counter()
        with on_cores(cores):
            for command in commands:
                instance.start_process(command, environment)
        with on_cores(available_cores() - cores or cores):
            _wait_until_it_answers(instance)
        instance.start_ms = (time.perf_counter() - began) * 1000
        yield instance
    finally:
        instance.stop()


def _wait_until_it_answers(instance: RunningServer) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and not instance.has_ended:
        try:
            if _ask(instance) in _ANSWERED:
                return
        except (OSError, http.client.HTTPException):
            pass  # not listening yet
        time.sleep(_POLL_SECONDS)
    raise CannotMeasure(f"does not answer: {instance.log.read_text(errors='replace')[-400:].strip()}")


def _ask(instance: RunningServer) -> int:
    """The status of a whole response, over a bare socket: a pool of connections would take a millisecond."""
    address = urllib3.util.parse_url(instance.url)
    fields = "".join(f"{name}: {value}\r\n" for name, value in instance.fields().items())
    with socket.create_connection((address.host, address.port), _RESPONSE_SECONDS) as connection:
        connection.sendall(f"GET {DEFAULT_PAGE} HTTP/1.1\r\nHost: {address.netloc}\r\n{fields}\r\n".encode())
        with http.client.HTTPResponse(connection) as response:
            response.begin()
            response.read()
            return response.status
