# ruff: noqa: INP001  # scripts beside what they write, no package
"""Verdicts as numbers, which panels show as words in colours.

Grafana colours and sorts numbers. Each state of a model has one, in the order of urgency:
0 while it pages, then by its verdict, or by the reason why there is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import choices
import parts
from grafana_foundation_sdk.models.dashboard import ValueMap, ValueMappingResult

from monitor.drift import Verdict
from monitor.drift.recall_evidence import Because
from monitor.report.model_kinds import JudgedModel, tone_of
from monitor.report.verdict_words import WORSE_SEGMENT
from monitor.report.vocabulary import BECAUSE, VERDICTS, WINDOW_STATUSES, Tone

COLORS: Mapping[Tone, str] = {
    "good": parts.GREEN,
    "world": parts.BLUE,
    "bad": parts.RED,
    "better": "super-light-green",
    "open": parts.ORANGE,
    "unknown": "#808080",
}
_STATUS_TONES: Mapping[str, Tone] = {
    "mature": "good",
    "corrected": "world",
    "immature": "unknown",
    "untrusted": "open",
}


class _State(NamedTuple):
    """A state of a model.

    Attributes:
        place: in the order of urgency.
        words: what it is called.
        tone: class of its colour.
        series: 1 for a model in this state.
        matchers: of the series, besides model and window.
    """

    place: int
    words: str
    tone: Tone
    series: str
    matchers: tuple[str, ...] = ()


def _states() -> Iterator[_State]:
    degraded = VERDICTS[Verdict.MODEL_DEGRADED]
    open_ = Verdict.INSUFFICIENT_EVIDENCE
    pages = JudgedModel(Verdict.MODEL_DEGRADED, None, pages=True).urgency
    yield _State(pages, degraded.title, "bad", "classifier_degradation_detected")
    for verdict, words in VERDICTS.items():
        if verdict is not open_:
            yield _State(
                JudgedModel(verdict, None).urgency,
                words.title,
                tone_of(words, pages=False),
                "classifier_verdict",
                (f'verdict="{verdict}"',),
            )
    yield _State(
        JudgedModel(open_, Because.MOVED, worse_segment=True).urgency,
        WORSE_SEGMENT.title,
        tone_of(WORSE_SEGMENT, pages=False),
        "classifier_segment_worse",
    )
    for because, reason in BECAUSE.items():
        yield _State(
            JudgedModel(open_, because).urgency,
            reason.title,
            tone_of(reason, pages=False),
            "classifier_verdict_because",
            (f'because="{because}"',),
        )


STATES = sorted(_states(), key=lambda state: state.place)
"""All states; the number of each is its index."""


def state(monitors: str, window: str) -> str:
    """Return the number of the state of each model: the most urgent of several monitors.

    Args:
        monitors: matchers of series by model.
        window: matchers of series by model and window.
    """
    return _least(
        one.series + (choices.among(window, *one.matchers) if one.matchers else monitors)
        for one in STATES
    )


def reason(window: str) -> str:
    """Return the number of the reason why a verdict is open, in the order of `BECAUSE`."""
    return _first_of("classifier_verdict_because", "because", list(BECAUSE), window)


def label_status(window: str) -> str:
    """Return the number of what a window's labels are, the worst of several monitors."""
    return _first_of("classifier_window_status", "status", list(WINDOW_STATUSES)[::-1], window)


def _first_of(series: str, label: str, values: Sequence[str], window: str) -> str:
    return _least(series + choices.among(window, f'{label}="{name}"') for name in values)


def _least(ones: Iterable[str]) -> str:
    """The least place, in the list, of a series that is 1, by model."""
    numbered = (f"{number} * ({one} == 1)" for number, one in enumerate(ones))
    return "min by (model) (\n  " + "\n  or ".join(numbered) + "\n)"


def _words(rows: Sequence[tuple[str, Tone]]) -> list[ValueMap]:
    shown = {
        str(number): ValueMappingResult(text=text, color=COLORS[tone], index=number)
        for number, (text, tone) in enumerate(rows)
    }
    return [ValueMap(options=shown)]


STATE_WORDS = _words([(one.words, one.tone) for one in STATES])
REASON_WORDS = _words([(words.meaning, words.tone) for words in BECAUSE.values()])
STATUS_WORDS = _words([(name, _STATUS_TONES[name]) for name in list(WINDOW_STATUSES)[::-1]])
