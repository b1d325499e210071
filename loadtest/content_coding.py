"""Content codings (RFC 9110, section 8.4.1) that the load test asks for."""

import zlib

import brotli


class UndecodableBody(Exception):
    """The body is not in the content coding that its header names, or in one that was not asked for."""


def decode(body: bytes, coding: str) -> bytes:
    """An empty body stays empty: a 304 may repeat the Content-Encoding of what it stands for."""
    if not body or coding == "identity":
        return body
    try:
        if coding == "br":
            return bytes(brotli.decompress(body))
        if coding == "gzip":
            return zlib.decompress(body, 16 + zlib.MAX_WBITS)
    except (brotli.error, zlib.error) as error:
        raise UndecodableBody(coding) from error
    raise UndecodableBody(coding)
