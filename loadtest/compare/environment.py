"""What all scenarios of a run share: the servers that can be measured here, the database and the cores."""

import json
import os
import random
import sqlite3
import tempfile
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from http import HTTPStatus
from itertools import product, zip_longest
from pathlib import Path
from typing import Any

import urllib3
from joserfc.jwk import KeySet

from loadtest.compare.machine import FAILURES, CannotMeasure, Cores, progress
from loadtest.compare.results import Measurement
from loadtest.compare.running import DEFAULT_PAGE, Load, RunningServer, drive, running
from loadtest.compare.servers import (
    NGINX,
    ORIGIN,
    ORIGIN_OPEN,
    ORIGINS,
    RUNTIMES,
    SERVERS,
    LaunchOptions,
    Server,
)
from loadtest.contract import DEFAULT_LIMIT, LARGEST_LIMIT, REGIONS, WINDOW_WEIGHTS, WINDOWS, zipf_weights
from loadtest.processes import make_environment, make_key, run_writer
from loadtest.responses import PageRequest
from loadtest.tokens import TokenVerdict, import_keys, parse_token, verify_token

_VIDEOS = 50_000
_REST_SECONDS = 0.05
_COMPARED = (ORIGIN_OPEN, NGINX, *RUNTIMES)


@dataclass
class BenchEnvironment:
    folder: Path  # for configuration and logs
    database: Path
    variables: Mapping[str, str]  # environment variables of the servers, with the keys
    cores: Cores
    servers: list[Server]  # that can be measured, the origin first
    versions: dict[str, str] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)  # why a server is not measured
    # By server: of its largest process, the most after a measurement.
    worker_mb: dict[str, float] = field(default_factory=dict)

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
        with running(SERVERS[name], options, self.cores.server) as instance:
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
        name, rss = server.server.name, server.rss_mb()
        progress.log(f"{name}: {user:.1f} + {system:.1f} us per request, p99 {counted['p99 ms']:.1f} ms")
        _wait_until_it_rests(server)
        self.worker_mb[name] = max(*rss, self.worker_mb.get(name, 0))
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
        """The mix covers all paths of the origin that are measured."""
        name = instance.server.name
        load = Load(mix=self.mix) if name in ORIGINS else Load()
        load = replace(load, headers=instance.fields())
        drive(instance.url, load, 2 if name in ORIGINS else 1, self.cores.driver)


def _wait_until_it_rests(server: RunningServer) -> None:
    """It goes on with what was asked last, on the core of the next one: PHP for a tenth of a second."""
    used = sum(server.cpu_seconds())
    for _ in range(40):  # two seconds
        time.sleep(_REST_SECONDS)
        before, used = used, sum(server.cpu_seconds())
        if used - before < _REST_SECONDS / 2:
            return


@contextmanager
def prepared_environment(cores: Cores, names: Collection[str]) -> Iterator[BenchEnvironment]:
    """Builds the named servers and the database, and the pages that nginx serves."""
    with tempfile.TemporaryDirectory(prefix="trendvault-bench-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        make_database(folder / "bench.db", _VIDEOS)
        variables = {**make_environment(), "EDGE_KEYS": f"e1:{make_key()}"}
        servers = [server for name, server in SERVERS.items() if name in names]
        bench = BenchEnvironment(folder, folder / "bench.db", variables, cores, servers)
        write_mix(bench.mix)
        _build_servers(bench)
        _check_servers(bench)
        yield bench


def _build_servers(bench: BenchEnvironment) -> None:
    for server in list(bench.servers):
        progress.log(f"building {server.name}")
        with bench.skip_if_unavailable(server):
            bench.versions[server.name] = server.prepare()


def _check_servers(bench: BenchEnvironment) -> None:
    with bench.started(ORIGIN) as origin:
        write_answers(bench.folder / "answers", origin)
        if bench.available((NGINX,)):
            write_pages(bench.folder / "pages", origin, mix_targets())
        for server in [one for one in bench.servers if one.name in _COMPARED]:
            progress.log(f"comparing the responses of {server.name} with those of the origin")
            with bench.skip_if_unavailable(server), bench.started(server.name) as other:
                require_equivalent(other, origin, validates=server.name != NGINX)


_HOUR = 3600

# As in real titles, some letters take two bytes, and some have to be escaped in JSON.
_WORDS = (
    "Concert", "Höhepunkte", "Interview", "Révélation", "Workshop", '"Live"', "Pronóstico",
    "Wiadomości", "Season finale", "Kraków", "Tutorial", "Föredrag", "Documentary",
)  # fmt: skip
_CATEGORIES = ("Music", "Sport", "News", "Film")
# The same in every file of a run: what a video is does not change when it is observed once more.
_FIRST_OBSERVED_AT = int(time.time())


def writer_environment(database: Path) -> dict[str, str]:
    return {**os.environ, "DB_PATH": str(database)}


def make_database(path: Path, videos: int) -> None:
    """Makes a ranked database of this many videos, each observed once, in one region."""
    progress.log(f"database of {videos:,} videos")
    observations = source_beside(path)
    write_observations(observations, videos, int(time.time()) - 60)
    environment = {**writer_environment(path), "SOURCES": str(observations)}
    for command in (["migrate"], ["ingest", str(observations)], ["rank"]):
        run_writer(command, environment)


# The one source of a database and of its copies: another one would describe the videos anew.
def source_beside(database: Path) -> Path:
    return database.with_name("source.ndjson")


def write_observations(file: Path, videos: int, observed_at: int) -> None:
    """Writes a line of NDJSON per video, observed at this Unix time in seconds."""
    with file.open("w") as lines:
        for observation in _observations(videos, observed_at):
            lines.write(json.dumps(observation, ensure_ascii=False) + "\n")


def copy_database(source: Path, to: Path) -> None:
    """Makes a consistent copy, also while another process writes."""
    read, write = sqlite3.connect(f"file:{source}?mode=ro", uri=True), sqlite3.connect(to)
    read.backup(write)
    write.execute("PRAGMA journal_mode = WAL")
    write.close()
    read.close()


def _observations(count: int, now: int) -> Iterator[dict[str, object]]:
    for number in range(count):
        first, second, third, channel = (_WORDS[number % modulus] for modulus in (7, 11, 13, 5))
        yield {
            "id": f"video{number:07}",
            "region": REGIONS[number % len(REGIONS)],
            "observed_at": _rfc3339(now),
            "views": 1000 + number * 7919 % 1_000_003,
            "title": f"{first} {second} {third} in {number % 90} minutes",
            "channel": f"{channel} {number % 5000}",
            "category": _CATEGORIES[number % len(_CATEGORIES)],
            "published_at": _rfc3339(_FIRST_OBSERVED_AT - (1 + number % 480) * _HOUR),
            "thumb_base": f"https://thumbs.example/{number:07}",
        }


def _rfc3339(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


ACCEPT_BR = {"Accept-Encoding": "br, gzip"}
CODINGS = ("gzip", "br")
_SET_BY_SERVERS = {"content-length", "date"}
_TRIES = 3
_ONLY_IF_BUILT = {"server-timing"}  # on the first response only


def write_answers(folder: Path, origin: RunningServer) -> None:
    """The default page in `folder` as plain, compressed and unchanged: .json has status and fields, .body the
    bytes."""
    folder.mkdir(exist_ok=True)
    for name, headers in {"plain": {}, "compressed": ACCEPT_BR}.items():
        origin.get(DEFAULT_PAGE, headers)  # which builds it
        _write_answer(folder / name, origin.get(DEFAULT_PAGE, headers))
    _write_answer(folder / "unchanged", _not_modified(origin))


def _not_modified(origin: RunningServer) -> urllib3.BaseHTTPResponse:
    for _ in range(_TRIES):  # the entity tag changes with the minute
        etag = origin.get(DEFAULT_PAGE, ACCEPT_BR).headers["etag"]
        answer = origin.get(DEFAULT_PAGE, {**ACCEPT_BR, "If-None-Match": etag})
        if answer.status == HTTPStatus.NOT_MODIFIED:
            return answer
    raise CannotMeasure("The origin does not answer its own entity tag with 304")


def _write_answer(file: Path, answer: urllib3.BaseHTTPResponse) -> None:
    sent = {key: value for key, value in answer.headers.items() if key.lower() not in _ONLY_IF_BUILT}
    fields = {key: value for key, value in sent.items() if key.lower() not in _SET_BY_SERVERS}
    file.with_suffix(".json").write_text(json.dumps({"status": answer.status, "fields": fields}))
    file.with_suffix(".body").write_bytes(answer.data)


def write_pages(folder: Path, origin: RunningServer, targets: Iterable[str]) -> None:
    """Bodies as files named by their query: plain, with gzip and with br."""
    folder.mkdir(exist_ok=True)
    for target in targets:
        file = folder / f"{target.partition('?')[2]}.json"
        file.write_bytes(origin.get(target).data)
        for coding in CODINGS:
            answer = origin.get(target, {"Accept-Encoding": coding})
            if answer.headers.get("content-encoding") != coding:
                raise CannotMeasure(f"{target} is not answered in {coding}")
            file.with_suffix(f".json.{coding}").write_bytes(answer.data)


_PAGES = [PageRequest("GB"), PageRequest("CZ"), PageRequest("AT", limit=10)]
_PAGES += [PageRequest("FR", window, LARGEST_LIMIT) for window in WINDOWS]
_BAD_PARAMETERS = ("region=XX", "window=month", f"limit={LARGEST_LIMIT + 1}")


def require_equivalent(other: RunningServer, origin: RunningServer, *, validates: bool = True) -> None:
    """Raises CannotMeasure where the answers differ. `validates`: it must refuse bad queries with 400."""
    keys = import_keys(_get_json(origin, "/.well-known/jwks.json"))
    for target in [page.target for page in _PAGES]:
        theirs, ours = _get_json(other, target), _get_json(origin, target)
        _require_token(theirs.pop("token"), ours.pop("token"), keys)
        if (difference := find_difference(theirs, ours)) is not None:
            raise CannotMeasure(f"{target}: {difference}")
    for parameter in _BAD_PARAMETERS if validates else ():
        if (status := other.get(f"/api/trending?{parameter}").status) != 400:
            raise CannotMeasure(f"{parameter}: status {status} instead of 400")


def find_difference(theirs: Any, ours: Any) -> str | None:
    """The first line in which two JSON values differ, also in the order of fields. 12 and 12.0 are equal."""
    equal_numbers = (json.loads(json.dumps(value), parse_int=float) for value in (theirs, ours))
    lines = (json.dumps(value, indent=1, ensure_ascii=False).splitlines() for value in equal_numbers)
    pairs = zip_longest(*lines, fillvalue="the end")
    return next((f"{their.strip()} instead of {our.strip()}" for their, our in pairs if their != our), None)


def _get_json(server: RunningServer, target: str) -> Any:
    answer = server.get(target)
    content_type = answer.headers.get("content-type", "")
    if answer.status != 200 or not content_type.startswith("application/j"):
        raise CannotMeasure(f"{target}: status {answer.status}, {content_type}")
    return answer.json()


def _require_token(theirs: str, ours: str, keys: KeySet) -> None:
    verdict = verify_token(theirs, keys, time.time())
    if verdict is not TokenVerdict.VALID:
        raise CannotMeasure(f"its token is {verdict}")
    their_claims, our_claims = parse_token(theirs), parse_token(ours)
    if (
        their_claims is None
        or our_claims is None
        or replace(their_claims, issued_at=0, expires_at=0) != replace(our_claims, issued_at=0, expires_at=0)
    ):
        raise CannotMeasure("its token has other claims")


# Percent of the requests.
_LIMITS = {DEFAULT_LIMIT: 70, DEFAULT_LIMIT // 2: 15, LARGEST_LIMIT: 10, 10: 5}
_ENCODINGS = {"br, gzip": 75, "gzip": 15, "identity": 10}
_LENGTH = 5000


def mix_targets() -> list[str]:
    """Every target that the mix can name."""
    return [PageRequest(*page).target for page in product(REGIONS, WINDOW_WEIGHTS, _LIMITS)]


def write_mix(file: Path) -> None:
    """Writes the lines that wrk.lua reads."""
    rng = random.Random(20_261_120)
    regions = rng.choices(REGIONS, zipf_weights(len(REGIONS)), k=_LENGTH)
    windows = rng.choices(list(WINDOW_WEIGHTS), list(WINDOW_WEIGHTS.values()), k=_LENGTH)
    limits = rng.choices(list(_LIMITS), list(_LIMITS.values()), k=_LENGTH)
    encodings = rng.choices(list(_ENCODINGS), list(_ENCODINGS.values()), k=_LENGTH)
    rows = zip(regions, windows, limits, encodings, strict=True)
    file.write_text("".join(f"{PageRequest(r, w, n).target}\t{encoding}\n" for r, w, n, encoding in rows))
