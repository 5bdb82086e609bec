from same import differences

from monitor.events.batches import at_rows, concatenate
from monitor.events.columns import KINDS
from monitor.feeds.decode import Decoder, DecodeSettings

LABELS = b"".join(b'{"type":"label","id":"a%d","ts":%d,"label":1}\n' % (i, i) for i in range(9))
PREDICTION = b'{"type":"prediction","id":"a","ts":1,"prediction":1,"model":"m%d"}\n'
MODELS = b"".join(PREDICTION % number for number in range(3))


def decoded(lines):
    return Decoder(DecodeSettings()).decode_lines(lines, source="t")


def test_a_rejected_line_copies_no_column_of_the_lines_beside_it():
    good, rejected = decoded(MODELS + LABELS), decoded(b"{}\n")
    found = concatenate([good, at_rows(rejected, good.labels.row[-1:] + 1)], interleaved=True)
    assert all(getattr(found, kind) is getattr(good, kind) for kind in KINDS)
    assert (found.records, found.groups) == (13, good.groups)
    assert found.rejected == rejected.rejected


def test_groups_of_a_later_batch_have_the_numbers_of_those_before():
    found = concatenate([decoded(PREDICTION % 2), decoded(LABELS), decoded(MODELS)])
    assert [found.groups[number].model for number in found.predictions.group] == [
        *("m2", "m0", "m1", "m2")
    ]
    assert found.predictions.row.tolist() == [0, 10, 11, 12]


def test_a_rejected_label_with_a_source_widens_the_labels_beside_it_as_one_batch_has_them():
    rejected = b'{"type":"label","id":"a","ts":-9e9,"label":1,"source":"s"}\n'
    whole, good = Decoder(DecodeSettings(), kernel="python"), decoded(LABELS)
    left = whole.decode_lines(rejected, source="t")
    found = concatenate([good, at_rows(left, good.labels.row[-1:] + 1)], interleaved=True)
    expected = whole.decode_lines(LABELS + rejected, source="t").labels
    assert not list(differences(found.labels, expected))
