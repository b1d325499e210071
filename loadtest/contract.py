"""What contract/openapi.json says: facts that are not repeated here, and the schemas of the responses."""

import json
from pathlib import Path
from typing import Any

import jsonschema_rs

DOCUMENT: dict[str, Any] = json.loads((Path(__file__).parents[1] / "contract/openapi.json").read_text())
_PARAMETERS = {
    parameter["name"]: parameter["schema"]
    for parameter in DOCUMENT["paths"]["/api/trending"]["get"]["parameters"]
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
