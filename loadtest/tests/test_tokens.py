import json
from pathlib import Path
from typing import Any

import pytest

from loadtest.tokens import TokenVerdict, edge_signature, import_keys, parse_key_ring, verify_token

VECTORS: dict[str, Any] = json.loads((Path(__file__).parents[2] / "contract/token-vectors.json").read_text())
KEYS = import_keys(VECTORS)


@pytest.mark.parametrize("vector", VECTORS["vectors"], ids=lambda vector: vector["name"])
def test_a_token_of_the_contract_is_judged_as_the_contract_says(vector: dict[str, Any]) -> None:
    verdict = verify_token(vector["token"], KEYS, vector.get("now", VECTORS["now"]))
    if vector["expect"] != TokenVerdict.MALFORMED:
        assert verdict == vector["expect"]
    elif not vector.get("signature"):  # a well-signed token in another form may pass: we write no such ones
        assert verdict in {TokenVerdict.MALFORMED, TokenVerdict.TAMPERED}


@pytest.mark.parametrize("text", ["", "k1", "k1:c2hvcnQ", f"k1:{'A' * 42}+", f":{'A' * 43}"])
def test_a_bad_key_ring_is_refused_without_being_quoted(text: str) -> None:
    with pytest.raises(ValueError, match=r"^key 2 is not <key id>:<at least 32 bytes as base64url>$"):
        parse_key_ring(f"k0:{'A' * 43},{text}")


def test_a_request_is_signed_as_the_edge_signs_it() -> None:
    ring = parse_key_ring("e1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8")
    signature = edge_signature(ring, 1_795_171_200 // 60)
    assert signature == "v2.e1.29919520.epX2fEhEEsOGk6z1c19uzrI6k6BpAupRLflvV7q7r4I"
