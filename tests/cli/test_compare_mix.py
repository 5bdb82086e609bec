"""`compare`: by which segment keys the mix of cases is equal, and what no key says."""

import json
import random

from cli.commands import ran
from cli.comparing import DAY, compared
from cli.test_diagnose import written


def test_a_key_of_many_values_makes_the_mix_equal_where_each_has_cases(capsys, tmp_path):
    """Version 7 is equal, and gets the countries whose positives are harder to find."""
    rng, events = random.Random(22), []
    for number in range(8_000):
        new = rng.random() < 0.2
        hard = rng.random() < (0.85 if new else 0.3)
        country = rng.randrange(13) + 12 * hard
        label = rng.random() < 0.3
        rate = (0.5 if hard else 0.9) if label else (0.2 if hard else 0.05)
        at = {"id": f"i{number}", "ts": DAY + number * 150}
        made = {"type": "outcome", "prediction": int(rng.random() < rate), "label": int(label)}
        events.append(
            made | at | {"version": "67"[new], "segment": {"country": f"c{country}", "id": number}}
        )
    found = compared(capsys, written(tmp_path / "a.ndjson", *events))
    assert found["segments"] == ["country"]
    assert found["verdict"] in ("equal", "not_shown")


def keyed(count=2_000):
    """Outcomes of two versions with keys of one value, of few, and of a value for each."""
    rng = random.Random(22)
    for number in range(count):
        keys = {f"k{i}": f"v{rng.randrange(i)}" for i in range(1, 7)}
        yield {
            "type": "outcome",
            "id": f"i{number}",
            "ts": DAY + number * 150,
            "prediction": rng.randrange(2),
            "label": rng.randrange(2),
            "version": rng.choice("67"),
            "segment": keys | {"card": f"c{number}"},
        }


def test_keys_that_the_mix_leaves_out_stand_beside_the_verdict(capsys, tmp_path):
    path = written(tmp_path / "a.ndjson", *keyed())
    text = ran(capsys, "compare", path).out
    first = " ".join(text.partition("\n\n")[0].split())
    assert first.endswith(
        "The mix is not equal by k6 (beyond the four keys of fewest values), card (few records for "
        "each value): what differs there counts as the model; --segments KEY,KEY names the keys of "
        "the mix."
    )
    assert "\nNot looked at: k1 (one value in the first records).\n" in text
    assert max(map(len, text.splitlines())) <= 100
    found = compared(capsys, path)
    assert found["segments"] == ["k2", "k3", "k4", "k5"]
    assert {one["key"]: one["because"] for one in found["segments_left_out"]} == {
        "k1": "one_value",
        "k6": "many_keys",
        "card": "many_values",
    }


def test_keys_that_somebody_names_leave_out_none(capsys, tmp_path):
    path = written(tmp_path / "a.ndjson", *keyed())
    found = compared(capsys, path, "--segments", "k2,k6")
    assert (found["segments"], found["segments_left_out"]) == (["k2", "k6"], [])
    text = ran(capsys, "compare", path, "--segments", "k2,k6").out
    assert "The mix is not equal by" not in text
    assert "Not looked at" not in text


def test_without_segment_keys_the_condition_stands_beside_the_verdict(capsys, tmp_path):
    """Version 7 is as good as 6 on each case, and gets more of the hard ones: no key says so."""
    rng, events = random.Random(22), []
    for number in range(8_000):
        new = rng.random() < 0.3
        hard = rng.random() < (0.9 if new else 0.2)
        label = rng.random() < 0.3
        rate = (0.5 if hard else 0.9) if label else (0.2 if hard else 0.05)
        at = {"id": f"i{number}", "ts": DAY + number * 150, "label": int(label)}
        made = {"type": "outcome", "prediction": int(rng.random() < rate), "version": "67"[new]}
        events.append(made | at | {"segment": {"hard": str(hard)}})
    bare = [{k: v for k, v in event.items() if k != "segment"} for event in events]
    path = written(tmp_path / "bare.ndjson", *bare)
    first = " ".join(ran(capsys, "compare", path).out.partition("\n\n")[0].split())
    condition = (
        "The comparison holds if both versions get alike cases, as by random assignment: it is by "
        "day and hour alone, and a version that gets harder cases looks worse."
    )
    assert first.startswith("Version 7 is worse than 6: ")
    assert condition in first
    assert first.endswith("compare by segments (--segments).")
    found = compared(capsys, path)
    assert (found["adjusted_for"], found["condition"]) == (["day", "hour"], condition)
    keyed_path = written(tmp_path / "keyed.ndjson", *events)
    found = compared(capsys, keyed_path)
    assert (found["adjusted_for"], found["condition"]) == (["hard", "day", "hour"], None)
    assert found["verdict"] in ("equal", "not_shown")


def test_a_key_of_one_value_in_each_of_two_files_has_two_values(capsys, tmp_path):
    months = {"a": list(keyed(300)), "b": [e | {"ts": e["ts"] + DAY} for e in keyed(600)][300:]}
    for month, events in months.items():
        written(tmp_path / f"{month}.ndjson", *(e | {"segment": {"shop": month}} for e in events))
    done = ran(capsys, "compare", tmp_path / "a.ndjson", tmp_path / "b.ndjson", "--json")
    assert json.loads(done.out)["segments"] == ["shop"]


def test_a_column_that_is_not_called_a_segment_is_named_as_one_that_could_matter(capsys, tmp_path):
    rng = random.Random(23)
    lines = ["id,ts,prediction,label,version,region,note"]
    for number in range(600):
        label, flagged, version = rng.randrange(2), rng.randrange(2), rng.choice("67")
        region = rng.choice(("north", "south"))
        ts = DAY + number * 150
        lines.append(f"i{number},{ts},{flagged},{label},{version},{region},n{number}")
    path = tmp_path / "a.csv"
    path.write_text("\n".join(lines) + "\n")
    text = " ".join(ran(capsys, "compare", path).out.split())
    assert (
        "The mix is not equal by region (a column that may follow from the outcome): what" in text
    )
    found = compared(capsys, path)
    assert found["segments_left_out"] == [{"key": "region", "because": "other_column"}]
    named = compared(capsys, path, "--segments", "region")
    assert (named["segments"], named["segments_left_out"]) == (["region"], [])
