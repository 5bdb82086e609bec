"""Any file is read, or its faults are reported; no other error is ever raised."""

import re
from typing import Any

import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from monitor.config import Config, ModelConfig, parse_config
from monitor.errors import ConfigError

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.floats(),
    st.sampled_from(
        ["auto", "none", "1h", "30s", "7d", "64MiB", "a:1", ":1", "no", "${X}", "${", "http", "~"]
    ),
    st.text(max_size=5),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["window", "first", "counts", "share", "max", "tp", "type", "path"]),
            inner,
            max_size=3,
        ),
    ),
    max_leaves=6,
)


def sections(keys: Any) -> st.SearchStrategy[Any]:
    return st.dictionaries(st.sampled_from([*keys, "unknown", "<<"]), VALUES, max_size=4)


FEEDS = st.fixed_dictionaries(
    {"type": st.sampled_from(["file", "http", "kafka", "x"])},
    optional=dict.fromkeys(("path", "listen", "brokers", "topics", "follow", "auto"), VALUES),
)
FILES = st.builds(
    lambda top, models, shared, feeds: {**top, **models, **shared, **feeds},
    sections(Config.model_fields),
    st.fixed_dictionaries(
        {},
        optional={
            "models": st.dictionaries(
                st.sampled_from(["maturity", "fraud", "a.b", ""]),
                sections(ModelConfig.model_fields),
            )
        },
    ),
    st.fixed_dictionaries({}, optional={"defaults": sections(ModelConfig.model_fields)}),
    st.fixed_dictionaries({}, optional={"feeds": st.lists(FEEDS, max_size=3)}),
)


def read(text: str) -> Config | tuple[str, ...]:
    try:
        return parse_config(text, "monitor.yaml", {"X": "1h"})
    except ConfigError as error:
        return error.faults


@settings(max_examples=120, deadline=None)
@example({"id_secret": 10000000000000.0})
@given(FILES)
def test_any_mixture_of_keys_and_values_is_read_or_reported(value: Any) -> None:
    text = yaml.safe_dump(value, sort_keys=False, allow_unicode=True)
    first = read(text)
    if isinstance(first, Config):
        dumped = first.model_dump(mode="json")
        if first.id_secret is not None:  # a dump hides it
            dumped["id_secret"] = first.id_secret.get_secret_value()
        assert Config.model_validate(dumped) == first
    else:
        assert first
        assert len(set(first)) == len(first)
        for fault in first:
            assert re.fullmatch(r"monitor\.yaml:\d+: .+; .+", fault)
            assert "see the schema" not in fault
    assert read(text) == first


@settings(max_examples=100, deadline=None)
@given(st.text(st.sampled_from("abc:-[]{}&*!|>'\"%@`#,? \n\t\\0\x00\ud7ff\U0001f600"), max_size=40))
def test_any_text_is_read_or_reported(text: str) -> None:
    assert read(text)
