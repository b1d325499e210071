"""Starts what a test needs: the writer, and an origin of our own on a demo database."""

import base64
import json
import os
import random
import secrets
import socket
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

ROOT = Path(__file__).parents[1]
_STOP_TIMEOUT_SECONDS = 10


class CannotStart(RuntimeError):
    """The message names the part that did not start, and has the end of its output."""


class LocalOrigin(NamedTuple):
    url: str
    environment: Mapping[str, str]


@contextmanager
def running_origin(publish_seconds: float) -> Iterator[LocalOrigin]:
    """Fills a temporary database, serves it, and publishes a generation every `publish_seconds`."""
    with tempfile.TemporaryDirectory(prefix="trendvault-loadtest-") as folder:
        database = {"DB_PATH": f"{folder}/trendvault.db"}
        environment = make_environment() | database | {"HOST": "127.0.0.1", "PORT": "0", "ADMIN_PORT": "0"}
        for command in (["migrate"], ["ingest", "demo"], ["rank"]):
            run_writer(command, environment)
        process, url = _start_origin(environment, Path(folder) / "origin.log")
        try:
            with publishing(publish_seconds, environment):
                yield LocalOrigin(url, environment | {"EDGE_KEYS": ""})  # without those of .env
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(_STOP_TIMEOUT_SECONDS)
            process.kill()
            process.wait()


@contextmanager
def publishing(interval_seconds: float, environment: Mapping[str, str]) -> Iterator[None]:
    """Publishes a generation at this interval until the block ends."""
    stop = threading.Event()

    def publish() -> None:
        while not stop.wait(interval_seconds):
            run_writer(["rank"], environment)

    publisher = threading.Thread(target=publish)
    publisher.start()
    try:
        yield
    finally:
        stop.set()
        publisher.join()


def make_environment() -> dict[str, str]:
    """The environment of this process, with new keys and without the settings of another origin."""
    inherited = {name: value for name, value in os.environ.items() if name not in {"EDGE_KEYS", "WORKERS"}}
    return {**inherited, "TOKEN_SIGNING_KEYS": make_key(), "SIGNING_KEYS": make_key()}


def make_key() -> str:
    """32 random bytes as base64url."""
    return base64.urlsafe_b64encode(secrets.token_bytes(32)).decode().rstrip("=")


def run_writer(arguments: list[str], environment: Mapping[str, str]) -> None:
    """Runs a command of the writer. Raises CannotStart when it fails."""
    command = [str(ROOT / "writer/bin/writer"), *arguments]
    done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        raise CannotStart(f"writer {' '.join(arguments)} failed ({done.returncode}): {done.stderr[-500:]}")


def _start_origin(environment: Mapping[str, str], log: Path) -> tuple[subprocess.Popen[str], str]:
    process = subprocess.Popen(
        [str(ROOT / ".tools/bin/supervisor"), "bun", "--no-env-file", str(ROOT / "api/src/main.ts")],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=log.open("w"),
        text=True,
        start_new_session=True,  # Ctrl-C reaches only us: the origin outlives its last request
    )
    assert process.stdout is not None
    for line in process.stdout:
        event = json.loads(line)
        if event.get("event") == "listening":
            threading.Thread(target=process.stdout.read, daemon=True).start()
            return process, str(event["url"]).rstrip("/")
    raise CannotStart(f"The origin ended with exit code {process.wait()}: {log.read_text()[-500:]}")


_CONNECT_TIMEOUT_SECONDS = 5


def is_listening(url: str) -> bool:
    """Whether anything does at an address, before load is sent to it."""
    parts = urlsplit(url)
    address = (parts.hostname or "", parts.port or {"http": 80, "https": 443}[parts.scheme])
    try:
        socket.create_connection(address, _CONNECT_TIMEOUT_SECONDS).close()
    except OSError:
        return False
    return True


_claims: list[socket.socket] = []


def free_port() -> int:
    """Below those that the system gives to connections, and nobody else's while this process runs."""
    while True:
        port = random.randrange(10_240, 32_240)
        claim = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            claim.bind(("127.0.0.1", port))
            _claims.append(claim)
            return port
