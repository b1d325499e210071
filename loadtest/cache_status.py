"""Reads Cache-Status (RFC 9211): did the cache nearest to us answer by itself?"""


def outcome(header: str) -> str:
    """ "hit", or why the request was forwarded ("miss", "stale", …), by the last cache of the list."""
    nearest = header.rsplit(",", 1)[-1]
    parameters = [parameter.strip() for parameter in nearest.split(";")[1:]]
    if "hit" in parameters:
        return "hit"
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name == "fwd":
            return value.strip('"')
    return "unknown"
