"""Configurations of nginx: as the floor that serves finished bytes, and in front of PHP-FPM."""

import gzip
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from bench.single_request import get

_OWN_FIELDS = {"content-length", "content-type", "content-encoding", "date", "etag", "connection", "server"}
_ONLY_AT_FIRST = {"server-timing"}  # on the answer that had to be made
_FPM_CHILDREN = 4

_FRAME = """\
{user}daemon off;
pid {folder}/nginx-{port}.pid;
error_log stderr warn;
worker_processes {workers};
events {{
  worker_connections 10240;
  multi_accept on;
}}
http {{
  access_log off;
  sendfile {sendfile};
  tcp_nopush {sendfile};
  keepalive_requests 1000000000;
  open_file_cache max=1000;
  open_file_cache_valid 600s;
  client_body_temp_path {folder}/temp;
  proxy_temp_path {folder}/temp;
  fastcgi_temp_path {folder}/temp;
  uwsgi_temp_path {folder}/temp;
  scgi_temp_path {folder}/temp;
{body}}}
"""

_FLOOR = """\
  gzip_static on;
  server {{
    listen 127.0.0.1:{port} reuseport backlog=8192;
    location = /api/trending {{
      default_type application/json;
      types {{}}
      root {folder}/pages;
      try_files /$args.json =404;
{fields}    }}
  }}
"""

_PHP = """\
  upstream fpm {{
    server unix:{folder}/fpm.sock;
    keepalive {children};
  }}
  server {{
    listen 127.0.0.1:{port} backlog=8192;
    location / {{
      fastcgi_pass fpm;
      fastcgi_keep_conn on;
      fastcgi_param SCRIPT_FILENAME {script};
      fastcgi_param REQUEST_METHOD $request_method;
      fastcgi_param REQUEST_URI $request_uri;
      fastcgi_param QUERY_STRING $query_string;
    }}
  }}
"""

_FPM = """\
[global]
error_log = /proc/self/fd/2
[trendvault]
{user}listen = {folder}/fpm.sock
listen.backlog = 8192
pm = static
pm.max_children = {children}
clear_env = no
php_admin_value[opcache.validate_timestamps] = 0
"""


def write_pages(folder: Path, url: str, targets: Iterable[str]) -> None:
    """Takes the origin's answers as files, gzipped ones beside them, named by their query."""
    pages = folder / "pages"
    pages.mkdir(exist_ok=True)
    fields: dict[str, str] = {}
    for target in targets:
        plain = get(url + target)
        packed = get(url + target, {"Accept-Encoding": "gzip"})
        file = pages / f"{target.partition('?')[2]}.json"
        file.write_bytes(plain.body)
        is_packed = packed.headers.get("content-encoding") == "gzip"
        file.with_suffix(".json.gz").write_bytes(packed.body if is_packed else gzip.compress(plain.body))
        not_added = _OWN_FIELDS | _ONLY_AT_FIRST
        fields = fields or {name: text for name, text in plain.headers.items() if name not in not_added}
    (folder / "fields.json").write_text(json.dumps(fields))


def write_floor(folder: Path, port: int, *, workers: int, sendfile: bool) -> Path:
    """The pages of `write_pages` with the header fields of the origin's answers, by sendfile(2) or copied."""
    fields: dict[str, str] = json.loads((folder / "fields.json").read_text())
    lines = "".join(f"      add_header {name} {_quote(text)};\n" for name, text in fields.items())
    body = _FLOOR.format(folder=folder, port=port, fields=lines)
    return _write(folder, port, workers, body, sendfile=sendfile)


def write_php(folder: Path, script: Path, port: int, environment: Mapping[str, str]) -> tuple[Path, Path]:
    """PHP-FPM's configuration and that of the nginx before it."""
    fpm = folder / "php-fpm.conf"
    user = "user = root\ngroup = root\n" if os.geteuid() == 0 else ""
    fpm.write_text(_FPM.format(user=user, folder=folder, children=_FPM_CHILDREN))
    body = _PHP.format(folder=folder, children=_FPM_CHILDREN, port=port, script=script)
    return fpm, _write(folder, port, 1, body)


def command(folder: Path, file: Path) -> list[str]:
    return ["nginx", "-p", str(folder), "-c", str(file)]


def _write(folder: Path, port: int, workers: int, body: str, *, sendfile: bool = True) -> Path:
    user = "user root;\n" if os.geteuid() == 0 else ""
    file = folder / f"nginx-{port}.conf"
    frame = {"user": user, "folder": folder, "port": port, "workers": workers, "body": body}
    file.write_text(_FRAME.format(**frame, sendfile="on" if sendfile else "off"))
    return file


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
