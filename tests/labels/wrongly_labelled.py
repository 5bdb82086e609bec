"""A stream with wrong labels of known rates, its settings, and what is true of it."""

import json

import numpy as np
from scipy.special import expit
from sklearn.metrics import brier_score_loss, roc_auc_score

from monitor.config import load_config
from monitor.engine import Monitor
from monitor.exporter.api.queries import Queries
from monitor.feeds import files
from monitor.feeds.decode import Decoder, DecodeSettings

DAYS, A_DAY, DAY = 24, 500, 86_400
START = 1_699_920_000
FALSE_POSITIVE, FALSE_NEGATIVE = 0.03, 0.1
CONFIG = """
models:
  m:
    label_errors: {false_positive: 0.03, false_negative: 0.1}
    maturity: 1m
    reference: {first: 7d}
windows: [7d]
"""
RATES = "{false_positive: 0.03, false_negative: 0.1}"
RANGES = "{false_positive: [0.02, 0.04], false_negative: 0.1}"
TOO_HIGH = "{false_positive: [0.25, 0.3], false_negative: 0.1}"
WIDE = "{false_positive: [0.0, 0.3], false_negative: 0.1}"
UNKNOWN = "how often labels are wrong is not known (label_errors: audit, with too few audits"
ONE_CLASS = "once corrected for wrong labels (label_errors), cases of one class alone may be left"
CORRECTED = (
    "orrected for wrong labels (label_errors), which are taken to be as frequent at every score"
)


def recorded_in(folder):
    """Files of a stream and its settings, what was true of the two halves, and the true cases."""
    rng = np.random.default_rng(11)
    ts = START + np.sort(rng.random(DAYS * A_DAY)) * DAYS * DAY
    actual = rng.random(len(ts)) < 0.15
    score = expit(rng.normal(-2, 1, len(ts)) + 2.0 * actual)
    flipped = rng.random(len(ts)) < np.where(actual, FALSE_NEGATIVE, FALSE_POSITIVE)
    records = [
        {"type": "outcome", "ts": float(at), "label_ts": float(at), "model": "m"}
        | {"score": float(s), "prediction": int(s >= 0.5), "label": int(label)}
        for at, s, label in zip(ts, score, actual ^ flipped, strict=True)
    ]
    feed, config = folder / "events.ndjson", folder / "c.yaml"
    feed.write_text("\n".join(map(json.dumps, records)))
    config.write_text(CONFIG)
    half = START + DAYS // 2 * DAY
    sides = [(ts < half), (ts >= half)]
    true = [
        (roc_auc_score(actual[one], score[one]), brier_score_loss(actual[one], score[one]))
        for one in sides
    ]
    as_labelled = roc_auc_score((actual ^ flipped)[sides[1]], score[sides[1]])
    cases = score, actual
    ranges = "2023-11-14..2023-11-26", "2023-11-26..2023-12-08"
    return feed, config, ranges, true, as_labelled, cases


def configured(folder, setting):
    path = folder / "other.yaml"
    model = f"models: {{m: {{{setting}maturity: 1m, reference: {{first: 7d}}}}}}\nwindows: [7d]\n"
    path.write_text(model)
    return path


def fed(feed, config):
    settings = load_config(config, {})
    monitor, decoder = Monitor(settings), Decoder(DecodeSettings.from_config(settings))
    for batch in files.read([feed], decoder):
        monitor.apply(batch)
    return monitor


def live(feed, config):
    monitor = fed(feed, config)
    snapshot = monitor.snapshot()
    return Queries(lambda: snapshot, lambda read: read(monitor))
