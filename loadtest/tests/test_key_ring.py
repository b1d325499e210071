import pytest

from loadtest.key_ring import parse_key_ring


@pytest.mark.parametrize("text", ["", "k1", "k1:c2hvcnQ", f"k1:{'A' * 42}+", f":{'A' * 43}"])
def test_a_bad_key_ring_is_refused_without_being_quoted(text: str) -> None:
    with pytest.raises(ValueError, match=r"^key 2 is not <key id>:<at least 32 bytes as base64url>$"):
        parse_key_ring(f"k0:{'A' * 43},{text}")
