"""The fuzzer that learns, for a bounded time."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.dev("atheris")
SCRIPT = Path(__file__).parents[2] / "benchmarks" / "fuzz.py"


@pytest.mark.slow
def test_a_fuzzer_finds_nothing_in_ten_seconds(tmp_path):
    words = [sys.executable, SCRIPT, "-max_total_time=10", f"-artifact_prefix={tmp_path}/"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert list(tmp_path.iterdir()) == []
    assert "DONE" in done.stderr
