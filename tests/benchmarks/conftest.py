"""Benchmarks are programs: pytest runs their tests and imports nothing else of them."""

from pathlib import Path

collect_ignore = [
    path.name for path in Path(__file__).parent.glob("*.py") if not path.name.startswith("test_")
]
