"""Pages of buckets, and the counts that they send, against the monitor of one machine."""

import itertools
from collections import Counter
from itertools import zip_longest
from operator import itemgetter

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recount import Recount
from shards import REGIMES, Shards, Stored, assert_same, config_of, lines_of, stream

from monitor.config import Config
from monitor.distributed.layout import Layout
from monitor.distributed.model_clocks import Reached
from monitor.distributed.packets import packets_of
from monitor.distributed.page_rules import PageRules
from monitor.distributed.pages import Pages
from monitor.engine import Monitor
from monitor.errors import MonitorError
from monitor.feeds.decode import Decoder, DecodeSettings

CELLS = ("tp", "fp", "fn", "tn")
FOUR = Layout(1, 4)
SECRETS = ("a secret of one job", "a secret of another")


def by_monitor(config, *batches):
    monitor = Monitor(config)
    decoder = Decoder(DecodeSettings.from_config(config))
    for events in batches:
        monitor.apply(decoder.decode_lines(lines_of(events), source="test"))
    return monitor.snapshot()


def by_shards(config, events, *, size, buckets=4):
    shards = Shards(config, buckets)
    sent = [shards.take(events[i : i + size]) for i in range(0, len(events), size)]
    return shards, sent


@pytest.mark.parametrize(("regime", "more"), REGIMES)
def test_a_monitor_fed_by_counts_shows_what_one_fed_by_the_events_does(regime, more):
    more = dict(more)
    events = stream(400, seed=3, share=more.pop("share", None))
    config = config_of(labelling=regime, **more)
    _, sent = by_shards(config, events, size=150)
    fed = by_monitor(config, *sent)
    assert_same(fed, by_monitor(config, events), delays="clock" not in more)
    assert fed.rejected == dict.fromkeys(fed.rejected, 0)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 1000), st.sampled_from([1, 7, 50]), st.sampled_from([1, 3]))
def test_no_size_of_batch_and_no_number_of_buckets_changes_the_outcomes(seed, size, buckets):
    events = stream(25, seed)
    config = config_of()
    _, sent = by_shards(config, events, size=size, buckets=buckets)
    assert cells_of(sent) == recounted(events)


def test_several_jobs_and_plain_events_add_up():
    config, events = config_of(), stream(300, seed=8)
    of = {"job-a": [], "job-b": [], "plain": []}
    for event in events:
        number = event.get("id", "p2")[1:]
        of[[*of][int(number) % 3] if number.isdecimal() else "plain"].append(event)
    batches = [of["plain"][:100]]
    for name in ("job-a", "job-b"):
        job = Shards(config, source=name)
        batches += [job.take(of[name][i : i + 90]) for i in range(0, len(of[name]), 90)]
    fed = by_monitor(config, *batches, of["plain"][100:])
    assert_same(fed, by_monitor(config, events))
    assert [source.name for source in fed.sources] == ["job-a", "job-b"]


def test_a_batch_that_is_delivered_again_replaces_itself():
    config, events = config_of(), stream(200, seed=5)
    _, sent = by_shards(config, events, size=100)
    again = [batch for pair in zip(sent, sent, strict=True) for batch in pair]
    assert_same(by_monitor(config, *again, sent[0]), by_monitor(config, *sent))


def test_late_labels_and_the_watermark_are_sent():
    config = config_of()
    shards, sent = by_shards(config, stream(100, seed=1), size=10_000)
    late = {"type": "label", "id": "p1", "ts": 90_000, "label": 1}
    (event,) = shards.take([late])
    assert (event["late"], event["tp"], event["predicted_positive"]) == (1, 0, 0)
    snapshot = by_monitor(config, *sent, [event])
    assert [(s.name, s.late) for s in snapshot.sources] == [("job", shards.books["late"])]
    assert snapshot.sources[0].watermark_ms == shards.watermark


DAYS = 86_400


def one_behind(*, in_order):
    """Records of two models, of which `b` is 20 days behind `a`; they forget after a day."""
    behind = [e for e in stream(300, seed=3) if model_of(e) == "b"]
    ahead = [later(e, 20 * DAYS) for e in stream(300, seed=4) if model_of(e) == "a"]
    if in_order:
        for events in (behind, ahead):
            events.sort(key=lambda e: (e["ts"], e["type"] == "label"))
    return [one for pair in zip_longest(ahead, behind) for one in pair if one is not None]


def in_batches(config, events, size, parts):
    """The counts that a job sends which searches for what is over between any two batches."""
    shards, sent = Shards(config), []
    for start in range(0, len(events), size):
        sent.append(shards.take(events[start : start + size], parts))
        shards.due()
    return sent


@pytest.mark.parametrize("regime", ["complete", "negatives_by_timeout"])
@pytest.mark.parametrize(("size", "parts"), [(40, 2), (150, 1), (150, 3)])
def test_a_model_that_is_days_behind_another_has_a_time_of_its_own(regime, size, parts):
    config, events = config_of(labelling=regime), one_behind(in_order=True)
    fed = by_monitor(config, *in_batches(config, events, size, parts))
    expected = by_monitor(config, events)
    assert_same(fed, expected)
    times = {one.name: one.watermark_ms for one in fed.models}
    assert times["a"] - times["b"] > 19 * DAYS * 1000
    assert times == {one.name: one.watermark_ms for one in expected.models}


@pytest.mark.parametrize(("size", "parts"), [(7, 1), (40, 2), (150, 3)])
def test_a_model_that_is_days_behind_another_loses_nothing(size, parts):
    """Labels that come before their predictions wait by the time of the model behind."""
    config, events = config_of(), one_behind(in_order=False)
    assert cells_of(in_batches(config, events, size, parts)) == recounted(events)


def cells_of(sent):
    """Outcomes by model, region and cell."""
    total = Counter()
    for event in (event for batch in sent for event in batch):
        for cell in CELLS:
            total[event["model"], event.get("segment", {}).get("region"), cell] += event[cell]
    return +total


def recounted(events):
    """As `cells_of`, by the recount; the one outcome without an id is of `stream`."""
    recount = Recount([e for e in events if e["type"] != "outcome"], 7200)
    expected = Counter({("a", None, "fp"): 1})
    for prediction, cell in recount.outcomes():
        expected[prediction["model"], prediction.get("segment", {}).get("region"), cell] += 1
    return expected


def model_of(event):
    """The model of an event of `stream`, also of a label, whose id has it."""
    number = event["id"][1:] if "id" in event else ""
    return event.get("model") or "ab"[int(number) % 2]


def later(event, seconds):
    """The event, and its id, at a later time."""
    name = {"id": f"later {event['id']}"} if "id" in event else {}
    return event | {"ts": event["ts"] + seconds} | name


def test_what_is_over_is_forgotten():
    config = config_of()
    shards, _ = by_shards(config, stream(300, seed=2), size=10_000)
    assert shards.stored > 300
    shards.take([{"type": "label", "id": "never", "ts": 0, "label": 1}])
    later = [
        {"type": "prediction", "id": f"q{i}", "ts": 200_000, "model": "a", "prediction": 1}
        for i in range(9)
    ]
    shards.take(later, parts=1)
    shards.due()
    assert shards.stored == 9
    assert shards.books["orphaned"] == 1
    assert shards.books["held"] == 0


def test_a_record_that_cannot_be_used_is_counted_under_its_reason():
    config = config_of()
    decoder = Decoder(DecodeSettings.from_config(config))
    bad = b'{"type": "label"}\n{"type":"counts","model":"a","ts":1,"tp":1,"fp":0,"fn":0,"tn":0}'
    batch = decoder.decode_lines(bad, source="file")
    ((_, data),) = packets_of(batch, config, FOUR, Reached(None, {}))
    tally = Pages(PageRules(config, FOUR), Stored(), 0).take([data], 0)
    assert tally.rejected == {"missing_field": 1, "unknown_type": 1}
    assert tally.records == 2
    assert tally.samples[0] == ("file:1", "missing_field", "id: is missing")


def state_of(config, layout=FOUR, stored=None):
    return Pages(PageRules(config, layout), Stored(), 0, stored).state()


def test_a_state_of_keys_by_another_secret_is_refused():
    configs = [Config.model_validate({"id_secret": text}) for text in (None, *SECRETS)]
    for one, another in itertools.permutations(configs, 2):
        state = state_of(one)
        assert state_of(one, stored=state) == state
        with pytest.raises(MonitorError, match="checkpoint: was begun with another id_secret"):
            state_of(another, stored=state)


def test_a_state_from_before_models_had_clocks_goes_on():
    config = config_of()
    *before, clocks = msgspec.msgpack.decode(state_of(config))
    assert clocks == {}
    assert state_of(config, stored=msgspec.msgpack.encode(before)) == state_of(config)


@pytest.mark.parametrize("other", [Layout(1, 8), Layout(2, 4)])
def test_a_state_of_another_number_of_pages_or_tasks_is_refused(other):
    with pytest.raises(MonitorError, match="--buckets 4 --partitions 1, not"):
        state_of(config_of(), other, state_of(config_of()))


def test_a_pending_prediction_takes_24_bytes():
    shards = Shards(config_of(), buckets=1, tasks=1)
    events = [
        {"type": "prediction", "id": f"p{i}", "ts": i, "model": "a", "prediction": 1}
        for i in range(2000)
    ]
    shards.take(events)
    (page,) = shards.pages[0].values()
    assert (len(page.rows), page.held) == (24 * len(events), b"")
    assert len(shards.state[0]) < 100


def labels_of(numbers):
    return [{"type": "label", "id": f"p{i}", "ts": 20_000, "label": 1} for i in numbers]


def test_a_batch_that_touches_few_ids_of_a_page_stores_these_alone():
    shards = Shards(config_of(horizon="30d"), buckets=1, tasks=1)
    events = [
        {"type": "prediction", "id": f"p{i}", "ts": i, "model": "a", "prediction": 1}
        for i in range(20_000)
    ]
    shards.take(events)
    pages = shards.pages[0]
    assert pages.writes == [0]
    for batch in range(40):
        shards.take(labels_of(range(20_000 - batch * 20 - 20, 20_000 - batch * 20)))
    assert len(pages[0].rows) == 24 * len(events)
    changes = [size for page, size in pages.written if page == ~0]
    assert changes[:3] == [20 * 24, 40 * 24, 60 * 24]
    wholes = [number for number, page in enumerate(pages.writes[1:]) if page == 0]
    # Until it is written whole, changes take its size, with 12,000 bytes a batch for the calls.
    due = next(n for n in range(40) if sum(12_000 + 480 * (i + 1) for i in range(n + 1)) >= 480_000)
    assert wholes == [due]
    assert pages.reads.count(~0) == 40 - 1 - 1  # not after it was written whole
    before = len(pages.writes)
    shards.take(labels_of(range(19_990, 20_000)))  # repeated
    assert len(pages.writes) == before


def test_a_search_for_expired_states_sees_what_has_changed_and_writes_pages_whole():
    shards = Shards(config_of(), buckets=1, tasks=1)
    first = [
        {"type": "prediction", "id": f"p{i}", "ts": i, "model": "a", "prediction": 1}
        for i in range(3000)
    ]
    shards.take(first)
    late = [{**event, "id": f"q{i}", "ts": 200_000 + i} for i, event in enumerate(first[:20])]
    shards.take(late)
    assert ~0 in shards.pages[0]
    shards.due()
    assert shards.stored == len(late)
    assert [*shards.pages[0]] == [0]


def test_a_batch_that_searches_for_expired_states_reads_each_page_once():
    one, other = (Shards(config_of(), buckets=8, tasks=1) for _ in range(2))
    events = stream(300, seed=4)
    last = {"type": "prediction", "ts": 200_000, "model": "a", "prediction": 1}
    later = [last | {"id": f"q{i}"} for i in range(9)]
    for shards in (one, other):
        shards.take(events)
        shards.take(later)
    touching = [last | {"id": "p1", "ts": 200_001}, last | {"id": "new", "ts": 200_002}]
    other.due()
    one.pages[0].reads.clear()
    sent = [shards.take(touching) for shards in (one, other)]
    read = one.pages[0].reads
    assert sorted(page for page in read if page >= 0) == [*range(8)]
    assert len(set(read)) == len(read)
    assert sent[0] == sent[1]
    assert one.books == other.books
    assert one.books["dropped"]
    assert one.tasks_due(one.watermark) == []
    for mine, theirs in zip(
        *(sorted(shards.ids(), key=itemgetter(0)) for shards in (one, other)), strict=True
    ):
        assert mine[0] == theirs[0]
        assert [part.tobytes() for part in mine[1]] == [part.tobytes() for part in theirs[1]]
