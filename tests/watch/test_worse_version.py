"""A new version that is worse is a worse model, and no other mix of cases."""

import pytest
from watch.versioned import config_of, fed, model_of, stream

from monitor.drift import Verdict

DAY = 86_400
CONFIG = """
defaults: {SEGMENTS label_timeout: 3d, maturity: 1d, reference: {window: {length: 3d, end: END}}}
pane: 10m
windows: [1d, 7d]
""".replace("END", "1970-01-04T00:00:00Z")


def monitored(segments, **of_stream):
    config = config_of(CONFIG.replace("SEGMENTS", segments and f"segments: [{segments}],"))
    return fed(stream(days=14, a_day=1_200, **of_stream), config)


@pytest.mark.parametrize("segments", ["", "version", "region, version"])
def test_a_worse_version_is_a_worse_model_however_it_is_counted(segments):
    monitor = monitored(segments, recall=(0.8, 0.5), share=1.0)
    watched = model_of(monitor).watched
    assert watched.verdicts["7d"].verdict is Verdict.MODEL_DEGRADED
    assert watched.degradation_detected


def test_a_canary_that_is_worse_is_a_worse_model():
    watched = model_of(monitored("version", recall=(0.8, 0.2), share=0.5)).watched
    assert watched.verdicts["7d"].verdict is Verdict.MODEL_DEGRADED
    assert watched.degradation_detected
