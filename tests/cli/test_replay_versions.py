"""`replay` leads to a comparison where predictions name two versions."""

import json
import shlex

from cli.commands import ran
from watch.shadowed import SHADOW, shadowed
from watch.versioned import BEGAN, stream


def outcome(number, *, version):
    return {
        "ts": 1e9 + 600 * number,
        "prediction": number % 2,
        "label": number // 2 % 2,
        "version": str(version),
    }


def test_versions_that_no_window_counts_apart_lead_to_their_comparison(capsys, tmp_path):
    path, config = tmp_path / "events.ndjson", tmp_path / "monitor.yaml"
    records = [outcome(n, version=6 + (n % 5 > 3)) for n in range(1_000)]
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    *_, asked, following = ran(capsys, "replay", path).out.splitlines()
    assert asked == f"default has 2 versions: precision-monitor compare {path} compares the newest."
    assert following.startswith("Next: ")
    words = shlex.split(asked.removesuffix(" compares the newest.").partition(": ")[2])
    assert "ersion 7 is worse than 6" in ran(capsys, *words[1:]).out
    for setting in (
        "label_errors: {false_positive: .01, false_negative: .05}",
        "labelling: sampled",
    ):
        config.write_text(f"models: {{default: {{{setting}}}}}\n")
        assert "versions: " not in ran(capsys, "replay", path, "-c", config).out


def test_versions_one_after_another_lead_to_a_comparison_over_time(capsys, tmp_path):
    path = tmp_path / "events.ndjson"
    records = [outcome(n, version=6 + (n >= 600)) for n in range(1_000)]
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    lines = " ".join(ran(capsys, "replay", path).out.split())
    asked = lines.partition("default has 2 versions: compare them over time: `")[2].partition("`")[
        0
    ]
    text = " ".join(ran(capsys, *shlex.split(asked)[1:]).out.split())
    assert "Before is of version 6 (began 2001-09-09 01:46); after is of version 7 (began" in text


def test_versions_that_are_counted_apart_lead_to_their_comparison(capsys, tmp_path):
    config = tmp_path / "monitor.yaml"
    config.write_text(
        "models: {m: {segments: [region, version], label_timeout: 3d, maturity: 1d,"
        ' shadow_versions: ["*-shadow"]}}'
    )
    path, canary = tmp_path / "events.ndjson", stream(days=6)
    worse = stream(recall=(0.9, 0.5), a_day=1_008)
    asked = f"precision-monitor compare {path} -c {config}"
    for events, line in (
        (canary, f"m has 2 versions: {asked} compares the newest."),
        (shadowed(canary), f"m has 2 versions (1 of them shadow): {asked} compares the newest."),
        (worse, f"Next: {asked} shows both versions."),
        ([e for e in canary if e["ts"] < BEGAN], None),
    ):
        path.write_text("".join(f"{json.dumps(event)}\n" for event in events))
        text = ran(capsys, "replay", path, "-c", config).out
        found = [one for one in text.splitlines() if f": {asked}" in one]
        assert found == ([line] if line else [])
        shadows = sum(event.get("version") == SHADOW for event in events)
        assert (f", {shadows:,} of shadow versions." in text) is (shadows > 0)
