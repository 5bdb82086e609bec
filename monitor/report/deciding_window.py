"""Which window speaks for a model: one verdict of the several that its windows give."""

from __future__ import annotations

from monitor.config.quantities import parse_duration
from monitor.drift import Verdict
from monitor.snapshot import ModelState, WindowVerdict

_UNJUDGED = WindowVerdict(verdict=Verdict.INSUFFICIENT_EVIDENCE)


def verdict_on(model: ModelState, window: str) -> WindowVerdict:
    """The verdict on one window of a model."""
    return model.watched.verdicts.get(window, _UNJUDGED)


def deciding_window(model: ModelState, windows: list[str]) -> str:
    """Name of the window whose verdict is the model's own.

    The longest that gives a verdict; but labels that go astray now come before all else,
    whichever window shows it. What a longer window holds of a fault that is over does not
    speak, once a shorter one is certain that they come as in the reference.

    Args:
        model: with its verdicts.
        windows: names of all windows.
    """
    by_length = sorted(windows, key=parse_duration)
    for name in by_length:
        found = verdict_on(model, name)
        if found.label_fault:
            return name
        if found.labels_in_order:
            break
    told = [name for name in by_length if not verdict_on(model, name).label_fault] or by_length
    judged = [n for n in told if verdict_on(model, n).verdict is not Verdict.INSUFFICIENT_EVIDENCE]
    return (judged or told)[-1]
