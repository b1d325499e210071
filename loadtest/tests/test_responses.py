import os
import random
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from loadtest.responses import PageRequest, Response, ResponseCheck, WrongResponse, require_continued
from loadtest.tests.pages import PUBLIC_KEYS, page, response, token
from loadtest.tokens import import_keys

NOW = 1_795_171_200.0
REQUEST = PageRequest("DE", limit=12)
Body = dict[str, Any]


@pytest.fixture
def clock() -> SimpleNamespace:
    return SimpleNamespace(now=NOW)


@pytest.fixture
def check(clock: SimpleNamespace) -> ResponseCheck:
    return ResponseCheck(lambda: float(clock.now), import_keys(PUBLIC_KEYS))


def test_a_right_page_is_read(check: ResponseCheck) -> None:
    read = check.page(REQUEST, response(page(REQUEST, NOW)))
    assert (read.generation, len(read.ids)) == (7, 12)
    assert read.next == "/api/trending?region=DE&limit=12&cursor=7-12"
    assert check.age_seconds(read) == 20


def test_a_page_of_videos_that_nobody_has_counted_yet_is_right(check: ResponseCheck) -> None:
    body = page(REQUEST, NOW)
    for item in body["items"]:
        item["velocity"] = {"views_per_hour": 0, "previous_views_per_hour": None, "views": 0}
    body["newest_observed_at"] = None
    assert len(check.page(REQUEST, response(body)).ids) == 12


FAULTS: dict[str, tuple[Callable[[Body], object], str]] = {
    "another region": (lambda body: body.update(page(PageRequest("FR", limit=12), NOW)), "wrong region"),
    "another window": (lambda body: body.update(window="week"), "wrong window"),
    "swapped ranks": (lambda body: body["items"].insert(3, body["items"].pop(4)), "ranks out of order"),
    "a wrong count": (lambda body: body.update(count=11), "wrong count"),
    "more than asked for": (lambda body: body.update(page(PageRequest("DE", limit=13), NOW)), "wrong count"),
    "a later page": (
        lambda body: body.update(page(REQUEST._replace(cursor="7-12"), NOW)),
        "outside the page",
    ),
    "a rank behind the end": (lambda body: body.update(total=5), "behind the end"),
    "no next page": (lambda body: body.update(next=None), "does not go on"),
    "a next page too far": (lambda body: body.update(next=body["next"][:-2] + "24"), "does not go on"),
    "a next page of another length": (
        lambda body: body.update(next=REQUEST._replace(limit=24, cursor="7-12").target),
        "does not go on",
    ),
    "scores that rise twice": (
        lambda body: [body["items"][place].update(score=99_999) for place in (3, 7)],
        "scores out of order",
    ),
    "a video twice": (lambda body: body["items"][3].update(id="DE-5"), "a video twice"),
    "a forged token": (lambda body: body.update(token=body["token"][:-4] + "zzzw"), "token: tampered"),
    "an unknown key": (lambda body: body.update(token=token("DE/day//7/0+12", NOW, "k9")), "unknown-key"),
    "a token of another region": (
        lambda body: body.update(token=token("FR/day//7/0+12", NOW)),
        "another list",
    ),
    "a token of another count": (
        lambda body: body.update(token=token("DE/day//7/0+24", NOW)),
        "another count",
    ),
    "a token of another page": (
        lambda body: body.update(token=token("DE/day//7/12+12", NOW)),
        "another page",
    ),
    "an old token": (lambda body: body.update(token=token("DE/day//7/0+12", NOW - 961)), "token: expired"),
    "a missing field": (lambda body: body.pop("total"), "schema: body breaks required"),
    "a time that is none": (lambda body: body.update(generated_at="soon"), "generated_at breaks"),
    "a field of another type": (lambda body: body["items"][0].update(title=5), "schema: items/.*/title"),
}


@pytest.mark.parametrize(("spoil", "kind"), FAULTS.values(), ids=FAULTS)
def test_a_page_is_refused_for(check: ResponseCheck, spoil: Callable[[Body], object], kind: str) -> None:
    body = page(REQUEST, NOW)
    spoil(body)
    with pytest.raises(WrongResponse, match=kind):
        check.page(REQUEST, response(body))


def test_scores_may_rise_once_within_or_behind_the_ranks_of_the_channel_limit(check: ResponseCheck) -> None:
    request = PageRequest("DE", limit=50)
    body = page(request, NOW)
    for entry in body["items"][24:]:
        entry["score"] += 10_000
    check.page(request, response(body))
    for entry in body["items"][9:24]:
        entry["score"] += 10_000
    check.page(request, response(body))
    body["items"][30]["score"] += 10_000
    with pytest.raises(WrongResponse, match="scores out of order"):
        check.page(request, response(body))


@pytest.mark.parametrize("cursor", [None, "7-12", "7-48"])
def test_the_ranks_of_removed_videos_stay_empty(check: ResponseCheck, cursor: str | None) -> None:
    seed = int(os.environ.get("TEST_SEED") or time.time_ns() % 2**32)
    rng = random.Random(seed)
    request = REQUEST._replace(cursor=cursor)
    for _ in range(100):
        body = page(request, NOW)
        items = [item for item in body["items"] if rng.random() < 0.7]
        body.update(items=items, count=len(items))
        assert check.page(request, response(body)).ids == tuple(item["id"] for item in items), (
            f"TEST_SEED={seed}"
        )
        if items:
            rng.choice(items)["rank"] += rng.choice([-60, -12, 12, 60])
            with pytest.raises(WrongResponse, match="rank"):
                check.page(request, response(body))


def test_scores_may_rise_behind_an_empty_rank_of_the_channel_limit(check: ResponseCheck) -> None:
    request = PageRequest("DE", limit=50)
    body = page(request, NOW)
    for entry in body["items"][24:]:
        entry["score"] += 10_000
    del body["items"][23]
    body.update(count=49)
    check.page(request, response(body))


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (response(page(REQUEST, NOW), status=500), "status 500 instead of 200"),
        (response(page(REQUEST, NOW), headers={"content-type": "text/html"}), "wrong content type"),
        (response(page(REQUEST, NOW), headers={"unencoded-digest": "sha-256=:AAAA:"}), "wrong digest"),
        (response(page(REQUEST, NOW), headers={"unencoded-digest": "sha-256=:AA"}), "unreadable digest"),
        (
            response(page(REQUEST, NOW), headers={"content-location": "/api/trending?region=DE"}),
            "the answer to another request",
        ),
        (Response(200, {"content-type": "application/json"}, b'{"region": "D'), "not JSON"),
    ],
)
def test_an_answer_is_refused_before_it_is_read(check: ResponseCheck, answer: Response, kind: str) -> None:
    with pytest.raises(WrongResponse, match=kind):
        check.page(REQUEST, answer)


def test_bytes_seen_before_are_still_judged_by_the_clock(
    check: ResponseCheck, clock: SimpleNamespace
) -> None:
    seen = response(page(REQUEST, NOW))
    check.page(REQUEST, seen)
    clock.now += 15 * 60
    assert check.age_seconds(check.page(REQUEST, seen)) == 20 + 15 * 60
    clock.now += 60
    with pytest.raises(WrongResponse, match="token: expired"):
        check.page(REQUEST, seen)


def test_bytes_seen_for_one_region_are_wrong_for_another(check: ResponseCheck) -> None:
    seen = response(page(REQUEST, NOW))
    check.page(REQUEST, seen)
    with pytest.raises(WrongResponse, match="wrong region"):
        check.page(PageRequest("FR", limit=12), seen)


def test_without_keys_everything_but_the_signature_is_checked() -> None:
    check = ResponseCheck(lambda: NOW)
    body = page(REQUEST, NOW)
    body["token"] = body["token"][:-4] + "zzzw"
    check.page(REQUEST, response(body))
    body["token"] = token("FR/day//7/0+12", NOW)
    with pytest.raises(WrongResponse, match="another list"):
        check.page(REQUEST, response(body))


def test_304_has_no_body_and_the_same_tag(check: ResponseCheck) -> None:
    check.not_modified('"a"', Response(304, {"etag": '"a"'}, b""))
    for wrong in (Response(304, {"etag": '"b"'}, b""), Response(304, {"etag": '"a"'}, b"x")):
        with pytest.raises(WrongResponse, match="304 with"):
            check.not_modified('"a"', wrong)


def test_a_problem_is_of_the_kind_that_is_due(check: ResponseCheck) -> None:
    content_type = {"content-type": "application/problem+json"}
    body = {"type": "/problems/not-found", "title": "Not found", "status": 404}
    check.problem(404, "not-found", response(body, 404, content_type))
    for status, kind, answer, message in [
        (404, "invalid-parameter", response(body, 404, content_type), "another type"),
        (400, "not-found", response(body, 400, content_type), "another status"),
        (400, "not-found", response(body, 404, content_type), "status 404 instead of 400"),
        (404, "not-found", response(body, 404), "no problem document"),
        (404, "not-found", response([], 404, content_type), "no problem document"),
    ]:
        with pytest.raises(WrongResponse, match=message):
            check.problem(status, kind, answer)


def test_pages_of_one_list_go_on_in_one_generation_without_repeating(check: ResponseCheck) -> None:
    first = check.page(REQUEST, response(page(REQUEST, NOW)))
    following = REQUEST._replace(cursor="7-12")
    second = check.page(following, response(page(following, NOW)))
    require_continued(first, second, set(first.ids))
    for wrong, message in [
        (second._replace(generation=8), "another generation"),
        (second._replace(ids=first.ids), "on two pages"),
    ]:
        with pytest.raises(WrongResponse, match=message):
            require_continued(first, wrong, set(first.ids))
