"""The JSON that `compare` prints."""

import json

from cli.commands import ran

DAY = 86_400


def compared(capsys, path, *words):
    done = ran(capsys, "compare", "--feed", path, *words, "--json")
    assert done.code == 0, done.err
    return json.loads(done.out)
