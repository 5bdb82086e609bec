"""Why: what moved precision between two stretches of time, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator

import htpy as h

from monitor.exporter.page.shapes import sign
from monitor.exporter.page.waterfall import waterfall
from monitor.exporter.page.words import (
    METRICS,
    SOURCES,
    UNDEFINED,
    VERDICTS,
    Json,
    count,
    interval,
    percent,
    points,
    ratio,
    signed,
    stretch,
)
from monitor.report.printable import one_line


def why_section(diagnosis: Json) -> h.Element:
    """The headline, the steps from before to after, and what is not known."""
    return h.section("#why", aria_labelledby="why-title")[
        h.h2(id="why-title")["Why"],
        verdict_line(diagnosis["verdict"], diagnosis["headline"]),
        h.p(".plainly")[" ".join(diagnosis["plainly"])] if diagnosis["plainly"] else None,
        h.p[VERDICTS[diagnosis["verdict"]].sentence, " ", h.em[diagnosis["certainties"]]],
        h.div(".scroll", tabindex="0", role="region", aria_label="Causes")[waterfall(diagnosis)],
        (h.p(".muted")[sentence] for sentence in diagnosis["footnotes"]),
        _counterfactual(diagnosis),
        _sides(diagnosis),
        h.div(".facts")[
            _bullets("What to do next", diagnosis["advice"]),
            _bullets("What is not known, and why", diagnosis["notes"]),
        ],
    ]


def verdict_line(verdict: str, headline: str) -> h.Element:
    """The verdict in colour, shape and words, then what happened."""
    meaning = VERDICTS[verdict]
    return h.p(f".verdict.{meaning.tone}")[
        sign(verdict), h.strong[meaning.name], h.span[one_line(headline)]
    ]


def side_name(side: Json) -> str:
    """The time of a side, and where it comes from."""
    said = SOURCES.get(side["source"] or "", "")
    if side["open"] is None:
        return said
    return stretch(side["open"], side["close"]) + (f" ({said})" if said else "")


def _counterfactual(diagnosis: Json) -> h.Node:
    stayed = diagnosis["precision_had_prevalence_stayed"]
    if stayed["estimate"] is None:
        return None
    before = diagnosis["before"]
    change = diagnosis["attribution"]["prevalence"]["points"]
    return h.p(".counterfactual")[
        "Had prevalence stayed at ",
        h.strong[percent(before["prevalence"]["estimate"])],
        ", precision would now be ",
        h.strong[ratio(stayed["estimate"])],
        f" ({interval(stayed)}); it was {ratio(before['precision']['estimate'])}. ",
        f"Prevalence made {points(change)} of {points(diagnosis['change']['points'])} points.",
    ]


def _sides(diagnosis: Json) -> h.Element:
    before, after = diagnosis["before"], diagnosis["after"]
    return h.div(".scroll", tabindex="0", role="region", aria_label="Before and after")[
        h.table(".sides")[
            h.caption["Before and after, with 95 % intervals."],
            h.thead[
                h.tr[
                    h.th(scope="col")[h.span(".unseen")["Metric"]],
                    h.th(".number", scope="col")["Before", h.small[side_name(before)]],
                    h.th(".number", scope="col")["After", h.small[side_name(after)]],
                    h.th(".number", scope="col")["Change"],
                ]
            ],
            h.tbody[
                (_metric(name, title, before, after) for name, (title, _) in METRICS.items()),
                h.tr[
                    h.th(scope="row")["Outcomes"],
                    (h.td(".number")[_outcomes(side)] for side in (before, after)),
                    h.td,
                ],
            ],
        ]
    ]


def _metric(name: str, title: str, before: Json, after: Json) -> h.Element:
    old, new = before[name], after[name]
    both = old["estimate"] is not None and new["estimate"] is not None
    change = signed(new["estimate"] - old["estimate"], 3) if both else UNDEFINED
    return h.tr[
        h.th(scope="row")[title],
        (h.td(".number")[h.strong[ratio(m["estimate"])], h.small[interval(m)]] for m in (old, new)),
        h.td(".number")[change],
    ]


def _outcomes(side: Json) -> Iterator[h.Node]:
    total = sum(side["outcomes"].values())
    yield count(round(total))
    if side["predictions"]:
        unlabelled = max(0.0, 1 - total / side["predictions"])
        yield h.small[f"{percent(unlabelled)} of the predictions have no label"]


def _bullets(title: str, sentences: list[str]) -> h.Element:
    return h.div[
        h.h3[title],
        h.ul[(h.li[one_line(sentence)] for sentence in sentences)]
        if sentences
        else h.p["Nothing."],
    ]
