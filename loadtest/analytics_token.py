"""Verifies the analytics token as a partner would; contract/token.ts says what it is.

v1.<kid>.<region>.<count>.<minute>.<mac>, mac = the first 22 characters of
base64url(HMAC-SHA-256(key[kid], everything before the last dot)), minute = whole Unix minutes.
contract/token-vectors.json, which the tests verify, holds the window of minutes to the contract's.
"""

import base64
import hmac
import re
from enum import StrEnum

_TOKEN = re.compile(
    r"(?P<payload>v1\.(?P<kid>[A-Za-z0-9]{1,16})\.(?P<region>[A-Z]{2})\.(?P<count>0|[1-9][0-9]{0,2})"
    r"\.(?P<minute>[1-9][0-9]{0,9}))\.(?P<mac>[A-Za-z0-9_-]{22})"
)
_KEY = re.compile(r"([A-Za-z0-9]{1,16}):([A-Za-z0-9_-]{43,})")  # of at least 32 bytes
_LEEWAY_MINUTES = 1
_LIFETIME_MINUTES = 15

KeyRing = dict[str, bytes]


class TokenVerdict(StrEnum):
    VALID = "valid"
    MALFORMED = "malformed"
    UNKNOWN_KEY = "unknown-key"
    TAMPERED = "tampered"
    NOT_YET_VALID = "not-yet-valid"
    EXPIRED = "expired"


def parse_token(text: str) -> re.Match[str] | None:
    """The groups payload, kid, region, count, minute and mac of a well-formed token, None for any other."""
    return _TOKEN.fullmatch(text)


def verify_token(text: str, ring: KeyRing, minute: int) -> TokenVerdict:
    """Judges a token at `minute`, the verifier's Unix time / 60."""
    token = parse_token(text)
    if token is None:
        return TokenVerdict.MALFORMED
    if token["kid"] not in ring:
        return TokenVerdict.UNKNOWN_KEY
    if not hmac.compare_digest(token["mac"], mac(ring[token["kid"]], token["payload"])[:22]):
        return TokenVerdict.TAMPERED
    return verify_minute(int(token["minute"]), minute)


def verify_minute(minute: int, now: int) -> TokenVerdict:
    """Judges the minute of a token whose mac is right."""
    if now < minute - _LEEWAY_MINUTES:
        return TokenVerdict.NOT_YET_VALID
    return TokenVerdict.EXPIRED if now > minute + _LIFETIME_MINUTES else TokenVerdict.VALID


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
