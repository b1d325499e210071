"""What all scenarios of a run share: the servers that can be measured here, the database and the cores."""

import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bench import databases, nginx
from bench.check_equivalence import require_equivalent
from bench.errors import CannotMeasure
from bench.machine import Cores
from bench.measurement import Measurement
from bench.progress import progress
from bench.request_mix import mix_targets, write_mix
from bench.running_server import RunningServer, running
from bench.servers import NGINX, NGINX_COPYING, ORIGIN, SERVERS, LaunchOptions, Server
from bench.wrk import Load, drive
from loadtest.analytics_token import parse_key_ring
from loadtest.local_origin import make_environment

_VIDEOS = 50_000


@dataclass
class BenchEnvironment:
    folder: Path  # for configuration and logs
    database: Path
    variables: Mapping[str, str]  # environment variables of the servers, with the keys
    cores: Cores
    servers: list[Server]  # that can be measured, the origin first
    versions: dict[str, str] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)  # why a server is not measured

    @property
    def mix(self) -> Path:
        return self.folder / "mix.txt"

    def available(self, wanted: Sequence[str]) -> list[str]:
        """The names of the wanted servers that can be measured here."""
        present = {server.name for server in self.servers}
        return [name for name in wanted if name in present]

    @contextmanager
    def started(self, name: str, *, workers: int = 1, warm: bool = False) -> Iterator[RunningServer]:
        options = LaunchOptions(self.database, self.variables, self.folder, workers)
        with running(SERVERS[name], options, self.cores.server) as instance:
            if warm:
                self._warm_up(instance)
            yield instance

    def measure(self, server: RunningServer, load: Load, seconds: int) -> Measurement:
        before = server.cpu_seconds()
        counted = drive(server.url, load, seconds, self.cores.driver)
        cpu_us = (server.cpu_seconds() - before) / counted["requests"] * 1e6
        progress.log(f"{server.server.name}: {cpu_us:.1f} us per request, p99 {counted['p99 ms']:.1f} ms")
        return {**counted, "CPU us": cpu_us, "RSS MB": sum(server.rss_mb())}

    def measure_alone(
        self, name: str, load: Load, seconds: int, *, workers: int = 1, warm: bool = False
    ) -> Measurement:
        """Measures a server while no other one runs."""
        with self.started(name, workers=workers, warm=warm) as server:
            return self.measure(server, load, seconds)

    @contextmanager
    def skip_if_unavailable(self, server: Server) -> Iterator[None]:
        """Skips a server that cannot be measured. Raises CannotMeasure when it is the origin."""
        try:
            yield
        except CannotMeasure as reason:
            progress.log(f"skipping {server.name}: {reason}")
            if server.name == ORIGIN:
                raise
            self.missing[server.name] = str(reason)
            self.servers.remove(server)

    def _warm_up(self, instance: RunningServer) -> None:
        """The mix covers all paths of the origin that are measured; Node's compiler takes longest."""
        name = instance.server.name
        load = Load(mix=self.mix) if name == ORIGIN else Load()
        drive(instance.url, load, 2 if name in (ORIGIN, "Node") else 1, self.cores.driver)


@contextmanager
def prepared_environment(cores: Cores, names: Collection[str]) -> Iterator[BenchEnvironment]:
    """Builds the named servers and the database, and the pages that nginx serves."""
    with tempfile.TemporaryDirectory(prefix="trendvault-bench-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        databases.make(folder / "bench.db", _VIDEOS)
        servers = [server for name, server in SERVERS.items() if name in names]
        bench = BenchEnvironment(folder, folder / "bench.db", make_environment(), cores, servers)
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
    ring = parse_key_ring(bench.variables["TOKEN_KEYS"])
    with bench.started(ORIGIN) as origin:
        if bench.available((NGINX, NGINX_COPYING)):
            nginx.write_pages(bench.folder, origin.url, mix_targets())
        for server in bench.servers[1:]:
            progress.log(f"comparing the responses of {server.name} with those of the origin")
            with bench.skip_if_unavailable(server), bench.started(server.name) as peer:
                validates = server.name not in (NGINX, NGINX_COPYING)
                require_equivalent(peer.url, origin.url, ring, validates=validates)
