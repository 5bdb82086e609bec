"""The compiled kernel beside the Python decoder, on lines made up and damaged; under sanitizers.

    python -m tests.benchmarks.kernel_fuzz [--compared N] [--scanned N] [--rows N] [--searched N]
                                           [--joined N] [--seed S] [--sanitize]

`--compared` lines go through both decoders, which must give the same batch, bit for bit, with
the same rejections; `--scanned` lines go through the kernel alone, many times as fast; `--rows` of
CSV go through both readers, and changed in some bytes through the kernel alone; `--searched` keys
are entered and found in indexes of many sizes, where a dictionary says what is found; `--joined`
predictions and labels go through both joins, and their changes into panes of both kinds, which must
end in the same state; columns of any numbers, most of them out of bounds, through the kernel alone.
Blocks begin and end anywhere. With `--sanitize` the kernel is compiled anew with
AddressSanitizer and UBSan (GCC), which end the process at the first fault; its blocks and
columns then end where their memory ends.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import sysconfig
import tempfile
import time
from dataclasses import fields
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from monitor import kernel
from monitor.config import Config
from monitor.events.columns import KINDS, EventBatch
from monitor.feeds.csv_file import read_csv
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.feeds.decode.scanning import RowLayout, Scanner

from .kernel_fuzz_join import join
from .kernel_fuzz_lines import CLASSES, block, flipped, table

SOURCES = sorted(Path(kernel.__file__).parent.glob("*.c"))
SANITIZED = "KERNEL_FUZZ_MODULE"
"""Environment variable with the path of the module that was compiled with sanitizers."""
SETTINGS = [
    DecodeSettings.from_config(config, latest_ms=latest_ms)
    for config, latest_ms in (
        (Config(), None),
        (
            Config(
                models={
                    "fraud": {"threshold": 0.5, "segments": ["region", "channel", "version"]},
                    "späm": {"segments": ["channel"]},
                }
            ),
            1_750_000_000_000,
        ),
        (
            Config(
                models={
                    "fraud": {"classes": ["fine", "fraud"], "threshold": 0.5},
                    "späm": {"classes": CLASSES},
                }
            ),
            None,
        ),
    )
]


def assert_same(found: EventBatch, expected: EventBatch, data: bytes) -> None:
    """Bit for bit, but for the numbers of groups.

    Raises:
        SystemExit: they differ.
    """
    number = np.array([expected.groups.index(group) for group in found.groups], np.int64)
    same = found.records == expected.records and found.rejected == expected.rejected
    for kind in KINDS:
        mine, theirs = getattr(found, kind), getattr(expected, kind)
        for field in fields(theirs):
            column, other = getattr(mine, field.name), getattr(theirs, field.name)
            if field.name == "group" and len(column):
                column = number[column]
            same &= column.dtype == other.dtype and column.tobytes() == other.tobytes()
    if not same:
        path = Path(tempfile.mkstemp(suffix=".ndjson")[1])
        path.write_bytes(data)
        sys.exit(f"the decoders differ on {path}:\n{found}\n{expected}")


def count_taken(scanner: Scanner, data: bytes, layout: RowLayout | None = None) -> int:
    """How many lines the kernel takes."""
    scanned = scanner.scan(data, None, layout)
    return scanned.batch.records if scanned else 0


def compare(lines: int, seed: int, module: Any) -> int:
    """Decode lines by both decoders; return how many were taken by the kernel."""
    chance, done, taken = random.Random(seed), 0, 0
    decoders = []
    for settings in SETTINGS:
        scanner, by_kernel = Scanner(module, settings), Decoder(settings, kernel="python")
        by_kernel._scanner = scanner
        decoders.append((scanner, by_kernel, Decoder(settings, kernel="python")))
    while done < lines:
        data = block(chance.choice([1, 3, 300]), chance)
        for scanner, *both in decoders:
            assert_same(*(decoder.decode_lines(data, source="t") for decoder in both), data)
            taken += count_taken(scanner, data)
            done += data.count(b"\n") + 1
    return taken


def scan(lines: int, seed: int, module: Any) -> int:
    """Scan lines with the kernel alone; return how many it took."""
    chance, numbers, done, taken = random.Random(seed), np.random.default_rng(seed), 0, 0
    scanners = [Scanner(module, settings) for settings in SETTINGS]
    while done < lines:
        data = block(300, chance)
        for _ in range(200):
            changed = flipped(data, numbers)
            taken += count_taken(chance.choice(scanners), changed)
            done += changed.count(b"\n") + 1
    return taken


def read_rows(lines: int, seed: int, module: Any) -> int:
    """Read rows with both readers, and changed ones with the kernel; return how many it took."""
    chance, numbers, done, taken = random.Random(seed), np.random.default_rng(seed), 0, 0
    fields = [*module.FIELDS.split(), "segment.region", "segment.channel", "note"]
    while done < lines:
        settings, separator = chance.choice(SETTINGS), chance.choice([",", "\t"])
        scanner, by_kernel = Scanner(module, settings), Decoder(settings, kernel="python")
        by_kernel._scanner = scanner
        columns = [name for name in fields if name in ("id", "ts") or chance.random() < 0.7]
        chance.shuffle(columns)
        data = table(300, columns, separator, chance)
        whole = [separator.join(columns).encode() + b"\n" + data]
        found, expected = (
            list(read_csv(whole, "t", decoder, 1 << 30, separator=separator))
            for decoder in (by_kernel, Decoder(settings, kernel="python"))
        )
        for mine, theirs in zip(found, expected, strict=True):
            assert_same(mine, theirs, whole[0])
        layout = RowLayout(tuple(columns), separator, "prediction", chance.random() < 0.5)
        for _ in range(50):
            changed = flipped(data, numbers)
            taken += count_taken(scanner, changed, layout)
            done += changed.count(b"\n") + 1
    return taken


def search(keys: int, seed: int, module: Any) -> int:
    """Enter and find keys in indexes up to full; return how many were found.

    Raises:
        SystemExit: a key is not where it was entered.
    """
    numbers, done, found_keys = np.random.default_rng(seed), 0, 0
    while done < keys:
        groups = int(numbers.integers(1, 400))
        room, slots = groups * 8, 1 << int(numbers.integers(12, 26))
        multiplier = int(numbers.integers(2**63)) * 2 + 1
        places, rows = np.zeros((groups, 8), np.uint32), np.zeros((room, 3), np.uint64)
        near = numbers.integers(1, 2 * room, room).astype(np.uint64)
        own = np.unique(near if done % 2 else numbers.integers(1, 2**63, room).astype(np.uint64))
        entered = numbers.permutation(room)[: len(own)]
        rows[entered, 0] = own
        module.enter(places, slots, multiplier, own, entered)
        forgotten = entered[numbers.random(len(own)) < 0.2]
        rows[forgotten, 0] = 0
        asked = numbers.integers(1, 2 * room, 2 * room).astype(np.uint64)
        asked[: len(own)] = own
        found = np.empty(len(asked), np.int64)
        module.find(places, slots, multiplier, asked, rows, found)
        held = dict(zip(own.tolist(), entered.tolist(), strict=True))
        gone = set(forgotten.tolist())
        expected = [-1 if (at := held.get(key, -1)) in gone else at for key in asked.tolist()]
        if found.tolist() != expected:
            sys.exit(f"a key is not where it was entered: {groups} groups, seed {seed}")
        done, found_keys = done + len(asked), found_keys + int((found >= 0).sum())
    return found_keys


def sanitized(options: list[str]) -> int:
    """Compile the kernel with sanitizers, and run this script with it; return its exit code."""
    with tempfile.TemporaryDirectory() as folder:
        module = Path(folder) / "compiled.so"
        sanitize = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-O1", "-g"]
        include = sysconfig.get_paths()["include"]
        made = ["-shared", "-fPIC", '-DSOURCE_DIGEST=""', f"-I{include}", *map(str, SOURCES), "-lm"]
        subprocess.run(["gcc", *sanitize, *made, "-o", str(module)], check=True)
        library = ["gcc", "-print-file-name=libasan.so"]
        asan = subprocess.run(library, check=True, capture_output=True, text=True).stdout.strip()
        settings = {"LD_PRELOAD": asan, "ASAN_OPTIONS": "detect_leaks=0", "PYTHONMALLOC": "malloc"}
        environ = os.environ | settings | {SANITIZED: str(module)}
        command = [sys.executable, "-m", "tests.benchmarks.kernel_fuzz", *options]
        return subprocess.run(command, env=environ, check=False).returncode


def loaded() -> Any:
    """The installed kernel; or the one with sanitizers, given blocks of exactly their memory.

    Raises:
        SystemExit: there is none.
    """
    if path := os.environ.get(SANITIZED):
        loader = ExtensionFileLoader("compiled", path)
        spec = spec_from_file_location("compiled", path, loader=loader)
        assert spec
        module = module_from_spec(spec)
        loader.exec_module(module)

        def exactly(data: bytes, *rest: Any) -> Any:
            return module.scan(np.frombuffer(data, np.uint8).copy(), *rest)

        return SimpleNamespace(
            scan=exactly,
            **{name: getattr(module, name) for name in vars(module) if name != "scan"},
        )
    return kernel.compiled_module() or sys.exit("no compiled kernel is installed")


def main(arguments: list[str] | None = None) -> None:
    """Run the lines, and print how many there were.

    Raises:
        SystemExit: the sanitizers found a fault, or the decoders differ.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compared", type=int, default=200_000)
    parser.add_argument("--scanned", type=int, default=5_000_000)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--searched", type=int, default=2_000_000)
    parser.add_argument("--joined", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sanitize", action="store_true")
    parser.add_argument("--quick", action="store_true", help="few lines")
    options = parser.parse_args(arguments)
    if options.quick:
        options.compared, options.scanned = 2_000, 20_000
        options.rows, options.searched, options.joined = 20_000, 20_000, 20_000
    if options.sanitize:
        names = ("compared", "scanned", "rows", "searched", "joined", "seed")
        words = [f"--{name}={getattr(options, name)}" for name in names]
        sys.exit(sanitized(words))
    module = loaded()
    print("with sanitizers" if os.environ.get(SANITIZED) else "as installed")
    parts = (
        ("compared", compare, "lines compared", "taken by the kernel"),
        ("scanned", scan, "lines scanned", "taken"),
        ("rows", read_rows, "rows read", "taken"),
        ("searched", search, "keys looked for", "found"),
        ("joined", join, "events joined", "plain batches"),
    )
    for option, run, what, which in parts:
        began, wanted = time.monotonic(), getattr(options, option)
        count = run(wanted, options.seed, module)
        print(f"{wanted:,} {what}, {count:,} {which}: {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
