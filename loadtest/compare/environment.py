"""What all scenarios of a run share: the servers that can be measured here, the database and the cores."""

import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from loadtest.compare import databases
from loadtest.compare.answers import write_answers, write_pages
from loadtest.compare.check_equivalence import require_equivalent
from loadtest.compare.errors import FAILURES, CannotMeasure
from loadtest.compare.machine import Cores
from loadtest.compare.measurement import Measurement
from loadtest.compare.progress import progress
from loadtest.compare.request_mix import mix_targets, write_mix
from loadtest.compare.running_server import RunningServer, running
from loadtest.compare.seed_servers import SEED_SERVERS
from loadtest.compare.servers import (
    NGINXES,
    ORIGIN,
    ORIGIN_OPEN,
    ORIGINS,
    PEERS,
    SERVERS,
    LaunchOptions,
    Server,
)
from loadtest.compare.wrk import Load, drive
from loadtest.local_origin import make_environment, make_key

_VIDEOS = 50_000
_KNOWN: dict[str, Server] = {**SERVERS, **SEED_SERVERS}
_COMPARED = (ORIGIN_OPEN, *NGINXES, *PEERS)


@dataclass
class BenchEnvironment:
    folder: Path  # for configuration and logs
    database: Path
    variables: Mapping[str, str]  # environment variables of the servers, with the keys
    cores: Cores
    servers: list[Server]  # that can be measured, the origin first
    versions: dict[str, str] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)  # why a server is not measured
    worker_mb: list[float] = field(
        default_factory=list
    )  # the origin's largest process after each measurement

    @property
    def mix(self) -> Path:
        return self.folder / "mix.txt"

    def available(self, wanted: Sequence[str]) -> list[str]:
        """The names of the wanted servers that can be measured here."""
        present = {server.name for server in self.servers}
        return [name for name in wanted if name in present]

    @contextmanager
    def started(
        self, name: str, *, workers: int = 1, warm: bool = False, answer: str = "plain"
    ) -> Iterator[RunningServer]:
        options = LaunchOptions(self.database, self.variables, self.folder, workers, answer)
        with running(_KNOWN[name], options, self.cores.server) as instance:
            if warm:
                self._warm_up(instance)
            yield instance

    def measure(self, server: RunningServer, load: Load, seconds: int) -> Measurement:
        load = replace(load, headers={**(load.headers or {}), **server.fields()})
        before = server.cpu_seconds()
        counted = drive(server.url, load, seconds, self.cores.driver)
        after = server.cpu_seconds()
        user, system = (
            (end - start) / counted["requests"] * 1e6 for start, end in zip(before, after, strict=True)
        )
        progress.log(
            f"{server.server.name}: {user:.1f} + {system:.1f} us per request, p99 {counted['p99 ms']:.1f} ms"
        )
        rss = server.rss_mb()
        if server.server.name in ORIGINS:
            self.worker_mb.append(max(rss))
        return {**counted, "CPU us": user + system, "user us": user, "system us": system, "RSS MB": sum(rss)}

    def measure_alone(
        self, name: str, load: Load, seconds: int, *, workers: int = 1, warm: bool = False
    ) -> Measurement:
        """Measures a server while no other one runs."""
        with self.started(name, workers=workers, warm=warm) as server:
            return self.measure(server, load, seconds)

    @contextmanager
    def skip_if_unavailable(self, server: Server) -> Iterator[None]:
        """Leaves out a server that fails, from here on. Raises CannotMeasure when it is the origin."""
        try:
            yield
        except FAILURES as reason:
            progress.log(f"leaving out {server.name}: {reason}")
            if server.name == ORIGIN:
                raise CannotMeasure(f"{server.name}: {reason}") from reason
            self.missing[server.name] = str(reason)
            self.servers.remove(server)

    def _warm_up(self, instance: RunningServer) -> None:
        """The mix covers all paths of the origin that are measured; Node's compiler takes longest."""
        name = instance.server.name
        load = Load(mix=self.mix) if name in ORIGINS else Load()
        load = replace(load, headers=instance.fields())
        drive(instance.url, load, 2 if name in (*ORIGINS, "Node") else 1, self.cores.driver)


@contextmanager
def prepared_environment(cores: Cores, names: Collection[str]) -> Iterator[BenchEnvironment]:
    """Builds the named servers and the database, and the pages that nginx serves."""
    with tempfile.TemporaryDirectory(prefix="trendvault-bench-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        databases.make(folder / "bench.db", _VIDEOS)
        variables = {**make_environment(), "EDGE_KEYS": f"e1:{make_key()}"}
        servers = [server for name, server in _KNOWN.items() if name in names]
        bench = BenchEnvironment(folder, folder / "bench.db", variables, cores, servers)
        write_mix(bench.mix)
        _build_servers(bench)
        _check_equivalence(bench)
        yield bench


def _build_servers(bench: BenchEnvironment) -> None:
    for server in list(bench.servers):
        progress.log(f"building {server.name}")
        with bench.skip_if_unavailable(server):
            bench.versions[server.name] = server.prepare()


def _check_equivalence(bench: BenchEnvironment) -> None:
    with bench.started(ORIGIN) as origin:
        write_answers(bench.folder / "answers", origin)
        if bench.available(NGINXES):
            write_pages(bench.folder / "pages", origin, mix_targets())
        for server in [one for one in bench.servers if one.name in _COMPARED]:
            progress.log(f"comparing the responses of {server.name} with those of the origin")
            with bench.skip_if_unavailable(server), bench.started(server.name) as peer:
                require_equivalent(peer, origin, validates=server.name not in NGINXES)
