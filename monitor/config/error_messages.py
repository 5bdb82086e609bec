"""Converts pydantic's validation errors into messages for people.

Each message has the line in the file, the value as written, what is wrong and what
is allowed.
"""

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, get_args, get_origin

from pydantic import SecretStr, ValidationError
from pydantic_core import ErrorDetails

from monitor.config import quantities as q
from monitor.config.config import Config
from monitor.config.feeds import FEED_TYPES
from monitor.config.fields import Section
from monitor.config.model import ModelConfig
from monitor.config.yaml_document import ConfigFault, Document, KeyPath, shown_path

_NUMBER = ("must be a number", "write it like 0.5")
_WHOLE = ("must be a whole number", "write it like 100")
_BOOL = ("must be true or false", "write true or false")
_LIST = ("must be a list", "write [A, B]")
_TEXT = ("must be a single value", "write one value")
_TYPES = f"type: {', '.join(FEED_TYPES[:-1])} or {FEED_TYPES[-1]}"
_ACCOUNT = re.compile(r"://[^\s'\"]*@")
"""User and password of a URL, one that is not encoded as well."""
_PERCENTAGE = re.compile(r"(\d+(?:\.\d+)?)\s*%")
_TAG_AFTER = {"maturity": 1, "label_errors": 2}
"""Steps from a model's key to the tag of a union in it."""
_UNION_TAGS = (*FEED_TYPES, "auto", "fixed", "listed")

_WORDS: Mapping[str, tuple[str, str]] = {
    "float_parsing": _NUMBER,
    "float_type": _NUMBER,
    "finite_number": ("must be a finite number", "write it like 0.5"),
    "int_parsing": _WHOLE,
    "int_parsing_size": ("is too large a number", "lower it"),
    "int_type": _WHOLE,
    "int_from_float": _WHOLE,
    "bool_parsing": _BOOL,
    "bool_type": _BOOL,
    "greater_than": ("must be more than {gt:g}", "raise it"),
    "greater_than_equal": ("must be at least {ge:g}", "raise it"),
    "less_than": ("must be less than {lt:g}", "lower it"),
    "less_than_equal": ("must be at most {le:g}", "lower it"),
    "enum": ("is not known", "write one of {expected}"),
    "union_tag_invalid": ("is not known", "write one of {expected_tags}"),
    "union_tag_not_found": ("has no type", f"write {_TYPES}"),
    "tuple_type": _LIST,
    "too_short": ("must not be empty", "list at least one"),
    "dict_type": ("must be a mapping", "write {entry}"),
    "mapping_type": ("must be a mapping", "write {entry}"),
    "model_type": ("must be a mapping", "give it one of the keys {keys}"),
    "model_attributes_type": ("must be a mapping", f"give it a {_TYPES}"),
    "string_type": _TEXT,
    "string_too_short": ("must not be empty", "write a name"),
    "path_type": _TEXT,
    "string_pattern_mismatch": ("must be a plain name", "write letters, digits and underscores"),
    "unfit": ("{what}", "{allowed}"),
}
"""The fault and what is allowed, by pydantic's error type."""

_ENTRIES = {
    "models": "NAME: {}",
    "fields": "{id: COLUMN}",
    "values": "{label: {positive: [VALUE]}}",
}
_ENTRY = "{NAME: VALUE}"
"""An entry of a mapping, for settings that are not in `_ENTRIES`."""


def config_faults(error: ValidationError, document: Document) -> list[ConfigFault]:
    """Convert the errors of a validation; faults that follow from others are left out.

    Args:
        error: raised by validating the document's value.
        document: the parsed file.
    """
    details = error.errors(include_url=False)
    shared = {d["loc"][1:] for d in details if d["loc"][:1] == ("defaults",)}
    faults: dict[KeyPath, ConfigFault] = {}
    for detail in details:
        loc, fault = detail["loc"], _fault(detail, document)
        if loc[0] == "models" and loc[2:] in shared and fault.path[:3] not in document.written:
            continue
        if detail["type"] == "too_short" and detail["input"]:
            continue  # pydantic counts valid elements; the invalid ones are reported
        if detail["type"] == "missing" and _mistyped(detail):
            continue  # the misspelt key is reported itself
        if not any(fault.path[:end] in document.broken for end in range(len(fault.path) + 1)):
            faults.setdefault(_culprit(detail, fault.path, document), fault)
    return list(faults.values())


def _mistyped(detail: ErrorDetails) -> bool:
    known = _section_at(detail["loc"][:-1]).model_fields
    missing = f"did you mean {detail['loc'][-1]!r}?"
    return any(key not in known and _near(key, known) == missing for key in detail["input"])


def _culprit(detail: ErrorDetails, path: KeyPath, document: Document) -> KeyPath:
    """Path that identifies a fault: its own, or that of the setting that invalidates a default."""
    instead: KeyPath = detail.get("ctx", {}).get("instead", ())
    return instead if instead and path not in document.written else (*path, detail["type"])


def _fault(detail: ErrorDetails, document: Document) -> ConfigFault:
    kind, path, context = detail["type"], _path(detail["loc"]), detail.get("ctx", {})
    if kind == "union_tag_invalid":
        path = (*path, "type")
    line = _line(path, context.get("instead", ()), document)
    if kind == "extra_forbidden":
        return ConfigFault(line, path, _unknown_key(detail["loc"]))
    if kind == "missing":
        section = _section_at(detail["loc"][:-1])
        meaning = section.model_fields[str(path[-1])].description
        text = f"key {path[-1]!r} is missing; add it: {str(meaning).rstrip('.')}"
        return ConfigFault(line, path, shown_path(path[:-1]) + text)
    what, allowed = _WORDS.get(kind, (detail["msg"].replace("{", "{{"), "see the schema"))
    if kind == "model_type":
        context = {"keys": ", ".join(_section_at(detail["loc"]).model_fields)}
    if kind in ("dict_type", "mapping_type"):
        context = {"entry": _ENTRIES.get(str(path[-1]), _ENTRY)}
    what, allowed = what.format_map(context), allowed.format_map(context)
    if kind == "float_parsing" and (share := _PERCENTAGE.fullmatch(str(detail["input"]))):
        allowed = f"write it as {float(share[1]) / 100:g}"
    if kind == "enum":
        names = context["expected"].replace(" or ", ", ").replace("'", "").split(", ")
        allowed = f"{_near(detail['input'], names)} {allowed}".lstrip()
    shown = path[:-1] if _is_hidden_key(detail) else path
    return ConfigFault(
        line, path, f"{shown_path(shown)}{what}, got {_got(path, detail, document)}; {allowed}"
    )


def _is_hidden_key(detail: ErrorDetails) -> bool:
    """Whether a key is no name, and may be a secret that was written in its place."""
    return detail["loc"][-1] == "[key]" and bool(detail.get("ctx", {}).get("hidden"))


def _got(path: KeyPath, detail: ErrorDetails, document: Document) -> str:
    if _is_hidden_key(detail):
        return "a hidden name"
    if detail["loc"][-1] == "[key]":
        return repr(path[-1])
    if detail.get("ctx", {}).get("hidden") or _secret_names() & {*detail["loc"]}:
        return "a hidden value"
    shared = _shared(path)
    if path not in document.written and shared in document.written:
        return f"{document.written[shared].shown} from defaults"
    place = document.written.get(path)
    if place is None:
        return f"{detail['input']!r} by default"
    return _ACCOUNT.sub("://", q.without_account(place.shown))


@cache
def _secret_names() -> frozenset[str | int]:
    """Names of the settings that hold a secret, in any section."""
    names, left, seen = set[str | int](), list[type[Section]]([Config]), set[type[Section]]()
    while left:
        section = left.pop()
        seen.add(section)
        for name, field in section.model_fields.items():
            names |= {name} if _holds_secret(field.annotation) else set()
            left += {*_sections(field.annotation)} - seen
    return frozenset(names)


def _holds_secret(annotation: Any) -> bool:
    return annotation is SecretStr or any(map(_holds_secret, get_args(annotation)))


def _line(path: KeyPath, instead: KeyPath, document: Document) -> int:
    """Line of a path; where the file lacks it, of the key that caused the fault or of a parent."""
    for known in (path, instead, _shared(path)):
        if known in document.written:
            return document.written[known].line
    around = [path[:end] for end in range(len(path), 0, -1) if path[:end] in document.written]
    return document.written[around[0]].line if around else 1


def _shared(path: KeyPath) -> KeyPath:
    """Path under `defaults` of a setting that a model does not set itself."""
    return ("defaults", *path[2:]) if path[0] == "models" and len(path) > 2 else path  # noqa: PLR2004  # below NAME


def _path(loc: KeyPath) -> KeyPath:
    """Path in the file of pydantic's location, which also has tags of unions and key marks."""
    steps = [step for step in loc if step != "[key]"]
    union = {"feeds": 2, "windows": 1}.get(str(loc[0])) or _tag_of_model(loc)
    if union and len(steps) > union and steps[union] in _UNION_TAGS:
        del steps[union]
    return tuple(steps)


def _tag_of_model(loc: KeyPath) -> int:
    """Position of the tag that may be in the location of a model's key; 0 where none is."""
    at = 2 if loc[0] == "models" else 1
    key = str(loc[at]) if len(loc) > at else ""
    return at + _TAG_AFTER[key] if key in _TAG_AFTER else 0


def _unknown_key(loc: KeyPath) -> str:
    key, section = str(loc[-1]), _section_at(loc[:-1])
    if key == "<<":
        allowed = "put settings that models share under 'defaults'"
        return f"unknown key '<<'; YAML merges are not supported: {allowed}"
    if key in ModelConfig.model_fields and section is Config:
        return f"unknown key {key!r}; put it under a model or under 'defaults'"
    if key in Config.model_fields and section is ModelConfig:
        return f"unknown key {key!r}; put it at the top level"
    near = _near(key, section.model_fields) or f"known keys: {', '.join(section.model_fields)}"
    return f"unknown key {key!r}; {near}"


def _near(word: Any, known: Iterable[str]) -> str:
    known = list(known)
    found = difflib.get_close_matches(str(word), known, n=1)
    found = found or [key for key in known if word and key.startswith(str(word))]
    return f"did you mean {found[0]!r}?" if found else ""


def _section_at(loc: KeyPath) -> type[Section]:
    """Section at one of pydantic's locations, union tags included."""
    section: type[Section] = Config
    steps = iter(loc)
    for step in steps:
        annotation = section.model_fields[str(step)].annotation
        inside = list(_sections(annotation))
        if get_origin(annotation) in (tuple, Mapping):
            next(steps, None)
        tag = next(steps, None) if len(inside) > 1 or step == "maturity" else None
        section = next((s for s in inside if _type_of(s) == tag), inside[0])
    return section


def _sections(annotation: Any) -> Iterator[type[Section]]:
    if isinstance(annotation, type) and issubclass(annotation, Section):
        yield annotation
    for argument in get_args(annotation):
        yield from _sections(argument)


def _type_of(section: type[Section]) -> Any:
    kind = section.model_fields.get("type")
    return get_args(kind.annotation)[0] if kind else None
