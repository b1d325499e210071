"""The baselines answer with the bytes and fields of the origin: the real ones, on a small database."""

import json
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from loadtest.compare.environment import ACCEPT_BR, make_database, require_equivalent, write_answers
from loadtest.compare.machine import CannotMeasure, available_cores
from loadtest.compare.running import DEFAULT_PAGE, Load, RunningServer, drive, running
from loadtest.compare.servers import (
    BUILT,
    ORIGIN,
    READER,
    SERVERS,
    SOCKET,
    LaunchOptions,
)
from loadtest.processes import make_environment, make_key


@pytest.fixture(scope="module")
def deployed_options(tmp_path_factory: pytest.TempPathFactory) -> LaunchOptions:
    folder = tmp_path_factory.mktemp("baseline")
    make_database(folder / "small.db", 1500)
    environment = {**make_environment(), "EDGE_KEYS": f"e1:{make_key()}"}
    return LaunchOptions(folder / "small.db", environment, folder)


@pytest.fixture(scope="module")
def deployed_origin(deployed_options: LaunchOptions) -> Iterator[RunningServer]:
    SERVERS[ORIGIN].prepare()
    with running(SERVERS[ORIGIN], deployed_options, available_cores()) as instance:
        write_answers(deployed_options.folder / "answers", instance)
        yield instance


def test_the_origin_as_deployed_answers_only_with_the_header_of_the_edge(
    deployed_origin: RunningServer,
) -> None:
    assert deployed_origin.get(DEFAULT_PAGE).status == 200
    assert deployed_origin.get(DEFAULT_PAGE, {"X-Edge-Signature": "none"}).status == 403


@pytest.mark.parametrize("answer", ["plain", "compressed", "unchanged"])
@pytest.mark.parametrize("name", [SOCKET, READER])
def test_a_baseline_answers_what_the_origin_answered(
    name: str, answer: str, deployed_options: LaunchOptions, deployed_origin: RunningServer
) -> None:
    SERVERS[name].prepare()
    saved = json.loads((deployed_options.folder / f"answers/{answer}.json").read_text())
    of_page = LaunchOptions(
        deployed_options.database, deployed_options.environment, deployed_options.folder, answer=answer
    )
    with running(SERVERS[name], of_page, available_cores()) as baseline:
        given = baseline.get(DEFAULT_PAGE, ACCEPT_BR)
    assert given.status == saved["status"] == (304 if answer == "unchanged" else 200)
    assert given.data == (deployed_options.folder / f"answers/{answer}.body").read_bytes()
    assert {name.lower() for name in saved["fields"]} <= {name.lower() for name in given.headers}
    assert given.headers["etag"] == saved["fields"]["etag"]


_NEEDS: dict[str, Callable[[], bool]] = {
    "Bun": lambda: True,
    "Go": lambda: (BUILT / "go").exists(),
    "Node": lambda: True,
    "PHP": lambda: True,
}


@pytest.fixture(scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> LaunchOptions:
    folder = tmp_path_factory.mktemp("runtimes")
    make_database(folder / "small.db", 1500)
    return LaunchOptions(folder / "small.db", make_environment(), folder)


@pytest.fixture(scope="module")
def origin(options: LaunchOptions) -> Iterator[RunningServer]:
    SERVERS[ORIGIN].prepare()
    with running(SERVERS[ORIGIN], options, available_cores()) as instance:
        yield instance


@pytest.mark.parametrize("name", _NEEDS)
def test_a_runtime_answers_what_the_origin_answers(
    name: str, options: LaunchOptions, origin: RunningServer
) -> None:
    if not _NEEDS[name]():
        pytest.skip(f"{name} is not built: bin/bench builds it")
    with running(SERVERS[name], options, available_cores()) as runtime:
        require_equivalent(runtime, origin)


def test_a_runtime_with_other_data_is_refused(
    options: LaunchOptions, origin: RunningServer, tmp_path: Path
) -> None:
    make_database(tmp_path / "other.db", 1800)
    other = LaunchOptions(tmp_path / "other.db", options.environment, tmp_path)
    with (
        running(SERVERS["Bun"], other, available_cores()) as runtime,
        pytest.raises(CannotMeasure, match=r"region=GB: .+ instead of"),
    ):
        require_equivalent(runtime, origin)


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


def test_a_connection_sends_one_request_at_a_time() -> None:
    with recording() as (url, received):
        load = Load("/x", {"X-Edge": "e"}, connections=1)
        counted = drive(url, load, 1, available_cores())
    assert counted["errors"] == 0
    assert {data.count("GET /x HTTP/1.1\r\n") for data in received} == {1}
    assert {data.count("X-Edge: e\r\n") for data in received} == {1}


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
