import gzip
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import brotli
import gevent
import pytest

from loadtest.responses import WrongResponse, cache_outcome
from loadtest.users import LATE_SECONDS, TICK_SECONDS, LoopLag, context, decode, received


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("TrendVault; hit; ttl=12", "hit"),
        ("TrendVault; fwd=miss; stored", "miss"),
        ('TrendVault; fwd="stale"', "stale"),
        ("Origin; hit, Edge; fwd=uri-miss", "uri-miss"),
        ("Origin; fwd=miss, Edge; hit", "hit"),
        ('Edge; fwd=miss; detail="a, b; hit"', "miss"),
        ('Edge; hit; detail="a; fwd=stale"', "hit"),
        ("Edge", "unknown"),
        ('Edge; fwd=miss; detail=unclosed"', "unreadable"),
        ("", "unreadable"),
    ],
)
def test_the_cache_nearest_to_the_client_counts(header: str, expected: str) -> None:
    assert cache_outcome(header) == expected


def test_the_outcomes_of_caches_are_counted() -> None:
    context.extra.cache_outcomes.clear()
    for field in ("Edge; hit", "Edge; hit; ttl=5", "Edge; fwd=stale"):
        answer: Any = SimpleNamespace(status_code=200, headers={"cache-status": field}, content=b"")
        received(answer)
    assert context.extra.cache_outcomes == {"hit": 2, "stale": 1}


def test_the_loop_is_late_when_it_did_not_tick_in_time() -> None:
    loop_lag = LoopLag()
    assert not loop_lag.was_late_since(0)
    loop_lag.start()
    gevent.sleep(0)
    started = time.monotonic()
    time.sleep(TICK_SECONDS + 2 * LATE_SECONDS)
    assert loop_lag.was_late_since(started)  # although the loop has not noticed it yet


@pytest.mark.parametrize(
    ("encode", "coding"), [(gzip.compress, "gzip"), (brotli.compress, "br"), (bytes, "identity")]
)
def test_a_body_is_decoded_as_its_header_says(encode: Callable[[bytes], bytes], coding: str) -> None:
    assert decode(encode(b"plain"), coding) == b"plain"


@pytest.mark.parametrize("coding", ["br", "gzip", "zstd"])
def test_a_body_in_another_coding_is_refused_and_an_empty_one_stays_empty(coding: str) -> None:
    with pytest.raises(WrongResponse, match="cannot be decoded"):
        decode(b"plain", coding)
    assert decode(b"", coding) == b""
