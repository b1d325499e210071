from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from loadtest.analytics_token import parse_key_ring
from loadtest.answers import AnswerCheck, Asked, Response, WrongAnswer
from loadtest.contract import Contract
from loadtest.paging import require_continued
from loadtest.tests.pages import KEYS, page, problem, response, token

NOW = 1_795_171_200.0
ASKED = Asked("DE", limit=12)
Body = dict[str, Any]


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def check(clock: Clock) -> AnswerCheck:
    return AnswerCheck(Contract.read(), parse_key_ring(KEYS), clock)


def test_a_right_page_is_read(check: AnswerCheck) -> None:
    read = check.page(ASKED, response(page(ASKED, NOW)))
    assert (read.generation, read.first_rank, len(read.ids)) == (7, 1, 12)
    assert read.next == "/api/trending?region=DE&limit=12&cursor=7-12"
    assert check.age_seconds(read) == 20


def swap_ranks(body: Body) -> None:
    body["items"][3], body["items"][4] = body["items"][4], body["items"][3]


def repeat_a_video(body: Body) -> None:
    body["items"][3]["id"] = body["items"][4]["id"]


FAULTS: dict[str, tuple[Callable[[Body], object], str]] = {
    "another region": (lambda body: body.update(page(Asked("FR", limit=12), NOW)), "wrong region"),
    "another window": (lambda body: body.update(window="week"), "wrong window"),
    "swapped ranks": (swap_ranks, "ranks out of order"),
    "a gap": (lambda body: body["items"].pop(5) and body.update(count=11), "ranks out of order"),
    "a wrong count": (lambda body: body.update(count=11), "wrong count"),
    "more than asked for": (lambda body: body.update(page(Asked("DE", limit=13), NOW)), "wrong count"),
    "a later page": (lambda body: body.update(page(replace(ASKED, cursor="7-12"), NOW)), "rank 1"),
    "a rank behind the end": (lambda body: body.update(total=5), "behind the end"),
    "rising scores": (lambda body: body["items"][3].update(score=99_999), "scores out of order"),
    "a video twice": (repeat_a_video, "a video twice"),
    "a forged token": (lambda body: body.update(token=body["token"][:-2] + "zz"), "token: tampered"),
    "an unknown key": (lambda body: body.update(token=token("DE", 12, int(NOW // 60), "k9")), "unknown-key"),
    "a token of another market": (lambda body: body.update(token=token("FR", 12, 1)), "another region"),
    "a token of another count": (lambda body: body.update(token=token("DE", 24, 1)), "another count"),
    "an old token": (lambda body: body.update(token=token("DE", 12, int(NOW // 60) - 16)), "token: expired"),
    "a missing field": (lambda body: body.pop("total"), "schema: body breaks required"),
    "a field of another type": (lambda body: body["items"][0].update(title=5), "schema: items/.*/title"),
}


@pytest.mark.parametrize(("spoil", "kind"), FAULTS.values(), ids=FAULTS)
def test_a_page_is_refused_for(check: AnswerCheck, spoil: Callable[[Body], object], kind: str) -> None:
    body = page(ASKED, NOW)
    spoil(body)
    with pytest.raises(WrongAnswer, match=kind):
        check.page(ASKED, response(body))


def test_scores_may_rise_only_behind_the_ranks_of_the_channel_limit(check: AnswerCheck) -> None:
    asked = Asked("DE", limit=50)
    body = page(asked, NOW)
    for entry in body["items"][24:]:
        entry["score"] += 10_000
    check.page(asked, response(body))
    body["items"][30]["score"] += 10_000
    with pytest.raises(WrongAnswer, match="scores out of order"):
        check.page(asked, response(body))


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (response(page(ASKED, NOW), status=500), "status 500 instead of 200"),
        (response(page(ASKED, NOW), headers={"content-type": "text/html"}), "wrong content type"),
        (response(page(ASKED, NOW), headers={"unencoded-digest": "sha-256=:AAAA:"}), "wrong digest"),
        (Response(200, {"content-type": "application/json"}, b'{"region": "D'), "not JSON"),
    ],
)
def test_an_answer_is_refused_before_it_is_read(check: AnswerCheck, answer: Response, kind: str) -> None:
    with pytest.raises(WrongAnswer, match=kind):
        check.page(ASKED, answer)


def test_bytes_seen_before_are_still_judged_by_the_clock(check: AnswerCheck, clock: Clock) -> None:
    seen = response(page(ASKED, NOW))
    check.page(ASKED, seen)
    clock.now += 15 * 60
    assert check.age_seconds(check.page(ASKED, seen)) == 20 + 15 * 60
    clock.now += 60
    with pytest.raises(WrongAnswer, match="token: expired"):
        check.page(ASKED, seen)


def test_bytes_seen_for_one_market_are_wrong_for_another(check: AnswerCheck) -> None:
    seen = response(page(ASKED, NOW))
    check.page(ASKED, seen)
    with pytest.raises(WrongAnswer, match="wrong region"):
        check.page(Asked("FR", limit=12), seen)


def test_without_keys_everything_but_the_mac_is_checked(clock: Clock) -> None:
    check = AnswerCheck(Contract.read(), None, clock)
    body = page(ASKED, NOW)
    body["token"] = body["token"][:-2] + "zz"
    check.page(ASKED, response(body))
    body["token"] = token("FR", 12, int(NOW // 60))
    with pytest.raises(WrongAnswer, match="another region"):
        check.page(ASKED, response(body))


def test_304_has_no_body_and_the_same_tag(check: AnswerCheck) -> None:
    check.not_modified('"a"', Response(304, {"etag": '"a"'}, b""))
    for wrong in (Response(304, {"etag": '"b"'}, b""), Response(304, {"etag": '"a"'}, b"x")):
        with pytest.raises(WrongAnswer, match="304 with"):
            check.not_modified('"a"', wrong)


def test_a_problem_is_of_the_kind_that_was_due(check: AnswerCheck) -> None:
    content_type = {"content-type": "application/problem+json"}
    body = problem("not-found", 404)
    check.problem("not-found", response(body, 404, content_type))
    with pytest.raises(WrongAnswer, match="another type"):
        check.problem("invalid-parameter", response(body, 404, content_type))
    with pytest.raises(WrongAnswer, match="another status"):
        check.problem("not-found", response(body, 400, content_type))
    with pytest.raises(WrongAnswer, match="without a problem document"):
        check.problem("not-found", response(body, 404))


def test_pages_of_one_list_go_on_in_one_generation_without_repeating(check: AnswerCheck) -> None:
    first = check.page(ASKED, response(page(ASKED, NOW)))
    following = replace(ASKED, cursor="7-12")
    second = check.page(following, response(page(following, NOW)))
    require_continued(first, second, set(first.ids))
    with pytest.raises(WrongAnswer, match="another generation"):
        require_continued(first, replace(second, generation=8), set(first.ids))
    with pytest.raises(WrongAnswer, match="does not go on"):
        require_continued(first, replace(second, first_rank=14), set(first.ids))
    with pytest.raises(WrongAnswer, match="on two pages"):
        require_continued(first, second, {second.ids[-1]})
