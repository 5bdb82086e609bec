"""The Prometheus expression of each number of the section "Now", to copy."""

from __future__ import annotations

import htpy as h

from monitor.exporter.api.status_answer import ModelStatus
from monitor.report.printable import one_line
from monitor.report.vocabulary import PAGE_METRICS


def expressions(model: ModelStatus) -> h.Element:
    """Return the expressions of the numbers of a model, one for each row and window.

    Args:
        model: the model.
    """
    name = _quoted(model.name)
    rows = [
        (row.title, window, f'{row.series()}{{model="{name}",window="{window}",segment=""}}')
        for row in PAGE_METRICS
        for window in model.windows
    ]
    rows += [
        (
            "Outcomes",
            window,
            f'sum(classifier_window_outcomes{{model="{name}",window="{window}",segment=""}})',
        )
        for window in model.windows
    ]
    rows += [
        (
            "Verdict",
            window,
            f'classifier_verdict{{model="{name}",window="{window}"}} == 1',
        )
        for window in model.windows
    ]
    rows.append(("Evidence", "", f'classifier_detector_evidence_ratio{{model="{name}"}}'))
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
                            h.th(scope="row")[title],
                            h.td[window],
                            h.td[h.code(".copied")[one_line(text)]],
                        ]
                        for title, window, text in rows
                    )
                ],
            ]
        ],
    ]


def _quoted(name: str) -> str:
    """Return a label value as a selector of PromQL holds it."""
    return name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
