"""Single requests of the driver, to look at an answer instead of counting it."""

import http.client
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

_POLL_SECONDS = 0.0005
_START_SECONDS = 20


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]  # names in lower case
    body: bytes


def get(url: str, headers: Mapping[str, str] | None = None) -> Answer:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=10)
    try:
        connection.request(
            "GET", f"{parts.path}?{parts.query}" if parts.query else parts.path, headers=headers or {}
        )
        response = connection.getresponse()
        fields = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, fields, response.read())
    finally:
        connection.close()


def wait_for_answer(url: str, has_ended: Callable[[], bool]) -> bool:
    """Polls until the first 200; False when the server ended before, or nothing came in time."""
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and not has_ended():
        try:
            if get(url).status == 200:
                return True
        except (OSError, http.client.HTTPException):
            time.sleep(_POLL_SECONDS)  # not listening yet
    return False


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
