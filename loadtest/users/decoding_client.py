"""An HTTP client that decodes bodies itself: locust's fails on an empty body with a content coding,
as a 304 may have that repeats the Content-Encoding of the 200, and on a damaged one in br."""

import gzip
import zlib

import brotli
from locust.contrib.fasthttp import FastResponse, LocustUserAgent

_DECODERS = {"identity": bytes, "gzip": gzip.decompress, "br": brotli.decompress}
ACCEPT_ENCODING = "br, gzip"


class UndecodableBody(Exception):
    """The body is not in the content coding that its header names, or in one that was not accepted."""


def decode(body: bytes, coding: str) -> bytes:
    """Raises UndecodableBody."""
    try:
        return bytes(_DECODERS[coding](body)) if body else b""
    except (KeyError, OSError, EOFError, zlib.error, brotli.error) as error:
        raise UndecodableBody(coding) from error


class DecodingResponse(FastResponse):
    def _content(self) -> bytes:
        assert self._response is not None
        assert self.headers is not None
        body: bytes = self._response.read()
        self.release()
        try:
            return decode(body, str(self.headers.get("content-encoding", "identity")))
        except UndecodableBody as error:
            self.error = error  # the user counts it as a failure
            return b""


class DecodingClient(LocustUserAgent):
    response_type = DecodingResponse
