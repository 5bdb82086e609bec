"""Laws of every scrape: every event is accounted for, and no counter decreases."""

from __future__ import annotations

from collections import defaultdict

import httpx
from prometheus_client.parser import text_string_to_metric_families

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


def samples_of(text: str) -> Samples:
    """Every sample of a scrape in Prometheus's text format."""
    families = list(text_string_to_metric_families(text))
    names = [family.name for family in families]
    assert len(names) == len(set(names)), "a family stands in two places"
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in families
        for sample in family.samples
    }


def total(samples: Samples, name: str, **labels: str) -> float:
    """Sum of the samples of a name that have these labels."""
    wanted = set(labels.items())
    return sum(value for (n, own), value in samples.items() if n == name and wanted <= own)


def check_laws(samples: Samples, *, outcomes_with_id: float = 0) -> None:
    """Everything that came is somewhere.

    Args:
        samples: of one scrape.
        outcomes_with_id: records that were a prediction and a label each.
    """
    kinds = {"prediction": "predictions", "label": "labels", "shadow": "shadow_predictions"}
    for event, books in kinds.items():
        received = total(samples, "precision_monitor_events_total", type=event)
        if event != "shadow":  # an outcome without an id is a prediction and its label
            received += total(samples, "precision_monitor_events_total", type="outcome")
        forgotten = total(samples, f"precision_monitor_forgotten_{books}_total")
        assert total(samples, f"precision_monitor_{books}") + forgotten == received, event
    events = total(samples, "precision_monitor_events_total")
    rejected = total(samples, "precision_monitor_events_rejected_total")
    records = total(samples, "precision_monitor_records_total")
    assert events + rejected == records + outcomes_with_id
    check_models(samples)


def check_models(samples: Samples) -> None:
    """Model by model: distinct predictions are in a state but `duplicate`, or were taken back."""
    distinct: defaultdict[str, float] = defaultdict(float)
    for (name, labels), value in samples.items():
        own = dict(labels)
        if name == "precision_monitor_predictions" and own["state"] != "duplicate":
            distinct[own["model"]] += value
        if name == "precision_monitor_taken_back_predictions":
            distinct[own["model"]] += value
        if name == "classifier_predictions_total":
            distinct[own["model"]] -= value
        assert not name.endswith("_total") or value >= 0, name
    assert set(distinct.values()) <= {0.0}


def check_no_fall(before: Samples, after: Samples) -> None:
    """No counter is lower than it was."""
    for key, value in before.items():
        if key[0].endswith(("_total", "_count", "_bucket")):
            assert after.get(key, 0.0) >= value, key


class Scraper:
    """Scrapes an exporter, and checks the laws each time.

    Args:
        url: of the exporter.
    """

    def __init__(self, url: str, **settings: float) -> None:
        self._url = f"{url}/metrics"
        self._settings = settings
        self._before: Samples = {}

    def __call__(self) -> str:
        """The text of a scrape."""
        answer = httpx.get(self._url)
        assert answer.status_code == 200
        samples = samples_of(answer.text)
        check_laws(samples, **self._settings)
        check_no_fall(self._before, samples)
        self._before = samples
        return answer.text

    def value(self, name: str, **labels: str) -> float:
        """Sum of the samples of a name that have these labels, in a new scrape."""
        self()
        return total(self._before, name, **labels)
