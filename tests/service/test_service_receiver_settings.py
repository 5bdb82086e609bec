"""Settings that differ between a shard and its receiver are named, and counted in a series."""

import msgspec
import pytest
from service.forwarding import TO, Cluster, with_models
from shards import stream

from monitor.config import Config
from monitor.config.counting_settings import counting_settings
from monitor.prometheus.forward_series import FORWARD_DIFFERING
from monitor.service.forward_requests import ReceiverAnswer
from monitor.service.receiver_settings import ReceiverSettings

CAUTION = f"{TO}: CAUTION: settings differ from those of the receiver"


class Other(Cluster):
    """A receiver with other settings than its shard."""

    pane = 300_000

    @property
    def receiver_config(self):
        return super().receiver_config.model_copy(update={"pane": self.pane})


@pytest.fixture
def other(tmp_path):
    made = Other(tmp_path, shards=1)
    yield made
    made.close()


def forwarded(made):
    made.give(0, stream(20, seed=len(made.asked)))
    for _ in range(6):
        made.wait(0)
        made.deliver(0)


def cautions(made):
    return [line for line in made.shards[0].said if line.startswith(CAUTION)]


def differing(made):
    return made.shards[0].forward_readings[FORWARD_DIFFERING]()


def test_settings_that_differ_are_named_once(other):
    assert differing(other) == {}
    forwarded(other)
    forwarded(other)
    (line,) = cautions(other)
    assert line.endswith("make them equal: pane 1m here, 5m there")
    assert differing(other) == {(): 1}


def test_a_receiver_that_changes_is_compared_anew(other):
    other.pane = 60_000
    other.lose_receiver()
    forwarded(other)
    assert (cautions(other), differing(other)) == ([], {(): 0})
    other.receiver.reload(with_models(other.receiver_config, label_timeout=60_000))
    forwarded(other)
    (line,) = cautions(other)
    assert line.endswith("label_timeout 2h here, 1m there (a, b)")
    assert differing(other) == {(): 2}
    other.receiver.reload(other.receiver_config)
    forwarded(other)
    assert len(cautions(other)) == 1
    assert f"{TO}: the settings that count are those of the receiver now" in other.shards[0].said
    assert differing(other) == {(): 0}


def test_a_shard_that_changes_is_compared_anew(other):
    forwarded(other)
    other.shards[0].reload(with_models(other.shards[0].config, class_ratios=(0.5,)))
    forwarded(other)
    assert len(cautions(other)) == 1
    other.shards[0].reload(with_models(other.shards[0].config, horizon=90_000_000))
    forwarded(other)
    assert cautions(other)[-1].endswith(
        "horizon 1d1h here, 1d there (a, b); pane 1m here, 5m there"
    )


A_WEEK = {"label_timeout": "7d"}
OF_A = "horizon 30d here, 7d there (a); label_timeout 30d here, 7d there (a)"
OF_LISTS = (
    "label_sources.order [] here, [expert, rule] there (a); max_segment_values 4 here, 50 there (a)"
)
OF_MANY = (
    "horizon none here, 30d there (a, b, c, d, e and 2 more); "
    "label_timeout none here, 30d there (a, b, c, d, e and 2 more)"
)


@pytest.mark.parametrize(
    ("here", "there", "said"),
    [
        ({"models": {"a": {}}}, {"models": {"b": {"segments": ["k"]}}}, ""),
        ({}, {"models": {"a": {}}}, ""),
        ({}, {"models": {"a": A_WEEK}}, OF_A),
        ({"models": {"a": {}}}, {"defaults": A_WEEK}, OF_A),
        (
            {},
            {"defaults": {"segments": ["l", "k"]}},
            "segments [] here, [k, l] there (all models that are not configured by name)",
        ),
        (
            {"models": {"a": {"segments": ["k"], "max_segment_values": 4}}},
            {"models": {"a": {"segments": ["k"], "label_sources": {"order": ["expert", "rule"]}}}},
            OF_LISTS,
        ),
        (
            {"models": {"a": {"segments": ["l", "k"]}}},
            {"models": {"a": {"segments": ["k", "l"], "objective": {"recall": 0.5}}}},
            "",
        ),
        (
            {"models": {name: {"label_timeout": "none"} for name in "abcdefg"}},
            {"defaults": {"horizon": "30d"}},
            OF_MANY,
        ),
    ],
)
def test_models_are_compared_where_both_accept_them(here, there, said):
    lines = []
    mine, its = (counting_settings(Config(**each)) for each in (here, there))
    compared = ReceiverSettings(mine, lines.append)
    answer = ReceiverAnswer(412, "x", answer_of(its), settings=its.digest)
    if compared.is_due(answer):
        compared.compare(answer)
    assert not compared.is_due(answer)
    assert [line.partition("make them equal: ")[2] for line in lines] == ([said] if said else [])


def answer_of(settings):
    return msgspec.json.encode({"error": "another", "settings": settings.values})


@pytest.mark.parametrize(
    "body", [b"", b"[]", b'{"error": "no"}', b'{"settings": null}', b'{"settings": {"pane": 1}}']
)
def test_an_answer_without_settings_leaves_open_what_differs(body):
    lines = []
    compared = ReceiverSettings(counting_settings(Config()), lines.append)
    assert not compared.is_due(ReceiverAnswer(412, "x", body))
    compared.compare(ReceiverAnswer(412, "x", body, settings="y"))
    ((read),) = compared.readings.values()
    assert (lines, read()) == ([], {})
