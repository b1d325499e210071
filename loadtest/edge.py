"""The edge from outside: what its Cache-Status says, and the signature with which it reaches the origin."""

from typing import Any

import http_sf

from loadtest.analytics_token import KeyRing, mac

SIGNATURE_HEADER = "x-edge-signature"


def cache_outcome(field: str) -> str:
    """What the last cache of a Cache-Status (RFC 9211), the nearest to the client, did: "hit", or why it
    forwarded the request ("miss", "stale", …); "unknown" when it says neither, else "unreadable"."""
    try:
        caches: Any = http_sf.parse(field.encode(), tltype="list")
        _, parameters = caches[-1]
    except (ValueError, IndexError):
        return "unreadable"
    if parameters.get("hit"):
        return "hit"
    return str(parameters.get("fwd", "unknown"))


def sign(method: str, target: str, ring: KeyRing, seconds: int) -> str:
    """The header of a request at Unix time `seconds`, by the first key; see contract/edge-signature.ts."""
    kid, key = next(iter(ring.items()))
    payload = "\n".join(["v1", kid, str(seconds), method, target])
    return f"v1.{kid}.{seconds}.{mac(key, payload)}"
