"""Why precision moved between two stretches of time.

    comparison     which stretches are compared, live or recorded
    recorded       the two periods of recorded events
    periods        outcomes of a stretch by blocks of time and by segment
    period_labels  conclusions that the labels of a period allow or refuse
    label_faults   refusals for labels that cannot be trusted
    label_notes    what audits and sources show of labels, beside a diagnosis
    segments       contribution of each segment value
    caveats        limits of the result, in words
    diagnosing     `diagnose(before, after)`, which combines these into a `Diagnosis`
    result         `Diagnosis` and its parts
    estimated      a number with its interval
    unlabelled_end labels that end before the predictions do; ending_unlabelled diagnoses of them
    unjudged_end   predictions that no verdict is on yet; ending_unjudged diagnoses before them
    beginning      when its change began, and with which version
    version_events events of one model by version, and their outcomes
    versions       two versions over the same stretch of recorded events

`monitor.report` puts a `Diagnosis` into words, `monitor.exporter` and `monitor.cli` show it.
"""

from monitor.diagnosis.diagnosing import diagnose
from monitor.diagnosis.estimated import Estimated
from monitor.diagnosis.periods import Period, block_ms_of
from monitor.diagnosis.result import CausePart, Diagnosis, Side
from monitor.diagnosis.segments import SegmentPart

__all__ = [
    "CausePart",
    "Diagnosis",
    "Estimated",
    "Period",
    "SegmentPart",
    "Side",
    "block_ms_of",
    "diagnose",
]
