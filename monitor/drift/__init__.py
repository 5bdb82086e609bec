"""What moved, and why: live class ratio, detectors, attribution, verdict.

    components    log r, logit TPR, logit FPR, log LR+, log LR-: changes and errors
    skill         the rule: clean, changed, unknown, and what that says of skill
    verdict       judge: the verdict by name, the main driver
    attribution   attribute: which cause moved precision, in log-odds and points
    segments      within segments against their mix
    roc           with scores: is the new point below the reference's curve?
    detectors     alarms on closed panes (evidence is what they are made of;
                  river_detector takes river's behind the same protocol)
    class_ratio   the live class ratio, smoothed; profile: what it usually is
    prevalence    prevalence without labels; label_free: the nowcast, or why not
    dispersion    how much more real streams scatter than independent rows

Everything here is a pure function of counts, or a small state that is; nothing
reads a clock, a file or a random number.
"""

from monitor.drift.attribution import CAUSES, COMPONENT_OF, Attribution, attribute, causes
from monitor.drift.components import block_seconds
from monitor.drift.dispersion import Dispersion
from monitor.drift.segments import SegmentAttribution, attribute_segments, judge_within_segments
from monitor.drift.verdict import Judgement, MainDriver, Status, Verdict, judge, verdicts

__all__ = [
    "CAUSES",
    "COMPONENT_OF",
    "Attribution",
    "Dispersion",
    "Judgement",
    "MainDriver",
    "SegmentAttribution",
    "Status",
    "Verdict",
    "attribute",
    "attribute_segments",
    "block_seconds",
    "causes",
    "judge",
    "judge_within_segments",
    "verdicts",
]
