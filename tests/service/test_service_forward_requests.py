"""What goes over HTTP when counts are forwarded."""

import gzip
from base64 import b64encode
from contextlib import contextmanager

import pytest
from http_answers import Quiet, serving

from monitor.config.forward import ForwardConfig
from monitor.feeds.http.feed_settings import SETTINGS_HEADER, STATE_HEADER
from monitor.feeds.http.senders import SENDER_HEADER
from monitor.service.forward_requests import ReceiverAnswer, ReceiverAwayError, poster

LINES = b'{"type":"counts"}\n'


@contextmanager
def receiver(status=200, headers=None, body=b"{}"):
    """A server that gives one answer to all; what it was asked."""
    asked = []

    class Handler(Quiet):
        def do_POST(self):  # noqa: N802  # as the server calls it
            content = self.rfile.read(int(self.headers["Content-Length"]))
            headers_of = {name.lower(): value for name, value in self.headers.items()}
            asked.append((self.path, headers_of, content))
            self.send_response(status)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self):  # noqa: N802  # as the server calls it
            asked.append((self.path, {}, b""))
            self.send_error(405)

    with serving(Handler) as url:
        yield url, asked


def config_of(url, **more):
    return ForwardConfig.model_validate({"to": url, "timeout": "5s", **more})


def test_counts_are_posted_compressed_with_the_headers_and_the_state_that_is_known():
    with receiver(headers={STATE_HEADER: "abc", SETTINGS_HEADER: "def"}) as (url, asked):
        post = poster(config_of(url, headers={"Authorization": "Bearer a-token-of-16-chars"}), "s")
        answers = [post(LINES, ""), post(LINES, "abc")]
    assert answers == [ReceiverAnswer(200, "abc", b"{}", settings="def")] * 2
    for path, headers, content in asked:
        assert path == "/v1/events"
        assert gzip.decompress(content) == LINES
        assert headers["authorization"] == "Bearer a-token-of-16-chars"
        assert headers["content-type"] == "application/x-ndjson"
    assert [headers.get(STATE_HEADER.lower()) for _, headers, _ in asked] == [None, "abc"]


def test_requests_name_the_shard_and_the_process():
    with receiver() as (url, asked):
        first, second = (poster(config_of(url), "shard-1") for _ in range(2))
        for post in (first, first, second):
            post(LINES, "")
    named = [headers[SENDER_HEADER.lower()] for _, headers, _ in asked]
    assert all(name.startswith("shard-1 ") for name in named)
    assert named[0] == named[1] != named[2]


def test_the_account_of_an_address_goes_as_basic_authorization():
    with receiver() as (url, asked):
        poster(config_of(url.replace("://", "://bob:p%40ss@")), "s")(LINES, "abc")
    ((path, headers, _),) = asked
    assert path == "/v1/events"
    assert headers["authorization"] == "Basic " + b64encode(b"bob:p@ss").decode()
    assert headers["content-type"] == "application/x-ndjson"
    assert headers[STATE_HEADER.lower()] == "abc"


def test_a_redirect_is_an_answer_and_is_not_followed():
    with receiver(302, {"Location": "/elsewhere"}) as (url, asked):
        assert poster(config_of(url), "s")(LINES, "").status == 302
    assert [path for path, *_ in asked] == ["/v1/events"]


@pytest.mark.parametrize(("given", "seconds"), [("7", 7.0), ("Wed, 21 Oct 2026", 0.0), ("-1", 0.0)])
def test_a_refusal_says_why_and_when_to_come_again(given, seconds):
    with receiver(503, {"Retry-After": given}, b"full") as (url, _):
        answer = poster(config_of(url), "s")(LINES, "")
    assert (answer.status, answer.body, answer.retry_after) == (503, b"full", seconds)


def test_a_receiver_that_is_not_there_is_away():
    with receiver() as (url, _):
        pass
    with pytest.raises(ReceiverAwayError, match=r"cannot be reached: .*refused"):
        poster(config_of(url), "s")(LINES, "")


def test_the_address_may_have_the_path_already():
    assert config_of("http://r:1/v1/events").url == config_of("http://r:1/").url
    assert config_of("http://r:1/below/").url == "http://r:1/below/v1/events"
