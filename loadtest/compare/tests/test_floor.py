"""The floor programs answer with the bytes and fields of the origin: the real ones, on a small database."""

import json
import shutil
from collections.abc import Iterator

import pytest

from loadtest.compare import databases
from loadtest.compare.answers import ACCEPT_BR, write_answers
from loadtest.compare.machine import available_cores
from loadtest.compare.running_server import RunningServer, running
from loadtest.compare.servers import HANDLER, ORIGIN, SERVERS, STATIC_ROUTE, C, LaunchOptions
from loadtest.compare.wrk import DEFAULT_PAGE
from loadtest.local_origin import make_environment, make_key


@pytest.fixture(scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> LaunchOptions:
    folder = tmp_path_factory.mktemp("floor")
    databases.make(folder / "small.db", 1500)
    environment = {**make_environment(), "EDGE_KEYS": f"e1:{make_key()}"}
    return LaunchOptions(folder / "small.db", environment, folder)


@pytest.fixture(scope="module")
def origin(options: LaunchOptions) -> Iterator[RunningServer]:
    SERVERS[ORIGIN].prepare()
    with running(SERVERS[ORIGIN], options, available_cores()) as instance:
        write_answers(options.folder / "answers", instance)
        yield instance


def test_the_origin_as_deployed_answers_only_with_the_header_of_the_edge(origin: RunningServer) -> None:
    assert origin.get(DEFAULT_PAGE).status == 200
    assert origin.get(DEFAULT_PAGE, {"X-Edge-Signature": "none"}).status == 403


@pytest.mark.parametrize("answer", ["plain", "compressed", "unchanged"])
@pytest.mark.parametrize("name", [C, HANDLER, STATIC_ROUTE])
def test_a_floor_program_answers_what_the_origin_answered(
    name: str, answer: str, options: LaunchOptions, origin: RunningServer
) -> None:
    if name == C and shutil.which("cc") is None:
        pytest.skip("no C compiler")
    SERVERS[name].prepare()
    saved = json.loads((options.folder / f"answers/{answer}.json").read_text())
    of_page = LaunchOptions(options.database, options.environment, options.folder, answer=answer)
    with running(SERVERS[name], of_page, available_cores()) as floor:
        given = floor.get(DEFAULT_PAGE, ACCEPT_BR)
    assert given.status == saved["status"] == (304 if answer == "unchanged" else 200)
    assert given.data == (options.folder / f"answers/{answer}.body").read_bytes()
    assert {name.lower() for name in saved["fields"]} <= {name.lower() for name in given.headers}
    assert given.headers["etag"] == saved["fields"]["ETag"]
