"""A rule, apart from how it is written."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """A series made from others.

    Attributes:
        name: `level:metric:operation`.
        why: what it is for; written as a comment in the expression.
        expr: PromQL.
        labels: added to it.
    """

    name: str
    why: str
    expr: str
    labels: Mapping[str, str] = field(default_factory=dict)


class PageLink(NamedTuple):
    """The address of a model on the monitor's page, as templates.

    Attributes:
        model: the address; looks up labels alone.
        ranges: what follows it, the two ranges to compare as parameters; looks up numbers.
    """

    model: str
    ranges: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """An alert.

    Attributes:
        name: in CamelCase.
        why: why the expression is as it is; written as a comment in it.
        expr: PromQL; every series that it returns is an alert.
        severity: `page`, `ticket` or `none`, or a template of one.
        hold: how long the expression must hold before the alert fires.
        keep: how long it keeps firing once the expression no longer holds.
        labels: besides the severity.
        summary: one line of less than 120 characters: what happened, which way, how much.
        description: what it means and what to do, without templates.
        numbers: template of the numbers behind it, to follow the description.
        runbook: link to more.
        page: link to the model on the monitor's page; None without one.
        dashboard: template of the link to a dashboard; "" without one.
    """

    name: str
    why: str
    expr: str
    severity: str
    hold: str = "0s"
    keep: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    summary: str
    description: str
    numbers: str = ""
    runbook: str
    page: PageLink | None = None
    dashboard: str = ""


class RuleGroup(NamedTuple):
    """Rules that Prometheus evaluates one after the other.

    Attributes:
        name: of the group.
        rules: in their order.
    """

    name: str
    rules: Sequence[Recording | Alert]
