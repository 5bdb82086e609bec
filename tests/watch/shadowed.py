"""Streams in which a shadow version scores the ids of the version that decides."""

import random

from watch.versioned import DAY, config_of

CONFIG = """
models:
  m: {segments: [region, version], label_timeout: 3d, maturity: 1d, shadow_versions: ["*-shadow"]}
pane: 10m
windows: [1d, 7d]
"""
SHADOW = "7-shadow"
BEGAN = 2 * DAY


def shadow_config(text=CONFIG):
    return config_of(text)


def shadowed(events, seed=7, *, share=1.0, differs=0.1, late=1.0, name=SHADOW):
    """Return the events of `stream`, all of version 6, and those of a shadow beside them.

    Args:
        events: predictions and labels.
        seed: of all chance.
        share: of the ids that the shadow scores.
        differs: share of the cases that it predicts otherwise.
        late: seconds from a prediction to that of the shadow, at most, either way.
        name: of the shadow version.
    """
    rng, found = random.Random(seed), []  # made-up events
    for event in events:
        if event["type"] != "prediction":
            found.append(event)
            continue
        decided = event | {"version": "6"}
        found.append(decided)
        if event["ts"] == BEGAN or (event["ts"] > BEGAN and rng.random() < share):
            other = int(rng.random() < differs) ^ event["prediction"]
            at = round(event["ts"] + rng.uniform(-late, late), 3)
            found.append(decided | {"version": name, "prediction": other, "ts": at})
    return sorted(found, key=lambda event: event["ts"])
