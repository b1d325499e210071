"""A peer is measured only if it answers what the origin answers."""

import json
import time
from typing import Any

from bench.single_request import get
from loadtest.analytics_token import KeyRing, Verdict, verify_token

_TARGETS = (
    "/api/trending?region=GB",
    "/api/trending?region=CZ",
    "/api/trending?region=DE&window=now",
    "/api/trending?region=FR&window=week&limit=50",
    "/api/trending?region=AT&limit=10",
)
_BAD_TARGETS = ("/api/trending?region=XX", "/api/trending?window=month", "/api/trending?limit=51")


class OtherAnswer(Exception):
    """The message says where the answers differ."""


def require_same_answers(url: str, origin_url: str, ring: KeyRing, *, computes: bool = True) -> None:
    """Raises OtherAnswer. A server of finished files (`computes` False) is not asked for mistakes."""
    for target in _TARGETS:
        answer = get(url + target)
        if answer.status != 200 or not answer.headers.get("content-type", "").startswith("application/json"):
            raise OtherAnswer(f"{target}: status {answer.status}, {answer.headers.get('content-type')}")
        theirs, ours = json.loads(answer.body), json.loads(get(origin_url + target).body)
        _require_token(theirs.pop("token"), ours.pop("token"), ring)
        difference = find_difference(theirs, ours)
        if difference is not None:
            raise OtherAnswer(f"{target}: {difference}")
    for target in _BAD_TARGETS if computes else ():
        if (status := get(url + target).status) != 400:
            raise OtherAnswer(f"{target}: status {status} instead of 400")


def find_difference(theirs: Any, ours: Any, place: str = "body") -> str | None:
    """Where two JSON values differ first; None when they do not. 12 and 12.0 are one number."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        if list(theirs) != list(ours):
            return f"{place} has other fields"
        pairs = [(f"{place}.{name}", theirs[name], ours[name]) for name in ours]
    elif isinstance(theirs, list) and isinstance(ours, list):
        if len(theirs) != len(ours):
            return f"{place} has {len(theirs)} entries instead of {len(ours)}"
        pairs = [(f"{place}[{index}]", theirs[index], ours[index]) for index in range(len(ours))]
    else:
        return None if theirs == ours else f"{place} is {theirs!r} instead of {ours!r}"
    found = (find_difference(their, our, inner) for inner, their, our in pairs)
    return next((difference for difference in found if difference is not None), None)


def _require_token(theirs: str, ours: str, ring: KeyRing) -> None:
    verdict = verify_token(theirs, ring, int(time.time() // 60))
    if verdict is not Verdict.VALID:
        raise OtherAnswer(f"its token is {verdict}")
    if theirs.split(".")[:4] != ours.split(".")[:4]:
        raise OtherAnswer("its token says something else")
