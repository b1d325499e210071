"""Whether anything listens at an address, before load is sent to it."""

import socket
from urllib.parse import urlsplit

_CONNECT_TIMEOUT_SECONDS = 5


def is_listening(url: str) -> bool:
    parts = urlsplit(url)
    address = (parts.hostname or "", parts.port or {"http": 80, "https": 443}[parts.scheme])
    try:
        socket.create_connection(address, _CONNECT_TIMEOUT_SECONDS).close()
    except OSError:
        return False
    return True
