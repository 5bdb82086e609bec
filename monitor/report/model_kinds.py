"""What models are counted, coloured and listed as: a verdict, a part that is worse, a reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass

from monitor.drift import Verdict
from monitor.drift.recall_evidence import Because
from monitor.drift.verdict import DEGRADED
from monitor.report.verdict_words import (
    BECAUSE,
    VERDICTS,
    WORSE_SEGMENT,
    WORSE_VERSION,
    BecauseWords,
    Tone,
    VerdictWords,
)

VERSION_WORSE = "version_worse"
"""What a model counts as with a version that is worse, instead of a verdict that hides it."""
SEGMENT_WORSE = "segment_worse"
"""What a model counts as with a segment value that is worse; this comes before such a version."""
KINDS: Mapping[str, VerdictWords | BecauseWords] = {
    **{str(k): row for k, row in VERDICTS.items() if k is not Verdict.INSUFFICIENT_EVIDENCE},
    SEGMENT_WORSE: WORSE_SEGMENT,
    VERSION_WORSE: WORSE_VERSION,
    **{str(k): row for k, row in BECAUSE.items()},
}
"""What models are counted as: each verdict, a worse part of one, each reason why there is none."""


@dataclass(frozen=True, slots=True)
class JudgedModel:
    """The verdict on a model, with what a list of models shows before it.

    Attributes:
        verdict: what happened.
        because: why it is `insufficient_evidence`; None for any other.
        pages: the model pages, or is worse by its answer, whatever this verdict alone shows.
        worse_version: a version in use is worse than the one before.
        worse_segment: a segment value is certainly worse, beside the verdict on all cases.

    >>> str(JudgedModel(Verdict.INSUFFICIENT_EVIDENCE, Because.STEADY).kind)
    'steady'
    """

    verdict: Verdict
    because: Because | None
    _: KW_ONLY
    pages: bool = False
    worse_version: bool = False
    worse_segment: bool = False

    @property
    def kind(self) -> Verdict | Because | str:
        """What it counts as: its verdict, the reason for none, or a part that is worse.

        A model that pages counts as degraded, whatever its deciding window alone shows.
        """
        if self.pages:
            return self.verdict if self.verdict in DEGRADED else Verdict.MODEL_DEGRADED
        if self.worse_segment:
            return SEGMENT_WORSE
        if self.worse_version and words_of(self.verdict, self.because).tone in ("good", "unknown"):
            return VERSION_WORSE
        return self.verdict if self.because is None else self.because

    @property
    def words(self) -> VerdictWords | BecauseWords:
        """The words of what it counts as."""
        kind = self.kind
        return VERDICTS[self.verdict] if kind == self.verdict else KINDS[kind]

    @property
    def urgency(self) -> int:
        """Its place in a list, the most urgent first.

        Pages come first, then certain falls, then those of a segment value, then whatever else
        moved, then faults of labels, and last what is unknown, steady or unchanged. A version that
        is worse is something that moved.
        """
        if self.pages:
            return 0
        place = _place(self.verdict, self.because)
        if self.worse_segment:
            return min(place, _place(Verdict.MODEL_DEGRADED, None) + 1)
        return min(place, _place(self.verdict, Because.MOVED)) if self.worse_version else place


def words_of(verdict: Verdict, because: Because | None) -> VerdictWords | BecauseWords:
    """Return the words of a verdict, or of the reason why there is none.

    Args:
        verdict: what happened.
        because: why it is `insufficient_evidence`; None for any other.
    """
    return VERDICTS[verdict] if because is None else BECAUSE[because]


def tone_of(words: VerdictWords | BecauseWords, *, pages: bool) -> Tone:
    """Return the colour of a model: that of a bad verdict only while the model pages.

    One window that looks worse is no page: a page needs sequential evidence.

    Args:
        words: of its verdict.
        pages: the model pages.
    """
    if pages:
        return "bad"
    return "open" if words.tone == "bad" else words.tone


def _place(verdict: Verdict, because: Because | None) -> int:
    order = list(VERDICTS)
    if because is Because.MOVED:
        return 2 * order.index(Verdict.PREVALENCE_SHIFT) + 3
    if because is None:
        return 2 * order.index(verdict) + 2
    reasons = [Because.TOO_FEW, Because.LABEL_ERRORS, Because.NO_REFERENCE, Because.STEADY]
    return 2 * order.index(Verdict.INSUFFICIENT_EVIDENCE) + 2 + reasons.index(because)
