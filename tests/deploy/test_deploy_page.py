"""The script that takes the README's picture of the page."""

import struct
import subprocess
import sys

import pytest
from deploy.expressions import DEPLOY

SCRIPT = DEPLOY / "page" / "screenshot.py"


@pytest.mark.slow
@pytest.mark.system
def test_the_script_takes_a_picture_as_wide_as_the_shipped_one(system_program, tmp_path):
    system_program("chromium")
    taken, shipped = tmp_path / "page.png", SCRIPT.with_name("page.png")
    subprocess.run([sys.executable, "-B", SCRIPT, taken], check=True)
    assert size(taken)[0] == size(shipped)[0]


def size(picture):
    """Width and height, by the header of a PNG."""
    return struct.unpack(">II", picture.read_bytes()[16:24])
