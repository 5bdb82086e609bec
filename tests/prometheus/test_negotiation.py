import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.prometheus.negotiation import Format, accepts_gzip, negotiate

PROMETHEUS_2 = (
    "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
    "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
)
PROMETHEUS_3 = (
    "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
    "application/openmetrics-text;version=0.0.1;q=0.5,"
    "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2"
)
BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


@pytest.mark.parametrize(
    ("accept", "wanted"),
    [
        ("", Format.TEXT),
        ("*/*", Format.TEXT),
        ("text/*", Format.TEXT),
        (BROWSER, Format.TEXT),
        (PROMETHEUS_2, Format.OPENMETRICS),
        (PROMETHEUS_3, Format.OPENMETRICS),
        ("application/openmetrics-text", Format.OPENMETRICS),
        ("APPLICATION/OpenMetrics-Text; Version=1.0.0", Format.OPENMETRICS),
        ('application/openmetrics-text; version="1.0.0"', Format.OPENMETRICS),
        ("application/openmetrics-text;version=2.0.0", Format.TEXT),
        ("application/openmetrics-text;version=99.0.0", Format.TEXT),
        ("application/openmetrics-text;version=abc", Format.TEXT),
        ("text/plain;version=1.0.0", Format.TEXT_1),
        ("text/plain;version=0.0.4", Format.TEXT),
        ("text/plain", Format.TEXT),
        ("text/plain;q=0.9, application/openmetrics-text;q=0.5", Format.TEXT),
        ("text/plain;q=0.5, application/openmetrics-text;q=0.5", Format.OPENMETRICS),
        ("application/openmetrics-text;q=0, text/plain;q=0.1", Format.TEXT),
        ("application/openmetrics-text;q=nan", Format.TEXT),
        ("application/openmetrics-text;q=1e9", Format.TEXT),
        ("application/json", Format.TEXT),
        (";;;,,,===q;q;q=,", Format.TEXT),
    ],
)
def test_the_highest_weight_that_we_speak_wins(accept: str, wanted: Format) -> None:
    assert negotiate(accept).format is wanted


def test_an_escaping_scheme_is_echoed_only_where_it_is_known() -> None:
    known = negotiate("text/plain;version=1.0.0;escaping=allow-utf-8").content_type
    assert known == "text/plain; version=1.0.0; charset=utf-8; escaping=allow-utf-8"
    unknown = negotiate("text/plain;version=1.0.0;escaping=evil\r\nX: y").content_type
    assert unknown == "text/plain; version=1.0.0; charset=utf-8"


@pytest.mark.parametrize(
    "accept_encoding", ["gzip", "GZIP", "deflate, gzip;q=0.5", "*", "gzip, *;q=0"]
)
def test_gzip_is_for_those_who_accept_it(accept_encoding: str) -> None:
    assert accepts_gzip(accept_encoding)


@pytest.mark.parametrize(
    "accept_encoding", ["", "identity", "gzip;q=0", "*;q=0", "gzip;q=0, *", "gzip;q=x"]
)
def test_gzip_is_not_for_others(accept_encoding: str) -> None:
    assert not accepts_gzip(accept_encoding)


names = ["application/openmetrics-text", "text/plain", "text/*", "*/*", "gzip", "version", "q"]
pieces = st.sampled_from([*names, "escaping", "dots", "1.0.0", "0.0.4", "0.5", *';,="  \té\x00'])


@given(st.one_of(st.text(), st.lists(pieces, max_size=30).map("".join)))
def test_no_header_is_an_error(header: str) -> None:
    choice = negotiate(header)
    assert choice.content_type.startswith(choice.format.value)
    assert choice.content_type.isascii()
    assert accepts_gzip(header) in (True, False)
