import pytest

from loadtest.analytics_token import parse_key_ring
from loadtest.cache_status import outcome
from loadtest.edge_signature import sign


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("TrendVault; hit; ttl=12", "hit"),
        ("TrendVault; fwd=miss; stored", "miss"),
        ('TrendVault; fwd="stale"', "stale"),
        ("Origin; hit, Edge; fwd=uri-miss", "uri-miss"),
        ("Origin; fwd=miss, Edge; hit", "hit"),
        ("Edge", "unknown"),
    ],
)
def test_the_cache_nearest_to_the_client_counts(header: str, expected: str) -> None:
    assert outcome(header) == expected


def test_a_request_is_signed_as_the_edge_signs_it() -> None:
    ring = parse_key_ring("e1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8")
    signature = sign("GET", "/api/trending?region=DE", ring, 1_795_171_200)
    assert signature == "v1.e1.1795171200.Gvo7kWczkp37WfyWbbCBC5HDSrHk7JiKUISYFHxoM7E"
