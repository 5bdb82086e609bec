"""A stream of events, drawn by chance: what is sent to the simulated monitor."""

from __future__ import annotations

from random import Random

START = 1_700_000_000
HOUR = 3_600
TIMEOUT = 6 * HOUR


def drawn_events(chance: Random) -> list[dict]:
    """Draw predictions, their labels (early, late, again, in conflict, retracted), and outcomes.

    Args:
        chance: decides all of it.
    """
    events = []
    for number in range(chance.randrange(30, 120)):
        ts = START + chance.randrange(30 * HOUR)
        made = {
            "ts": ts,
            "prediction": chance.randrange(2),
            "segment": {"k": chance.choice("xy")},
        }
        if chance.randrange(2):
            made["score"] = chance.choice((0.0, 0.25, 1.0))
        if chance.randrange(4) == 0:
            events.append({"type": "outcome", **made, "label": chance.randrange(2)})
            continue
        events.append({"type": "prediction", "id": f"p{number}", **made})
        for _ in range(chance.choice((0, 1, 1, 1, 2, 4))):
            delay = chance.choice((-60, 0, 60, HOUR, TIMEOUT, TIMEOUT + 1, 2 * TIMEOUT))
            label = {"type": "label", "id": f"p{number}", "ts": ts + delay}
            events.append({**label, "label": chance.choice((0, 0, 1, 1, None))})
    if chance.randrange(2):
        chance.shuffle(events)
    else:
        events.sort(key=lambda event: event["ts"] + chance.randrange(-HOUR, HOUR))
    return events
