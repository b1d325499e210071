"""What is measured: the origin, the same endpoint in other runtimes, what sends the finished bytes (nginx and
baselines), and the frameworks of other projects' tables."""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from loadtest.compare.machine import CannotMeasure, run_tool
from loadtest.contract import REGIONS, WINDOWS
from loadtest.processes import ROOT

SOURCES = Path(__file__).parent / "servers"
BUILT = ROOT / ".tools" / "bench-servers"

ORIGIN = "TrendVault"  # as deployed: it answers only what proves to come from the edge
ORIGIN_OPEN = "TrendVault, open"
ORIGINS = (ORIGIN, ORIGIN_OPEN)
NGINX = "nginx"
NGINX_PUSHING = "nginx, no tcp_nopush"
NGINX_COPYING = "nginx, copying"
NGINXES = (NGINX, NGINX_PUSHING, NGINX_COPYING)
C, STATIC_ROUTE, HANDLER, HI = "C, parsing nothing", "Bun, static route", "Bun, shortest handler", 'Bun, "hi"'
BASELINES = (C, STATIC_ROUTE, HANDLER, HI)
RUNTIMES = ("Bun", "Go", "Node", "PHP")

_NODE_VERSIONS = """
  const database = new (require("better-sqlite3"))(":memory:");
  console.log(process.version, database.prepare("select sqlite_version()").pluck().get());
"""


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
        return {**inherited, **settings}


def _nginx(options: LaunchOptions, port: int, **settings: bool) -> list[list[str]]:
    return [file_server_command(options.folder, port, workers=options.workers, **settings)]


def _command(*command: str | Path) -> Callable[[LaunchOptions, int], list[list[str]]]:
    return lambda _options, _port: [[str(part) for part in command]]


def _prepare_origin() -> str:
    run_tool(["bun", "run", "--cwd", str(ROOT / "api"), "build"], "the packages of bin/setup")
    return f"bundle, {_prepare_bun()}"


def _prepare_bun() -> str:
    return f"Bun {run_tool(['bun', '--version'], 'Bun')}"


def _prepare_node() -> str:
    folder = SOURCES / "javascript"
    if not (folder / "node_modules/better-sqlite3").exists():
        run_tool(
            ["npm", "ci", "--no-audit", "--no-fund", "--prefix", str(folder)], "Node 22 or newer with npm"
        )
    node, sqlite = run_tool(["node", "-e", _NODE_VERSIONS], "Node 22 or newer", folder).split()
    return f"Node {node.removeprefix('v')}, SQLite {sqlite}"


def _prepare_go() -> str:
    version = run_tool(["go", "env", "GOVERSION"], "Go 1.23 or newer")
    build = ["go", "build", "-trimpath", "-o", str(BUILT / "go"), "."]
    run_tool(["env", "CGO_ENABLED=1", "CC=cc", *build], "a C compiler, for go-sqlite3", SOURCES / "go")
    return version.replace("go", "Go ", 1)


def _prepare_c() -> str:
    BUILT.mkdir(parents=True, exist_ok=True)
    needed = "a C compiler (on Debian: apt-get install gcc libc6-dev)"
    run_tool(["cc", "-O2", "-o", str(BUILT / "c"), str(SOURCES / "baseline/server.c")], needed)
    return run_tool(["cc", "--version"], needed)


def _prepare_php() -> str:
    _prepare_nginx()
    return "PHP-FPM " + run_tool(["php-fpm", "-v"], "php8.4-fpm and php8.4-sqlite3").split()[1]


def _prepare_nginx() -> str:
    return run_tool(["nginx", "-v"], "nginx").rpartition("/")[2].split()[0]


_ORIGIN_COMMAND = _command("bun", "--no-env-file", ROOT / "api/dist/main.js")


def _baseline(kind: str) -> Callable[[LaunchOptions, int], list[list[str]]]:
    return _command("bun", "--no-env-file", SOURCES / "baseline/server.ts", kind)


_SERVERS = (
    Server(ORIGIN, _prepare_origin, _ORIGIN_COMMAND),
    Server(ORIGIN_OPEN, _prepare_bun, _ORIGIN_COMMAND),
    Server(NGINX, _prepare_nginx, _nginx),
    Server(NGINX_PUSHING, _prepare_nginx, partial(_nginx, nopush=False)),
    Server(NGINX_COPYING, _prepare_nginx, partial(_nginx, sendfile=False, nopush=False)),
    Server(C, _prepare_c, _command(BUILT / "c")),
    Server(STATIC_ROUTE, _prepare_bun, _baseline("static")),
    Server(HANDLER, _prepare_bun, _baseline("handler")),
    Server(HI, _prepare_bun, _baseline("hi")),
    Server("Bun", _prepare_bun, _command("bun", "--no-env-file", SOURCES / "javascript/server.js")),
    Server("Go", _prepare_go, _command(BUILT / "go")),
    Server("Node", _prepare_node, _command("node", SOURCES / "javascript/server.js")),
    Server("PHP", _prepare_php, lambda options, port: php_commands(options.folder, port)),
)
SERVERS = {server.name: server for server in _SERVERS}


_FOLDER = SOURCES / "frameworks"


@dataclass(frozen=True)
class FrameworkServer(Server):
    validates: bool = False

    def environment(self, options: LaunchOptions, port: int) -> dict[str, str]:
        return {**super().environment(options, port), "VALIDATE": "1" if self.validates else "0"}


def _framework(
    name: str, runtime: str, kind: str, *, package: str = "", validates: bool = False
) -> FrameworkServer:
    def prepare() -> str:
        return f"{runtime} {run_tool([runtime, '--version'], runtime).removeprefix('v')}{_version(package)}"

    command = [runtime, str(_FOLDER / "server.js"), kind]
    return FrameworkServer(name, prepare, lambda _options, _port: [command], validates)


def _version(package: str) -> str:
    """Of an installed package. Installs all of them when they are not there."""
    if not package:
        return ""
    manifest = _FOLDER / "node_modules" / package / "package.json"
    if not manifest.exists():
        install = ["bun", "install", "--frozen-lockfile", "--ignore-scripts", "--cwd", str(_FOLDER)]
        run_tool(install, "Bun")
    return f", {package} " + run_tool(["node", "-p", f"require({str(manifest)!r}).version"], "Node")


def _prepare_encore() -> str:
    raise CannotMeasure(
        "its npm package needs a native library (ENCORE_RUNTIME_LIB) that is in no registry: "
        "it comes with Encore's own command line tool"
    )


_ALL = (
    _framework("node:http", "node", "http"),
    _framework("Fastify", "node", "fastify", package="fastify"),
    _framework("Express 5", "node", "express", package="express"),
    _framework("Hono on Node", "node", "hono-node", package="hono"),
    _framework("Bun.serve", "bun", "bun"),
    _framework("Elysia", "bun", "elysia", package="elysia"),
    _framework("Hono on Bun", "bun", "hono", package="hono"),
    _framework("Bun + Zod", "bun", "bun", package="zod", validates=True),
    _framework("Elysia, validating", "bun", "elysia", package="elysia", validates=True),
    _framework("Hono on Bun + Zod", "bun", "hono", package="hono", validates=True),
    _framework("Fastify + Ajv", "node", "fastify", package="fastify", validates=True),
    _framework("Express 5 + Zod", "node", "express", package="express", validates=True),
    Server("Encore.ts", _prepare_encore, lambda _options, _port: []),
)
FRAMEWORK_SERVERS = {server.name: server for server in _ALL}


_SET_BY_NGINX = {"content-length", "content-type", "content-encoding", "date", "etag", "connection", "server"}
_FPM_CHILDREN = "4"
_IS_ROOT = os.geteuid() == 0


def file_server_command(
    folder: Path, port: int, *, workers: int, sendfile: bool = True, nopush: bool = True
) -> list[str]:
    """Serves the files of `write_pages` with the header fields that `write_answers` saved: those of a 304 are
    the origin's, too."""
    fields, kept, exported = (
        _read_fields(folder / f"answers/{name}.json") for name in ("plain", "unchanged", "export")
    )
    maps, lines = [], []
    for number, (name, value) in enumerate(fields.items()):
        quoted = json.dumps(value)
        if name not in kept:
            maps.append(f'  map $status $field{number} {{ default {quoted}; 304 ""; }}')
            quoted = f"$field{number}"
        lines.append(f"      add_header {name} {quoted};")
    of_export = [f"      add_header {name} {json.dumps(value)};" for name, value in exported.items()]
    words = {"MAPS": "\n".join(maps), "FIELDS": "\n".join(lines), "WORKERS": str(workers)}
    words["EXPORT_FIELDS"] = "\n".join(of_export)
    return _nginx_command(folder, port, "nginx/files.conf", sendfile=sendfile, nopush=nopush, **words)


def _read_fields(file: Path) -> dict[str, str]:
    fields: dict[str, str] = json.loads(file.read_text())["fields"]
    return {name: value for name, value in fields.items() if name.lower() not in _SET_BY_NGINX}


def php_commands(folder: Path, port: int) -> list[list[str]]:
    """PHP-FPM and the nginx in front of it."""
    fpm = folder / "php-fpm.conf"
    user = "user = root\ngroup = root" if _IS_ROOT else ""
    fpm.write_text(_fill("php/php-fpm.conf", USER=user, FOLDER=str(folder), CHILDREN=_FPM_CHILDREN))
    root = ["--allow-to-run-as-root"] if _IS_ROOT else []
    script = str(SOURCES / "php/index.php")
    return [
        ["php-fpm", "--nodaemonize", "--fpm-config", str(fpm), *root],
        _nginx_command(folder, port, "php/nginx.conf", SCRIPT=script, CHILDREN=_FPM_CHILDREN, WORKERS="1"),
    ]


def _nginx_command(
    folder: Path, port: int, server: str, *, sendfile: bool = True, nopush: bool = True, **words: str
) -> list[str]:
    file = folder / f"nginx-{port}.conf"
    words |= {"SENDFILE": "on" if sendfile else "off", "NOPUSH": "on" if nopush else "off"}
    words |= {"USER": "user root;" if _IS_ROOT else ""}
    words |= {"FOLDER": str(folder), "PORT": str(port)}
    file.write_text(_fill("nginx/nginx.conf", SERVER=_fill(server, **words), **words))
    return ["nginx", "-p", str(folder), "-c", str(file)]


def _fill(template: str, **words: str) -> str:
    text = (SOURCES / template).read_text()
    for word, value in words.items():
        text = text.replace(f"@{word}@", value)
    return text
