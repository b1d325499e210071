"""Is this the right answer? What every response is checked for, whoever asked."""

import base64
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any

from loadtest.analytics_token import KeyRing, Verdict, judge_minute, read_token, verify_token
from loadtest.contract import Contract, SchemaMismatch

_MOST_REMEMBERED = 4096


class WrongAnswer(Exception):
    """The message is the kind of failure: it names no particular value, so that failures add up by kind."""


@dataclass(frozen=True)
class Asked:
    """A page of a list, as it was asked for."""

    region: str
    window: str = "day"
    limit: int = 24
    cursor: str | None = None

    @property
    def target(self) -> str:
        target = f"/api/trending?region={self.region}"
        if self.window != "day":
            target += f"&window={self.window}"
        if self.limit != 24:
            target += f"&limit={self.limit}"
        return target if self.cursor is None else f"{target}&cursor={self.cursor}"


@dataclass(frozen=True)
class Page:
    generation: int
    generated_at: float  # Unix seconds
    first_rank: int
    ids: tuple[str, ...]
    next: str | None
    token_minute: int


@dataclass(frozen=True)
class Response:
    """What came back. Header names are in lower case, the body is decoded."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class AnswerCheck:
    """Checks pages and problems. What does not depend on the clock is checked once per distinct body."""

    def __init__(self, contract: Contract, ring: KeyRing | None, clock: Callable[[], float]) -> None:
        self._contract = contract
        self._ring = ring
        self._clock = clock
        self._seen: dict[tuple[Asked, bytes, str], Page] = {}

    def page(self, asked: Asked, response: Response) -> Page:
        """Reads a page. Raises WrongAnswer when it is not what was asked for."""
        _require_status(response, 200)
        key = (asked, response.body, response.headers.get("unencoded-digest", ""))
        page = self._seen.get(key)
        if page is None:
            page = self._read_page(asked, response)
            if len(self._seen) >= _MOST_REMEMBERED:
                self._seen.clear()
            self._seen[key] = page
        verdict = judge_minute(page.token_minute, self._minute())
        _require(verdict is Verdict.VALID, f"token: {verdict}")
        return page

    def age_seconds(self, page: Page) -> float:
        return max(0.0, self._clock() - page.generated_at)

    def not_modified(self, etag: str, response: Response) -> None:
        _require_status(response, 304)
        _require(response.body == b"", "304 with a body")
        _require(response.headers.get("etag") == etag, "304 with another entity tag")

    def json(self, path: str, response: Response) -> Any:
        """A document other than a page, checked against the contract's schema of `path`."""
        _require_status(response, 200)
        return self._parse(path, response)

    def problem(self, kind: str, response: Response) -> None:
        """An error as RFC 9457 wants it, of the kind that was due."""
        content_type = response.headers.get("content-type", "")
        _require(content_type.startswith("application/problem+json"), "an error without a problem document")
        problem = _parse_json(response.body)
        _require(isinstance(problem, dict), "an error without a problem document")
        _require(problem.get("status") == response.status, "a problem document with another status")
        _require(problem.get("type") == f"/problems/{kind}", "a problem of another type")

    def _read_page(self, asked: Asked, response: Response) -> Page:
        _require_digest(response)
        body = self._parse("/api/trending", response)
        _require(body["region"] == asked.region, "wrong region")
        _require(body["window"] == asked.window, "wrong window")
        items = body["items"]
        _require(body["count"] == len(items) <= asked.limit, "wrong count")
        _require_order(items, total=body["total"], settled=body["channel_limit"]["within_ranks"])
        if asked.cursor is None:
            _require(not items or items[0]["rank"] == 1, "a first page that does not begin with rank 1")
        self._require_token(body)
        return _describe(body)

    def _parse(self, path: str, response: Response) -> Any:
        content_type = response.headers.get("content-type", "")
        _require(content_type.startswith("application/json"), "wrong content type")
        body = _parse_json(response.body)
        try:
            self._contract.require(path, body)
        except SchemaMismatch as error:
            raise WrongAnswer(f"schema: {error}") from error
        return body

    def _require_token(self, body: Mapping[str, Any]) -> None:
        token = read_token(body["token"])
        if token is None:
            raise WrongAnswer("token: malformed")
        _require(token.region == body["region"], "token of another region")
        _require(token.count == body["count"], "token of another count")
        if self._ring is not None:
            verdict = verify_token(body["token"], self._ring, self._minute())
            _require(verdict is Verdict.VALID, f"token: {verdict}")

    def _minute(self) -> int:
        return int(self._clock() // 60)


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise WrongAnswer(otherwise)


def _require_status(response: Response, expected: int) -> None:
    _require(response.status == expected, f"status {response.status} instead of {expected}")


def _require_order(items: list[dict[str, Any]], *, total: int, settled: int) -> None:
    """Ranks without gaps, scores falling. The channel limit holds within the first `settled` ranks and moves
    videos behind them, so that scores may rise there, and only there."""
    ranks = [item["rank"] for item in items]
    _require(ranks == list(range(ranks[0], ranks[0] + len(ranks))) if ranks else True, "ranks out of order")
    _require(not ranks or ranks[-1] <= total, "a rank behind the end of the list")
    _require(len({item["id"] for item in items}) == len(items), "a video twice on a page")
    falling = all(
        above["score"] >= below["score"] or above["rank"] == settled for above, below in pairwise(items)
    )
    _require(falling, "scores out of order")


def _require_digest(response: Response) -> None:
    """Unencoded-Digest (draft-ietf-httpbis-unencoded-digest): over the content before content coding."""
    digest = response.headers.get("unencoded-digest")
    if digest is None:
        return
    expected = base64.b64encode(hashlib.sha256(response.body).digest()).decode()
    _require(f"sha-256=:{expected}:" in digest, "wrong digest")


def _parse_json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError as error:
        raise WrongAnswer("not JSON") from error


def _describe(body: Mapping[str, Any]) -> Page:
    token = read_token(body["token"])
    assert token is not None
    return Page(
        generation=body["generation"],
        generated_at=datetime.fromisoformat(body["generated_at"]).timestamp(),
        first_rank=body["items"][0]["rank"] if body["items"] else 1,
        ids=tuple(item["id"] for item in body["items"]),
        next=body["next"],
        token_minute=token.minute,
    )
