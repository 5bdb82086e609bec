"""Followed files of a test, closed after it."""

import pytest
from feeds.follow.following import Following


@pytest.fixture
def path(tmp_path):
    return tmp_path / "events.ndjson"


@pytest.fixture
def source(path):
    followed = Following(path)
    yield followed
    followed.close()


@pytest.fixture
def follow():
    """Follows paths, and closes them."""
    made = []

    def make(path):
        made.append(Following(path))
        return made[-1]

    yield make
    for one in made:
        one.close()
