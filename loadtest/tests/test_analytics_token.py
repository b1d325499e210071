import json
from pathlib import Path
from typing import Any

import pytest

from loadtest.analytics_token import parse_key_ring, verify_token

VECTORS: dict[str, Any] = json.loads((Path(__file__).parents[2] / "contract/token-vectors.json").read_text())
RING = parse_key_ring(",".join(f"{entry['kid']}:{entry['key']}" for entry in VECTORS["keys"]))


@pytest.mark.parametrize("vector", VECTORS["vectors"], ids=lambda vector: vector["name"])
def test_a_token_of_the_contract_is_judged_as_the_contract_says(vector: dict[str, Any]) -> None:
    minute = vector.get("now_minute", VECTORS["now_minute"])
    assert verify_token(vector["token"], RING, minute) == vector["expect"]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "key 1"),
        ("k1", "base64url"),
        ("k1:c2hvcnQ", "32 bytes"),
        (f"k1:{'A' * 43},:{'A' * 43}", "key 2"),
        (f"k1:{'A' * 42}+", "base64url"),
    ],
)
def test_a_bad_key_ring_is_refused_without_being_quoted(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint) as caught:
        parse_key_ring(text)
    assert "AAAA" not in str(caught.value)
    assert "c2hvcnQ" not in str(caught.value)
