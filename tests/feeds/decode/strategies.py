"""Streams of records, most of them good, some of them with one thing wrong."""

import json
from datetime import UTC, datetime, timedelta, timezone

from hypothesis import strategies as st

_SECONDS = st.integers(1_300_000_000, 1_800_000_000)
_ZONES = st.integers(-14 * 60, 14 * 60).map(lambda m: timezone(timedelta(minutes=m)))


def _rfc3339(seconds, micro, zone):
    return (
        (datetime.fromtimestamp(seconds, UTC) + timedelta(microseconds=micro))
        .astimezone(zone)
        .isoformat()
    )


def _iso8601(minute, zone, form, offset):
    """A form without seconds, without punctuation, by the week, or with another offset."""
    moment = datetime.fromtimestamp(60 * minute, UTC).astimezone(zone)
    ahead = moment.strftime("%z")
    offsets = {"+HHMM": ahead, "+HH:MM": f"{ahead[:3]}:{ahead[3:]}", "+HH": ahead[:3], "Z": "Z"}
    if (offset == "+HH" and ahead[3:] != "00") or (offset == "Z" and ahead != "+0000"):
        offset = "+HHMM"
    return moment.strftime(form) + offsets[offset]


_FORMS = st.sampled_from(
    ["%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M:%S", "%Y%m%dT%H%M%S", "%Y%m%dT%H%M", "%G-W%V-%uT%H:%M"]
)
_HOURS = st.integers(-2, 2).map(lambda h: timezone(timedelta(hours=h)))
_OFFSETS = st.sampled_from(["+HHMM", "+HH:MM", "+HH", "Z"])
times = st.one_of(
    _SECONDS,
    st.builds(lambda s, ms: round(s + ms / 1000, 3), _SECONDS, st.integers(0, 999)),
    st.builds(lambda s, us: round(s + us / 1e6, 6), _SECONDS, st.integers(0, 999_999)),
    st.builds(_rfc3339, _SECONDS, st.integers(0, 999_999), _ZONES),
    st.builds(
        _iso8601,
        st.integers(22_000_000, 30_000_000),
        _HOURS | _ZONES,
        _FORMS,
        _OFFSETS,
    ),
)
ids = st.one_of(st.integers(0, 9).map(str), st.text(min_size=1, max_size=8))
classes = st.sampled_from([0, 1, True, False, 0.0, 1.0])
scores = st.one_of(st.sampled_from([0, 1, 0.5, 0.25]), st.floats(0, 1, allow_subnormal=False))
names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)
groups = {
    "model": st.sampled_from(["fraud", "spam"]),
}
optional_groups = {
    "version": st.sampled_from(["1", "2", 2, "", None]),
    "segment": st.fixed_dictionaries(
        {},
        optional={
            "region": st.one_of(st.sampled_from(["eu", "us", 7]), names, st.none()),
            "channel": st.sampled_from(["web", "app"]),
            "other": st.sampled_from([1, None, ["x"]]),
        },
    ),
    "extra": st.sampled_from([None, 1, {"a": [1, {"b": "ü"}]}]),
}
_weights = {"sampling_probability": st.sampled_from([1, 0.5, 0.01, None])}
_audits = {"audit": st.sampled_from([True, False, 1, 0, None])}
_sources = {"source": st.sampled_from(["ann", "rules", 7, "ü" * 100, None])}
_counts = st.integers(-(2**31), 2**31)

predictions = st.fixed_dictionaries(
    {"type": st.just("prediction"), "id": ids, "ts": times, "prediction": classes, **groups},
    optional={"score": scores, **optional_groups},
)
scored = st.fixed_dictionaries(
    {
        "type": st.just("prediction"),
        "id": ids,
        "ts": times,
        "score": scores,
        "model": st.just("fraud"),
    },
    optional=optional_groups,
)
labels = st.fixed_dictionaries(
    {
        "type": st.just("label"),
        "id": ids,
        "ts": times,
        "label": st.one_of(classes, st.none()),
    },
    optional={**_weights, **_audits},
)
sourced = st.builds(
    lambda record, source: record | source,
    labels,
    st.fixed_dictionaries({"audit": st.none()}, optional=_sources),
)
outcomes = st.fixed_dictionaries(
    {
        "type": st.just("outcome"),
        "id": ids,
        "ts": times,
        "prediction": classes,
        "label": st.one_of(classes, st.none()),
        **groups,
    },
    optional={"score": scores, "label_ts": times, **optional_groups, **_weights, **_sources},
)
nameless = st.fixed_dictionaries(
    {"type": st.just("outcome"), "ts": times, "prediction": classes, "label": classes, **groups},
    optional={"score": scores, "label_ts": times, **optional_groups},
)
counts = st.fixed_dictionaries(
    {
        "type": st.just("counts"),
        "ts": times,
        **dict.fromkeys(("tp", "fp", "fn", "tn"), _counts),
        **groups,
    },
    optional={
        "predicted_positive": _counts,
        "predicted_negative": _counts,
        "label_ts": times,
        "watermark": times,
        "late": st.integers(0, 2**31),
        **_weights,
        **optional_groups,
    },
)
good = st.one_of(predictions, scored, labels, sourced, outcomes, nameless, counts)

_ODD = st.sampled_from(
    [
        None, True, 0, 1, 2, -1, 0.5, 1.0, -0.0, 1e300, 10**30, "x", "", "a\0b", [], {}, [1], "1",
        "a" * 257, "ü" * 129, float("nan"), float("inf"), {"region": 7}, {"region": ""},
        1_600_000_000_000, 1_600_000_000_000_000, 1_600_000_000_000_000_000, 9e9, -3e9, 2**31 + 1,
        "2020-01-01T00:00:00", "2020-01-01T00:00:00Z", "2020-02-30T00:00:00Z",
        "0001-01-01T00:00:00Z", "2020-01-01T00:00", "2020-01-01", "2020-01-01T25:00Z",
        "0001-01-01T00:00+02", "13/07/2026 10:00", "2020-01-01T00:00:+02", " 2020-01-01T00:00Z ",
        "2020-01-01T00:00:00 UTC",
    ]
)  # fmt: skip
_FIELDS = st.sampled_from(
    [
        *("type", "id", "ts", "prediction", "score", "model", "version", "segment", "label"),
        *("label_ts", "sampling_probability", "tp", "fn", "predicted_positive"),
        *("source", "batch", "extra", "watermark", "late", "audit"),
    ]
)


def _with(record, name, value):
    return {**record, name: value}


def _without(record, name):
    return {k: v for k, v in record.items() if k != name}


records = st.one_of(
    good, good, st.builds(_with, good, _FIELDS, _ODD), st.builds(_without, good, _FIELDS)
)


@st.composite
def lines(draw):
    """One line: mostly a record in some spelling of JSON, at times none at all."""
    record = draw(records)
    ascii_only = draw(st.booleans())
    line = json.dumps(record, ensure_ascii=ascii_only).encode(errors="surrogatepass")
    spoil = draw(st.integers(0, 30))
    if spoil == 0:
        return line[: draw(st.integers(0, len(line)))]
    if spoil == 1:
        return draw(st.sampled_from([b"", b"  ", b"[]", b"7", b"null", b'"x"', b"\xff", b"\0"]))
    if spoil == 2:
        return line + line
    if spoil == 3:
        return b" " + line + b"\t"
    if spoil == 4:
        return line + b"\r"
    return line


streams = st.lists(lines(), max_size=30).map(b"\n".join)
