"""Decoder of NDJSON with the standard library alone, for comparison.

Shares no code with `monitor.feeds`: exact decimals for times, one record at a time.
"""

import json
from datetime import UTC, datetime
from decimal import Decimal

import numpy as np

from monitor.errors import FeedError
from monitor.events.columns import EventBatch, Group
from monitor.events.keys import keys_of
from monitor.events.sourced_labels import SourcedLabels

THRESHOLDS = {"fraud": 0.5, "spam": None}
SEGMENTS = {"fraud": ("region", "channel"), "spam": ("channel",)}
KEYS = ("region", "channel")


def key(name):
    return int(keys_of([name])[0])


def decode(data, models=THRESHOLDS):
    """(rows, rejections) of a block: sets of tuples, and for each bad line its possible reasons."""
    rows, bad = [], {}
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip(b" \t\r\n"):
            try:
                record = json.loads(line.decode(), parse_float=Decimal, parse_constant=_Constant)
                json.dumps(record, ensure_ascii=False, default=str).encode()
            except (ValueError, RecursionError):
                bad[number] = {"malformed"}
                continue
            if not isinstance(record, dict):
                bad[number] = {"malformed"}
                continue
            record = _completed(record)
            faults = _faults(record, models)
            if faults:
                bad[number] = faults
            else:
                rows += _rows(record, models)
    return sorted(rows, key=repr), bad


def _completed(record):
    """A record with the type that its fields imply, and with names that are integers as text."""
    names = {"id", "model", "version", "source", "batch"} & record.keys()
    record = record | _digits({name: record[name] for name in names})
    if isinstance(record.get("segment"), dict):
        record["segment"] = _digits(record["segment"])
    if record.get("type") is not None:
        return record
    there = {name for name, value in record.items() if value is not None}
    decided = bool(there & {"prediction", "score"})
    labelled = "outcome" if decided else "label"
    implied = labelled if "label" in record else "prediction"
    return record | {"type": "counts" if "tp" in there else implied}


def _digits(fields):
    return {name: str(v) if type(v) is int else v for name, v in fields.items()}


class _Constant:
    """NaN and infinities, which are no JSON."""

    def __init__(self, name):
        self.name = name


_GROUP = {"ts", "model", "version", "segment"}
_DECISION = _GROUP | {"id", "prediction", "score"}
_LABEL = {"id", "ts", "label", "sampling_probability", "audit", "source"}
_CELLS = ("tp", "fp", "fn", "tn")
_COUNTS = {*_CELLS, "predicted_positive", "predicted_negative"}
_USED = {
    "prediction": _DECISION,
    "label": _LABEL,
    "outcome": _DECISION | _LABEL | {"label_ts"},
    "counts": _GROUP
    | _COUNTS
    | {"source", "batch", "label_ts", "watermark", "late", "sampling_probability"},
}
_NEEDED = {"prediction": "id ts", "label": "id ts", "outcome": "ts", "counts": "ts tp fp fn tn"}


def _faults(record, models):  # noqa: C901 - one rule a line
    kind = record.get("type")
    if not isinstance(kind, str):
        return {"missing_field" if kind is None else "bad_value"}
    if kind not in _USED:
        return {"unknown_type"}
    used = _used(record)
    faults = {"missing_field" for name in _NEEDED[kind].split() if used.get(name) is None}
    for name, value in used.items():
        if value is not None and not (value == "" and name == "version"):
            faults |= _value_faults(name, value)
    if "model" in _USED[kind]:
        model = used.get("model")
        if model is None:
            faults |= {"missing_field"} if len(models) > 1 else set()
        elif models and isinstance(model, str) and model not in models:
            faults |= {"unknown_model"}
    if "prediction" in _USED[kind] and used.get("prediction") is None:
        scored = used.get("score") is not None and _threshold(used, models) is not None
        faults |= set() if scored else {"missing_field"}
    if "label" in _USED[kind] and "label" not in used:
        faults |= {"missing_field"}
    if kind == "outcome" and used.get("id") is None:
        weight = used.get("sampling_probability")
        light = type(weight) in (int, Decimal) and weight < 1
        unmatched = used.get("label") is None or light
        faults |= {"missing_field"} if unmatched else set()
    if used.get("audit") and (kind == "outcome" or used.get("source") is not None):
        faults |= {"bad_value"}
    if kind == "counts" and (used.get("source") is None) != (used.get("batch") is None):
        faults |= {"missing_field"}
    odd = any(isinstance(value, _Constant) for value in record.values())
    return faults or ({"malformed"} if odd else set())


def _used(record):
    return {name: value for name, value in record.items() if name in _USED[record["type"]]}


def _value_faults(name, value):
    number = type(value) in (int, Decimal)
    if name == "id":
        return _text_faults(value, "too_large")
    if name in ("ts", "label_ts", "watermark"):
        return _time_faults(value)
    if name in ("model", "version", "source", "batch"):
        return _text_faults(value, "bad_value", "\0")
    if name == "segment":
        chosen = [value.get(k) for k in KEYS] if isinstance(value, dict) else [7]
        found = [_text_faults(v, "bad_value", "\0") for v in chosen if v is not None]
        return set().union(*found)
    if name in ("prediction", "label", "audit"):
        fits = type(value) in (int, bool, Decimal) and value in (0, 1)
    elif name in _COUNTS:
        fits = type(value) is int and abs(value) <= 2**31
    elif name == "late":
        fits = type(value) is int and 0 <= value <= 2**31
    elif name == "score":
        fits = number and 0 <= value <= 1
    else:
        fits = number and 0 < value <= 1
    return set() if fits else {"bad_value"}


def _text_faults(value, too_long, forbidden=None):
    if not isinstance(value, str) or not value:
        return {"bad_value"}
    if len(value.encode()) > 256:
        return {too_long}
    return {"bad_value"} if forbidden and forbidden in value else set()


def _moment(text):
    return datetime.fromisoformat(text.strip(" ").upper().replace(" UTC", "+00:00"))


def _milliseconds(value):
    if isinstance(value, str):
        found = _moment(value) - datetime(1970, 1, 1, tzinfo=UTC)
        microseconds = (found.days * 86400 + found.seconds) * 10**6 + found.microseconds
    else:
        microseconds = round(Decimal(value) * 10**6)
    return microseconds // 1000


def _time_faults(value):
    if isinstance(value, str):
        try:
            time = _milliseconds(value) if _moment(value).tzinfo else None
        except ValueError:
            time = None
    else:
        time = _milliseconds(value) if type(value) in (int, Decimal) else None
    if time is None:
        return {"bad_value"}
    if -2208988800000 <= time < 7258118400000:
        return set()
    if time > 0 and any(631152000 <= time / 1000 / f < 4102444800 for f in (1e3, 1e6, 1e9)):
        return {"timestamp_in_milliseconds"}
    return {"timestamp_out_of_range"}


def _threshold(record, models):
    model = record.get("model") or (next(iter(models)) if models else "default")
    return models.get(model) if models and isinstance(model, str) else None


def _group(record, models):
    model = record.get("model") or (next(iter(models)) if models else "default")
    segment = record.get("segment") or {}
    chosen = SEGMENTS[model] if models else ()
    values = tuple(segment.get(k) or "__missing__" for k in chosen)
    return Group(model, record.get("version") or "", values)


def _rows(record, models):
    kind, record = record["type"], _used(record)
    time, value = _milliseconds(record["ts"]), record.get("label")
    if kind == "counts":
        cells = tuple(record[name] for name in _CELLS)
        given = (record.get("predicted_positive"), record.get("predicted_negative"))
        sums = (cells[0] + cells[1], cells[2] + cells[3])
        population = tuple(s if p is None else p for p, s in zip(given, sums, strict=True))
        batched = record.get("source") is not None
        labelled, reached = record.get("label_ts"), record.get("watermark")
        weight = record.get("sampling_probability")
        more = (
            time if labelled is None else _milliseconds(labelled),
            None if weight is None else float(weight),
            record.get("source") or "",
            None if reached is None else _milliseconds(reached),
            record.get("late") or 0,
        )
        return [("counts", time, _group(record, models), cells, population, batched, *more)]
    late = record.get("label_ts")
    late = time if late is None else _milliseconds(late)
    weight = record.get("sampling_probability")
    weight = None if weight is None else float(weight)
    if kind == "label":
        found = 2 if value is None else int(value)
        found = -1 - found if record.get("audit") else found
        return [("label", key(record["id"]), time, found, weight, record.get("source") or "")]
    score = None if record.get("score") is None else float(record["score"])
    predicted = record.get("prediction")
    predicted = score >= _threshold(record, models) if predicted is None else bool(predicted)
    group = _group(record, models)
    if record.get("id") is None:
        return [("outcome", time, late, predicted, bool(value), score, group)]
    rows = [("prediction", key(record["id"]), time, predicted, score, group)]
    if value is not None:
        source = record.get("source") or ""
        rows.append(("label", key(record["id"]), late, int(value), weight, source))
    return rows


def rows_of(batch: EventBatch):
    """A batch in the oracle's form."""

    def optional(value):
        return None if np.isnan(value) else float(value)

    p, o, c = batch.predictions, batch.outcomes, batch.counts
    lab = batch.labels.widened(SourcedLabels)
    groups = batch.groups
    rows = [
        ("prediction", int(k), int(t), bool(d), optional(s), groups[g])
        for k, t, d, s, g in zip(p.key, p.time, p.predicted_positive, p.score, p.group, strict=True)
    ]
    rows += [
        ("label", int(k), int(t), int(v), optional(w), str(s))
        for k, t, v, w, s in zip(
            lab.key, lab.time, lab.value, lab.sampling_probability, lab.source, strict=True
        )
    ]
    rows += [
        ("outcome", int(t), int(u), bool(d), bool(a), optional(s), groups[g])
        for t, u, d, a, s, g in zip(
            o.time, o.label_time, o.predicted_positive, o.actual_positive, o.score, o.group,
            strict=True,
        )
    ]  # fmt: skip
    rows += [
        ("counts", int(t), groups[g], tuple(map(int, x)), tuple(map(int, y)), bool(b), int(u),
         optional(w), str(s), None if m < -(1 << 60) else int(m), int(n))
        for t, g, x, y, b, u, w, s, m, n in zip(
            c.time, c.group, c.cells, c.population, c.batch_key, c.label_time,
            c.sampling_probability, c.source, c.watermark, c.late,
            strict=True,
        )
    ]  # fmt: skip
    return sorted(rows, key=repr)


def until_error(batches):
    """All batches that came, and the error that ended them."""
    found = []
    try:
        for batch in batches:
            found.append(batch)  # noqa: PERF402 - what came before the error counts
    except FeedError as error:
        return found, error
    return found, None
