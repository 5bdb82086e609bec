"""Columns are proposed for id, prediction and label where their first values leave no doubt."""

import pytest

from monitor.feeds.mapping.proposals import proposed

IDS = list(range(20))
SCORES = [row * 7 % 20 / 20 for row in IDS]
FLAGS = [int(score > 0.5) for score in SCORES]
TRUTH = [int(row % 3 == 0) for row in IDS]
VALUES = {"user_id": IDS, "p": SCORES, "flag": FLAGS, "bad": TRUTH}


@pytest.mark.parametrize("name", ["id", "user_id", "Claim ID", "requestId", "uuid", "claim.id"])
def test_the_only_column_of_ids_is_the_id(name):
    assert proposed({name: IDS}, {}) == {"id": name}


@pytest.mark.parametrize(
    "values",
    [
        {"paid": IDS},
        {"user_id": [1, *IDS[1:]]},
        {"user_id": [None, *IDS[1:]]},
        {"user_id": IDS, "card_id": IDS},
        {"user_id": IDS[:5]},
        {},
    ],
)
def test_no_id_is_proposed_where_there_is_a_doubt(values):
    assert proposed(values, {}) == {}


def test_a_score_separates_the_classes_of_its_prediction_alone():
    found = proposed(VALUES, {"score": "p"})
    assert found == {"id": "user_id", "prediction": "flag", "label": "bad"}
    texts = {name: [str(value) for value in column] for name, column in VALUES.items()}
    texts["bad"][0] = ""
    assert proposed(texts, {"score": "p"}) == found
    texts["p"] = [text.replace(".", ",") for text in texts["p"]]
    assert proposed(texts, {"score": "p"}) == found


@pytest.mark.parametrize(
    ("changed", "known"),
    [
        ({"also": FLAGS}, {"score": "p"}),
        ({}, {}),
        ({"p": ["high"] * 20}, {"score": "p"}),
        ({"flag": ["yes", "no"] * 10}, {"score": "p"}),
    ],
)
def test_no_class_is_proposed_where_there_is_a_doubt(changed, known):
    assert proposed({**VALUES, **changed}, known) == {"id": "user_id"}


def test_the_label_is_the_only_other_column_of_two_classes():
    known = {"prediction": "flag", "score": "p", "id": "user_id"}
    assert proposed(VALUES, known) == {"label": "bad"}
    assert proposed({**VALUES, "other": TRUTH}, known) == {}
