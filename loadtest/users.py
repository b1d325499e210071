"""The users of a load test: what those of one process share, then a class for each kind, first those that
send valid requests, then those whose requests must be refused."""

import gzip
import math
import os
import random
import time
import zlib
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TypeVar, cast

import brotli
import gevent
from dotenv import dotenv_values
from locust import FastHttpUser, between, task
from locust.contrib.fasthttp import FastResponse, LocustUserAgent, ResponseContextManager
from locust.env import Environment

from loadtest.contract import DEFAULT_LIMIT, LARGEST_LIMIT, REGIONS, WINDOWS, draw_region, draw_window
from loadtest.options import LOCAL_URL
from loadtest.profiles import PROFILES, VIRAL_END, VIRAL_START, Profile, viral
from loadtest.responses import (
    Page,
    PageRequest,
    Response,
    ResponseCheck,
    WrongResponse,
    cache_outcome,
    require,
    require_continued,
)
from loadtest.samples import ExtraStats
from loadtest.tokens import edge_headers, parse_key_ring


class Context:
    """Reads EDGE_KEYS and ORIGIN_JWKS. Raises ValueError when a key ring is wrong."""

    def __init__(self, environment: Mapping[str, str | None]) -> None:
        edge_keys = environment.get("EDGE_KEYS")
        self.edge_keys = parse_key_ring(edge_keys) if edge_keys else None
        self.origin_keys = environment.get("ORIGIN_JWKS")
        self.check = ResponseCheck(time.time)
        self.loop_lag = LoopLag()
        self.rng = random.Random()
        self.start(PROFILES["steady"], 1)

    def start(self, profile: Profile, seconds: float) -> None:
        """Begins a run, of which locust's web interface can start several."""
        self._profile, self._seconds, self._started = profile, seconds, time.monotonic()
        self.extra = ExtraStats()

    def draw_region(self) -> str:
        progress = (time.monotonic() - self._started) / self._seconds
        is_viral = self._profile.shape is viral and VIRAL_START <= progress < VIRAL_END
        return draw_region(self.rng, viral=is_viral)


TICK_SECONDS = 0.02
LATE_SECONDS = 0.025  # more than this makes a tick late


class LoopLag:
    """Measures how late the load generator itself is: responses wait that long before they are read.
    It watches gevent's event loop with a clock that should tick every 20 ms."""

    def __init__(self) -> None:
        self._next_tick = math.inf
        self._last_late = -math.inf
        self._greenlet: gevent.Greenlet | None = None

    def start(self) -> None:
        """Starts the clock, once per process."""
        self._greenlet = self._greenlet or gevent.spawn(self._run)

    def was_late_since(self, moment: float) -> bool:
        """Whether the loop was late at any time since `moment`, seconds of time.monotonic()."""
        return self._last_late >= moment or time.monotonic() - self._next_tick > LATE_SECONDS

    def _run(self) -> None:
        while True:
            self._next_tick = time.monotonic() + TICK_SECONDS
            gevent.sleep(TICK_SECONDS)
            now = time.monotonic()
            if now - self._next_tick > LATE_SECONDS:
                self._last_late = now


# The keys that bin/up keeps in .env, unless the environment has others.
context = Context({**dotenv_values(Path(__file__).parents[1] / ".env"), **os.environ})

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


_PAGE_LIMITS = (DEFAULT_LIMIT // 2, DEFAULT_LIMIT, LARGEST_LIMIT)
_MOST_PAGES = 8


class VisitorUser(TrendVaultUser):
    """Opens the site: the first page of a region, sometimes of another window."""

    @task
    def open_site(self) -> None:
        self.fetch_page("/api/trending", PageRequest(context.draw_region(), draw_window(context.rng)))


class NewConnectionUser(TrendVaultUser):
    """A visitor that opens a new connection for each request, as in a stampede."""

    def on_start(self) -> None:
        gevent.sleep(0.5)  # all at the same moment

    @task
    def open_site(self) -> None:
        self.client.client.close()
        self.fetch_page("/api/trending (new connection)", PageRequest(context.draw_region()))


class PagingUser(TrendVaultUser):
    """Reads page after page of one list, while other generations are published."""

    @task
    def read_list(self) -> None:
        request = PageRequest(context.draw_region(), limit=context.rng.choice(_PAGE_LIMITS))
        page = self.fetch_page("/api/trending", request)
        seen: set[str] = set()
        for _ in range(_MOST_PAGES):
            if page is None or page.next is None:
                return
            seen.update(page.ids)
            self.wait()  # type: ignore[no-untyped-call]
            page = self._fetch_next(request, page, page.next, seen)

    def _fetch_next(self, request: PageRequest, page: Page, target: str, seen: set[str]) -> Page | None:
        next_request = request._replace(cursor=target.rpartition("cursor=")[2])

        def check(response: Response) -> Page | None:
            if response.status == 410:  # the user was slower than the generations are kept: rightly refused
                context.check.problem(410, "generation-gone", response)
                return None
            following = self.check_page(next_request, response)
            require_continued(page, following, seen)
            return following

        return self.fetch("/api/trending (next page)", target, check)


class RevalidatingUser(TrendVaultUser):
    """Keeps a page and revalidates it with If-None-Match, as browsers and proxies do."""

    def on_start(self) -> None:
        super().on_start()
        self.request = PageRequest(context.draw_region())
        self.etag = ""

    @task
    def revalidate(self) -> None:
        headers = {"If-None-Match": self.etag} if self.etag else {}
        self.fetch("/api/trending (if-none-match)", self.request.target, self._check, headers=headers)

    def _check(self, response: Response) -> None:
        if response.status == 304:
            context.check.not_modified(self.etag, response)
            return
        self.check_page(self.request, response)
        etag = response.headers.get("etag", "")
        require(etag != "", "a page without an entity tag")
        require(etag != self.etag, "200 for an unchanged entity tag")
        self.etag = etag


class PartnerUser(TrendVaultUser):
    """Polls all regions in turn, and looks videos up."""

    @task
    def poll(self) -> None:
        self.fetch("/api/regions", "/api/regions", _check_regions)
        for region in REGIONS:
            self.wait()  # type: ignore[no-untyped-call]
            request = PageRequest(region, context.rng.choice(WINDOWS), LARGEST_LIMIT)
            page = self.fetch_page("/api/trending", request)
            if page is not None and page.ids:
                self._look_up(context.rng.choice(page.ids))

    def _look_up(self, video: str) -> None:
        def check(response: Response) -> None:
            require(context.check.json("/api/videos/{id}", response)["id"] == video, "another video")

        self.fetch("/api/videos/{id}", f"/api/videos/{video}", check)


def _check_regions(response: Response) -> None:
    body = context.check.json("/api/regions", response)
    require([region["code"] for region in body["regions"]] == list(REGIONS), "other regions")


_LONG = "a" * 12_000

# Method, target, expected status, expected kind of problem.
INVALID_REQUESTS = (
    ("GET", "/api/trending?region=XX", 400, "invalid-parameter"),
    ("GET", "/api/trending?region=GB&region=DE", 400, "invalid-parameter"),
    ("GET", f"/api/trending?limit={LARGEST_LIMIT + 1}", 400, "invalid-parameter"),
    ("GET", "/api/trending?limit=many", 400, "invalid-parameter"),
    ("GET", "/api/trending?window=no-such-window", 400, "invalid-parameter"),
    ("GET", "/api/trending?page=2", 400, "invalid-parameter"),
    ("GET", "/api/trending?cursor=next", 400, "invalid-parameter"),
    ("GET", "/api/trending?category=No+such+category", 400, "invalid-parameter"),
    ("GET", "/api/trendin", 404, "not-found"),
    ("GET", "/api/videos/no-such-video", 404, "not-found"),
    ("POST", "/api/trending", 405, "method-not-allowed"),
    ("DELETE", "/api/regions", 405, "method-not-allowed"),
)

# Method, target, headers.
ATTACKS: tuple[tuple[str, str, dict[str, str]], ...] = (
    ("GET", f"/api/trending?region={_LONG}", {}),
    ("GET", "/api/trending?region=GB'--", {}),
    ("GET", "/api/trending?region=%00", {}),
    ("GET", "/api/trending?limit=-1", {}),
    ("GET", "/api/trending?limit=1e9", {}),
    ("GET", "/api/trending?cursor=999999999999999-999999", {}),
    ("GET", "/api/videos/..%2f..%2fetc%2fpasswd", {}),
    ("GET", "/api/videos/%zz", {}),
    ("GET", "/.env", {}),
    ("PUT", "/api/trending", {}),
    ("PROPFIND", "/api/trending", {}),
    ("GET", "/api/trending?region=XX", {"X-Forwarded-For": _LONG}),
)


class InvalidRequestUser(TrendVaultUser):
    """Makes the mistakes of clients. The status and the problem of each are known."""

    @task
    def send_invalid_request(self) -> None:
        method, target, status, kind = context.rng.choice(INVALID_REQUESTS)
        check = partial(context.check.problem, status, kind)
        self.fetch("invalid request (4xx is right)", target, check, method=method)


class AttackUser(TrendVaultUser):
    """Sends what attackers send. Any refusal is right; a 2xx, a 5xx or no response is a failure."""

    @task
    def attack(self) -> None:
        method, target, headers = context.rng.choice(ATTACKS)
        self.fetch("attack (4xx is right)", target, _require_refused, method=method, headers=headers)


def _require_refused(response: Response) -> None:
    refused = response.status in {400, 404, 405, 410, 413, 414, 431}
    require(refused, f"status {response.status} instead of a refusal")
