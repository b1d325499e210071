"""Verifies the analytics token as a partner would; contract/token.ts says what it is.

v1.<kid>.<region>.<count>.<minute>.<mac>, mac = the first 22 characters of
base64url(HMAC-SHA-256(key[kid], everything before the last dot)), minute = whole Unix minutes.
"""

import base64
import binascii
import hmac
import re
from dataclasses import dataclass
from enum import StrEnum

_PATTERN = re.compile(
    r"(v1\.([A-Za-z0-9]{1,16})\.([A-Z]{2})\.(0|[1-9][0-9]{0,2})\.([1-9][0-9]{0,9}))\.([A-Za-z0-9_-]{22})"
)
_KID = re.compile(r"[A-Za-z0-9]{1,16}")
_BASE64URL = re.compile(r"[A-Za-z0-9_-]+")
_SHORTEST_KEY_BYTES = 32
_EARLIEST_MINUTES = 1
_LATEST_MINUTES = 15

KeyRing = dict[str, bytes]


class Verdict(StrEnum):
    VALID = "valid"
    MALFORMED = "malformed"
    UNKNOWN_KEY = "unknown-key"
    TAMPERED = "tampered"
    NOT_YET_VALID = "not-yet-valid"
    EXPIRED = "expired"


@dataclass(frozen=True)
class Token:
    payload: str
    kid: str
    region: str
    count: int
    minute: int
    mac: str


def read_token(text: str) -> Token | None:
    match = _PATTERN.fullmatch(text)
    if match is None:
        return None
    payload, kid, region, count, minute, mac = match.groups()
    return Token(payload, kid, region, int(count), int(minute), mac)


def verify_token(text: str, ring: KeyRing, minute: int) -> Verdict:
    """Judges a token at `minute`, the verifier's Unix time / 60."""
    token = read_token(text)
    if token is None:
        return Verdict.MALFORMED
    key = ring.get(token.kid)
    if key is None:
        return Verdict.UNKNOWN_KEY
    if not hmac.compare_digest(token.mac, _mac(key, token.payload)):
        return Verdict.TAMPERED
    return judge_minute(token.minute, minute)


def judge_minute(minute: int, now: int) -> Verdict:
    """What remains to be asked of a token whose mac was found right before."""
    if now < minute - _EARLIEST_MINUTES:
        return Verdict.NOT_YET_VALID
    return Verdict.EXPIRED if now > minute + _LATEST_MINUTES else Verdict.VALID


def parse_key_ring(text: str) -> KeyRing:
    """Reads "k2:<base64url>,k1:<base64url>". Raises ValueError saying which entry is wrong, quoting none."""
    ring: KeyRing = {}
    for position, entry in enumerate(text.split(","), 1):
        kid, _, encoded = entry.strip().partition(":")
        if not _KID.fullmatch(kid):
            raise ValueError(f"entry {position} does not begin with a key id of 1 to 16 letters or digits")
        ring[kid] = _decode_key(kid, encoded)
    return ring


def _decode_key(kid: str, encoded: str) -> bytes:
    try:
        key = base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4))
    except (ValueError, binascii.Error):
        key = b""
    if not _BASE64URL.fullmatch(encoded) or len(key) < _SHORTEST_KEY_BYTES:
        raise ValueError(f"the key of {kid} is not base64url of at least {_SHORTEST_KEY_BYTES} bytes")
    return key


def _mac(key: bytes, payload: str) -> str:
    digest = hmac.digest(key, payload.encode(), "sha256")
    return base64.urlsafe_b64encode(digest).decode()[:22]
