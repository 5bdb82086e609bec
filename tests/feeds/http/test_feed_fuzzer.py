"""The fuzzer that learns, from one seed: runs that search on begin by hand."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.dev("atheris")
SCRIPT = Path(__file__).parents[2] / "benchmarks" / "fuzz.py"


@pytest.mark.slow
def test_a_fuzzer_finds_nothing_in_twenty_thousand_bodies(tmp_path):
    words = [sys.executable, SCRIPT, "-seed=1", "-runs=20000", f"-artifact_prefix={tmp_path}/"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert list(tmp_path.iterdir()) == []
    assert "DONE" in done.stderr
