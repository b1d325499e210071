"""The keys that edge and origin share: "k2:<base64url>,k1:<base64url>", the first signs."""

import base64
import hmac
import re

_KEY = re.compile(r"([A-Za-z0-9]{1,16}):([A-Za-z0-9_-]{43,})")  # of at least 32 bytes

KeyRing = dict[str, bytes]


def parse_key_ring(text: str) -> KeyRing:
    """Reads "k2:<base64url>,k1:<base64url>". Raises ValueError with the number of a wrong entry."""
    ring: KeyRing = {}
    for position, entry in enumerate(text.split(","), 1):
        match = _KEY.fullmatch(entry.strip())
        if match is None:
            raise ValueError(f"key {position} is not <key id>:<at least 32 bytes as base64url>")
        kid, encoded = match.groups()
        ring[kid] = base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4))
    return ring


def mac(key: bytes, payload: str) -> str:
    """HMAC-SHA-256 as base64url without padding."""
    return base64.urlsafe_b64encode(hmac.digest(key, payload.encode(), "sha256")).decode().rstrip("=")
