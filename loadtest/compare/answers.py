"""Saves the origin's answers for the servers that send finished bytes: nginx, and the floor programs."""

import json
from collections.abc import Iterable
from http import HTTPStatus
from pathlib import Path

import urllib3

from loadtest.compare.errors import CannotMeasure
from loadtest.compare.running_server import RunningServer
from loadtest.compare.wrk import DEFAULT_PAGE, EXPORT

ACCEPT_BR = {"Accept-Encoding": "br, gzip"}
CODINGS = ("gzip", "br")
_SET_BY_SERVERS = {"content-length", "date"}
_TRIES = 3
_ONLY_IF_BUILT = {"server-timing"}  # on the first response only


def write_answers(folder: Path, origin: RunningServer) -> None:
    """The default page in `folder` as plain, compressed and unchanged, and an export: .json has status and
    fields, .body the bytes, .http both as they are sent."""
    folder.mkdir(exist_ok=True)
    for name, headers in {"plain": {}, "compressed": ACCEPT_BR}.items():
        origin.get(DEFAULT_PAGE, headers)  # which builds it
        _write(folder / name, origin.get(DEFAULT_PAGE, headers))
    _write(folder / "unchanged", _not_modified(origin))
    origin.get(EXPORT)
    _write(folder / "export", origin.get(EXPORT))


def _not_modified(origin: RunningServer) -> urllib3.BaseHTTPResponse:
    for _ in range(_TRIES):  # the entity tag changes with the minute
        etag = origin.get(DEFAULT_PAGE, ACCEPT_BR).headers["etag"]
        answer = origin.get(DEFAULT_PAGE, {**ACCEPT_BR, "If-None-Match": etag})
        if answer.status == HTTPStatus.NOT_MODIFIED:
            return answer
    raise CannotMeasure("The origin does not answer its own entity tag with 304")


def _write(file: Path, answer: urllib3.BaseHTTPResponse) -> None:
    sent = {key: value for key, value in answer.headers.items() if key.lower() not in _ONLY_IF_BUILT}
    fields = {key: value for key, value in sent.items() if key.lower() not in _SET_BY_SERVERS}
    file.with_suffix(".json").write_text(json.dumps({"status": answer.status, "fields": fields}))
    file.with_suffix(".body").write_bytes(answer.data)
    lines = [f"HTTP/1.1 {answer.status} {answer.reason}", *(f"{key}: {sent[key]}" for key in sent)]
    file.with_suffix(".http").write_bytes("\r\n".join([*lines, "", ""]).encode() + answer.data)


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
