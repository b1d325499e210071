"""The base of all user classes: sends a request, checks the response, counts the result."""

import gzip
import time
import zlib
from collections.abc import Callable, Mapping
from typing import TypeVar, cast

import brotli
import gevent
from locust import FastHttpUser, between
from locust.contrib.fasthttp import FastResponse, LocustUserAgent, ResponseContextManager
from locust.env import Environment

from loadtest.context import context
from loadtest.key_ring import KeyRing, mac
from loadtest.options import LOCAL_URL
from loadtest.responses import Page, PageRequest, Response, WrongResponse, cache_outcome

Checked = TypeVar("Checked")
_DECODERS = {"identity": bytes, "gzip": gzip.decompress, "br": brotli.decompress}


class TrendVaultUser(FastHttpUser):
    abstract = True
    host = LOCAL_URL
    wait_time = between(0.5, 1.5)
    network_timeout = 10.0
    connection_timeout = 10.0

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self.client.client.__class__ = _DecodingClient  # locust has no parameter for it

    def on_start(self) -> None:
        """Waits a random time while locust creates the other users, which would add to the times."""
        gevent.sleep(context.rng.uniform(0.1, 1))

    def fetch_page(self, name: str, request: PageRequest) -> Page | None:
        """Requests a page. Returns None when the response was wrong; it is then counted as a failure."""
        return self.fetch(name, request.target, lambda response: self.check_page(request, response))

    def check_page(self, request: PageRequest, response: Response) -> Page:
        page = context.check.page(request, response)
        context.extra.add_age(context.check.age_seconds(page))
        return page

    def fetch(
        self,
        name: str,
        target: str,
        check: Callable[[Response], Checked],
        *,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
    ) -> Checked | None:
        """Sends a request, counted under `name`. Returns what `check` returns, None when it raised."""
        sent = {"Accept-Encoding": "br, gzip", **(headers or {})}
        if context.edge_keys is not None:
            sent |= edge_headers(context.edge_keys)
        with self.client.request(
            method, target, name=name, headers=sent, catch_response=True, allow_redirects=False
        ) as answer:
            try:
                checked = check(received(answer))
            except WrongResponse as wrong:
                answer.failure(str(wrong))
                return None
            answer.success()
            return checked


def decode(body: bytes, coding: str) -> bytes:
    """Raises WrongResponse. An empty body stays empty: a 304 may repeat the Content-Encoding of the 200."""
    try:
        return bytes(_DECODERS[coding](body)) if body else b""
    except (KeyError, OSError, EOFError, zlib.error, brotli.error) as error:
        raise WrongResponse("a body that cannot be decoded") from error


class _DecodingResponse(FastResponse):
    """Locust's own fails on an empty body with a content coding, and ends its user on a damaged one in br."""

    def _content(self) -> bytes:
        assert self._response is not None
        body: bytes = self._response.read()
        self.release()
        try:
            return decode(body, str(self._response.get("content-encoding", "identity")))
        except WrongResponse as error:
            self.error = error  # `received` raises it
            return b""


class _DecodingClient(LocustUserAgent):
    response_type = _DecodingResponse


def received(answer: ResponseContextManager) -> Response:
    error = getattr(answer, "error", None)
    if answer.status_code == 0:
        raise WrongResponse(f"no response: {type(error or answer.request_meta['exception']).__name__}")
    if isinstance(error, WrongResponse):
        raise error
    headers = cast(Mapping[str, str], answer.headers or {})  # its look-up ignores case
    if cache_status := headers.get("cache-status"):
        context.extra.cache_outcomes[cache_outcome(cache_status)] += 1
    return Response(answer.status_code, headers, answer.content or b"")


def edge_headers(ring: KeyRing) -> dict[str, str]:
    """What the edge adds to a request to a guarded origin."""
    return {"X-Edge-Signature": edge_signature(ring, int(time.time()) // 60)}


def edge_signature(ring: KeyRing, minute: int) -> str:
    """The X-Edge-Signature of the requests of a minute (Unix time / 60): contract/request-signatures.ts."""
    kid, key = next(iter(ring.items()))
    payload = "\n".join(["trendvault-edge", "v2", kid, str(minute)])
    return f"v2.{kid}.{minute}.{mac(key, payload)}"
