import json

from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.feeds.recorded_files import RecordedFiles


def line(number):
    event = {"type": "prediction", "id": f"p{number}", "ts": number, "prediction": 1}
    return json.dumps(event).encode() + b"\n"


def times(source):
    """Event times in seconds of all that has come."""
    found = []
    while (batch := source.poll()) is not None:
        found += (batch.predictions.time // 1000).tolist()
    return found


def test_files_read_once_go_on_behind_what_was_counted(tmp_path):
    paths = [tmp_path / "a.ndjson", tmp_path / "b.ndjson"]
    paths[0].write_bytes(b"".join(map(line, range(10))))
    paths[1].write_bytes(b"".join(map(line, range(10, 20))))
    decoder, names = Decoder(DecodeSettings()), list(map(str, paths))
    source, found = RecordedFiles(names, decoder), []
    while (batch := source.poll()) is not None:
        found += (batch.predictions.time // 1000).tolist()
        again = RecordedFiles(names, decoder)
        assert again.resume(source.position()) == ""
        assert found + times(again) == list(range(20))
    paths[1].write_bytes(paths[1].read_bytes() + line(20))
    again = RecordedFiles(names, decoder)
    assert "changed since the last run" in again.resume(source.position())
    assert times(again) == list(range(21))
