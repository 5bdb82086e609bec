"""The words for every verdict, in the order of urgency; see `monitor.report.vocabulary`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from monitor.drift import Verdict
from monitor.drift.recall_evidence import Because

Tone = Literal["good", "world", "bad", "better", "open", "unknown"]
"""Class of a colour on the page."""


class VerdictWords(NamedTuple):
    """A verdict.

    Attributes:
        title: its name for people.
        tone: class of its colour on the page.
        icon: path of its sign on the page, in a box of 16 by 16.
        meaning: what it means for the person on call, in sentences.
        headline: why precision moved, in a few words; may name `{positives}` (became rarer,
            or more frequent), `{moved}` or `{slid}` (both rates) and `{open}` (what is not
            certain).
        advice: what to do first; None where that depends on the numbers alone
            (see `monitor.report.advice`).
    """

    title: str
    tone: Tone
    icon: str
    meaning: str
    headline: str
    advice: str | None


_CIRCLE = "M8 1a7 7 0 1 0 0 14A7 7 0 1 0 8 1Z"
_DIAMOND = "M8 0l8 8-8 8-8-8Z"
_TRIANGLE_DOWN = "M0 2h16L8 16Z"
_TRIANGLE_UP = "M0 14h16L8 0Z"
_HOLLOW_TRIANGLE = "M0 2h16L8 16ZM4.3 4.6L8 11.1l3.7-6.5Z"
_ARROWS_APART = "M5 2L0 8l5 6v-4h6v4l5-6-5-6v4H5Z"
_SQUARE = "M1 1h14v14H1Z"
_RING = "M8 1a7 7 0 1 0 0 14A7 7 0 1 0 8 1Zm0 3a4 4 0 1 1 0 8 4 4 0 1 1 0-8Z"

_PAGE_THE_OWNER = (
    "Page the model's owner: look at what was deployed, and at what reaches the model, "
    "between before and after."
)
_NOTE_IT = (
    "Nothing to repair; note what was changed, and configure a reference from after the change."
)

VERDICTS: Mapping[Verdict, VerdictWords] = {
    Verdict.PREVALENCE_SHIFT_AND_MODEL_DEGRADED: VerdictWords(
        title="Prevalence shifted and model degraded",
        tone="bad",
        icon=_TRIANGLE_DOWN,
        meaning="Both: positives became rarer or more frequent, and the model separates the "
        "classes worse.",
        headline="the model got worse, and {positives}.",
        advice=_PAGE_THE_OWNER,
    ),
    Verdict.MODEL_DEGRADED: VerdictWords(
        title="Model degraded",
        tone="bad",
        icon=_TRIANGLE_DOWN,
        meaning="The model separates the classes worse than before.",
        headline="the model got worse; prevalence is not shown to have changed.",
        advice=_PAGE_THE_OWNER,
    ),
    Verdict.OPERATING_POINT_MOVED: VerdictWords(
        title="Operating point moved",
        tone="open",
        icon=_ARROWS_APART,
        meaning="Recall and false positives moved together, as when a threshold is changed or "
        "scores slide. That alone is neither better nor worse.",
        headline="{moved}",
        advice=None,
    ),
    Verdict.THRESHOLD_MOVED: VerdictWords(
        title="Threshold moved",
        tone="open",
        icon=_ARROWS_APART,
        meaning="Recall and false positives moved along the ROC curve of the reference, as the "
        "scores show: the threshold was changed, or all scores slid. The model separates the "
        "classes as well as before.",
        headline="{slid}",
        advice="Do not retrain for this: set the threshold anew, or calibrate the scores.",
    ),
    Verdict.PREVALENCE_SHIFT: VerdictWords(
        title="Prevalence shifted",
        tone="world",
        icon=_DIAMOND,
        meaning="Positives became rarer or more frequent. The model separates the classes as well "
        "as before.",
        headline="{positives}. The model is not at fault.",
        advice="Do not retrain for this: retraining does not change how frequent positives are.",
    ),
    Verdict.LABELS_NOT_TRUSTWORTHY: VerdictWords(
        title="Labels not trustworthy",
        tone="open",
        icon=_SQUARE,
        meaning="The labels received are not representative of the missing ones, or their errors "
        "changed.",
        headline="the labels cannot show why, or whether the model is at fault.",
        advice=None,
    ),
    Verdict.PREVALENCE_SHIFT_AND_MODEL_IMPROVED: VerdictWords(
        title="Prevalence shifted and model improved",
        tone="better",
        icon=_TRIANGLE_UP,
        meaning="Both: positives became rarer or more frequent, and the model separates the "
        "classes better.",
        headline="the model got better, and {positives}.",
        advice=_NOTE_IT,
    ),
    Verdict.MODEL_IMPROVED: VerdictWords(
        title="Model improved",
        tone="better",
        icon=_TRIANGLE_UP,
        meaning="The model separates the classes better than before.",
        headline="the model got better; prevalence is not shown to have changed.",
        advice=_NOTE_IT,
    ),
    Verdict.INSUFFICIENT_EVIDENCE: VerdictWords(
        title="Not enough evidence",
        tone="unknown",
        icon=_RING,
        meaning="The evidence does not suffice to say why. That does not mean that all is well.",
        headline="{open}",
        advice=None,
    ),
    Verdict.NO_CHANGE: VerdictWords(
        title="No change",
        tone="good",
        icon=_CIRCLE,
        meaning="Neither prevalence nor the model changed by more than a little.",
        headline="neither prevalence nor the model changed.",
        advice=None,
    ),
}
"""By verdict; what a person must look at comes first, the order in which models are listed."""

LABEL_ERRORS_CHANGED = "Labels are wrong more, or less, often than before."
"""What `labels_not_trustworthy` means where that is the reason."""


class BecauseWords(NamedTuple):
    """Why there is no verdict.

    Attributes:
        title: its name for people, instead of the verdict's.
        tone: class of its colour on the page.
        icon: path of its sign on the page, in a box of 16 by 16.
        meaning: what it means for the person on call, in one sentence.
        headline: in a few words; may name `{open}` (what is not certain) or `{narrower}` (what
            narrows the range of label_errors).
    """

    title: str
    tone: Tone
    icon: str
    meaning: str
    headline: str


_BAR = "M0 6h16v4H0Z"
_HALF = "M8 1a7 7 0 1 0 0 14Z"
_DOTS = "M1 6h4v4H1ZM6 6h4v4H6ZM11 6h4v4h-4Z"

BECAUSE: Mapping[Because, BecauseWords] = {
    Because.MOVED: BecauseWords(
        title="Moved, not settled",
        tone="open",
        icon=_HALF,
        meaning="Precision or one of its causes certainly changed; whether the model got worse is "
        "not shown.",
        headline="{open}",
    ),
    Because.STEADY: BecauseWords(
        title="Steady",
        tone="good",
        icon=_BAR,
        meaning="Nothing points to a change, and a fall of recall by a quarter is excluded. A "
        "smaller change may hide.",
        headline="within its usual scatter, no sign of a change.",
    ),
    Because.TOO_FEW: BecauseWords(
        title="Too few outcomes",
        tone="unknown",
        icon=_DOTS,
        meaning="The outcomes so far exclude nothing that matters. That does not mean that all is "
        "well.",
        headline="too few outcomes to tell.",
    ),
    Because.LABEL_ERRORS: BecauseWords(
        title="Open by label errors",
        tone="unknown",
        icon=_DOTS,
        meaning="The range of label_errors leaves open what the outcomes would show at its middle. "
        "A narrower range, or more audits, would settle it.",
        headline="open: {narrower} would settle it.",
    ),
    Because.NO_REFERENCE: BecauseWords(
        title="No reference yet",
        tone="unknown",
        icon=_RING,
        meaning="There is nothing to compare with: the reference is not complete, the window "
        "reaches back into it, or in it the model does not tell the classes apart.",
        headline="there is no reference yet.",
    ),
}
"""By reason, what a person must look at first."""


NEVER_PREDICTED = BecauseWords(
    title="Never predicted",
    tone="unknown",
    icon=_RING,
    meaning="No prediction of the reference names this class, so that it cannot become worse.",
    headline="in the reference it is never predicted.",
)
"""Of a class of many whose cases the model always takes for others, as for `__other__`."""


WORSE_VERSION = BecauseWords(
    title="Version worse",
    tone="open",
    icon=_HALF,
    meaning="A version is worse than the one beside it over the same time. Of all versions "
    "together, no fall is certain.",
    headline="a version is worse.",
)
"""Where a version is worse, and the model has not certainly changed."""


WORSE_SEGMENT = BecauseWords(
    title="Segment worse",
    tone="open",
    icon=_HOLLOW_TRIANGLE,
    meaning="For a segment value recall certainly fell, or false positives rose. Of all cases "
    "together, no fall is certain.",
    headline="for a segment value the model got worse.",
)
"""Where a segment value is certainly worse, and the verdict on all cases does not say so."""
