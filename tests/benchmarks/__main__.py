"""All speed parts in turn, as one report.

    python -m tests.benchmarks [--quick] [PART ...]

Each part also runs by itself: `python -m tests.benchmarks.PART --help`. What is
measured by other scripts of this folder (verdicts, intervals, kills) is not here.
"""

from __future__ import annotations

import argparse
import subprocess
import sys

PARTS = {
    "speed": "bytes to counters, beside what users would otherwise write",
    "stages": "where the time goes",
    "feeds": "NDJSON, CSV, Parquet, Arrow",
    "frames": "Monitor.feed of frames, beside NDJSON; one predict",
    "served": "the running service: HTTP beside a file",
    "pending": "bytes, growth, checkpoints, start-up",
    "slopes": "cost as models, segments, windows, pending, rate grow",
    "scrape": "a scrape, beside the stock handler",
    "page": "the page of a thousand models and of a thousand segments",
}


def main() -> None:
    """Run them, each in a process of its own; exit with 1 where one failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--quick", action="store_true", help="small sizes, one round")
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    failed = []
    for part in options.parts or PARTS:
        print(f"\n## {part}: {PARTS[part]}\n", flush=True)
        command = [sys.executable, "-m", f"{__package__}.{part}", *["--quick"] * options.quick]
        if subprocess.run(command, check=False).returncode:
            failed.append(part)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
