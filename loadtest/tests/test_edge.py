import gzip
from collections.abc import Callable

import brotli
import pytest

from loadtest.analytics_token import parse_key_ring
from loadtest.edge import cache_outcome, sign
from loadtest.users.base import UndecodableBody, decode


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


@pytest.mark.parametrize(
    ("encode", "coding"), [(gzip.compress, "gzip"), (brotli.compress, "br"), (bytes, "identity")]
)
def test_a_body_is_decoded_as_its_header_says(encode: Callable[[bytes], bytes], coding: str) -> None:
    assert decode(encode(b"plain"), coding) == b"plain"


@pytest.mark.parametrize("coding", ["br", "gzip", "zstd"])
def test_a_body_in_another_coding_is_refused_and_an_empty_one_stays_empty(coding: str) -> None:
    with pytest.raises(UndecodableBody):
        decode(b"plain", coding)
    assert decode(b"", coding) == b""


def test_a_request_is_signed_as_the_edge_signs_it() -> None:
    ring = parse_key_ring("e1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8")
    signature = sign("GET", "/api/trending?region=DE", ring, 1_795_171_200)
    assert signature == "v1.e1.1795171200.Gvo7kWczkp37WfyWbbCBC5HDSrHk7JiKUISYFHxoM7E"
