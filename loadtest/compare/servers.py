"""What is measured: the origin, the same endpoint in other runtimes, and what sends the finished bytes (nginx
and baselines)."""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from loadtest.compare.machine import run_tool
from loadtest.contract import REGIONS, WINDOWS
from loadtest.processes import ROOT

SOURCES = Path(__file__).parent / "servers"
BUILT = ROOT / ".tools" / "bench-servers"

ORIGIN = "TrendVault"  # as deployed: it answers only what proves to come from the edge
ORIGIN_OPEN = "TrendVault, open"
ORIGINS = (ORIGIN, ORIGIN_OPEN)
NGINX = "nginx"
SOCKET, READER = "Bun, socket that reads nothing", "Bun, shortest handler that reads the same fields"
BASELINES = (SOCKET, READER)
RUNTIMES = ("Bun", "Go", "Node", "PHP")


@dataclass(frozen=True)
class LaunchOptions:
    """What a server is started with. `environment` has the keys; `folder` is for configuration and logs."""

    database: Path
    environment: Mapping[str, str]
    folder: Path
    workers: int = 1
    answer: str = "plain"  # which one of write_answers a baseline gives


@dataclass(frozen=True)
class Server:
    name: str
    prepare: Callable[[], str]  # builds what it needs and gives the version; raises CannotMeasure
    commands: Callable[[LaunchOptions, int], list[list[str]]]  # that start it on a port

    def environment(self, options: LaunchOptions, port: int) -> dict[str, str]:
        inherited = dict(options.environment)
        if self.name != ORIGIN:
            inherited.pop("EDGE_KEYS", None)
        settings = {"PORT": str(port), "DB_PATH": str(options.database)}
        if self.name in ORIGINS:
            settings |= {"WORKERS": str(options.workers), "ADMIN_PORT": "0"}
        else:
            answer = str(options.folder / "answers" / options.answer)
            settings |= {"ANSWER": answer, "WINDOWS": ",".join(WINDOWS), "REGIONS": ",".join(REGIONS)}
            settings["PAGE_SQL"] = (SOURCES / "page.sql").read_text()
        return {**inherited, **settings}


def _nginx(options: LaunchOptions, port: int) -> list[list[str]]:
    return [file_server_command(options.folder, port, workers=options.workers)]


def _command(*command: str | Path) -> Callable[[LaunchOptions, int], list[list[str]]]:
    return lambda _options, _port: [[str(part) for part in command]]


def _prepare_origin() -> str:
    run_tool(["bun", "run", "--cwd", str(ROOT / "api"), "build"], "the packages of bin/setup")
    return f"bundle, {_prepare_bun()}"


def _prepare_bun() -> str:
    return f"Bun {run_tool(['bun', '--version'], 'Bun')}"


def _prepare_go() -> str:
    version = run_tool(["go", "env", "GOVERSION"], "Go 1.23 or newer")
    build = ["go", "build", "-trimpath", "-o", str(BUILT / "go"), "."]
    run_tool(["env", "CGO_ENABLED=1", "CC=cc", *build], "a C compiler, for go-sqlite3", SOURCES / "go")
    return version.replace("go", "Go ", 1)


def _prepare_node() -> str:
    return f"Node.js {run_tool(['node', '--version'], 'Node.js')}"


def _php(_options: LaunchOptions, port: int) -> list[list[str]]:
    return [["php", "-q", "-S", f"127.0.0.1:{port}", str(SOURCES / "page.php")]]


_ORIGIN_COMMAND = _command(ROOT / ".tools/bin/supervisor", "bun", "--no-env-file", ROOT / "api/dist/main.js")


def _baseline(kind: str) -> Callable[[LaunchOptions, int], list[list[str]]]:
    return _command("bun", "--no-env-file", SOURCES / "baseline/server.ts", kind)


_SERVERS = (
    Server(ORIGIN, _prepare_origin, _ORIGIN_COMMAND),
    Server(ORIGIN_OPEN, _prepare_bun, _ORIGIN_COMMAND),
    Server(NGINX, lambda: run_tool(["nginx", "-v"], "nginx").rpartition("/")[2].split()[0], _nginx),
    Server(SOCKET, _prepare_bun, _baseline("socket")),
    Server(READER, _prepare_bun, _baseline("reader")),
    Server("Bun", _prepare_bun, _command("bun", "--no-env-file", SOURCES / "baseline/page.js")),
    Server("Go", _prepare_go, _command(BUILT / "go")),
    Server("Node", _prepare_node, _command("node", SOURCES / "baseline/page.js")),
    Server("PHP", lambda: " ".join(run_tool(["php", "--version"], "PHP").split()[:2]), _php),
)
SERVERS = {server.name: server for server in _SERVERS}


_SET_BY_NGINX = {"content-length", "content-type", "content-encoding", "date", "etag", "connection", "server"}


def file_server_command(folder: Path, port: int, *, workers: int) -> list[str]:
    """Serves the files of `write_pages` with the header fields that `write_answers` saved: those of a 304 are
    the origin's, too."""
    fields, kept = (_read_fields(folder / f"answers/{name}.json") for name in ("plain", "unchanged"))
    maps, lines = [], []
    for number, (name, value) in enumerate(fields.items()):
        quoted = json.dumps(value)
        if name not in kept:
            maps.append(f'  map $status $field{number} {{ default {quoted}; 304 ""; }}')
            quoted = f"$field{number}"
        lines.append(f"      add_header {name} {quoted};")
    words = {"MAPS": "\n".join(maps), "FIELDS": "\n".join(lines), "WORKERS": str(workers)}
    words |= {
        "USER": "user root;" if os.geteuid() == 0 else "",
        "FOLDER": str(folder),
        "PORT": str(port),
    }
    text = (SOURCES / "nginx.conf").read_text()
    for word, value in words.items():
        text = text.replace(f"@{word}@", value)
    file = folder / f"nginx-{port}.conf"
    file.write_text(text)
    return ["nginx", "-p", str(folder), "-c", str(file)]


def _read_fields(file: Path) -> dict[str, str]:
    fields: dict[str, str] = json.loads(file.read_text())["fields"]
    return {name: value for name, value in fields.items() if name.lower() not in _SET_BY_NGINX}
