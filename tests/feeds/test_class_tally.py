"""The classes that came, and the lines about listed ones that did not."""

from monitor.feeds.class_tally import ClassTally


def tally(*values, positive=("fraud",), say=None):
    made = ClassTally(say)
    made.expect("label", positive)
    for value in values:
        made.note("label", value)
    return made


def test_a_value_that_came_is_no_fault():
    assert list(tally("ok", "fraud").faults()) == []


def test_a_field_without_values_is_no_fault():
    assert list(tally().faults()) == []


def test_at_most_five_values_are_named():
    (line,) = tally(*"abcdef").faults()
    assert line.endswith("records have 'a', 'b', 'c', 'd', 'e', …")
    (line,) = tally(*"abcdeabcde").faults()
    assert line.endswith("records have 'a', 'b', 'c', 'd', 'e'")


def test_each_value_that_never_came_is_named():
    (line,) = tally("theft", positive=("theft", "fraud", "abuse")).faults()
    assert "no record has the positive value 'abuse', 'fraud'; records have 'theft'" in line


def test_a_second_file_with_the_same_mapping_forgets_nothing():
    made = tally("fraud")
    made.expect("label", ["fraud"])
    assert list(made.faults()) == []


def test_a_value_of_another_mapping_is_expected_as_well():
    made = tally("fraud")
    made.expect("label", ["abuse"])
    (line,) = made.faults()
    assert "'abuse'" in line


def test_a_running_feed_is_warned_of_once():
    said = []
    made = tally(*["ok"] * 9_999, say=said.append)
    assert said == []
    for _ in range(20_000):
        made.note("label", "ok")
    assert said == [
        "label: no record has the positive value 'fraud'; records have 'ok' (of 10,000)"
    ]


def test_one_value_alone_contradicts_the_positive_one_once_many_records_have_it():
    assert list(tally(*["?"] * 9_999).contradictions()) == []
    (line,) = tally(*["?"] * 10_000).contradictions()
    assert line.endswith("no record has the positive value 'fraud'; records have '?'")
    made = ClassTally()
    made.expect("label", ["fraud"], ["ok"])
    for _ in range(10_000):
        made.note("label", "ok")
    assert list(made.contradictions()) == []
