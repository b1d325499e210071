"""Reads responses and checks that they are what the API promises for the request."""

import hashlib
import json
from collections.abc import Callable, Mapping
from datetime import datetime
from itertools import pairwise
from typing import Any, NamedTuple

import http_sf
from joserfc.jwk import KeySet

from loadtest.contract import DEFAULT_LIMIT, DEFAULT_WINDOW, find_mismatch
from loadtest.tokens import Token, TokenVerdict, parse_token, verify_time, verify_token

_REMEMBERED_PAGES = 4096


class WrongResponse(Exception):
    """The message is the kind of failure: it names no particular value, so that failures add up by kind."""


class PageRequest(NamedTuple):
    """A page of a list, as it is requested."""

    region: str
    window: str = DEFAULT_WINDOW
    limit: int = DEFAULT_LIMIT
    cursor: str | None = None

    @property
    def target(self) -> str:
        """The request target, without the parameters that have their defaults."""
        target = f"/api/trending?region={self.region}"
        if self.window != DEFAULT_WINDOW:
            target += f"&window={self.window}"
        if self.limit != DEFAULT_LIMIT:
            target += f"&limit={self.limit}"
        return target if self.cursor is None else f"{target}&cursor={self.cursor}"

    @property
    def ranks(self) -> range:
        """The ranks that belong on the page, after the one that its cursor names."""
        after = 0 if self.cursor is None else int(self.cursor.rpartition("-")[2])
        return range(after + 1, after + self.limit + 1)


class Page(NamedTuple):
    generation: int
    generated_at: float  # Unix seconds
    ids: tuple[str, ...]
    next: str | None
    token: Token


class Response(NamedTuple):
    """A response with its header names in lower case and its body decoded."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class ResponseCheck:
    """Checks pages and problems. What does not depend on the clock is checked once per distinct body."""

    def __init__(self, clock: Callable[[], float], keys: KeySet | None = None) -> None:
        self.keys = keys  # that verify tokens; without them only the claims are checked
        self._clock = clock
        self._pages: dict[tuple[PageRequest, bytes, str], Page] = {}

    def page(self, request: PageRequest, response: Response) -> Page:
        """Reads a page. Raises WrongResponse when it is not what was requested."""
        require_status(response, 200)
        location = response.headers.get("content-location", request.target)
        require(location == request.target, "the answer to another request")
        key = (request, response.body, response.headers.get("unencoded-digest", ""))
        page = self._pages.get(key)
        if page is None:
            page = self._read_page(request, response)
            if len(self._pages) >= _REMEMBERED_PAGES:
                self._pages.clear()
            self._pages[key] = page
        _require_verdict(verify_time(page.token, self._clock()))
        return page

    def age_seconds(self, page: Page) -> float:
        return max(0.0, self._clock() - page.generated_at)

    def not_modified(self, etag: str, response: Response) -> None:
        require_status(response, 304)
        require(response.body == b"", "304 with a body")
        require(response.headers.get("etag") == etag, "304 with another entity tag")
        require("unencoded-digest" not in response.headers, "304 with the digest of a body")

    def json(self, path: str, response: Response) -> Any:
        """A document, checked against the contract's schema of `path`. Raises WrongResponse."""
        require_status(response, 200)
        require(response.headers.get("content-type", "").startswith("application/json"), "wrong content type")
        body = _parse_json(response.body)
        mismatch = find_mismatch(path, body)
        require(mismatch is None, f"schema: {mismatch}")
        return body

    def problem(self, status: int, kind: str, response: Response) -> None:
        """Checks for a problem document (RFC 9457) of this kind. Raises WrongResponse."""
        require_status(response, status)
        content_type = response.headers.get("content-type", "")
        require(content_type.startswith("application/problem+json"), "no problem document")
        problem = _parse_json(response.body)
        require(isinstance(problem, dict), "no problem document")
        require(problem.get("status") == status, "a problem document with another status")
        require(problem.get("type") == f"/problems/{kind}", "a problem of another type")

    def _read_page(self, request: PageRequest, response: Response) -> Page:
        _require_digest(response)
        body = self.json("/api/trending", response)
        items = body["items"]
        require(body["region"] == request.region, "wrong region")
        require(body["window"] == request.window, "wrong window")
        require(body["count"] == len(items) <= request.limit, "wrong count")
        _require_ranks([item["rank"] for item in items], request.ranks, total=body["total"])
        _require_order(items, limited_ranks=body["channel_limit"]["within_ranks"])
        _require_next(request, body)
        return Page(
            generation=body["generation"],
            generated_at=datetime.fromisoformat(body["generated_at"]).timestamp(),
            ids=tuple(item["id"] for item in items),
            next=body["next"],
            token=self._require_token(request, body),
        )

    def _require_token(self, request: PageRequest, body: Mapping[str, Any]) -> Token:
        token = parse_token(body["token"])
        if token is None:
            raise WrongResponse("token: malformed")
        require((token.region, token.window) == (body["region"], body["window"]), "token of another list")
        require(token.generation == body["generation"], "token of another generation")
        require(token.offset == request.ranks.start - 1, "token of another page")
        ranks = min(request.limit, body["total"] - token.offset)  # those of removed videos, too
        require(token.count == ranks, "token of another count")
        if self.keys is not None:
            _require_verdict(verify_token(body["token"], self.keys, self._clock()))
        return token


def require(holds: bool, otherwise: str) -> None:
    """Raises WrongResponse(otherwise) unless it holds."""
    if not holds:
        raise WrongResponse(otherwise)


def require_status(response: Response, expected: int) -> None:
    require(response.status == expected, f"status {response.status} instead of {expected}")


def require_continued(page: Page, following: Page, seen: set[str]) -> None:
    """Raises WrongResponse unless `following` has the same generation and no video of `seen`."""
    require(following.generation == page.generation, "a next page of another generation")
    require(seen.isdisjoint(following.ids), "a video on two pages")


def cache_outcome(field: str) -> str:
    """What the last cache of a Cache-Status (RFC 9211), the nearest to the client, did: "hit", or why it
    forwarded the request ("miss", "stale", …); "unknown" when it says neither, else "unreadable"."""
    try:
        caches: Any = http_sf.parse(field.encode(), tltype="list")
        _, parameters = caches[-1]
    except (ValueError, IndexError):
        return "unreadable"
    if parameters.get("hit"):
        return "hit"
    return str(parameters.get("fwd", "unknown"))


def _require_verdict(verdict: TokenVerdict) -> None:
    require(verdict is TokenVerdict.VALID, f"token: {verdict}")


def _require_ranks(ranks: list[int], of_page: range, *, total: int) -> None:
    """Ranks rise within those of the page. There may be gaps: the ranks of removed videos stay empty."""
    require(all(above < below for above, below in pairwise(ranks)), "ranks out of order")
    require(all(rank in of_page for rank in ranks), "a rank outside the page")
    require(not ranks or ranks[-1] <= total, "a rank behind the end of the list")


def _require_next(request: PageRequest, body: Mapping[str, Any]) -> None:
    """`next` goes on where the page's ranks end, in the same generation."""
    last = request.ranks[-1]
    following = request._replace(cursor=f"{body['generation']}-{last}").target
    expected = following if last < body["total"] else None
    require(body["next"] == expected, "a next page that does not go on where this one ends")


def _require_order(items: list[dict[str, Any]], *, limited_ranks: int) -> None:
    """Scores fall. The channel limit moves videos behind the first ranks, or behind those that all channels
    fill together: there scores may rise, and only there."""
    require(len({item["id"] for item in items}) == len(items), "a video twice on a page")
    rises = [above["rank"] for above, below in pairwise(items) if above["score"] < below["score"]]
    require(len(rises) <= 1 and max(rises, default=0) <= limited_ranks, "scores out of order")


def _require_digest(response: Response) -> None:
    """Unencoded-Digest (draft-ietf-httpbis-unencoded-digest): of the content before any content coding."""
    field = response.headers.get("unencoded-digest")
    if field is None:
        return
    try:
        digests: Any = http_sf.parse(field.encode(), tltype="dictionary")
    except ValueError as error:
        raise WrongResponse("unreadable digest") from error
    digest, _ = digests.get("sha-256", (None, {}))
    require(digest == hashlib.sha256(response.body).digest(), "wrong digest")


def _parse_json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError as error:
        raise WrongResponse("not JSON") from error
