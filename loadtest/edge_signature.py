"""Signs requests as the edge does, for an origin with EDGE_KEYS set; see contract/edge-signature.ts."""

import base64
import hmac

from loadtest.analytics_token import KeyRing

HEADER = "x-edge-signature"


def sign(method: str, target: str, ring: KeyRing, seconds: int) -> str:
    """The header's value for a request at Unix time `seconds`. The first key of the ring signs."""
    kid, key = next(iter(ring.items()))
    payload = "\n".join(["v1", kid, str(seconds), method, target])
    mac = base64.urlsafe_b64encode(hmac.digest(key, payload.encode(), "sha256")).decode().rstrip("=")
    return f"v1.{kid}.{seconds}.{mac}"
