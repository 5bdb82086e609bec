"""What events carry reaches logs, series and files, and does nothing there."""

import json
from dataclasses import replace

import pytest
from prometheus.snapshots import snapshot, watched
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text

from monitor.cli.output import show, tell
from monitor.config import Config
from monitor.drift import Verdict
from monitor.engine import Monitor
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.prometheus.text import TextWriter
from monitor.service.announce import announcements
from monitor.state.dead_letter import DeadLetter

HOSTILE = [
    "a\nprecision-monitor: all is well",
    "\x1b[2J\x1b[31mred\x1b[0m",
    "\r\x08\x07\x01\x7f",
    "\u202egnp.exe\u2066",
    "\u2028line\u2029",
    '"} 1\n# EOF\n',
    '\\n\\"\\',
    "\x85\x9b31m",
    "<script>alert(1)</script>",
    "{{ .Value }} %s ${PATH} $(id)",
]


def events(text):
    segment = {"region": text}
    records = [
        {"type": "prediction", "id": text, "ts": n, "prediction": 1, "model": text, **extra}
        for n, extra in enumerate(({"segment": segment}, {"version": text}, {"score": text}))
    ]
    records.append({"type": text, "id": "x", "ts": 1})
    return "".join(json.dumps(record) + "\n" for record in records).encode()


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize(("parse", "openmetrics"), [(parse_text, False), (parse_openmetrics, True)])
def test_series_carry_it_as_a_value_and_still_parse(text, parse, openmetrics):
    config = Config(defaults={"segments": ["region"]})
    monitor = Monitor(config)
    monitor.apply(Decoder(DecodeSettings.from_config(config)).decode_lines(events(text), source=""))
    state = monitor.snapshot()
    written = TextWriter().write(state, openmetrics=openmetrics).decode()
    families = list(parse(written + ("# EOF\n" if openmetrics else "")))
    models = {s.labels["model"] for f in families for s in f.samples if "model" in s.labels}
    values = {s.labels.get("value", "") for f in families for s in f.samples}
    assert models == {text}
    assert values == {"", "__missing__", text}


@pytest.mark.parametrize("text", HOSTILE)
def test_a_message_is_one_printable_line(text, capsys):
    after = watched()
    quiet = replace(after.verdicts["1d"], verdict=Verdict.NO_CHANGE)

    def named(found):
        state = snapshot()
        return replace(
            state, models=tuple(replace(m, name=text, watched=found) for m in state.models)
        )

    reported = list(announcements(named(replace(after, verdicts={"1d": quiet})), named(after)))
    assert reported
    for line in reported:
        assert line.isprintable()
        tell(line)
    show(text)
    out, err = capsys.readouterr()
    assert len(err.splitlines()) == len(reported)
    assert all(c.isprintable() or c == "\n" for c in out + err)


def test_a_dead_letter_is_one_line_of_json_each(tmp_path):
    decoder = Decoder(DecodeSettings())
    with DeadLetter(tmp_path / "dead.ndjson", 1 << 20) as dead:
        for text in HOSTILE:
            dead.write(decoder.decode_lines(events(text), source=text).rejected)
    content = (tmp_path / "dead.ndjson").read_bytes()
    lines = content.splitlines()
    assert len(lines) == 2 * len(HOSTILE) == content.count(b"\n")
    assert all(isinstance(json.loads(line), dict) for line in lines)
    assert not any(byte < 0x20 and byte != 0x0A for byte in content)
