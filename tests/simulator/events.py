"""Streams of events, drawn by chance: what is sent to the simulated monitor."""

from __future__ import annotations

from random import Random
from typing import Any, NamedTuple

START = 1_700_000_000
HOUR = 3_600
TIMEOUT = 6 * HOUR
BINARY, MANY = "default", "mail"
"""Models: one of two classes, and one of `CLASSES`."""
CLASSES = ("a", "b", "c")
SHADOWS = ("1-shadow", "2-shadow")
_DELAYS = (-60, 0, 60, HOUR, TIMEOUT, TIMEOUT + 1, 2 * TIMEOUT)


class Kinds(NamedTuple):
    """What a stream has besides predictions of two classes, their labels, and outcomes.

    Attributes:
        audits: audits of labels.
        classes: a second model, of many classes.
        shadows: versions, two of which are shadows of those that decide.
    """

    audits: bool = False
    classes: bool = False
    shadows: bool = False

    @classmethod
    def drawn(cls, chance: Random) -> Kinds:
        """Draw them: each is there in every second stream."""
        return cls(*(chance.randrange(2) == 1 for _ in cls._fields))

    def settings(self, **terms: str) -> dict[str, Any]:
        """Return the configuration of the models.

        Args:
            terms: settings of each model, such as its maturity.
        """
        binary: dict[str, Any] = {**terms, "segments": ["k"]}
        if self.audits:
            binary["label_errors"] = "audit"
        if self.shadows:
            binary |= {"segments": ["k", "version"], "shadow_versions": ["*-shadow"]}
        if not self.classes:
            return {"defaults": binary}
        return {"models": {BINARY: binary, MANY: {**terms, "classes": CLASSES}}}


PLAIN = Kinds()
ALL = Kinds(audits=True, classes=True, shadows=True)


def is_shadow(event: dict) -> bool:
    """Whether it is a prediction of a shadow version."""
    return event.get("version") in SHADOWS


def drawn_events(chance: Random, kinds: Kinds = PLAIN) -> list[dict]:
    """Draw predictions, their labels (early, late, again, in conflict, retracted), and outcomes.

    Args:
        chance: decides all of it.
        kinds: what else there is.
    """
    events: list[dict] = []
    for number in range(chance.randrange(30, 120)):
        ts = START + chance.randrange(30 * HOUR)
        if kinds.classes and chance.randrange(3) == 0:
            events += _of_many(chance, number, ts)
        else:
            events += _of_two(chance, number, ts, kinds)
    if chance.randrange(2):
        chance.shuffle(events)
    else:
        events.sort(key=lambda event: event["ts"] + chance.randrange(-HOUR, HOUR))
    return events


def _of_two(chance: Random, number: int, ts: int, kinds: Kinds) -> list[dict]:
    made: dict[str, Any] = {
        "model": BINARY,
        "ts": ts,
        "prediction": chance.randrange(2),
        "segment": {"k": chance.choice("xy")},
    }
    if kinds.shadows:
        made["version"] = chance.choice("12")
    if chance.randrange(2):
        made["score"] = chance.choice((0.0, 0.25, 1.0))
    if chance.randrange(4) == 0:
        return [{"type": "outcome", **made, "label": chance.randrange(2)}]
    name = f"p{number}"
    found = [{"type": "prediction", "id": name, **made}]
    values = (0, 0, 1, 1, None, *(CLASSES[:1] if kinds.classes else ()))
    found += _labels(chance, name, ts, values)
    if chance.randrange(8) == 0:
        again = _anew(chance, found[0])
        if any(0 <= label["ts"] - ts - TIMEOUT <= 1 for label in found[1:]):
            again["ts"] = ts  # a label that another one replaced does not come back
        found.append(again)
    if kinds.audits and chance.randrange(2):
        audits = _labels(chance, name, ts, (0, 1, None))
        found += [audit | {"audit": True} for audit in audits]
    for version in SHADOWS if kinds.shadows else ():
        for _ in range(chance.choice((0, 1, 1, 2))):
            found.append(_anew(chance, found[0]) | {"version": version})
    return found


def _of_many(chance: Random, number: int, ts: int) -> list[dict]:
    made = {"ts": ts, "model": MANY, "prediction": chance.choice(CLASSES)}
    if chance.randrange(4) == 0:
        return [{"type": "outcome", **made, "label": chance.choice(CLASSES)}]
    name = f"m{number}"
    found = [{"type": "prediction", "id": name, **made}]
    found += _labels(chance, name, ts, (*CLASSES, *CLASSES, None, 1))
    if chance.randrange(8) == 0:
        found += [label | {"audit": True} for label in _labels(chance, name, ts, CLASSES)]
    return found


def _labels(chance: Random, name: str, ts: int, values: tuple[int | str | None, ...]) -> list[dict]:
    return [
        {
            "type": "label",
            "id": name,
            "ts": ts + chance.choice(_DELAYS),
            "label": chance.choice(values),
        }
        for _ in range(chance.choice((0, 1, 1, 1, 2, 4)))
    ]


def _anew(chance: Random, prediction: dict) -> dict:
    """Another prediction of the same id."""
    ts = prediction["ts"] + chance.choice((-60, 0, 1, 60))
    return prediction | {"ts": ts, "prediction": chance.randrange(2)}


class Stream:
    """A stream of events that is sent in portions.

    Args:
        chance: decides.
        kinds: what the stream has.
    """

    def __init__(self, chance: Random, kinds: Kinds) -> None:
        self._chance = chance
        self._left = drawn_events(chance, kinds)
        self._sent: list[dict] = []
        self._broken = 0

    def __bool__(self) -> bool:
        return bool(self._left)

    def next(self) -> list[dict]:
        """The next records, some that were sent before, and some that are none."""
        count = self._chance.randrange(1, 9)
        records, self._left = self._left[:count], self._left[count:]
        if self._sent and self._chance.randrange(3) == 0:
            records += self._chance.choices(self._sent, k=self._chance.randrange(1, 4))
        if self._chance.randrange(6) == 0:
            records.append(self._no_event())
        self._sent += [record for record in records if record["type"] in ("prediction", "label")]
        return records or [self._no_event()]

    def _no_event(self) -> dict:
        """Return a record that is rejected, and alike in no two files: those count as copies."""
        self._broken += 1
        return {"type": "broken", "number": self._broken}
