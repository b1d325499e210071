"""What contract/openapi.json says, which is not repeated here; the schemas of the responses; and how often
each region and window is requested."""

import json
import os
import random
from pathlib import Path
from typing import Any

import jsonschema_rs

DOCUMENT: dict[str, Any] = json.loads((Path(__file__).parents[1] / "contract/openapi.json").read_text())


def _own_regions() -> list[str] | None:
    """The codes in the file that REGIONS_FILE names; None without it, or where it has none."""
    path = os.environ.get("REGIONS_FILE", "")
    if path == "":
        return None
    try:
        regions = json.loads(Path(path).read_text()).get("regions", [])
        return [str(region["code"]) for region in regions] or None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise SystemExit(f"Cannot read REGIONS_FILE={path}: {error!r}. See docs/regions.md.") from error


def _name_regions(schema: dict[str, Any], codes: list[str]) -> None:
    """Puts the codes in the place of the built-in ones, wherever these are listed."""
    for value in schema.values():
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, dict):
                _name_regions(one, codes)
    if schema.get("enum") == BUILT_IN_REGIONS:
        schema["enum"] = codes


BUILT_IN_REGIONS: list[str] = DOCUMENT["components"]["schemas"]["Region"]["enum"]
if (_codes := _own_regions()) is not None:
    _name_regions(DOCUMENT, _codes)

_PARAMETERS = {
    parameter["name"]: parameter["schema"]
    for named in DOCUMENT["paths"]["/api/trending"]["get"]["parameters"]
    for parameter in [DOCUMENT["components"]["parameters"].get(named.get("$ref", "").split("/")[-1], named)]
}

REGIONS: tuple[str, ...] = tuple(_PARAMETERS["region"]["enum"])  # the most requested first
WINDOWS: tuple[str, ...] = tuple(_PARAMETERS["window"]["enum"])
DEFAULT_WINDOW: str = _PARAMETERS["window"]["default"]
DEFAULT_LIMIT: int = _PARAMETERS["limit"]["default"]
LARGEST_LIMIT: int = _PARAMETERS["limit"]["maximum"]


def find_mismatch(path: str, body: Any) -> str | None:
    """Where the body of a 200 at `path` (as in the document) is not as described, without its values.
    Positions in lists become *, so that the same fault in many places is one kind of failure."""
    for error in _VALIDATORS[path].iter_errors(body):
        place = "/".join("*" if isinstance(step, int) else str(step) for step in error.instance_path)
        return f"{place or 'body'} breaks {error.schema_path[-1]}"
    return None


def _validators() -> dict[str, jsonschema_rs.Draft202012Validator]:
    validators = {}
    for path, methods in DOCUMENT["paths"].items():
        if "get" not in methods:
            continue
        content = methods["get"]["responses"]["200"].get("content", {})
        if "application/json" in content:
            schema = _without_fields(content["application/json"]["schema"])
            schema |= {"components": DOCUMENT["components"]}
            validators[path] = jsonschema_rs.Draft202012Validator(schema, validate_formats=True)
    return validators


def _without_fields(schema: dict[str, Any]) -> dict[str, Any]:
    """The shape without `fields`, which is described first: of one shape, a mismatch says where it is."""
    shapes: list[dict[str, Any]] = schema.get("anyOf", [schema])
    return dict(shapes[0])


_VALIDATORS = _validators()


VIRAL_REGION = REGIONS[:2][-1]
VIRAL_SHARE = 0.95  # of the visitors during a spike; the others keep their usual mix
_DEFAULT_WINDOW_PERCENT = 80  # of the requests; the other windows share the rest


def zipf_weights(count: int, exponent: float = 1.0) -> list[float]:
    """Zipf's law: the n-th has 1/n^exponent of the first one's weight, and they add up to 1."""
    raw = [1 / rank**exponent for rank in range(1, count + 1)]
    return [weight / sum(raw) for weight in raw]


def _window_weights() -> dict[str, float]:
    others = [window for window in WINDOWS if window != DEFAULT_WINDOW]
    shares = [(100 - _DEFAULT_WINDOW_PERCENT) * weight for weight in zipf_weights(len(others))]
    return {DEFAULT_WINDOW: _DEFAULT_WINDOW_PERCENT, **dict(zip(others, shares, strict=True))}


_REGION_WEIGHTS = zipf_weights(len(REGIONS))
WINDOW_WEIGHTS = _window_weights()  # percent


def draw_region(rng: random.Random, *, viral: bool) -> str:
    """Draws from a Zipf mix in the contract's order, or mostly `VIRAL_REGION` during a spike."""
    if viral and rng.random() < VIRAL_SHARE:
        return VIRAL_REGION
    return rng.choices(REGIONS, _REGION_WEIGHTS)[0]


def draw_window(rng: random.Random) -> str:
    return rng.choices(list(WINDOW_WEIGHTS), list(WINDOW_WEIGHTS.values()))[0]
