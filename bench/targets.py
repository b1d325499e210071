"""What is measured: the origin, the same endpoint in other hands, and nginx with the finished bytes."""

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import nginx

ROOT = Path(__file__).parent.parent
PEERS = Path(__file__).parent / "peers"
BUILT = ROOT / ".tools" / "bench-peers"

ORIGIN = "TrendVault"
FLOOR = "nginx"
COPYING_FLOOR = "nginx, copying"

_NODE_VERSIONS = """
  const database = new (require("better-sqlite3"))(":memory:");
  console.log(process.version, database.prepare("select sqlite_version()").pluck().get());
"""


class MissingTool(RuntimeError):
    """A target that cannot be measured here. The message says what is missing, and what would help."""


@dataclass(frozen=True)
class Setting:
    """What a server is started with. `environment` holds the keys; `folder` is for configuration and logs."""

    database: Path
    environment: Mapping[str, str]
    folder: Path
    workers: int = 1


@dataclass(frozen=True)
class Command:
    argv: Sequence[str]
    environment: Mapping[str, str]


@dataclass(frozen=True)
class Target:
    name: str
    how: str
    prepare: Callable[[], str]  # builds what it needs and gives the version; raises MissingTool
    launch: Callable[[Setting, int], list[Command]]  # on a port


def _origin(setting: Setting, port: int) -> list[Command]:
    settings = {**_usual(setting, port), "WORKERS": str(setting.workers), "ADMIN_PORT": "0"}
    return [Command(["bun", "--no-env-file", str(ROOT / "api/dist/main.js")], settings)]


def _bun(setting: Setting, port: int) -> list[Command]:
    return [Command(["bun", "--no-env-file", str(PEERS / "bun/server.ts")], _usual(setting, port))]


def _node(setting: Setting, port: int) -> list[Command]:
    environment = {**_usual(setting, port), "NODE_ENV": "production"}
    return [Command(["node", str(PEERS / "node/server.js")], environment)]


def _go(setting: Setting, port: int) -> list[Command]:
    return [Command([str(BUILT / "go")], _usual(setting, port))]


def _php(setting: Setting, port: int) -> list[Command]:
    environment = _usual(setting, port)
    fpm, proxy = nginx.write_php(setting.folder, PEERS / "php/index.php", port, environment)
    root = ["--allow-to-run-as-root"] if os.geteuid() == 0 else []
    return [
        Command(["php-fpm", "--nodaemonize", "--fpm-config", str(fpm), *root], environment),
        Command(nginx.command(setting.folder, proxy), environment),
    ]


def _floor(setting: Setting, port: int) -> list[Command]:
    return _nginx(setting, port, sendfile=True)


def _copying_floor(setting: Setting, port: int) -> list[Command]:
    return _nginx(setting, port, sendfile=False)


def _nginx(setting: Setting, port: int, *, sendfile: bool) -> list[Command]:
    file = nginx.write_floor(setting.folder, port, workers=setting.workers, sendfile=sendfile)
    return [Command(nginx.command(setting.folder, file), setting.environment)]


def _usual(setting: Setting, port: int) -> dict[str, str]:
    return {**setting.environment, "PORT": str(port), "DB_PATH": str(setting.database)}


def _prepare_origin() -> str:
    _run(["bun", "run", "--cwd", str(ROOT / "api"), "build"], "The origin cannot be bundled")
    return f"bundle, {_prepare_bun()}"


def _prepare_bun() -> str:
    return f"Bun {_run(['bun', '--version'], 'Bun does not start')}"


def _prepare_node() -> str:
    _require("node", "install Node 22 or newer")
    folder = PEERS / "node"
    if not (folder / "node_modules/better-sqlite3").exists():
        install = ["npm", "ci", "--no-audit", "--no-fund", "--prefix", str(folder)]
        _run(install, "better-sqlite3 cannot be installed")
    node, sqlite = _run(["node", "-e", _NODE_VERSIONS], "better-sqlite3 does not load", folder).split()
    return f"Node {node.removeprefix('v')}, SQLite {sqlite}"


def _prepare_go() -> str:
    _require("go", "install Go 1.23 or newer")
    _require("gcc", "install a C compiler: go-sqlite3 is built with it")
    build = ["go", "build", "-trimpath", "-o", str(BUILT / "go"), "."]
    _run(build, "The Go server cannot be built", PEERS / "go", {"CGO_ENABLED": "1"})
    return _run(["go", "env", "GOVERSION"], "Go does not start").replace("go", "Go ", 1)


def _prepare_php() -> str:
    _require("php-fpm", "install php8.4-fpm and php8.4-sqlite3")
    _require("nginx", "install nginx")
    return "PHP-FPM " + _run(["php-fpm", "-v"], "PHP-FPM does not start").split()[1]


def _prepare_nginx() -> str:
    _require("nginx", "install nginx")
    return _run(["nginx", "-v"], "nginx does not start").rpartition("/")[2].split()[0]


def _require(tool: str, advice: str) -> None:
    if shutil.which(tool) is None:
        raise MissingTool(f"{tool} is not there: {advice}")


def _run(
    command: list[str], failure: str, folder: Path | None = None, more: Mapping[str, str] | None = None
) -> str:
    environment = {**os.environ, **(more or {})}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        raise MissingTool(f"{failure}: {(done.stderr or done.stdout).strip()[-300:]}")
    return (done.stdout.strip() or done.stderr.strip()).partition("\n")[0]


TARGETS: tuple[Target, ...] = (
    Target(ORIGIN, "this project's origin", _prepare_origin, _origin),
    Target(FLOOR, "the finished bytes and header fields, by sendfile", _prepare_nginx, _floor),
    Target(COPYING_FLOOR, "the same, copied instead of sent from the file", _prepare_nginx, _copying_floor),
    Target("Bun", "Bun.serve, bun:sqlite; query, token and JSON per request", _prepare_bun, _bun),
    Target("Go", "net/http, mattn/go-sqlite3; the same per request", _prepare_go, _go),
    Target("Node", "node:http, better-sqlite3; the same per request", _prepare_node, _node),
    Target("PHP", "nginx, PHP-FPM, persistent PDO; the same per request", _prepare_php, _php),
)
