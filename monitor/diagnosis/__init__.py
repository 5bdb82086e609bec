"""Why precision moved between two stretches of time: everything that `diagnose` says.

    periods    what is compared: outcomes by blocks of time, and by segment
    segments   what each segment value contributed
    evidence   which labelling regimes allow which conclusions
    notes      what is not known, and why
    findings   all of it together: `diagnose(before, after)`

Numbers only; how they are printed is the affair of `monitor.exporter`.
"""

from monitor.diagnosis.findings import Diagnosis, Estimated, Part, Side, diagnose
from monitor.diagnosis.periods import Period, block_ms_of
from monitor.diagnosis.segments import SegmentPart

__all__ = [
    "Diagnosis",
    "Estimated",
    "Part",
    "Period",
    "SegmentPart",
    "Side",
    "block_ms_of",
    "diagnose",
]
