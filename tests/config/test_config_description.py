"""Text description of a configuration, as `check-config` prints it."""

import pytest

from monitor.config import Config, Labelling, describe


def line_of(labelling: str, **settings: str) -> str:
    model = {"labelling": labelling, **settings}
    return describe(Config(models={"fraud": model})).splitlines()[-1]


def test_models_windows_feeds_and_outputs_are_named() -> None:
    config = Config(
        models={"fraud": {}, "spam": {}},
        pane="5m",
        windows=["1h", "28d"],
        feeds=[
            {"type": "file", "path": "a.ndjson", "follow": True},
            {"type": "http"},
            {"type": "kafka", "brokers": ["k:9092"], "topics": ["p", "l"]},
        ],
    )
    assert describe(config).splitlines()[:5] == [
        "Models: fraud, spam.",
        "Windows: 1h, 28d, advancing in steps of 5m.",
        "Feeds: file a.ndjson (followed), http on 127.0.0.1:9109, kafka topics p, l.",
        "Exporter: http on 127.0.0.1:9108.",
        "Rejected records: state/dead-letter.ndjson.",
    ]


def test_without_models_any_model_is_described() -> None:
    lines = describe(Config()).splitlines()
    assert lines[0] == "Models: any that events name, up to 100."
    assert lines[-1].startswith("any model: every mature prediction gets a label")


def test_every_regime_has_its_line() -> None:
    lines = {line_of(regime.value) for regime in Labelling}
    assert len(lines) == len(Labelling)


@pytest.mark.parametrize("regime", [r for r in Labelling if r is not Labelling.FLAGGED_ONLY])
def test_regimes_that_identify_everything_say_so(regime: Labelling) -> None:
    assert "balanced precision are all known" in line_of(regime.value)


def test_flagged_only_lists_what_is_not_known() -> None:
    assert line_of("flagged_only") == (
        "fraud: only predicted positives are ever labelled, so only precision is known; "
        "recall, false-positive rate, prevalence and balanced precision are not, and are not shown."
    )


def test_negatives_by_timeout_gives_the_age_from_which_metrics_are_known() -> None:
    line = line_of("negatives_by_timeout", label_timeout="90d")
    assert "a prediction without a label past 90d is negative" in line
    assert line.endswith("but only for predictions older than 90d.")


def test_windows_by_the_time_of_labels_are_named() -> None:
    assert line_of("complete", clock="label").endswith("its windows use the time of labels.")


def test_a_database_is_described_without_its_url() -> None:
    query = "SELECT * FROM labels WHERE n >= :cursor"
    feed = {"type": "sql", "name": "labels", "url": "a://b:c@d", "query": query, "cursor": "n"}
    assert describe(Config(feeds=[feed])).splitlines()[2] == (
        "Feeds: sql labels, a query every 1m."
    )


def test_the_account_of_a_store_is_not_shown() -> None:
    feed = {"type": "file", "path": "ftp://me:s3cret@host/a@b.csv"}
    assert describe(Config(feeds=[feed])).splitlines()[2] == "Feeds: file ftp://host/a@b.csv."


def test_of_two_named_classes_the_positive_one_is_named() -> None:
    config = Config(models={"mail": {"classes": ["ham", "spam"]}})
    assert describe(config).endswith("; positive is spam.")


def test_learned_classes_are_named_as_such() -> None:
    line = describe(Config(models={"mail": {"classes": "learned"}})).splitlines()[-1]
    assert line.startswith("mail: learns its classes from its predictions, each counted against")


def test_many_classes_are_counted_and_the_whole_has_no_precision() -> None:
    names = [f"c{number}" for number in range(10)]
    line = describe(Config(models={"mail": {"classes": names}})).splitlines()[-1]
    assert line.startswith("mail: 10 classes (c0, c1, c2, c3, c4, c5, c6, c7 and 2 more), each")
    assert "are all known" not in line
    assert "precision and recall of the whole model are not defined" in line
