import pytest
from labels.wrongly_labelled import recorded_in


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    return recorded_in(tmp_path_factory.mktemp("wrong"))
