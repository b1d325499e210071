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


@pytest.mark.parametrize("text", ["", "k1", "k1:c2hvcnQ", f"k1:{'A' * 42}+", f":{'A' * 43}"])
def test_a_bad_key_ring_is_refused_without_being_quoted(text: str) -> None:
    with pytest.raises(ValueError, match=r"^key 2 is not <key id>:<at least 32 bytes as base64url>$"):
        parse_key_ring(f"k0:{'A' * 43},{text}")
