"""Which faults of labels withhold the metrics of a window."""

from types import SimpleNamespace

import pytest

from monitor.engine.snapshots import _fault_of
from monitor.labels.faults import LabelFault
from monitor.watch.judged_counts import untrusted


@pytest.mark.parametrize("fault", LabelFault)
def test_metrics_by_labels_as_they_came_are_shown_where_their_errors_changed(fault):
    watched = SimpleNamespace(verdicts={"7d": untrusted(fault)})
    model = SimpleNamespace(watched=watched)
    shown = fault is LabelFault.LABEL_ERRORS_CHANGED
    assert _fault_of(model, "7d") == ("" if shown else fault)
    assert not _fault_of(model, "28d")
