"""The servers of other projects' own tables: loadtest/compare/peers/seeds, with the packages of its lock."""

from dataclasses import dataclass

from loadtest.compare.errors import CannotMeasure
from loadtest.compare.servers import PEER_SOURCES, LaunchOptions, Server
from loadtest.compare.tools import run_tool

_FOLDER = PEER_SOURCES / "seeds"


@dataclass(frozen=True)
class SeedServer(Server):
    validates: bool = False

    def environment(self, options: LaunchOptions, port: int) -> dict[str, str]:
        return {**super().environment(options, port), "VALIDATE": "1" if self.validates else "0"}


def _seed(name: str, runtime: str, kind: str, *, package: str = "", validates: bool = False) -> SeedServer:
    def prepare() -> str:
        return f"{runtime} {run_tool([runtime, '--version'], runtime).removeprefix('v')}{_version(package)}"

    command = [runtime, str(_FOLDER / "server.js"), kind]
    return SeedServer(name, prepare, lambda _options, _port: [command], validates)


def _version(package: str) -> str:
    """Of an installed package. Installs all of them when they are not there."""
    if not package:
        return ""
    manifest = _FOLDER / "node_modules" / package / "package.json"
    if not manifest.exists():
        install = ["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(_FOLDER)]
        run_tool(install, "Node 22 or newer with npm")
    return f", {package} " + run_tool(["node", "-p", f"require({str(manifest)!r}).version"], "Node")


def _prepare_encore() -> str:
    raise CannotMeasure(
        "its npm package needs a native library (ENCORE_RUNTIME_LIB) that is in no registry: "
        "it comes with Encore's own command line tool"
    )


_ALL = (
    _seed("node:http", "node", "http"),
    _seed("Fastify", "node", "fastify", package="fastify"),
    _seed("Express 5", "node", "express", package="express"),
    _seed("Hono on Node", "node", "hono-node", package="hono"),
    _seed("Bun.serve", "bun", "bun"),
    _seed("Elysia", "bun", "elysia", package="elysia"),
    _seed("Hono on Bun", "bun", "hono", package="hono"),
    _seed("Bun + Zod", "bun", "bun", package="zod", validates=True),
    _seed("Elysia, validating", "bun", "elysia", package="elysia", validates=True),
    _seed("Hono on Bun + Zod", "bun", "hono", package="hono", validates=True),
    _seed("Fastify + Ajv", "node", "fastify", package="fastify", validates=True),
    _seed("Express 5 + Zod", "node", "express", package="express", validates=True),
    Server("Encore.ts", _prepare_encore, lambda _options, _port: []),
)
SEED_SERVERS = {server.name: server for server in _ALL}
