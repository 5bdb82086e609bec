"""Drift: what moved precision, and the verdict on it. Pure functions of counts.

    components                log r, TPR, FPR, LR+, LR- and the odds ratio
    component_changes         their changes from one window to another, and the errors
    day_scatter, dispersion   how days, and panes, scatter beyond independent rows
    odds_ratio_within         the odds ratio within days, whatever the threshold of each
    skill, verdict_rule       the rules for skill and two windows (rates_changed, beyond_reference)
    attribution               contribution of each cause, in log-odds and in points
    segment_attribution       contribution of each segment: of its own rates, and of the mix
    within_segments           the verdict within segments, apart from changes of their mix
    roc                       the reference's ROC curve, where scores come
    detectors, day_detector   alarms by panes and by days (shiryaev_roberts: their statistic)
    trend, day_regression     slopes over weeks, and since when
    level_change, change_point  when a reference, and when a model, changed
    class_ratio_detector      alarm where the smoothed live_class_ratio leaves its seasonal profile
    known_predictions, degenerate  predictions outside their usual range, without labels
    prevalence, label_free    prevalence and precision without labels
    estimate_record           which of these estimates (checked_estimate) their past supports
    version_comparison        two versions over the same time (equal_mix, version_verdict, …)
    river_detector            detectors of river, behind the same protocol

`README.md` says how each verdict is decided.
"""

from monitor.drift.attribution import CAUSES, COMPONENT_OF, Attribution, attribute, causes
from monitor.drift.components import block_seconds
from monitor.drift.dispersion import Dispersion
from monitor.drift.main_driver import MainDriver
from monitor.drift.segment_attribution import SegmentAttribution, attribute_segments
from monitor.drift.verdict import Judgement, Status, Verdict
from monitor.drift.verdict_rule import judge, verdicts
from monitor.drift.within_segments import judge_within_segments

# One name a line would make 20 lines of what is one list.
# fmt: off
__all__ = [
    "CAUSES", "COMPONENT_OF", "Attribution", "Dispersion", "Judgement", "MainDriver",
    "SegmentAttribution", "Status", "Verdict", "attribute", "attribute_segments",
    "block_seconds", "causes", "judge", "judge_within_segments", "verdicts"]
