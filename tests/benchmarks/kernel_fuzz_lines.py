"""Lines of records made up at random, some of them damaged, for `kernel_fuzz`."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np

CLASSES = ["a", "é", "1", "5", "💥", "fraud", "1.0", "x" * 255]
TIMES = ["2026-11-22T10:00:00Z", "2025-02-28t23:59:59.999999+05:30", "2024-02-29 00:00:00.5-00:01"]
TEXTS = ["a", "", "0", "é", "💥", "\0", '"', "\\", "\n", "x" * 255, "ü" * 120, "ü" * 128, "1" * 241]
PIECES = [
    *(b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b" ", b"\t", b"\r", b"\n", b"\0", b"\x1f"),
    *(b"\\u", b"\\u0000", b"\\ud83d\\ude00", b"\\ud800", b"\\udc00", b"\\/", b"\\x", b"\xc3\xa9"),
    *(b"\xc3", b"\xed\xa0\x80", b"\xf0\x9f\x92\xa5", b"\xf4\x90\x80\x80", b"\xc0\x80", b"\xff"),
    *(b"null", b"true", b"false", b"-", b"+", b".", b"e", b"E5", b"e-7", b"0", b"00", b"1", b"9"),
    *(b"1e400", b"-0", b"-0.0", b"18446744073709551616", b"0.30000000000000004", b"NaN"),
    *(b'"id":', b'"ts":', b'"type":"label",', b'"label":', b'"score":0.5,', b'"segment":{'),
    *(b'"type":"counts","tp":1,"fp":1,"fn":1,"tn":1,', b'"version":"",', b"2026-11-22T10:00:00Z"),
    *(b"[" * 17, b"]" * 17, b'{"a":' * 15, b"}" * 15),
]


def record(chance: random.Random) -> dict[str, Any]:
    """A record, most of its values usual ones."""
    kind = chance.choice(["prediction", "prediction", "label", "label", "outcome", "counts"])

    def number() -> Any:
        return chance.choice(
            [chance.random(), round(chance.random(), 4), chance.random() * 1e-9, 0, 1, 0.5, 1e-5]
        )

    def moment() -> Any:
        seconds = chance.uniform(1.6e9, 1.76e9)
        return chance.choice([int(seconds), round(seconds, 3), seconds, chance.choice(TIMES)])

    def name() -> Any:
        return chance.choice([*TEXTS, None, 5]) if chance.random() < 0.1 else chance.choice("ab")

    known = {
        "type": kind,
        "id": chance.choice(
            [*TEXTS, 0, -7, chance.getrandbits(64), f"{chance.getrandbits(128):x}"]
        ),
        "ts": moment(),
    }
    classes = [*CLASSES, "fine", 5, -5] if chance.random() < 0.3 else [0, 1, True, False, 0, 1]
    if kind in ("label", "outcome"):
        known["label"] = chance.choice([*classes, None, 1.0])
    if kind == "counts":
        known |= dict.fromkeys(("tp", "fp", "fn", "tn"), chance.randrange(9))
    if kind in ("prediction", "outcome"):
        known["prediction"] = chance.choice([*classes, None])
    optional: dict[str, Any] = {
        "score": number(),
        "model": chance.choice(["fraud", "späm", "fraud", name()]),
        "version": name(),
        "segment": {
            key: name() for key in ("region", "channel", "version", "x") if chance.random() < 0.5
        },
        "label_ts": moment(),
        "sampling_probability": number(),
        "audit": chance.choice([True, False, None, 1, "yes"]),
        "extra": chance.choice([1, [number()], {"é": [None, "\n"]}, "text", TIMES[0]]),
    }
    known |= {key: value for key, value in optional.items() if chance.random() < 0.6}
    if chance.random() < 0.1:
        known["scores"] = chance.choice([None, [0.1, 0.9], {"fine": 0.1, "fraud": 0.9}, "x"])
    if chance.random() < 0.1:
        del known[chance.choice(list(known))]
    items = list(known.items())
    chance.shuffle(items)
    return dict(items)


def damaged(line: bytes, chance: random.Random) -> bytes:
    """The line with one thing changed."""
    start, end = sorted((chance.randrange(len(line) + 1), chance.randrange(len(line) + 1)))
    kind = chance.randrange(5)
    if kind == 0:
        return line[:start] + chance.choice(PIECES) + line[start:]
    if kind == 1:
        return line[:start] + chance.choice(PIECES) + line[start + chance.randrange(4) :]
    if kind == 2:
        return line[:start] + line[min(end, start + 4) :]
    if kind == 3:
        return line[:start] + bytes([chance.randrange(256)]) + line[start + 1 :]
    return line[:start] + line[start : start + 20] + line[start:]


def like(one: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """A record with the keys of another in their order, and with values of its own."""
    while (other := record(chance)).get("type") != one.get("type"):
        pass
    found = {key: other.get(key, value) for key, value in one.items()}
    segment = one.get("segment")
    if isinstance(segment, dict):
        values = {key: chance.choice([*TEXTS, "eu", "eu", "us", None, 5, True]) for key in segment}
        found["segment"] = values
    return found


def block(lines: int, chance: random.Random) -> bytes:
    """So many lines, a part of them damaged once or more often; cut off at both ends.

    In half of the blocks most lines have one of a few forms.
    """
    made = []
    share = chance.choice([0.0, 0.05, 0.5])
    usual = [record(chance) for _ in range(chance.randrange(1, 12))] * (chance.random() < 0.5)
    separators = [(",", ":"), (", ", ": "), (" ,\t", " :\r")]
    spaces, ascii_only = chance.choice(separators), chance.random() < 0.5
    for _ in range(lines):
        if usual and chance.random() < 0.9:
            one = like(chance.choice(usual), chance)
        else:
            one = record(chance)
            spaces, ascii_only = chance.choice(separators), chance.random() < 0.5
        line = json.dumps(one, ensure_ascii=ascii_only, separators=spaces).encode()
        while chance.random() < share:
            line = damaged(line, chance) or b" "
        made.append(line + chance.choice([b"\n", b"\n", b"\n", b"\r\n", b"\n\n", b" \n"]))
    whole = b"".join(made)
    if chance.random() < 0.5:
        return whole
    return whole[chance.randrange(200) : len(whole) - chance.randrange(200)]


def flipped(data: bytes, numbers: np.random.Generator) -> bytes:
    """The block with some of its bytes replaced, most of them by bytes that mean something."""
    found = np.frombuffer(data, np.uint8).copy()
    count = int(numbers.integers(1, max(2, len(found) // 250)))
    telling = np.frombuffer(b'{}[]",:\\u0e-.19 \n\r\x80\xc3\xed\xf0\0', np.uint8)
    usual = numbers.choice(telling, count)
    odd = numbers.integers(0, 256, count, dtype=np.uint8)
    found[numbers.integers(0, len(found), count)] = np.where(
        numbers.random(count) < 0.7, usual, odd
    )
    start, end = numbers.integers(0, 100), len(found) - numbers.integers(0, 100)
    return found[start:end].tobytes()


def table(lines: int, columns: list[str], separator: str, chance: random.Random) -> bytes:
    """Rows of a table, a part of them damaged; without its header."""
    made, share = [], chance.choice([0.0, 0.05, 0.5])
    for _ in range(lines):
        one = record(chance)
        one |= {f"segment.{key}": value for key, value in one.pop("segment", {}).items()}
        cells = ["" if one.get(name) is None else str(one[name]) for name in columns]
        line = separator.join(cells).replace("\n", " ").encode()
        while chance.random() < share:
            line = damaged(line, chance) or b" "
        made.append(line + chance.choice([b"\n", b"\n", b"\n", b"\r\n", b"\n\n", b" \n"]))
    return b"".join(made)
