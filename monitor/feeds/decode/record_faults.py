"""The first fault of a record, found field by field.

`records` and `assemble` find fast that a record is unfit. This module then finds the
reason, for every input format.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import chain
from typing import Any

from monitor.events.columns import MAX_ID_BYTES
from monitor.events.reject_reasons import RejectReason, UnknownClass
from monitor.feeds.decode.class_faults import names_unknown_class
from monitor.feeds.decode.class_lists import ONE_LABEL, SCORES_WOULD_DO, ClassList, NamedLabels
from monitor.feeds.decode.field_columns import millisecond
from monitor.feeds.decode.groups import name_fits
from monitor.feeds.decode.named_values import is_integer, size_in_utf8
from monitor.feeds.decode.reasons import LONE_SURROGATE, Fault, Fields, bad, missing, shown
from monitor.feeds.decode.records import MAX_COUNT
from monitor.feeds.decode.settings import NAME_LIMIT, DecodeSettings
from monitor.feeds.decode.time_faults import is_number, seconds_of, time_fault
from monitor.feeds.scalars import is_nothing

UNLABELLED = "an outcome without a label waits for one, and is found by its id"
"""In the detail of an outcome with neither label nor id."""
_NO_LABEL = "leave the event out while there is no label, and give null, None, to retract one"


class RecordFaults:
    """Finds the first fault of a record, in the order of its fields.

    Args:
        settings: the accepted models.
    """

    def __init__(self, settings: DecodeSettings) -> None:
        self._settings = settings
        self._only_model, self._keys = settings.only_model, settings.segment_keys
        self._default = ClassList(settings.default.classes)
        self._classes = {name: ClassList(m.classes) for name, m in (settings.models or {}).items()}
        self._labels = NamedLabels(settings)
        self._has_many = any(c.is_many for c in (self._default, *self._classes.values()))
        self._known_models = ", ".join(map(repr, settings.models or ()))
        self._kinds: dict[str, Callable[[Fields, int | None], Fault | None]] = {
            "prediction": self._prediction,
            "label": self._label,
            "outcome": self._outcome,
            "counts": self._counts,
        }

    def first(self, fields: Fields, latest_ms: int | None) -> Fault | None:
        """Return the first fault of a record; None if it can be used.

        Args:
            fields: the record by the names of its fields.
            latest_ms: the latest accepted event time, epoch milliseconds; None for no bound.

        >>> label = {"type": "label", "id": "a", "ts": 0, "label": 7}
        >>> RecordFaults(DecodeSettings()).first(label, None).detail
        'label: must be 0, 1, true, false or null, got 7'
        """
        kind = fields.get("type")
        if kind is None:
            return missing("type")
        if not isinstance(kind, str):
            return bad("type", "must be a string", kind)
        if kind not in self._kinds:
            detail = f"type: must be one of {', '.join(self._kinds)}, got {shown(kind)}"
            return Fault(RejectReason.UNKNOWN_TYPE, detail)
        fault = self._kinds[kind](fields, latest_ms)
        if fault is None or not (self._has_many and names_unknown_class(fault, fields)):
            return fault
        model = self._only_model if kind == "label" else self._name_of_model(fields)
        seconds = seconds_of(fields["ts"])
        if not model or seconds is None or not self._classes.get(model, self._default).is_many:
            return fault
        return fault._replace(unknown_class=UnknownClass(model, millisecond(seconds)))

    def _prediction(self, fields: Fields, latest: int | None) -> Fault | None:
        return (
            _id(fields.get("id"))
            or time_fault("ts", fields.get("ts"), latest)
            or self._group(fields)
            or self._decision(fields)
        )

    def _label(self, fields: Fields, latest: int | None) -> Fault | None:
        return (
            _id(fields.get("id"))
            or time_fault("ts", fields.get("ts"), latest)
            or self._label_value(fields)
            or _sampling(fields.get("sampling_probability"))
            or _audit(fields.get("audit"))
            or _source(fields)
        )

    def _outcome(self, fields: Fields, latest: int | None) -> Fault | None:
        nameless = fields.get("id") is None
        return (
            (None if nameless else _id(fields.get("id")))
            or time_fault("ts", fields.get("ts"), latest)
            or _if_given("label_ts", fields, partial(time_fault, latest=latest))
            or self._group(fields)
            or self._decision(fields)
            or self._outcome_label(fields)
            or _sampling(fields.get("sampling_probability"))
            or _audit(fields.get("audit"), outcome=True)
            or _source(fields)
            or (_nameless(fields) if nameless else None)
        )

    def _counts(self, fields: Fields, latest: int | None) -> Fault | None:
        if fault := time_fault("ts", fields.get("ts"), latest) or self._group(fields):
            return fault
        if self._classes_of(fields).is_many:
            return bad("type", "counts are of two classes, and the model has more", "counts")
        cells, times = ("tp", "fp", "fn", "tn"), (("label_ts", None), ("watermark", latest))
        faults = chain(
            (missing(n) if fields.get(n) is None else _count(n, fields[n]) for n in cells),
            (_if_given(f"predicted_{side}", fields, _count) for side in ("positive", "negative")),
            (_if_given(n, fields, partial(time_fault, latest=at)) for n, at in times),
        )
        return (
            next(filter(None, faults), None)
            or _sampling(fields.get("sampling_probability"))
            or _if_given("late", fields, _late)
            or _batch(fields)
        )

    def _group(self, fields: Fields) -> Fault | None:
        if fault := self._model(fields.get("model")):
            return fault
        version, segment = fields.get("version"), fields.get("segment")
        if version not in (None, "") and (fault := _name("version", version)):
            return fault
        if segment is None:
            return None
        if not isinstance(segment, Mapping):
            return bad("segment", "must be an object of strings or integers", segment)
        given = ((key, segment.get(key)) for key in self._keys)
        faults = (_name(f"segment.{key}", value) for key, value in given if value is not None)
        return next(filter(None, faults), None)

    def _model(self, model: Any) -> Fault | None:
        if model is None:
            why = "it may be left out where exactly one is configured"
            return None if self._only_model else missing("model", why)
        if fault := _name("model", model):
            return fault
        if self._settings.fields_of(model) is None:
            known = self._known_models
            detail = f"model: is none of those configured ({known}), got {shown(model)}"
            return Fault(RejectReason.UNKNOWN_MODEL, detail)
        return None

    def _decision(self, fields: Fields) -> Fault | None:
        score, prediction = fields.get("score"), fields.get("prediction")
        scores, classes = fields.get("scores"), self._classes_of(fields)
        if score is not None and not (is_number(score) and 0 <= score <= 1):
            return bad("score", "must be a number from 0 to 1", score)
        if prediction is not None and classes.number(prediction) is None:
            return _no_class("prediction", prediction, classes)
        if classes.is_many and scores is not None and classes.best(scores) is None:
            return bad("scores", classes.scores_allowed, scores)
        if prediction is not None or (classes.is_many and scores is not None):
            return None
        if score is not None and self._threshold(fields) is not None:
            return None
        instead = "a score with a threshold of the model would do"
        if classes.is_many:
            instead = SCORES_WOULD_DO
        elif scores is not None:
            instead = "scores need the classes of the model, configured"
        return missing("prediction", instead)

    def _name_of_model(self, fields: Fields) -> str:
        """The model of a record, for which `_model` found no fault."""
        model: str = fields.get("model") or self._only_model or ""
        return model

    def _threshold(self, fields: Fields) -> float | None:
        found = self._settings.fields_of(self._name_of_model(fields))
        return found.threshold if found else None

    def _classes_of(self, fields: Fields) -> ClassList:
        return self._classes.get(self._name_of_model(fields), self._default)

    def _label_value(self, fields: Fields) -> Fault | None:
        if "label" not in fields:
            return missing("label")
        if self._labels.value(label := fields["label"]) is not None:
            return None
        classes = self._labels.classes
        hint = _NO_LABEL if is_nothing(label) else ""
        if not hint and (isinstance(label, bool) or len(self._settings.models or ()) == 1):
            hint = classes.line_with(label)
        return bad("label", _one_of(label, classes.allowed("null")), label, hint)

    def _outcome_label(self, fields: Fields) -> Fault | None:
        if "label" not in fields:
            return missing("label")
        label, classes = fields["label"], self._classes_of(fields)
        if label is None or classes.number(label) is not None:
            return None
        return _no_class("label", label, classes, "null")


def _if_given(name: str, fields: Fields, find: Callable[[str, Any], Fault | None]) -> Fault | None:
    return None if (value := fields.get(name)) is None else find(name, value)


def _id(value: object) -> Fault | None:
    if value is None:
        return missing("id")
    size = size_in_utf8(value) if isinstance(value, str) else None
    if not size:
        return _name("id", value)
    if size <= MAX_ID_BYTES:
        return None
    detail = f"id: must be at most {MAX_ID_BYTES} bytes of UTF-8, got {size}"
    return Fault(RejectReason.TOO_LARGE, detail)


def _nameless(fields: Fields) -> Fault | None:
    if fields.get("label") is None:
        return missing("id", UNLABELLED)
    if (fields.get("sampling_probability") or 1) < 1:
        return missing("id", "a label with a sampling_probability belongs to an id")
    return None


def _count(name: str, value: object) -> Fault | None:
    if is_integer(value) and abs(value) <= MAX_COUNT:
        return None
    return bad(name, f"must be an integer of at most {MAX_COUNT} either way", value)


def _late(name: str, value: object) -> Fault | None:
    if is_integer(value) and 0 <= value <= MAX_COUNT:
        return None
    return bad(name, f"must be an integer from 0 to {MAX_COUNT}", value)


def _batch(fields: Fields) -> Fault | None:
    pair = {name: fields.get(name) for name in ("source", "batch")}
    for name, value in pair.items():
        if value is not None:
            if fault := _name(name, value):
                return fault
        elif any(other is not None for other in pair.values()):
            return missing(name, "source and batch come together or not at all")
    return None


def _sampling(value: object) -> Fault | None:
    if value is None or (is_number(value) and 0 < value <= 1):
        return None
    return bad("sampling_probability", "must be above 0 and at most 1", value)


def _audit(value: object, *, outcome: bool = False) -> Fault | None:
    if value is None:
        return None
    if not (isinstance(value, bool | int) and value in (0, 1)):
        return bad("audit", "must be true or false", value)
    if outcome and value:
        return bad("audit", "is of a record of type label alone, with the id", True)
    return None


def _source(fields: Fields) -> Fault | None:
    value = fields.get("source")
    if value is None:
        return None
    if fault := _name("source", value):
        return fault
    if fields.get("audit"):
        return bad("source", "is not of an audit, which every source is held against", value)
    return None


def _name(name: str, value: object) -> Fault | None:
    if not isinstance(value, str) or not value:
        hint = ""
        if isinstance(value, bytes):
            hint = 'decode it, as pandas does with .str.decode("utf-8"), or write it in hexadecimal'
        elif isinstance(value, float):
            hint = "make it text or an integer, since 1.10 and 1.1 are one float"
            if value.is_integer():
                hint = 'make it text or an integer, as pandas does with .astype("Int64")'
        return bad(name, "must be a string that is not empty, or an integer", value, hint)
    if name_fits(value):
        return None
    if size_in_utf8(value) is None:
        hint = 'replace it by .encode("utf-8", "replace").decode()'
        return bad(name, LONE_SURROGATE, value, hint)
    return bad(name, f"must be {NAME_LIMIT}", value)


def _one_of(value: object, allowed: str) -> str:
    return ONE_LABEL if isinstance(value, list) else allowed


def _no_class(name: str, value: object, classes: ClassList, *others: str) -> Fault:
    return bad(name, _one_of(value, classes.allowed(*others)), value, classes.line_with(value))
