"""The keys that an origin publishes for its tokens."""

import json
import urllib.request
from collections.abc import Mapping
from typing import Any

from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from loadtest.analytics_token import import_keys

_PATH = "/.well-known/jwks.json"
_TIMEOUT_SECONDS = 5


def read_public_keys(url: str, key_set: str | None, headers: Mapping[str, str]) -> KeySet | None:
    """The keys of ORIGIN_JWKS, or else those that the server publishes; None when neither can be read."""
    try:
        document: Any = json.loads(key_set or _fetch(url.rstrip("/") + _PATH, headers))
        return import_keys(document)
    except (OSError, ValueError, KeyError, JoseError):
        return None


def _fetch(url: str, headers: Mapping[str, str]) -> bytes:
    with urllib.request.urlopen(
        urllib.request.Request(url, headers=dict(headers)), timeout=_TIMEOUT_SECONDS
    ) as answer:
        return bytes(answer.read())
