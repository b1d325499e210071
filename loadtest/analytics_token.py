"""Verifies the token of a list as a partner would: with a JOSE library and the published keys.

It is a JWS (RFC 7515) signed with Ed25519 (RFC 8037); contract/token.ts says what is in it.
contract/token-vectors.json, which the tests verify, holds this to the contract.
"""

import json
import re
import warnings
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
