"""JSON Schema of the configuration file, for editors and other validators."""

from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from monitor.config.config import Config

_VARIABLE = {"type": "string", "pattern": r"\$\{", "description": "A variable, ${NAME}."}
_ANNOTATIONS = ("title", "description", "default", "examples")


class _FileSchema(GenerateJsonSchema):
    """Omits the title of each key, which would only repeat the key."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002  # signature of pydantic
        return False


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of the configuration file.

    The schema accepts every file that `load_config` accepts, `${VAR}` included. It does
    not express constraints between keys, which `load_config` checks.

    >>> json_schema()["properties"]["pane"]["default"]
    '1m'
    """
    schema = Config.model_json_schema(schema_generator=_FileSchema)
    models = schema["properties"]["models"]
    models["additionalProperties"] = {"anyOf": [models["additionalProperties"], {"type": "null"}]}
    schema.pop("description", None)
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Configuration of precision-monitor",
    }
    return {**_with_variables(schema), **head}


def _with_variables(schema: dict[str, Any]) -> dict[str, Any]:
    """Allow a variable in place of every value that is not free text."""
    schema = {
        key: _part_with_variables(key, part)
        for key, part in schema.items()
        if key != "discriminator"
    }
    scalar = schema.get("type") in ("number", "integer", "boolean")
    if not (scalar or "pattern" in schema or "enum" in schema):
        return schema
    annotations = {key: schema[key] for key in _ANNOTATIONS if key in schema}
    strict = {key: part for key, part in schema.items() if key not in _ANNOTATIONS}
    return {**annotations, "anyOf": [strict, _VARIABLE]}


def _part_with_variables(key: str, part: Any) -> Any:
    if key in ("properties", "$defs"):
        return {name: _with_variables(inner) for name, inner in part.items()}
    if key in ("anyOf", "oneOf"):
        return [_with_variables(inner) for inner in part]
    if key in ("items", "additionalProperties") and isinstance(part, dict):
        return _with_variables(part)
    return part
