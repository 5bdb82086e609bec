"""Links from an alert to where a person looks next: the monitor's page, a dashboard of Grafana.

A link to the page opens the comparison that the alert is about: with the reference, or with the
level where the window is compared with that. Both ranges stand in it as
times, so that it shows the same hours later. The page compares whole hours. A reference that
is given as counts has no time: the page then takes it by itself.
"""

from __future__ import annotations

from monitor.clock import HOUR_MS
from monitor.config.quantities import parse_duration
from monitor.prometheus.rules import compared_numbers, templates
from monitor.prometheus.rules.rule import PageLink
from monitor.prometheus.rules.scope import GAP, Scope

ON_CALL, HEALTH = "precision-monitor-on-call", "precision-monitor-health"
"""Identities of the dashboards in `deploy/grafana` that alerts lead to."""

_SECTION = "#why"
"""Section of the page with the comparison."""
_HOUR_SECONDS = HOUR_MS // 1000
_TIME = '(. | first | value | toTime).Format "2006-01-02T15:04Z"'


def page_of_model(scope: Scope) -> PageLink | None:
    """Return the link to a model as it is now; None without the address of the page."""
    if not scope.page:
        return None
    return PageLink(f"{scope.page}?model={{{{ $labels.model | urlquery }}}}")


def page_of_comparison(scope: Scope, window: str) -> PageLink | None:
    """Return the link to the comparison of a window with what it is judged against.

    Args:
        scope: what the rules are about.
        window: template that sets `$window`, see `templates.longest_window`.

    Returns:
        None without the address of the page. The model alone where windows are shorter than
        an hour, which the page cannot compare.
    """
    link = page_of_model(scope)
    if link is None or min(map(parse_duration, scope.daily)) < HOUR_MS:
        return link
    of_level, of_reference = (_bounds(of, templates.BEFORE) for of in ("level", "reference"))
    before = _range("before", tuple(map(compared_numbers.compared, of_level, of_reference)))
    after = _range("after", _bounds("window", "{model=%[1]q,window=%[2]q}"))
    return link._replace(ranges=f"{window}{before}{after}{_SECTION}")


def on_call(scope: Scope) -> str:
    """Return the link to the dashboard of a model; "" without the address of Grafana."""
    return _dashboard(scope, ON_CALL, "model")


def health(scope: Scope) -> str:
    """Return the link to the dashboard of a monitor; "" without the address of Grafana."""
    return _dashboard(scope, HEALTH, "instance")


def _dashboard(scope: Scope, uid: str, label: str) -> str:
    if not scope.dashboards:
        return ""
    chosen = f"{{{{ with $labels.{label} }}}}?var-{label}={{{{ . | urlquery }}}}{{{{ end }}}}"
    return f"{scope.dashboards}d/{uid}{chosen}"


def _bounds(of: str, where: str) -> tuple[str, str]:
    """The first moment and the first one after it, each a whole hour.

    Args:
        of: whose bounds: `level`, `reference` or `window`.
        where: matchers of the series of the bounds.
    """
    opens, closes = (
        f"floor(max(last_over_time(classifier_{of}_{edge}_timestamp_seconds{where}[{GAP}]))"
        f" / {_HOUR_SECONDS}) * {_HOUR_SECONDS}"
        for edge in ("open", "close")
    )
    return opens, closes


def _range(name: str, bounds: tuple[str, ...]) -> str:
    """A parameter of the page; nothing where a bound is not known, or no whole hour lies between.

    Args:
        name: of the parameter.
        bounds: PromQL of both, of `$window`.
    """
    opens, closes = bounds
    known, end = (templates.of_window(expr) for expr in (f"{opens} < {closes}", closes))
    return (
        f"{{{{ with {known} | query }}}}&{name}={{{{ {_TIME} }}}}"
        f"{{{{ with {end} | query }}}}..{{{{ {_TIME} }}}}{{{{ end }}}}{{{{ end }}}}"
    )
