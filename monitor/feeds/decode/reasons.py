"""Why a record cannot be used, found field by field.

`records` and `assemble` find fast that a record is unfit. This module then finds the
reason, for every input format. It reports the first fault.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeGuard

from monitor.events.columns import EARLIEST_MS, LATEST_MS, MAX_ID_BYTES
from monitor.events.reject_reasons import RejectReason
from monitor.feeds.decode.class_lists import ONE_LABEL, ClassList, NamedLabels
from monitor.feeds.decode.groups import name_fits
from monitor.feeds.decode.lines import not_utf8
from monitor.feeds.decode.records import MAX_COUNT
from monitor.feeds.decode.settings import DecodeSettings, ModelFields
from monitor.feeds.decode.single_times import epoch_seconds, is_in_time, is_number
from monitor.feeds.decode.time_units import NAMES, unit_that_fits

Fields = Mapping[str, Any]
"""A record by the names of its fields."""

_MAX_SHOWN = 60


class Fault(NamedTuple):
    """Fault of a record.

    Attributes:
        reason: one of the closed set.
        detail: the field and its fault, for a person.
    """

    reason: RejectReason
    detail: str


class NotARecordError(ValueError):
    """The bytes are no JSON object; the message gives the cause."""


def parse(record: bytes) -> dict[str, Any]:
    """Parse a record as text; NaN and infinities are accepted here.

    Raises:
        NotARecordError: the bytes are no UTF-8, no JSON, no object, or hold half a
            surrogate pair.
    """
    try:
        value = json.loads(record.decode(), parse_int=_integer)
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeDecodeError as error:
        raise NotARecordError(not_utf8(error)) from error
    except UnicodeEncodeError as error:
        raise NotARecordError(
            "contains a lone surrogate, which is not a valid character"
        ) from error
    except RecursionError as error:
        raise NotARecordError("is nested too deeply") from error
    except ValueError as error:
        raise NotARecordError(f"is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise NotARecordError(f"must be a JSON object, got {_shown(value)}")
    return value


def _integer(digits: str) -> float:
    return int(digits) if len(digits) <= len(str(2**64)) else float(digits)


def fault_of(fields: Fields, settings: DecodeSettings, latest_ms: int | None) -> Fault | None:
    """Return the first fault of a record; None if it can be used.

    Args:
        fields: the record by the names of its fields.
        settings: the accepted models.
        latest_ms: the latest accepted event time, epoch milliseconds; None for no bound.

    >>> fault_of({"type": "label", "id": "a", "ts": 0, "label": 7}, DecodeSettings(), None).detail
    'label: must be 0, 1, true, false or null, got 7'
    """
    return next(_Faults(fields, settings, latest_ms).found(), None)


class _Faults:
    """All faults of a record, in the order of its fields."""

    def __init__(self, fields: Fields, settings: DecodeSettings, latest_ms: int | None) -> None:
        self._fields = fields
        self._settings = settings
        self._latest_ms = latest_ms

    def found(self) -> Iterator[Fault]:
        kinds: dict[str, Callable[[], Iterator[Fault]]] = {
            "prediction": self._prediction,
            "label": self._label,
            "outcome": self._outcome,
            "counts": self._counts,
        }
        kind = self._fields.get("type")
        if kind is None:
            yield _missing("type")
        elif not isinstance(kind, str):
            yield _bad("type", "must be a string", kind)
        elif kind not in kinds:
            detail = f"type: must be one of {', '.join(kinds)}, got {_shown(kind)}"
            yield Fault(RejectReason.UNKNOWN_TYPE, detail)
        else:
            yield from kinds[kind]()

    def _prediction(self) -> Iterator[Fault]:
        yield from self._id()
        yield from self._time("ts", self._latest_ms)
        yield from self._group()
        yield from self._decision()

    def _label(self) -> Iterator[Fault]:
        yield from self._id()
        yield from self._time("ts", self._latest_ms)
        yield from self._label_value()
        yield from self._sampling_probability()
        yield from self._audit()
        yield from self._source()

    def _outcome(self) -> Iterator[Fault]:
        if self._get("id") is not None:
            yield from self._id()
        yield from self._time("ts", self._latest_ms)
        if self._get("label_ts") is not None:
            yield from self._time("label_ts", self._latest_ms)
        yield from self._group()
        yield from self._decision()
        yield from self._label_value()
        yield from self._sampling_probability()
        yield from self._audit()
        yield from self._source()
        if self._get("audit"):
            yield _bad("audit", "is of a record of type label alone, with the id", True)
        if self._get("id") is None:
            yield from self._nameless()

    def _nameless(self) -> Iterator[Fault]:
        if self._get("label") is None:
            yield _missing("id", "an outcome without a label waits for one, and is found by its id")
        if (self._get("sampling_probability") or 1) < 1:
            yield _missing("id", "a label with a sampling_probability belongs to an id")
        if self._get("source") is not None:
            yield _missing("id", "a label with a source belongs to an id")

    def _counts(self) -> Iterator[Fault]:
        yield from self._time("ts", self._latest_ms)
        yield from self._group()
        if self._classes().is_many:
            yield _bad("type", "counts are of two classes, and the model has more", "counts")
        for name in ("tp", "fp", "fn", "tn"):
            yield from [_missing(name)] if self._get(name) is None else self._count(name)
        for name in ("predicted_positive", "predicted_negative"):
            yield from [] if self._get(name) is None else self._count(name)
        for name, latest in (("label_ts", None), ("watermark", self._latest_ms)):
            yield from [] if self._get(name) is None else self._time(name, latest)
        yield from self._sampling_probability()
        late = self._get("late")
        if late is not None and not (_is_integer(late) and 0 <= late <= MAX_COUNT):
            yield _bad("late", f"must be an integer from 0 to {MAX_COUNT}", late)
        yield from self._batch()

    def _count(self, name: str) -> Iterator[Fault]:
        value = self._get(name)
        if not _is_integer(value) or abs(value) > MAX_COUNT:
            yield _bad(name, f"must be an integer of at most {MAX_COUNT} either way", value)

    def _batch(self) -> Iterator[Fault]:
        pair = {name: self._get(name) for name in ("source", "batch")}
        for name, value in pair.items():
            if value is not None:
                yield from _name_faults(name, value)
            elif any(other is not None for other in pair.values()):
                yield _missing(name, "source and batch come together or not at all")

    def _id(self) -> Iterator[Fault]:
        value = self._get("id")
        if value is None:
            yield _missing("id")
        elif not isinstance(value, str) or not value:
            yield from _name_faults("id", value)
        elif (size := len(value.encode())) > MAX_ID_BYTES:
            detail = f"id: must be at most {MAX_ID_BYTES} bytes of UTF-8, got {size}"
            yield Fault(RejectReason.TOO_LARGE, detail)

    def _time(self, name: str, latest: int | None) -> Iterator[Fault]:
        value = self._get(name)
        if value is None:
            yield _missing(name)
            return
        seconds = epoch_seconds(value)
        if seconds is None:
            yield _bad(name, "must be epoch seconds or RFC 3339 with Z or an offset", value)
        elif not is_in_time(seconds, latest):
            yield self._out_of_range(name, seconds, value)

    def _out_of_range(self, name: str, seconds: float, value: object) -> Fault:
        if unit := unit_that_fits(seconds):
            is_unit = f"got {_shown(value)}, which is {NAMES[unit]}"
            detail = f"{name}: must be in epoch seconds, {is_unit}"
            return Fault(RejectReason.TIMESTAMP_IN_MILLISECONDS, detail)
        inside = EARLIEST_MS / 1000 <= seconds < LATEST_MS / 1000
        allowed = "is too far ahead of the clock" if inside else "must lie in 1900 to 2200"
        detail = f"{name}: {allowed}, got {_shown(value)}"
        return Fault(RejectReason.TIMESTAMP_OUT_OF_RANGE, detail)

    def _group(self) -> Iterator[Fault]:
        yield from self._model()
        version = self._get("version")
        if version not in (None, ""):
            yield from _name_faults("version", version)
        segment = self._get("segment")
        if segment is not None and not isinstance(segment, Mapping):
            yield _bad("segment", "must be an object of strings or integers", segment)
            return
        for key in self._settings.segment_keys:
            if segment is not None and segment.get(key) is not None:
                yield from _name_faults(f"segment.{key}", segment[key])

    def _model(self) -> Iterator[Fault]:
        model = self._get("model")
        if model is not None:
            yield from _name_faults("model", model)
            if self._settings.fields_of(model) is None:
                known = ", ".join(map(repr, self._settings.models or ()))
                detail = f"model: is none of those configured ({known}), got {_shown(model)}"
                yield Fault(RejectReason.UNKNOWN_MODEL, detail)
        elif self._settings.only_model is None:
            yield _missing("model", "it may be left out where exactly one is configured")

    def _decision(self) -> Iterator[Fault]:
        score, prediction = self._get("score"), self._get("prediction")
        scores, classes = self._get("scores"), self._classes()
        if score is not None and not (is_number(score) and 0 <= score <= 1):
            yield _bad("score", "must be a number from 0 to 1", score)
        if prediction is not None and classes.number(prediction) is None:
            yield _bad("prediction", _one_of(prediction, classes.allowed()), prediction)
        if classes.is_many and scores is not None and classes.best(scores) is None:
            yield _bad("scores", "must have a number for each of the model's classes", scores)
        by_score = score is not None and self._threshold() is not None
        if prediction is None and not (by_score or (classes.is_many and scores is not None)):
            instead = "scores of all classes"
            if not classes.is_many:
                instead = "a score with a threshold of the model"
            yield _missing("prediction", f"{instead} would do")

    def _threshold(self) -> float | None:
        fields = self._model_fields()
        return fields.threshold if fields else None

    def _classes(self) -> ClassList:
        fields = self._model_fields()
        return ClassList(fields.classes if fields else ())

    def _model_fields(self) -> ModelFields | None:
        model = self._settings.only_model if self._get("model") is None else self._get("model")
        return self._settings.fields_of(model) if isinstance(model, str) else None

    def _label_value(self) -> Iterator[Fault]:
        label, names = self._get("label"), NamedLabels(self._settings.class_names)
        if "label" not in self._fields:
            yield _missing("label")
        elif self._fields.get("type") == "outcome":
            if label is not None and (classes := self._classes()).number(label) is None:
                yield _bad("label", _one_of(label, classes.allowed("null")), label)
        elif names.value(label) is None:
            allowed = ClassList(names.names).allowed("null")
            yield _bad("label", _one_of(label, allowed), label)

    def _sampling_probability(self) -> Iterator[Fault]:
        value = self._get("sampling_probability")
        if value is not None and not (is_number(value) and 0 < value <= 1):
            yield _bad("sampling_probability", "must be above 0 and at most 1", value)

    def _audit(self) -> Iterator[Fault]:
        value = self._get("audit")
        if value is not None and not (isinstance(value, bool | int) and value in (0, 1)):
            yield _bad("audit", "must be true or false", value)

    def _source(self) -> Iterator[Fault]:
        value = self._get("source")
        if value is not None:
            yield from _name_faults("source", value)
            if self._get("audit"):
                yield _bad(
                    "source", "is not of an audit, which every source is held against", value
                )

    def _get(self, name: str) -> Any:
        return self._fields.get(name)


def _name_faults(name: str, value: object) -> Iterator[Fault]:
    if not isinstance(value, str) or not value:
        hint = "make it text or an integer, since 1.10 and 1.1 are one float"
        if isinstance(value, float) and value.is_integer():
            hint = 'make it text or an integer, as pandas does with .astype("Int64")'
        allowed = "must be a string that is not empty, or an integer"
        yield _bad(name, allowed, value, hint if isinstance(value, float) else "")
    elif not name_fits(value):
        yield _bad(name, "must be at most 256 bytes of UTF-8 without NUL", value)


def _is_integer(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _one_of(value: object, allowed: str) -> str:
    return ONE_LABEL if isinstance(value, list) else allowed


def _missing(name: str, hint: str = "") -> Fault:
    return Fault(RejectReason.MISSING_FIELD, f"{name}: is missing" + (f"; {hint}" if hint else ""))


def _bad(name: str, allowed: str, value: object, hint: str = "") -> Fault:
    detail = f"{name}: {allowed}, got {_shown(value)}" + (f"; {hint}" if hint else "")
    return Fault(RejectReason.BAD_VALUE, detail)


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _MAX_SHOWN else text[: _MAX_SHOWN - 1] + "…"
