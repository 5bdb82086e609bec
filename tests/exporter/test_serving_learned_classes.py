"""What a monitor serves while a model learns its classes, from none to several."""

from __future__ import annotations

import json

import httpx
import pytest
from exporter.page.pages import plain, served
from prometheus_client.parser import text_string_to_metric_families

from monitor.config import Config
from monitor.engine import Monitor
from monitor.feeds.decode import Decoder, DecodeSettings

CONFIG = Config(models={"mail": {"classes": "learned"}}, windows=["1h", "1d"])


def after(names: list[str]) -> Monitor:
    """A monitor with right predictions of these classes."""
    monitor, decoder = Monitor(CONFIG), Decoder(DecodeSettings.from_config(CONFIG))
    for number, name in enumerate(names):
        outcome = {"type": "outcome", "ts": 60 * number, "prediction": name, "label": name}
        monitor.apply(decoder.decode_lines(json.dumps(outcome).encode(), source="events"))
    return monitor


@pytest.mark.parametrize("names", [[], ["card"], ["card", "loan"], ["card", "loan", "7", "card"]])
def test_page_api_and_metrics_show_the_classes_so_far(names: list[str]) -> None:
    with served(after(names)) as url:
        page, metrics, status = (
            httpx.get(f"{url}{path}", timeout=60).text
            for path in ("/", "/metrics", "/api/v1/status")
        )
    distinct = list(dict.fromkeys(names))
    families = text_string_to_metric_families(metrics)
    samples = {family.name: family.samples for family in families}
    recalls = samples.get("classifier_recall_ratio", [])
    ever = [one for one in recalls if one.labels.get("window") == "all" and "class" in one.labels]
    assert [one.labels["class"] for one in ever] == distinct
    (model,) = json.loads(status)["models"]
    found = model["windows"]["1d"].get("classes")
    assert (found["names"] if found else []) == distinct
    for name in distinct:
        assert name in plain(page)
