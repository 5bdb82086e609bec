"""Bearer tokens read from files, and loopback addresses."""

import pytest

from monitor.errors import ConfigError
from monitor.web.tokens import is_loopback, read_tokens

TOKEN = "correct-horse-battery"  # noqa: S105  # for these tests only


def test_tokens_are_read_from_files(tmp_path):
    (tmp_path / "a").write_text(f"# for the scorer\n{TOKEN}\n\n")
    (tmp_path / "b").write_text("another-token-0123")
    tokens = read_tokens([tmp_path / "a", tmp_path / "b"])
    assert tokens == [TOKEN, "another-token-0123"]


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (None, "cannot be read"),
        (b"", "contains no token"),
        (b"# only this\n", "contains no token"),
        (b"short\n", "16 or more printable"),
        (b"two words of some length\n", "without spaces"),
        ("ünicode-is-no-token".encode(), "is not ASCII"),
    ],
)
def test_a_token_file_that_cannot_be_used_is_refused_without_showing_it(tmp_path, content, fault):
    path = tmp_path / "token"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError, match=fault) as refused:
        read_tokens([path])
    assert str(path) in str(refused.value)
    assert "words" not in str(refused.value).replace(str(path), "")


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.1.2.3", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),  # noqa: S104  # nothing listens there
        ("::", False),
        ("10.0.0.1", False),
        ("example.org", False),
        ("localhost.example.org", False),
    ],
)
def test_only_this_machine_reaches_loopback(host, loopback):
    assert is_loopback(host) is loopback
