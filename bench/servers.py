"""What is measured: the origin, the same endpoint in other runtimes, and nginx serving the finished bytes."""

import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench import nginx
from bench.errors import CannotMeasure

ROOT = Path(__file__).parent.parent
PEER_SOURCES = Path(__file__).parent / "peers"
BUILT = ROOT / ".tools" / "bench-peers"

ORIGIN = "TrendVault"
NGINX = "nginx"
NGINX_COPYING = "nginx, copying"
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


@dataclass(frozen=True)
class Server:
    name: str
    prepare: Callable[[], str]  # builds what it needs and gives the version; raises CannotMeasure
    commands: Callable[[LaunchOptions, int], list[list[str]]]  # that start it on a port

    def environment(self, options: LaunchOptions, port: int) -> dict[str, str]:
        settings = {"PORT": str(port), "DB_PATH": str(options.database)}
        if self.name == ORIGIN:
            settings |= {"WORKERS": str(options.workers), "ADMIN_PORT": "0"}
        return {**options.environment, **settings}


def _nginx(options: LaunchOptions, port: int, *, sendfile: bool) -> list[list[str]]:
    return [nginx.file_server_command(options.folder, port, workers=options.workers, sendfile=sendfile)]


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
    run_tool(["env", "CGO_ENABLED=1", *build], "a C compiler, for go-sqlite3", PEER_SOURCES / "go")
    return version.replace("go", "Go ", 1)


def _prepare_php() -> str:
    _prepare_nginx()
    return "PHP-FPM " + run_tool(["php-fpm", "-v"], "php8.4-fpm and php8.4-sqlite3").split()[1]


def _prepare_nginx() -> str:
    return run_tool(["nginx", "-v"], "nginx").rpartition("/")[2].split()[0]


def run_tool(command: list[str], needed: str, folder: Path | None = None) -> str:
    """The first line that the command prints. Raises CannotMeasure, which names what is `needed`."""
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    except FileNotFoundError:
        raise CannotMeasure(f"{command[0]} is missing: install {needed}") from None
    except subprocess.CalledProcessError as error:
        output = (error.stderr or error.stdout).strip()[-300:]
        raise CannotMeasure(f"{' '.join(command)} fails (it needs {needed}): {output}") from error
    return (done.stdout.strip() or done.stderr.strip()).partition("\n")[0]


_SERVERS = (
    Server(ORIGIN, _prepare_origin, _command("bun", "--no-env-file", ROOT / "api/dist/main.js")),
    Server(NGINX, _prepare_nginx, partial(_nginx, sendfile=True)),
    Server(NGINX_COPYING, _prepare_nginx, partial(_nginx, sendfile=False)),
    Server("Bun", _prepare_bun, _command("bun", "--no-env-file", PEER_SOURCES / "bun/server.ts")),
    Server("Go", _prepare_go, _command(BUILT / "go")),
    Server("Node", _prepare_node, _command("node", PEER_SOURCES / "node/server.js")),
    Server("PHP", _prepare_php, lambda options, port: nginx.php_commands(options.folder, port)),
)
SERVERS = {server.name: server for server in _SERVERS}
