"""Runs nginx as a server of finished files, and in front of PHP-FPM."""

import json
import os
from pathlib import Path

_PEERS = Path(__file__).parent / "peers"
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
    return _command(folder, port, "nginx/files.conf", sendfile=sendfile, nopush=nopush, **words)


def _read_fields(file: Path) -> dict[str, str]:
    fields: dict[str, str] = json.loads(file.read_text())["fields"]
    return {name: value for name, value in fields.items() if name.lower() not in _SET_BY_NGINX}


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


def _command(
    folder: Path, port: int, server: str, *, sendfile: bool = True, nopush: bool = True, **words: str
) -> list[str]:
    file = folder / f"nginx-{port}.conf"
    words |= {"SENDFILE": "on" if sendfile else "off", "NOPUSH": "on" if nopush else "off"}
    words |= {"USER": "user root;" if _IS_ROOT else ""}
    words |= {"FOLDER": str(folder), "PORT": str(port)}
    file.write_text(_fill("nginx/nginx.conf", SERVER=_fill(server, **words), **words))
    return ["nginx", "-p", str(folder), "-c", str(file)]


def _fill(template: str, **words: str) -> str:
    text = (_PEERS / template).read_text()
    for word, value in words.items():
        text = text.replace(f"@{word}@", value)
    return text
