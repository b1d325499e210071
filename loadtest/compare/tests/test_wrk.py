"""What wrk sends: the real one, against a socket that keeps what every connection sends."""

import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from loadtest.compare.machine import available_cores
from loadtest.compare.wrk import Load, drive

pytestmark = pytest.mark.skipif(
    shutil.which("wrk") is None, reason="wrk is not installed: bin/bench brings it"
)
_RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
_END = b"\r\n\r\n"


@contextmanager
def recording() -> Iterator[tuple[str, list[str]]]:
    """The URL of a server, and what it received."""
    received: list[str] = []

    def answer(connection: socket.socket) -> None:
        with connection, suppress(ConnectionError):  # wrk resets what is open at its end
            while data := connection.recv(65_536):
                received.append(data.decode())
                connection.sendall(_RESPONSE * data.count(_END))

    def serve(listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return  # closed
            threading.Thread(target=answer, args=(connection,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, args=(listener,), daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", received
        listener.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize("pipelined", [1, 3])
def test_a_connection_sends_as_many_requests_at_once_as_asked_for(pipelined: int) -> None:
    with recording() as (url, received):
        load = Load("/x", {"X-Edge": "e"}, connections=1, pipelined=pipelined)
        counted = drive(url, load, 1, available_cores())
    assert counted["errors"] == 0
    assert {data.count("GET /x HTTP/1.1\r\n") for data in received} == {pipelined}
    assert {data.count("X-Edge: e\r\n") for data in received} == {pipelined}


def test_a_mix_is_sent_in_turn_with_the_fields_of_all_requests(tmp_path: Path) -> None:
    (tmp_path / "mix").write_text("/a\tbr\n/b\tidentity\n")
    with recording() as (url, received):
        load = Load(headers={"X-Edge": "e"}, mix=tmp_path / "mix", connections=1)
        drive(url, load, 1, available_cores())
    targets = [data.partition(" HTTP")[0] for data in received]
    assert "GET /a,GET /b,GET /a,GET /b" in ",".join(targets)
    coded = next(data for data in received if data.startswith("GET /a"))
    assert "Accept-Encoding: br\r\n" in coded
    assert all("X-Edge: e\r\n" in data for data in received)
