"""Groups of a batch: many at once get the codes that each would get alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.feeds.decode import groups
from monitor.feeds.decode.groups import UNFIT, GroupCodes, GroupNames
from monitor.feeds.decode.settings import DecodeSettings, ModelFields

SETTINGS = DecodeSettings(
    models={
        "fraud": ModelFields(0.5, ("region", "version")),
        "spam": ModelFields(None, ("region",)),
    }
)
names = st.tuples(
    st.sampled_from(["fraud", "spam", "new", None]),
    st.sampled_from([None, "", "1", "\0", "v" * 257]),
    st.sampled_from([None, "eu", ""]),
    st.sampled_from([None, "2"]),
)


@given(blocks=st.lists(st.lists(names, unique=True), min_size=1, max_size=3))
def test_many_groups_get_the_codes_that_each_would_get_alone(blocks):
    known = GroupNames(SETTINGS)
    together, alone = GroupCodes(known), GroupCodes(GroupNames(SETTINGS))
    for block in blocks:
        found = together.of_names(block)
        expected = [alone.resolve(model, version, tuple(rest)) for model, version, *rest in block]
        assert found.tolist() == expected
        assert together.groups == alone.groups
        codes = np.array([*found, UNFIT])
        np.testing.assert_array_equal(together.thresholds(codes), alone.thresholds(codes))


def test_few_groups_are_cached_at_a_time(monkeypatch):
    monkeypatch.setattr(groups, "_REMEMBERED", 10)
    known = GroupNames(DecodeSettings())
    for number in range(25):
        assert GroupCodes(known).of_names([(f"model-{number}", None)]).tolist() == [0]
    assert len(known.by_names) <= 10


@pytest.mark.parametrize("count", [0, 1, 1_000])
def test_distinct_groups_are_numbered_in_their_order(count):
    codes = GroupCodes(GroupNames(DecodeSettings()))
    found = codes.of_names([(f"model-{number}", None) for number in range(count)])
    assert found.tolist() == [*range(count)]
    assert [group.model for group in codes.groups] == [f"model-{n}" for n in range(count)]


@pytest.mark.parametrize(
    ("field", "segment", "fraud", "spam"),
    [("7", None, "7", "7"), (None, "8", "8", ""), ("7", "8", "7", "7"), (None, None, "", "")],
)
def test_a_version_among_the_segments_is_the_version_of_a_model_that_has_it_there(
    field, segment, fraud, spam
):
    found = GroupNames(SETTINGS)
    of_fraud, of_spam = (found.find(model, field, ("eu", segment)) for model in ("fraud", "spam"))
    assert of_fraud.group == ("fraud", fraud, ("eu", fraud or "__missing__"))
    assert of_spam.group == ("spam", spam, ("eu",))
