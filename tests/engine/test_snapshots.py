"""A snapshot rests on what earlier ones found; it is as if it had been the first."""

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from same import differences, without_memory
from streams import flights, in_batches

from monitor.config import Config
from monitor.engine import Monitor
from monitor.events.columns import EventBatch
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.windows.panes import PaneRing

HOUR, DAY = 3_600, 86_400
MODELS = {
    "plain": {"segments": ["shop"], "max_segment_values": 3},
    "given": {"maturity": "1h", "reference": {"counts": {"tp": 90, "fp": 50, "fn": 10, "tn": 850}}},
    "silent": {"labelling": "negatives_by_timeout"},
    "sampled": {"labelling": "sampled"},
    "weighted": {"labelling": "weighted"},
    "by_label": {"clock": "label", "reference": {"trailing": "1d"}},
    "flagged": {"labelling": "flagged_only"},
}
CONFIG = Config(
    models={
        name: {"label_timeout": "2d", "reference": {"first": "1d"}} | m
        for name, m in MODELS.items()
    },
    windows=["1h", "1d", "3d"],
)
DECODER = Decoder(DecodeSettings.from_config(CONFIG))


def as_the_first(monitor: Monitor, now: int | None) -> None:
    """The snapshot of one that goes on from the state, and has found nothing yet."""
    fresh = Monitor(monitor.config, monitor.state())
    assert (
        list(
            differences(without_memory(monitor.snapshot(now)), without_memory(fresh.snapshot(now)))
        )
        == []
    )


def made_up(seed: int) -> list[EventBatch]:
    """Six days of seven models in batches of uneven length; some models rest for a while."""
    rng = np.random.default_rng(seed)
    events = []
    for number in range(1_500):
        model = list(MODELS)[int(rng.integers(len(MODELS)))]
        ts = float(rng.uniform(0, 6 * DAY))
        if model in ("plain", "sampled") and 3 * DAY < ts < 5 * DAY:
            continue
        flagged = bool(rng.random() < 0.3)
        event = {"type": "prediction", "id": f"p{number}", "ts": ts, "model": model}
        score = float(rng.uniform(0.5, 1) if flagged else rng.uniform(0, 0.5))
        shop = f"s{int(rng.integers(5))}"
        events.append(event | {"prediction": flagged, "score": score, "segment": {"shop": shop}})
        if rng.random() < 0.9:
            label = {"type": "label", "id": f"p{number}", "ts": ts + rng.exponential(4 * HOUR)}
            more = {"sampling_probability": 0.5} if model == "weighted" else {}
            events.append(label | {"label": bool(rng.random() < 0.6) == flagged} | more)
    events.sort(key=lambda event: event["ts"])
    cuts = np.sort(rng.integers(len(events), size=9))
    parts = [events[a:b] for a, b in zip([0, *cuts], [*cuts, len(events)], strict=True) if a < b]
    return [
        DECODER.decode_lines(b"\n".join(map(msgspec.json.encode, p)) + b"\n", source="x")
        for p in parts
    ]


@pytest.mark.slow
@settings(max_examples=3, deadline=None)
@given(
    seed=st.integers(0, 1_000),
    waits=st.lists(st.sampled_from([0, 1_000, 59_999, 60_000, 3_600_000]), max_size=2),
)
def test_whatever_has_changed_since_the_last(seed, waits):
    monitor = Monitor(CONFIG)
    for batch in made_up(seed):
        monitor.apply(batch)
        assert not batch.rejected
        as_the_first(monitor, None)
        for wait in waits:
            as_the_first(monitor, (monitor.watermark_ms or 0) + wait)


@pytest.mark.slow
def test_on_real_flights():
    config = Config(
        defaults={"segments": ["origin"], "label_timeout": "2d", "maturity": "12h"},
        windows=["1d", "7d", "28d"],
    )
    monitor = Monitor(config)
    for batch in in_batches(flights()[:60_000], 6_000, segments=("origin",)):
        monitor.apply(batch)
        as_the_first(monitor, None)
        as_the_first(monitor, monitor.watermark_ms + 3_600_000)


def counted():
    """Ninety hours of four models, and a function that counts a hundred more outcomes of one."""
    config = Config(defaults=MODELS["given"], windows=["1h", "1d", "3d"])
    monitor = Monitor(config)
    decoder = Decoder(DecodeSettings.from_config(config))

    def line(model, seconds):
        event = {"type": "counts", "model": model, "ts": seconds, "tp": 8, "fp": 2, "fn": 2}
        event |= {"tn": 88, "predicted_positive": 10, "predicted_negative": 90}
        return msgspec.json.encode(event) + b"\n"

    def tell(*lines):
        monitor.apply(decoder.decode_lines(b"".join(lines), source="x"))

    tell(*(line(model, hour * HOUR) for hour in range(90) for model in "abcd"))
    return monitor, lambda model, seconds: tell(line(model, seconds))


def test_counts_that_change_while_no_window_moves():
    monitor, tell = counted()
    monitor.snapshot()
    for hour in (70, 80, 80):
        before = [model.watched.verdicts["1d"].judgement for model in monitor.snapshot().models]
        tell("a", hour * HOUR)
        as_the_first(monitor, None)
        after = [model.watched.verdicts["1d"].judgement for model in monitor.snapshot().models]
        changed = [old != new for old, new in zip(before, after, strict=True)]
        assert changed == [True, False, False, False]


def test_what_has_not_changed_is_not_read_again(monkeypatch):
    monitor, tell = counted()
    monitor.snapshot()
    reads = []
    for name in ("sum", "table", "series"):
        whole = getattr(PaneRing, name)
        noted = lambda *given, whole=whole: (reads.append(given), whole(*given))[1]  # noqa: E731
        monkeypatch.setattr(PaneRing, name, noted)
    monitor.snapshot(monitor.watermark_ms + 1)
    assert reads == []
    tell("a", 89 * HOUR)
    reads.clear()
    monitor.snapshot(monitor.watermark_ms + 1)
    assert 0 < len(reads) < 15
    assert {row for *_, rows in reads for row in np.ravel(rows).tolist()} == {0}


def test_a_window_with_a_count_below_zero_is_named_until_its_counts_have_come():
    monitor = Monitor(Config(windows=["1h", "1d"]))
    decoder = Decoder(DecodeSettings.from_config(monitor.config))

    def below_zero(**cells):
        fields = {"type": "counts", "ts": 1_700_000_000, **dict.fromkeys(("tp", "fp", "tn"), 0)}
        line = msgspec.json.encode(fields | cells)
        monitor.apply(decoder.decode_lines(line, source="t"))
        (model,) = monitor.snapshot().models
        return model.below_zero

    assert below_zero(fn=10) == ()
    assert "all" in below_zero(fn=-11)
    assert below_zero(fn=1) == ()


@pytest.mark.parametrize("cell", ["tp", "fp", "fn", "tn"])
def test_a_weighted_correction_that_comes_first_leaves_estimates_undefined(cell):
    """Then nothing is known, until the counts that it corrects have come."""
    model = {"labelling": "weighted", "label_timeout": "2d", "maturity": "1h"}
    config = Config(models={"m": model | {"reference": {"first": "7d"}}}, windows=["1d"])
    monitor, decoder = Monitor(config), Decoder(DecodeSettings.from_config(config))

    def counted(*hours, **cells):
        """A batch of the counts of some hours."""
        rows = []
        for at in (1_000_000 + HOUR * hour for hour in hours):
            counts = {"tp": 8, "fp": 3, "fn": 2, "tn": 80} | cells
            row = {"type": "counts", "model": "m", "ts": at, "label_ts": at + 60, **counts}
            row |= {"sampling_probability": 0.5}
            rows.append(row | {"predicted_positive": 22, "predicted_negative": 164})
        lines = b"\n".join(map(msgspec.json.encode, rows))
        monitor.apply(decoder.decode_lines(lines, source="t"))

    counted(*range(24 * 10))
    for hour in range(24 * 10, 24 * 12):
        counted(hour, **{cell: -500})
    nothing = monitor.snapshot().windows[0].metrics["recall"].estimate
    assert np.isnan(nothing).all()
    for hour in range(24 * 10, 24 * 12):
        counted(hour, **{cell: 1_000})
    assert np.isfinite(monitor.snapshot().windows[0].metrics["recall"].estimate).all()
