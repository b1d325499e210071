"""Runs nginx as a server of finished files, and in front of PHP-FPM."""

import gzip
import json
import os
from collections.abc import Iterable
from pathlib import Path

import urllib3

_PEERS = Path(__file__).parent / "peers"
_SET_BY_NGINX = {"content-length", "content-type", "content-encoding", "date", "etag", "connection", "server"}
_ONLY_IF_BUILT = {"server-timing"}  # on the first response only
_ACCEPT_GZIP = {"Accept-Encoding": "gzip"}
_FPM_CHILDREN = "4"
_IS_ROOT = os.geteuid() == 0


def write_pages(folder: Path, url: str, targets: Iterable[str]) -> None:
    """Saves the origin's response bodies as files named by their query, plain and with gzip, for
    `file_server_command`, and the header fields of the first one."""
    pages = folder / "pages"
    pages.mkdir(exist_ok=True)
    fields: dict[str, str] = {}
    for target in targets:
        plain = urllib3.request("GET", url + target)
        zipped = urllib3.request("GET", url + target, headers=_ACCEPT_GZIP, decode_content=False)
        file = pages / f"{target.partition('?')[2]}.json"
        file.write_bytes(plain.data)
        is_zipped = zipped.headers.get("content-encoding") == "gzip"
        file.with_suffix(".json.gz").write_bytes(zipped.data if is_zipped else gzip.compress(plain.data))
        fields = fields or {name.lower(): value for name, value in plain.headers.items()}
    (folder / "fields.json").write_text(json.dumps(fields))


def file_server_command(folder: Path, port: int, *, workers: int, sendfile: bool) -> list[str]:
    """Serves the files of `write_pages` with the header fields of the origin, by sendfile(2) or copied."""
    fields: dict[str, str] = json.loads((folder / "fields.json").read_text())
    added = {name: value for name, value in fields.items() if name not in _SET_BY_NGINX | _ONLY_IF_BUILT}
    lines = "\n".join(f"      add_header {name} {json.dumps(value)};" for name, value in added.items())
    return _command(folder, port, "nginx/files.conf", FIELDS=lines, WORKERS=str(workers), sendfile=sendfile)


def php_commands(folder: Path, port: int) -> list[list[str]]:
    """PHP-FPM and the nginx in front of it."""
    fpm = folder / "php-fpm.conf"
    user = "user = root\ngroup = root" if _IS_ROOT else ""
    fpm.write_text(_fill("php/php-fpm.conf", USER=user, FOLDER=str(folder), CHILDREN=_FPM_CHILDREN))
    root = ["--allow-to-run-as-root"] if _IS_ROOT else []
    script = str(_PEERS / "php/index.php")
    return [
        ["php-fpm", "--nodaemonize", "--fpm-config", str(fpm), *root],
        _command(folder, port, "php/nginx.conf", SCRIPT=script, CHILDREN=_FPM_CHILDREN, WORKERS="1"),
    ]


def _command(folder: Path, port: int, server: str, *, sendfile: bool = True, **words: str) -> list[str]:
    file = folder / f"nginx-{port}.conf"
    words |= {"USER": "user root;" if _IS_ROOT else "", "SENDFILE": "on" if sendfile else "off"}
    words |= {"FOLDER": str(folder), "PORT": str(port)}
    file.write_text(_fill("nginx/nginx.conf", SERVER=_fill(server, **words), **words))
    return ["nginx", "-p", str(folder), "-c", str(file)]


def _fill(template: str, **words: str) -> str:
    text = (_PEERS / template).read_text()
    for word, value in words.items():
        text = text.replace(f"@{word}@", value)
    return text
