"""The schemas of the answers, from the OpenAPI document that the origin serves and commits."""

import json
from pathlib import Path
from typing import Any

import jsonschema_rs

DOCUMENT = Path(__file__).parent.parent / "contract" / "openapi.json"


class SchemaMismatch(Exception):
    """The message says where a body differs, without its values."""


class Contract:
    def __init__(self, document: dict[str, Any]) -> None:
        self._validators = {
            path: _validator(document, path)
            for path, methods in document["paths"].items()
            if "application/json" in methods["get"]["responses"]["200"].get("content", {})
        }

    @classmethod
    def read(cls, file: Path = DOCUMENT) -> "Contract":
        return cls(json.loads(file.read_text()))

    def require(self, path: str, body: Any) -> None:
        """Raises SchemaMismatch when the body of a 200 at `path` (as in the document) is not as described."""
        for error in self._validators[path].iter_errors(body):
            raise SchemaMismatch(_describe(error))


def _validator(document: dict[str, Any], path: str) -> jsonschema_rs.Draft202012Validator:
    schema = document["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    whole = {**schema, "components": document.get("components", {})}
    return jsonschema_rs.Draft202012Validator(whole, validate_formats=True)


def _describe(error: jsonschema_rs.ValidationError) -> str:
    """Positions in lists become *, so that the same fault in many places is one kind of failure."""
    place = "/".join("*" if isinstance(step, int) else str(step) for step in error.instance_path)
    return f"{place or 'body'} breaks {'/'.join(str(step) for step in error.schema_path[-1:])}"
