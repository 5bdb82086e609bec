"""Words for causes, and sentences for a newcomer: the same in text, JSON and page."""

import json

import pytest
from diagnosis.episodes import PAIRS, period

from monitor.counts import ConfusionCounts
from monitor.diagnosis import Period, diagnose
from monitor.exporters.diagnosis_json import diagnosis_object
from monitor.exporters.diagnosis_plain import footnotes, plainly, said_of
from monitor.exporters.diagnosis_text import diagnosis_text
from monitor.exporters.page.why import why_section


def found(before, after):
    cells = ("tp", "fp", "fn", "tn")
    periods = (
        Period.given(ConfusionCounts(**dict(zip(cells, side, strict=True))))
        for side in (before, after)
    )
    return diagnose(*periods)


MANY = (8_000, 4_500, 2_000, 85_500)
CASES = {
    "fell": (MANY, (4_000, 4_750, 1_000, 90_250)),
    "as before": (MANY, MANY),
    "rose a little": (MANY, (8_300, 4_500, 2_000, 85_500)),
    "likely fell": ((400, 225, 100, 4_275), (340, 228, 85, 4_347)),
    "not certain": ((80, 45, 20, 855), (78, 45, 20, 857)),
}


@pytest.mark.parametrize("said", CASES)
def test_a_word_never_disputes_the_interval_beside_it(said):
    diagnosis = found(*CASES[said])
    part = diagnosis.attribution["prevalence"]
    assert said_of(diagnosis, "prevalence") == said
    beyond = part.lower_points > 0 or part.upper_points < 0
    assert beyond == (said not in ("as before", "not certain"))
    explained = [note for note in footnotes(diagnosis) if note.split(":")[0] in said]
    assert len(explained) == (said in ("rose a little", "likely fell"))


@pytest.mark.parametrize("name", [*CASES, *PAIRS])
def test_text_page_and_json_say_the_same(name):
    pair = CASES.get(name)
    diagnosis = found(*pair) if pair else diagnose(*map(period, PAIRS[name][:2]))
    printed = json.loads(json.dumps(diagnosis_object(diagnosis)))
    text = " ".join(diagnosis_text(diagnosis).split())
    page = " ".join(str(why_section(printed)).split())
    for cause in ("prevalence", "recall", "false_positives"):
        said = said_of(diagnosis, cause)
        assert printed["attribution"][cause]["said"] == said
        assert f"<td>{said}</td>" in page
        assert f" {said} " in text
    for sentence in (*plainly(diagnosis), *footnotes(diagnosis)):
        assert sentence in text
        assert sentence.replace("'", "&#39;") in page


def test_fewer_positives_are_named_where_skill_is_open():
    diagnosis = found((300, 170, 75, 3_200), (110, 150, 45, 3_700))
    assert str(diagnosis.verdict) == "insufficient_evidence"
    text = diagnosis_text(diagnosis)
    assert "certainly fewer positives. Whether skill changed is open." in text.splitlines()[0]
    assert plainly(diagnosis)[0].startswith("There are certainly fewer positives, which is ")
