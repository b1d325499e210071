"""Responses as an origin gives them, for tests."""

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from loadtest.responses import PageRequest, Response

KEY = bytes(range(32))
KEYS = "k1:" + base64.urlsafe_b64encode(KEY).decode().rstrip("=")
TOTAL = 60


def page(request: PageRequest, now: float) -> dict[str, Any]:
    """The body of a right response; a test changes what it wants wrong."""
    first = 1 if request.cursor is None else int(request.cursor.partition("-")[2]) + 1
    last = min(first + request.limit - 1, TOTAL)
    items = [item(request.region, rank) for rank in range(first, last + 1)]
    following = PageRequest(request.region, request.window, request.limit, f"7-{last}").target
    return {
        "region": request.region,
        "window": request.window,
        "category": None,
        "generation": 7,
        "generated_at": _time(now - 20),
        "newest_observed_at": _time(now - 30),
        "channel_limit": {"videos": 3, "within_ranks": 24},
        "count": len(items),
        "total": TOTAL,
        "token": token(request.region, len(items), int(now // 60)),
        "items": items,
        "next": following if last < TOTAL else None,
    }


def item(region: str, rank: int) -> dict[str, Any]:
    return {
        "id": f"{region}-{rank}",
        "rank": rank,
        "title": f"Title {rank}",
        "channel": f"Channel {rank}",
        "category": "Music",
        "published_at": None,
        "score": 10_000.5 - rank,
        "velocity": {"views_per_hour": 12.5, "previous_views_per_hour": None, "views": 1000},
        "thumbs": [f"https://thumbs.example/{rank}/{size}.webp" for size in ("hq", "sd")],
    }


def token(region: str, count: int, minute: int, kid: str = "k1") -> str:
    payload = f"v1.{kid}.{region}.{count}.{minute}"
    mac = base64.urlsafe_b64encode(hmac.digest(KEY, payload.encode(), "sha256")).decode()
    return f"{payload}.{mac[:22]}"


def response(body: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    data = json.dumps(body).encode()
    digest = base64.b64encode(hashlib.sha256(data).digest()).decode()
    known = {"content-type": "application/json", "unencoded-digest": f"sha-256=:{digest}:"}
    return Response(status, {**known, **(headers or {})}, data)


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(int(seconds), UTC).isoformat().replace("+00:00", "Z")
