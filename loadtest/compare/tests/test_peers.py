"""The peers answer what the origin answers: the real servers, on a small real database."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from loadtest.compare import databases
from loadtest.compare.check_equivalence import require_equivalent
from loadtest.compare.errors import CannotMeasure
from loadtest.compare.machine import available_cores
from loadtest.compare.running_server import RunningServer, running
from loadtest.compare.servers import BUILT, ORIGIN, PEER_SOURCES, SERVERS, LaunchOptions
from loadtest.local_origin import make_environment

_NEEDS: dict[str, Callable[[], bool]] = {
    "Bun": lambda: True,
    "Go": lambda: (BUILT / "go").exists(),
    "Node": lambda: (PEER_SOURCES / "node/node_modules").exists(),
    "PHP": lambda: bool(shutil.which("php-fpm") and shutil.which("nginx")),
}


@pytest.fixture(scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> LaunchOptions:
    folder = tmp_path_factory.mktemp("peers")
    databases.make(folder / "small.db", 1500)
    return LaunchOptions(folder / "small.db", make_environment(), folder)


@pytest.fixture(scope="module")
def origin(options: LaunchOptions) -> Iterator[RunningServer]:
    SERVERS[ORIGIN].prepare()
    with running(SERVERS[ORIGIN], options, available_cores()) as instance:
        yield instance


@pytest.mark.parametrize("name", _NEEDS)
def test_a_peer_answers_what_the_origin_answers(
    name: str, options: LaunchOptions, origin: RunningServer
) -> None:
    if not _NEEDS[name]():
        pytest.skip(f"{name} is not built: bin/bench builds it")
    with running(SERVERS[name], options, available_cores()) as peer:
        require_equivalent(peer, origin)


def test_a_peer_with_other_data_is_refused(
    options: LaunchOptions, origin: RunningServer, tmp_path: Path
) -> None:
    databases.make(tmp_path / "other.db", 1800)
    other = LaunchOptions(tmp_path / "other.db", options.environment, tmp_path)
    with (
        running(SERVERS["Bun"], other, available_cores()) as peer,
        pytest.raises(CannotMeasure, match=r"region=GB: .+ instead of"),
    ):
        require_equivalent(peer, origin)
