"""The peers answer what the origin answers: the real servers, on a small real database."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bench import databases
from bench.bench import make_environment
from bench.cores import available_cores
from bench.running import Running, running
from bench.same_answers import OtherAnswer, require_same_answers
from bench.targets import BUILT, ORIGIN, PEERS, TARGETS, Setting, Target
from loadtest.analytics_token import KeyRing, parse_key_ring

_NEEDS: dict[str, Callable[[], bool]] = {
    "Bun": lambda: True,
    "Go": lambda: (BUILT / "go").exists(),
    "Node": lambda: (PEERS / "node/node_modules").exists(),
    "PHP": lambda: bool(shutil.which("php-fpm") and shutil.which("nginx")),
}


def target(name: str) -> Target:
    return next(target for target in TARGETS if target.name == name)


@pytest.fixture(scope="module")
def setting(tmp_path_factory: pytest.TempPathFactory) -> Setting:
    folder = tmp_path_factory.mktemp("peers")
    databases.make(folder / "small.db", 1500)
    return Setting(folder / "small.db", make_environment(), folder)


@pytest.fixture(scope="module")
def origin(setting: Setting) -> Iterator[Running]:
    target(ORIGIN).prepare()
    with running(target(ORIGIN), setting, available_cores()) as server:
        yield server


@pytest.fixture
def ring(setting: Setting) -> KeyRing:
    return parse_key_ring(setting.environment["TOKEN_KEYS"])


@pytest.mark.parametrize("name", _NEEDS)
def test_a_peer_answers_what_the_origin_answers(
    name: str, setting: Setting, origin: Running, ring: KeyRing
) -> None:
    if not _NEEDS[name]():
        pytest.skip(f"{name} is not built: bin/bench builds it")
    with running(target(name), setting, available_cores()) as peer:
        require_same_answers(peer.url, origin.url, ring)


def test_a_peer_with_other_data_is_refused(
    setting: Setting, origin: Running, ring: KeyRing, tmp_path: Path
) -> None:
    databases.make(tmp_path / "other.db", 1800)
    other = Setting(tmp_path / "other.db", setting.environment, tmp_path)
    with (
        running(target("Bun"), other, available_cores()) as peer,
        pytest.raises(OtherAnswer, match="region=GB: body"),
    ):
        require_same_answers(peer.url, origin.url, ring)
