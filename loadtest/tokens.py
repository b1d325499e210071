"""Verifies the token of a list as a partner would, and signs requests as the edge does.

A token is a JWS (RFC 7515) signed with Ed25519 (RFC 8037); contract/token.ts says what is in it.
contract/token-vectors.json, which the tests verify, holds this to the contract.
"""

import base64
import hmac
import json
import re
import time
import urllib.request
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from joserfc import jws
from joserfc.errors import InvalidKeyIdError, JoseError, SecurityWarning
from joserfc.jwk import KeySet

_SUBJECT = re.compile(
    r"(?P<region>[A-Z]{2})/(?P<window>[a-z]+)/(?P<category>.*)/(?P<generation>[1-9][0-9]{0,14})"
    r"/(?P<offset>0|[1-9][0-9]{0,3})\+(?P<count>0|[1-9][0-9]?)"
)
_LEEWAY_SECONDS = 60
_TYPE = "tv+jwt"

# RFC 9864 names the algorithm "Ed25519"; most libraries know it as "EdDSA" only.
warnings.filterwarnings("ignore", message="EdDSA is deprecated", category=SecurityWarning)


class TokenVerdict(StrEnum):
    VALID = "valid"
    MALFORMED = "malformed"
    UNKNOWN_KEY = "unknown-key"
    TAMPERED = "tampered"
    NOT_YET_VALID = "not-yet-valid"
    EXPIRED = "expired"


@dataclass(frozen=True)
class Token:
    issued_at: int  # Unix seconds
    expires_at: int  # Unix seconds
    region: str
    window: str
    generation: int
    offset: int
    count: int


def import_keys(key_set: dict[str, Any]) -> KeySet:
    """The keys for tokens of a /.well-known/jwks.json."""
    tokens = [key for key in key_set["keys"] if key.get("purpose") == "tokens"]
    return KeySet.import_key_set({"keys": tokens})


def parse_token(text: str) -> Token | None:
    """What a token says, None when it is malformed. The signature is not verified."""
    try:
        token = jws.extract_compact(text.encode())
        claims = json.loads(token.payload)
    except (JoseError, ValueError):
        return None
    if token.headers().get("typ") != _TYPE or not isinstance(claims, dict):
        return None
    subject = _SUBJECT.fullmatch(str(claims.get("sub")))
    issued_at, expires_at = claims.get("iat"), claims.get("exp")
    if subject is None or not isinstance(issued_at, int) or not isinstance(expires_at, int):
        return None
    numbers = (int(subject[name]) for name in ("generation", "offset", "count"))
    return Token(issued_at, expires_at, subject["region"], subject["window"], *numbers)


def verify_token(text: str, keys: KeySet, now: float) -> TokenVerdict:
    """Judges a token at `now`, in Unix seconds."""
    token = parse_token(text)
    if token is None:
        return TokenVerdict.MALFORMED
    try:
        jws.deserialize_compact(text, keys, algorithms=["EdDSA"])
    except InvalidKeyIdError:
        return TokenVerdict.UNKNOWN_KEY
    except JoseError:
        return TokenVerdict.TAMPERED
    return verify_time(token, now)


def verify_time(token: Token, now: float) -> TokenVerdict:
    """Judges the time of a token whose signature is right."""
    if now < token.issued_at - _LEEWAY_SECONDS:
        return TokenVerdict.NOT_YET_VALID
    return TokenVerdict.EXPIRED if now > token.expires_at else TokenVerdict.VALID


_JWKS_PATH = "/.well-known/jwks.json"
_TIMEOUT_SECONDS = 5


def read_public_keys(url: str, key_set: str | None, headers: Mapping[str, str]) -> KeySet | None:
    """The keys of ORIGIN_JWKS, or else those that the server publishes; None when neither can be read."""
    try:
        document: Any = json.loads(key_set or _fetch(url.rstrip("/") + _JWKS_PATH, headers))
        return import_keys(document)
    except (OSError, ValueError, KeyError, JoseError):
        return None


def _fetch(url: str, headers: Mapping[str, str]) -> bytes:
    with urllib.request.urlopen(
        urllib.request.Request(url, headers=dict(headers)), timeout=_TIMEOUT_SECONDS
    ) as answer:
        return bytes(answer.read())


_RING_ENTRY = re.compile(r"([A-Za-z0-9]{1,16}):([A-Za-z0-9_-]{43,})")  # of at least 32 bytes

KeyRing = dict[str, bytes]  # the keys that edge and origin share, by id; the first one signs


def parse_key_ring(text: str) -> KeyRing:
    """Reads "k2:<base64url>,k1:<base64url>". Raises ValueError with the number of a wrong entry."""
    ring: KeyRing = {}
    for position, entry in enumerate(text.split(","), 1):
        match = _RING_ENTRY.fullmatch(entry.strip())
        if match is None:
            raise ValueError(f"key {position} is not <key id>:<at least 32 bytes as base64url>")
        kid, encoded = match.groups()
        ring[kid] = base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4))
    return ring


def edge_headers(ring: KeyRing) -> dict[str, str]:
    """What the edge adds to a request to a guarded origin."""
    return {"X-Edge-Signature": edge_signature(ring, int(time.time()) // 60)}


def edge_signature(ring: KeyRing, minute: int) -> str:
    """The X-Edge-Signature of the requests of a minute (Unix time / 60): contract/request-signatures.ts."""
    kid, key = next(iter(ring.items()))
    payload = "\n".join(["trendvault-edge", "v2", kid, str(minute)])
    mac = base64.urlsafe_b64encode(hmac.digest(key, payload.encode(), "sha256")).decode().rstrip("=")
    return f"v2.{kid}.{minute}.{mac}"
