"""The measuring itself: prepares, starts, interleaves."""

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from bench import databases, nginx
from bench.cores import Cores, available_cores, divide_cores
from bench.measure import Sample, measure_scenario
from bench.progress import say
from bench.running import Running, running
from bench.same_answers import OtherAnswer, require_same_answers
from bench.scenarios import Scenario, mix_targets, write_mix
from bench.targets import COPYING_FLOOR, FLOOR, ORIGIN, TARGETS, MissingTool, Setting, Target
from bench.wrk import Load, drive
from loadtest.analytics_token import parse_key_ring
from loadtest.local_origin import make_key

_VIDEOS = 50_000
_FINISHED_FILES = (FLOOR, COPYING_FLOOR)


@dataclass
class Bench:
    """What all measurements of a run share."""

    setting: Setting
    cores: Cores
    targets: list[Target] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)

    @property
    def mix(self) -> Path:
        return self.setting.folder / "mix.txt"

    def target(self, name: str) -> Target:
        return next(target for target in self.targets if target.name == name)

    def names(self, *wanted: str) -> list[str]:
        """Those of the targets that are there."""
        present = {target.name for target in self.targets}
        return [name for name in wanted if name in present]

    def with_server_cores(self, count: int) -> "Bench":
        """The same with so many cores for the server, as far as there are."""
        return replace(self, cores=divide_cores(available_cores(), count))

    @contextmanager
    def started(self, name: str, *, workers: int = 1, warm: bool = False) -> Iterator[Running]:
        setting = replace(self.setting, workers=workers)
        with running(self.target(name), setting, self.cores.server) as server:
            if warm:
                self._warm_up(server)
            yield server

    def _warm_up(self, server: Running) -> None:
        """The mix takes the origin through all that it is measured by; a compiler needs longest for Node."""
        load = Load(mix=self.mix) if server.target.name == ORIGIN else Load()
        seconds = 2 if server.target.name in (ORIGIN, "Node") else 1
        drive(server.url, load, seconds, self.cores.driver)

    def drop(self, target: Target, reason: str) -> None:
        """Names a target as missing and goes on without it."""
        self.missing[target.name] = reason
        say(f"{target.name} is missing: {reason}")
        if target.name == ORIGIN:
            raise MissingTool(f"Nothing to measure: {reason}")
        self.targets = [kept for kept in self.targets if kept.name != target.name]


@contextmanager
def prepared(cores: Cores) -> Iterator[Bench]:
    """Builds the targets and the database, and takes the pages that nginx serves."""
    with tempfile.TemporaryDirectory(prefix="trendvault-bench-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        say(f"database: {_VIDEOS:,} videos")
        databases.make(folder / "bench.db", _VIDEOS)
        bench = Bench(Setting(folder / "bench.db", make_environment(), folder), cores, list(TARGETS))
        write_mix(bench.mix)
        _prepare_targets(bench)
        _check_answers(bench)
        yield bench


@contextmanager
def all_running(bench: Bench, names: Sequence[str]) -> Iterator[dict[str, Running]]:
    """Starts the named targets that are there."""
    with ExitStack() as stack:
        servers = {}
        for target in bench.targets:
            if target.name in names:
                say(f"warming {target.name} up")
                servers[target.name] = stack.enter_context(bench.started(target.name, warm=True))
        yield servers


def interleave(
    scenarios: Sequence[Scenario], servers: Mapping[str, Running], *, rounds: int, seconds: int, cores: Cores
) -> dict[str, dict[str, list[Sample]]]:
    """Samples by scenario and target: every round measures all of them, one after the other."""
    samples: dict[str, dict[str, list[Sample]]] = {scenario.name: {} for scenario in scenarios}
    for number in range(rounds):
        for scenario in scenarios:
            for name in scenario.targets:
                if name in servers:
                    sample = measure_scenario(scenario, servers[name], seconds, cores.driver)
                    samples[scenario.name].setdefault(name, []).append(sample)
                    say(f"round {number + 1} of {rounds}, {scenario.title}: {name} {sample.cpu_us:.1f} us")
    return samples


def make_environment() -> dict[str, str]:
    """Ours, with fresh keys and without the settings of another origin."""
    keys = {"TOKEN_KEYS": f"k1:{make_key()}", "SIGNING_KEY": make_key()}
    inherited = {name: value for name, value in os.environ.items() if name not in {"EDGE_KEYS", "WORKERS"}}
    return {**inherited, **keys}


def _prepare_targets(bench: Bench) -> None:
    for target in list(bench.targets):
        say(f"preparing {target.name}")
        try:
            bench.versions[target.name] = target.prepare()
        except MissingTool as missing:
            bench.drop(target, str(missing))


def _check_answers(bench: Bench) -> None:
    ring = parse_key_ring(bench.setting.environment["TOKEN_KEYS"])
    with bench.started(ORIGIN) as server:
        nginx.write_pages(bench.setting.folder, server.url, mix_targets())
        for target in list(bench.targets):
            say(f"checking the answers of {target.name}")
            try:
                with bench.started(target.name) as peer:
                    computes = target.name not in _FINISHED_FILES
                    require_same_answers(peer.url, server.url, ring, computes=computes)
            except (MissingTool, OtherAnswer) as difference:
                bench.drop(target, str(difference))
