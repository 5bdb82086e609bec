"""Of records in order, what is seen of open days is a function of their sequence as well.

Each label comes before its prediction is mature, so that all of a pane, and of a half-hour, has
come when it is looked at.
"""

import json
import random

from hypothesis import example, given, settings
from hypothesis import strategies as st
from same import differences, through_disk
from sequences import monitor_of

from monitor.config import Config

DAY, HOUR = 86_400, 3_600
REGIONS = ["eu", "us", "asia", "africa"]
START = 20_698 * DAY + 14 * HOUR
CONFIG = Config(
    models={
        "a": {"segments": ["region"], "reference": {"trailing": "1d"}},
        "b": {"segments": ["version"], "reference": {"trailing": "2d"}},
    },
    defaults={"label_timeout": "1d", "maturity": "5h", "false_pages_per_year": 300},
    pane="10m",
    windows=["1h", "1d"],
)


def lines_of(seed, *, records, days):
    """Records in order; none from ten to six every second night; regions and versions come up.

    Args:
        seed: of all that is drawn.
        records: predictions, at most.
        days: over which they come.
    """
    rng, found = random.Random(seed), []
    for number in range(records):
        share = number / records
        at = START + share * days * DAY + rng.random()
        night, since = divmod(at + 2 * HOUR, DAY)
        if night % 2 and since < 8 * HOUR:
            continue
        case, model = {"id": f"p{number}"}, rng.choice("ab")
        good = rng.random() < (0.85 if share < 0.6 else 0.5)
        actual = rng.random() < 0.4
        prediction = {
            "model": model,
            "prediction": int(actual == good),
            "score": round(rng.uniform(0.5, 1) if actual == good else rng.uniform(0, 0.49), 2),
            "version": f"v{int(share * 6)}",
        }
        if model == "a":
            prediction["segment"] = {"region": rng.choice(REGIONS[: 1 + int(4 * share)])}
        found.append((at, {"type": "prediction", "ts": at, **case, **prediction}))
        if rng.random() < 0.9:
            label_at = at + rng.choice([60, HOUR, 4 * HOUR])
            label = {"type": "label", "ts": label_at, "label": int(actual), **case}
            found.append((label_at, label))
    return [json.dumps(one).encode() for _, one in sorted(found, key=lambda both: both[0])]


@settings(max_examples=1, deadline=None)
@given(st.integers(0, 10_000), st.lists(st.integers(0, 600), max_size=30))
@example(3, [])
def test_what_is_seen_of_open_days_is_a_function_of_the_sequence_of_records(seed, cuts):
    lines = lines_of(seed, records=400, days=5)
    found, expected = (
        through_disk(monitor_of(lines, ends, CONFIG).state())["watch"]
        for ends in (cuts, range(len(lines)))
    )
    assert expected["watching"].keys() == {"0", "1"}
    assert [*differences(found, expected)][:3] == []
