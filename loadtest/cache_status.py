"""Reads Cache-Status (RFC 9211), a list of structured fields (RFC 9651)."""

from typing import Any

import http_sf


def outcome(field: str) -> str:
    """What the last cache of the list, the nearest to the client, did: "hit", or why it forwarded the request
    ("miss", "stale", …); "unknown" when it says neither, "unreadable" when the field cannot be parsed."""
    try:
        caches: Any = http_sf.parse(field.encode(), tltype="list")
        _, parameters = caches[-1]
    except (ValueError, IndexError):
        return "unreadable"
    if parameters.get("hit"):
        return "hit"
    return str(parameters.get("fwd", "unknown"))
