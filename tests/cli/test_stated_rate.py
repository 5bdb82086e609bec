"""`check-config --rate`: when a reference is complete, and what its positives show."""

import pytest
from cli.commands import ran

READY = {
    "{}": "complete 7 days after the first prediction, plus its maturity; a window is compared "
    "once all of it is later. The first 28 days replace it after 35 days.",
    "{reference: {first: 7d}}": "complete 18 days after the first prediction, plus its maturity; "
    "a window is compared once all of it is later.",
    "{reference: {counts: {tp: 8, fp: 4, fn: 2, tn: 90}}}": "its reference is given: windows are "
    "compared from the first labels on.",
    "{reference: {trailing: 7d}}": "when its reference is complete does not depend on the rate.",
}


@pytest.mark.parametrize("model", READY)
def test_a_stated_rate_says_when_the_reference_is_complete(capsys, tmp_path, model):
    path = tmp_path / "monitor.yaml"
    path.write_text(f"models:\n  fraud: {model}\n")
    done = ran(capsys, "check-config", str(path), "--rate", "58,30")
    assert done.code == 0
    (line,) = [one for one in done.out.splitlines() if one.endswith(READY[model])]
    assert line.startswith("fraud: ")
    assert READY[model] not in ran(capsys, "check-config", str(path)).out


def test_a_rate_without_positives_promises_no_comparison(capsys, tmp_path):
    path = tmp_path / "monitor.yaml"
    path.write_text("models: {fraud: {}}\n")
    done = ran(capsys, "check-config", str(path), "--rate", "0,30")
    assert (
        "fraud: at 0 positives a day, a reference never fills, and no window is compared with "
        "fewer than 10 positives. Give the counts of a test set, reference: {counts: …} (precision-"
        "monitor reference FILE prints it), with which precision and false positives are compared, "
        "and recall once positives come.\n"
    ) in done.out
    assert "days after the first prediction" not in done.out


def test_a_rate_of_next_to_no_positives_promises_no_comparison_either(capsys, tmp_path):
    """It promised one after 28 days, with 1.4 positives."""
    path = tmp_path / "monitor.yaml"
    path.write_text("models: {fraud: {}}\n")
    done = ran(capsys, "check-config", str(path), "--rate", "0.05,0")
    said = "fraud: at 0.05 positives a day, the first 28 days hold about 1.4 positives, and no"
    assert said in done.out
    assert "or the first 200 days: reference: {first: 200d}.\n" in done.out
    assert "days after the first prediction" not in done.out


@pytest.mark.parametrize(
    ("rate", "said"),
    [
        ("2.4,0.6", " It holds about 67 positives then: of a recall of .8 at best a fall to .58 "),
        ("58,14", ""),
    ],
)
def test_a_rate_of_few_positives_says_what_they_show(capsys, tmp_path, rate, said):
    path = tmp_path / "monitor.yaml"
    path.write_text("models: {fraud: {}}\n")
    done = ran(capsys, "check-config", str(path), "--rate", rate)
    assert "its first reference is complete" in done.out
    assert ("at best a fall" in done.out) is bool(said)
    assert said in done.out


def test_readiness_promises_no_comparison_that_the_labelling_refuses(capsys, tmp_path):
    path = tmp_path / "monitor.yaml"
    path.write_text("models: {fraud: {labelling: flagged_only}}\n")
    done = ran(capsys, "check-config", str(path), "--rate", "56,14")
    assert (
        "fraud: no window is compared with a reference, at any rate: only predicted positives are "
        "ever labelled, so precision alone can be known"
    ) in done.out
    assert "reference is complete" not in done.out


@pytest.mark.parametrize("rate", ["58", "58,x", "-1,3", "nan,2", "1,2,3"])
def test_a_rate_that_is_none_is_refused(capsys, tmp_path, rate):
    path = tmp_path / "monitor.yaml"
    path.write_text("models: {fraud: {}}\n")
    done = ran(capsys, "check-config", str(path), f"--rate={rate}")
    assert done.code == 2
    assert "must be two numbers of cases a day, such as 58,20" in done.err
