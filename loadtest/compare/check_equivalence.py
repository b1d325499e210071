"""Checks that a peer gives the same responses as the origin: only then is it measured."""

import json
import time
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from joserfc.jwk import KeySet

from loadtest.analytics_token import TokenVerdict, import_keys, parse_token, verify_token
from loadtest.compare.errors import CannotMeasure
from loadtest.compare.running_server import RunningServer
from loadtest.contract import LARGEST_LIMIT, WINDOWS
from loadtest.responses import PageRequest

_PAGES = [PageRequest("GB"), PageRequest("CZ"), PageRequest("AT", limit=10)]
_PAGES += [PageRequest("FR", window, LARGEST_LIMIT) for window in WINDOWS]
_BAD_PARAMETERS = ("region=XX", "window=month", f"limit={LARGEST_LIMIT + 1}")


def require_equivalent(peer: RunningServer, origin: RunningServer, *, validates: bool = True) -> None:
    """Raises CannotMeasure where the answers differ. `validates`: it must refuse bad queries with 400."""
    keys = import_keys(_get_json(origin, "/.well-known/jwks.json"))
    for target in [page.target for page in _PAGES]:
        theirs, ours = _get_json(peer, target), _get_json(origin, target)
        _require_token(theirs.pop("token"), ours.pop("token"), keys)
        if (difference := find_difference(theirs, ours)) is not None:
            raise CannotMeasure(f"{target}: {difference}")
    for parameter in _BAD_PARAMETERS if validates else ():
        if (status := peer.get(f"/api/trending?{parameter}").status) != 400:
            raise CannotMeasure(f"{parameter}: status {status} instead of 400")


def find_difference(theirs: Any, ours: Any) -> str | None:
    """The first line in which two JSON values differ, also in the order of fields. 12 and 12.0 are equal."""
    equal_numbers = (json.loads(json.dumps(value), parse_int=float) for value in (theirs, ours))
    lines = (json.dumps(value, indent=1, ensure_ascii=False).splitlines() for value in equal_numbers)
    pairs = zip_longest(*lines, fillvalue="the end")
    return next((f"{their.strip()} instead of {our.strip()}" for their, our in pairs if their != our), None)


def _get_json(server: RunningServer, target: str) -> Any:
    answer = server.get(target)
    content_type = answer.headers.get("content-type", "")
    if answer.status != 200 or not content_type.startswith("application/j"):
        raise CannotMeasure(f"{target}: status {answer.status}, {content_type}")
    return answer.json()


def _require_token(theirs: str, ours: str, keys: KeySet) -> None:
    verdict = verify_token(theirs, keys, time.time())
    if verdict is not TokenVerdict.VALID:
        raise CannotMeasure(f"its token is {verdict}")
    their_claims, our_claims = parse_token(theirs), parse_token(ours)
    if (
        their_claims is None
        or our_claims is None
        or replace(their_claims, issued_at=0, expires_at=0) != replace(our_claims, issued_at=0, expires_at=0)
    ):
        raise CannotMeasure("its token has other claims")
