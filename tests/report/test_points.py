"""Points of precision round like the fraction that tables show."""

from monitor.counts import ConfusionCounts
from monitor.diagnosis import Period, diagnose
from monitor.report.diagnosis_text import diagnosis_text
from monitor.report.points import points_text


def test_points_agree_with_the_fraction_of_three_digits():
    """Of 1,000 halves of a thousandth, 267 did not."""
    for half in range(1_000):
        share = (half + 0.5) / 1_000
        assert points_text(share) == f"+{100 * float(f'{share:.3f}'):.1f}".replace("+0.0", "0.0")


def test_a_diagnosis_rounds_the_change_of_precision_alike_everywhere():
    before, after = (Period.given(ConfusionCounts(tp=1, fp=fp, fn=20, tn=400)) for fp in (79, 39))
    lines = diagnosis_text(diagnose(before, after)).splitlines()
    (ratio,) = (line.split()[-1] for line in lines if line.startswith("precision "))
    (points,) = (line.split()[-1] for line in lines if line.startswith("= change of precision"))
    assert (ratio, points) == ("+0.013", "+1.3")
