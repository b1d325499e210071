"""What is measured: the origin, the same endpoint in other runtimes, and what sends the finished bytes: nginx
and programs that do nothing else."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from loadtest.compare import nginx
from loadtest.compare.tools import run_tool

ROOT = Path(__file__).parents[2]
PEER_SOURCES = Path(__file__).parent / "peers"
BUILT = ROOT / ".tools" / "bench-peers"

ORIGIN = "TrendVault"  # as deployed: it answers only what proves to come from the edge
ORIGIN_OPEN = "TrendVault, open"
ORIGINS = (ORIGIN, ORIGIN_OPEN)
NGINX = "nginx"
NGINX_PUSHING = "nginx, no tcp_nopush"
NGINX_COPYING = "nginx, copying"
NGINXES = (NGINX, NGINX_PUSHING, NGINX_COPYING)
C, STATIC_ROUTE, HANDLER, HI = "C, parsing nothing", "Bun, static route", "Bun, shortest handler", 'Bun, "hi"'
FLOORS = (C, STATIC_ROUTE, HANDLER, HI)
PEERS = ("Bun", "Go", "Node", "PHP")

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
    answer: str = "plain"  # which of answers.write_answers a floor program gives


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
        settings["ANSWER"] = str(options.folder / "answers" / options.answer)
        if self.name in ORIGINS:
            settings |= {"WORKERS": str(options.workers), "ADMIN_PORT": "0"}
        return {**inherited, **settings}


def _nginx(options: LaunchOptions, port: int, **settings: bool) -> list[list[str]]:
    return [nginx.file_server_command(options.folder, port, workers=options.workers, **settings)]


def _command(*command: str | Path) -> Callable[[LaunchOptions, int], list[list[str]]]:
    return lambda _options, _port: [[str(part) for part in command]]


def _prepare_origin() -> str:
    run_tool(["bun", "run", "--cwd", str(ROOT / "api"), "build"], "the packages of bin/setup")
    return f"bundle, {_prepare_bun()}"


def _prepare_bun() -> str:
    return f"Bun {run_tool(['bun', '--version'], 'Bun')}"


def _prepare_node() -> str:
    folder = PEER_SOURCES / "node"
    if not (folder / "node_modules/better-sqlite3").exists():
        run_tool(
            ["npm", "ci", "--no-audit", "--no-fund", "--prefix", str(folder)], "Node 22 or newer with npm"
        )
    node, sqlite = run_tool(["node", "-e", _NODE_VERSIONS], "Node 22 or newer", folder).split()
    return f"Node {node.removeprefix('v')}, SQLite {sqlite}"


def _prepare_go() -> str:
    version = run_tool(["go", "env", "GOVERSION"], "Go 1.23 or newer")
    build = ["go", "build", "-trimpath", "-o", str(BUILT / "go"), "."]
    run_tool(["env", "CGO_ENABLED=1", "CC=cc", *build], "a C compiler, for go-sqlite3", PEER_SOURCES / "go")
    return version.replace("go", "Go ", 1)


def _prepare_c() -> str:
    BUILT.mkdir(parents=True, exist_ok=True)
    needed = "a C compiler (on Debian: apt-get install gcc libc6-dev)"
    run_tool(["cc", "-O2", "-o", str(BUILT / "c"), str(PEER_SOURCES / "floor/server.c")], needed)
    return run_tool(["cc", "--version"], needed)


def _prepare_php() -> str:
    _prepare_nginx()
    return "PHP-FPM " + run_tool(["php-fpm", "-v"], "php8.4-fpm and php8.4-sqlite3").split()[1]


def _prepare_nginx() -> str:
    return run_tool(["nginx", "-v"], "nginx").rpartition("/")[2].split()[0]


_ORIGIN_COMMAND = _command("bun", "--no-env-file", ROOT / "api/dist/main.js")


def _floor(kind: str) -> Callable[[LaunchOptions, int], list[list[str]]]:
    return _command("bun", "--no-env-file", PEER_SOURCES / "floor/server.ts", kind)


_SERVERS = (
    Server(ORIGIN, _prepare_origin, _ORIGIN_COMMAND),
    Server(ORIGIN_OPEN, _prepare_bun, _ORIGIN_COMMAND),
    Server(NGINX, _prepare_nginx, _nginx),
    Server(NGINX_PUSHING, _prepare_nginx, partial(_nginx, nopush=False)),
    Server(NGINX_COPYING, _prepare_nginx, partial(_nginx, sendfile=False, nopush=False)),
    Server(C, _prepare_c, _command(BUILT / "c")),
    Server(STATIC_ROUTE, _prepare_bun, _floor("static")),
    Server(HANDLER, _prepare_bun, _floor("handler")),
    Server(HI, _prepare_bun, _floor("hi")),
    Server("Bun", _prepare_bun, _command("bun", "--no-env-file", PEER_SOURCES / "bun/server.ts")),
    Server("Go", _prepare_go, _command(BUILT / "go")),
    Server("Node", _prepare_node, _command("node", PEER_SOURCES / "node/server.js")),
    Server("PHP", _prepare_php, lambda options, port: nginx.php_commands(options.folder, port)),
)
SERVERS = {server.name: server for server in _SERVERS}
