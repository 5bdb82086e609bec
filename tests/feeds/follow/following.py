"""A followed file with a clock that is moved by hand, and lines for it."""

import json
import os

from monitor.clock import ManualClock
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.feeds.follow import FollowedFiles


def line(number):
    event = {"type": "prediction", "id": f"p{number}", "ts": number, "prediction": 1}
    return json.dumps(event).encode() + b"\n"


def lines(*numbers):
    return b"".join(map(line, numbers))


def append(path, data):
    with path.open("ab") as file:
        file.write(data)


class Following(FollowedFiles):
    """Followed files with a manual clock, and the messages reported."""

    def __init__(self, path, threads=None):
        self.clock, self.reported = ManualClock(), []
        super().__init__(path, Decoder(DecodeSettings()), self.clock, self.reported.append, threads)

    def times(self, after=0.0):
        """Event times in seconds of all that has come."""
        self.clock.sleep(after)
        found = []
        while (batch := self.poll()) is not None:
            assert not batch.rejected
            found += (batch.predictions.time // 1000).tolist()
        return found

    def restarted(self):
        """Another one that goes on where this one is."""
        position = json.loads(json.dumps(self.position()))
        self.close()
        other = Following(self.name)
        other.resume(position)
        return other


def copied_and_cut(path, name="events.ndjson.1"):
    (path.parent / name).write_bytes(path.read_bytes())
    os.truncate(path, 0)
