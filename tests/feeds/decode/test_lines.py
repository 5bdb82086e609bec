"""Lines found at once for a whole block are those that splitting it gives."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from monitor.feeds.decode.lines import Lines

blocks = st.lists(st.sampled_from([b"{", b"}", b"\n", b"}\n{", b"\r\n", b"x"])).map(b"".join)


def split(data):
    """Lines of a block, a last one without its newline included."""
    lines = data.replace(b"\r\n", b"\n").removesuffix(b"\r").split(b"\n")
    return lines if lines[-1] else lines[:-1]


@given(blocks)
def test_lines_and_the_longest_are_those_of_splitting(data):
    lines, expected = Lines(data), split(data)
    assert [lines[i] for i in range(len(lines))] == expected
    assert lines.longest == max(map(len, expected), default=0)


@given(blocks)
def test_objects_are_split_where_every_newline_stands_between_two(data):
    lines = split(data)
    between = pairwise(lines)
    expected = all(one.endswith(b"}") and other.startswith(b"{") for one, other in between)
    assert Lines(data).splits_objects == expected
