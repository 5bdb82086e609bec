"""The JSON Schema of the configuration file, for editors and for checks outside this program."""

from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from monitor.config.schema import Config

_VARIABLE = {"type": "string", "pattern": r"\$\{", "description": "A variable, ${NAME}."}
_KEPT = ("title", "description", "default", "examples")


class _FileSchema(GenerateJsonSchema):
    """Without a title for every key, which would only repeat it."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 pydantic calls it so
        return False


def json_schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of the configuration file, each key with its meaning.

    It accepts what `load_config` accepts, `${VAR}` included; what must fit
    together between keys is `load_config`'s affair alone.

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
    return {**_open_to_variables(schema), **head}


def _open_to_variables(schema: dict[str, Any]) -> dict[str, Any]:
    """The same schema, where a variable may stand for anything that is not free text."""
    schema = {key: _opened(key, part) for key, part in schema.items() if key != "discriminator"}
    scalar = schema.get("type") in ("number", "integer", "boolean")
    if not (scalar or "pattern" in schema or "enum" in schema):
        return schema
    kept = {key: schema[key] for key in _KEPT if key in schema}
    strict = {key: part for key, part in schema.items() if key not in _KEPT}
    return {**kept, "anyOf": [strict, _VARIABLE]}


def _opened(key: str, part: Any) -> Any:
    if key in ("properties", "$defs"):
        return {name: _open_to_variables(inner) for name, inner in part.items()}
    if key in ("anyOf", "oneOf"):
        return [_open_to_variables(inner) for inner in part]
    if key in ("items", "additionalProperties") and isinstance(part, dict):
        return _open_to_variables(part)
    return part
