"""The Prometheus expression of each number of the section "Now", to copy."""

from __future__ import annotations

from collections.abc import Iterator

import htpy as h

from monitor.exporter.api.status_answer import ModelStatus
from monitor.exporter.page.class_rows import has_many_classes
from monitor.report.class_words import WHOLE_WORDS
from monitor.report.printable import one_line
from monitor.report.vocabulary import PAGE_METRICS


def expressions(model: ModelStatus) -> h.Element:
    """Return the expressions of the numbers of a model, one for each row and window.

    Args:
        model: the model.
    """
    rows = [*_metrics(model)]
    for title, expression in (
        ("Outcomes", "sum(classifier_window_outcomes{%s})"),
        ("Verdict", "classifier_verdict{%s} == 1"),
    ):
        rows += [(title, window, expression % of) for window, of in _selectors(model).items()]
    of_model = f'model="{_quoted(model.name)}"{_whole(model)}'
    rows.append(("Evidence", "", f"classifier_detector_evidence_ratio{{{of_model}}}"))
    return h.details(id="expressions")[
        h.summary["The same numbers in Prometheus"],
        h.div(".scroll", tabindex="0", role="region", aria_label="Expressions")[
            h.table(".expressions")[
                h.caption(".unseen")["Expressions of the numbers above."],
                h.thead[
                    h.tr[
                        h.th(scope="col")["Number"],
                        h.th(scope="col")["Window"],
                        h.th(scope="col")["Expression"],
                    ]
                ],
                h.tbody[
                    (
                        h.tr[
                            h.th(scope="row")[one_line(title)],
                            h.td[window],
                            h.td[h.code(".copied")[one_line(text)]],
                        ]
                        for title, window, text in rows
                    )
                ],
            ]
        ],
    ]


def _metrics(model: ModelStatus) -> Iterator[tuple[str, str, str]]:
    """Yield title, window and expression of each metric; of many classes, of one of them, too."""
    selectors = _selectors(model)
    if not has_many_classes([*model.windows.values()]):
        for row in PAGE_METRICS:
            yield from (
                (row.title, name, f"{row.series()}{{{of}}}") for name, of in selectors.items()
            )
        return
    for words in WHOLE_WORDS:
        for window in selectors:
            of = f'model="{_quoted(model.name)}",window="{window}"'
            yield words.title, window, words.expression(of)
    (first, *_), *_ = (one.classes.names for one in model.windows.values() if one.classes)
    for row in PAGE_METRICS:
        for window in selectors:
            of = f'model="{_quoted(model.name)}",window="{window}",class="{_quoted(first)}"'
            yield f"{row.title} of {first}", window, f"{row.series()}{{{of}}}"


def _selectors(model: ModelStatus) -> dict[str, str]:
    """Return the labels of the whole model, by window."""
    name, whole = _quoted(model.name), _whole(model)
    return {
        window: f'model="{name}",window="{window}",segment=""{whole}' for window in model.windows
    }


def _whole(model: ModelStatus) -> str:
    """Return the matcher that leaves out the classes of a model of many."""
    return ',class=""' if has_many_classes([*model.windows.values()]) else ""


def _quoted(name: str) -> str:
    """Return a label value as a selector of PromQL holds it."""
    return name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
