"""The page and the API say that ids may be in use again."""

import json

import pytest

from monitor.config import Config
from monitor.engine import Monitor
from monitor.exporter.api.status import status_answer
from monitor.exporter.page.now import now_section
from monitor.feeds.decode import Decoder, DecodeSettings


@pytest.mark.parametrize(("again", "told"), [(50, False), (150, True)])
def test_ids_in_use_again_are_said_beside_what_cannot_be_known(again, told):
    monitor = Monitor(Config.without_file())
    lines = "".join(
        json.dumps({"type": "prediction", "id": f"c{n}", "ts": 86_400 + 60 * at, "prediction": 1})
        + "\n"
        for at, n in enumerate([*range(2_000), *range(again)])
    )
    decoder = Decoder(DecodeSettings.from_config(monitor.config))
    monitor.apply(decoder.decode_lines(lines.encode(), source="a", first_line=1))
    status = status_answer(monitor.snapshot(), limit=1)
    (model,) = status.models
    start = f"{again} of {2_000 + again:,} predictions of default repeat an id: "
    assert model.repeated_ids.startswith(start) is told
    assert bool(model.repeated_ids) is told
    assert (start in str(now_section(status, model, None, None))) is told
