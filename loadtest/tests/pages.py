"""Responses as an origin gives them, for tests."""

import base64
import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from joserfc import jws
from joserfc.jwk import OKPKey

from loadtest.contract import DOCUMENT
from loadtest.responses import PageRequest, Response

KEY = OKPKey.generate_key("Ed25519", {"kid": "k1"})
PUBLIC_KEYS: dict[str, Any] = {"keys": [{**KEY.as_dict(private=False), "purpose": "tokens"}]}
TOTAL = 60
_OK = DOCUMENT["paths"]["/api/trending"]["get"]["responses"]["200"]
EXAMPLE: dict[str, Any] = _OK["content"]["application/json"]["examples"]["default"]["value"]


def page(request: PageRequest, now: float) -> dict[str, Any]:
    """The body of a right response, made from the contract's example; a test changes what it wants wrong."""
    first = 1 if request.cursor is None else int(request.cursor.partition("-")[2]) + 1
    last = min(first + request.limit - 1, TOTAL)
    items = [
        {**EXAMPLE["items"][0], "id": f"{request.region}-{rank}", "rank": rank, "score": 10_000.5 - rank}
        for rank in range(first, last + 1)
    ]
    changes = {
        "region": request.region,
        "window": request.window,
        "generated_at": datetime.fromtimestamp(int(now - 20), UTC).isoformat().replace("+00:00", "Z"),
        "count": len(items),
        "total": TOTAL,
        "token": token(f"{request.region}/{request.window}//7/{first - 1}+{len(items)}", now),
        "items": items,
        "next": request._replace(cursor=f"7-{last}").target if last < TOTAL else None,
    }
    return {**EXAMPLE, "generation": 7, **changes}


def token(subject: str, now: float, kid: str = "k1") -> str:
    issued_at = int(now // 60) * 60
    claims = {"iat": issued_at, "exp": issued_at + 900, "sub": subject}
    header = {"alg": "EdDSA", "kid": kid, "typ": "tv+jwt"}
    return jws.serialize_compact(header, json.dumps(claims), KEY, algorithms=["EdDSA"])


def response(body: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    data = json.dumps(body).encode()
    digest = base64.b64encode(hashlib.sha256(data).digest()).decode()
    known = {"content-type": "application/json", "unencoded-digest": f"sha-256=:{digest}:"}
    return Response(status, {**known, **(headers or {})}, data)
