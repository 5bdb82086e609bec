# ruff: noqa: INP001  # scripts beside what they write, no package
"""Parts of the dashboards: queries, panels, links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from choices import SOURCE, TOTALS
from grafana_foundation_sdk.builders import common as shared
from grafana_foundation_sdk.builders import dashboard, prometheus, stat, table, timeseries
from grafana_foundation_sdk.models.common import (
    BigValueColorMode,
    BigValueGraphMode,
    BigValueTextMode,
    GraphDrawStyle,
    LegendDisplayMode,
    LegendPlacement,
    StackingMode,
    TooltipDisplayMode,
)
from grafana_foundation_sdk.models.dashboard import (
    DashboardCursorSync,
    DashboardLinkType,
    DataTransformerConfig,
    DynamicConfigValue,
    Threshold,
    ThresholdsMode,
    ValueMap,
)
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

TAG = "precision-monitor"
TALL, LOW, WHOLE, HALF, THIRD = 9, 4, 24, 12, 8

RED, ORANGE, GREEN, BLUE = "red", "orange", "green", "blue"
CAUSE_COLORS = {"prevalence": BLUE, "recall": ORANGE, "false_positives": RED}

BRIDGED_MS = 3_600_000
"""Lines are drawn over shorter gaps: what was backfilled by the hour is a line too."""

Queries = Mapping[str, str]
"""Expressions by their legends."""


def with_interval(
    legend: str, stem: str, where: str = TOTALS, *, unit: str = "_ratio"
) -> dict[str, str]:
    """A number and the ends of its interval.

    Args:
        legend: what it is called.
        stem: name of the series up to the bound.
        where: matchers.
        unit: what its names end with.
    """
    return {
        legend: f"{stem}{unit}{where}",
        f"{legend}, upper": f"{stem}_upper{unit}{where}",
        f"{legend}, lower": f"{stem}_lower{unit}{where}",
    }


def new(title: str, uid: str, about: str, since: str) -> dashboard.Dashboard:
    """An empty dashboard with what all of them share."""
    return (
        dashboard.Dashboard(title)
        .uid(uid)
        .description(about)
        .tags([TAG])
        .timezone("utc")
        .refresh("1m")
        .time(f"now-{since}", "now")
        .tooltip(DashboardCursorSync.CROSSHAIR)
        .readonly()
        .link(
            dashboard.DashboardLink("Precision monitor")
            .type(DashboardLinkType.DASHBOARDS)
            .tags([TAG])
            .as_dropdown(True)
            .include_vars(True)
            .keep_time(True)
        )
        .link(
            dashboard.DashboardLink("Verdicts, and what to do")
            .type(DashboardLinkType.LINK)
            .url("${runbooks}monitor/drift/README.md")
            .target_blank(True)
        )
        .link(
            dashboard.DashboardLink("The monitor's page")
            .type(DashboardLinkType.LINK)
            .url("${page}")
            .target_blank(True)
        )
        .with_variable(
            dashboard.DatasourceVariable("datasource")
            .label("Data source")
            .type(SOURCE.type_val or "")
        )
    )


def value(title: str, about: str, queries: Queries, *, unit: str = "percentunit") -> stat.Panel:
    """Numbers as of now."""
    panel = _sized(stat.Panel(), title, about, LOW, LOW)
    panel = panel.unit(unit).no_value("—").graph_mode(BigValueGraphMode.AREA)
    panel = panel.reduce_options(_LATEST)
    panel = panel.color_mode(BigValueColorMode.NONE).decimals(1 if unit == "percentunit" else 0)
    return _asking(panel, queries)


def in_words(panel: table.Panel, column: str, words: list[ValueMap], cell: str) -> table.Panel:
    """A column whose numbers are shown as words.

    Args:
        panel: the table.
        column: its legend.
        words: by number.
        cell: how colours are shown, such as `color-background`.
    """
    shown = [
        DynamicConfigValue("mappings", words),
        DynamicConfigValue("unit", "none"),
        DynamicConfigValue("custom.cellOptions", {"type": cell}),
    ]
    return panel.override_by_name(column, shown)


def leading_on(panel: table.Panel, column: str, links: Mapping[str, str]) -> table.Panel:
    """A column with somewhere to go from each value.

    Args:
        panel: the table.
        column: its legend.
        links: addresses by their titles.
    """
    places = [{"title": title, "url": url} for title, url in links.items()]
    return panel.override_by_name(column, [DynamicConfigValue("links", places)])


def words(title: str, about: str, query: str, mapped: list[ValueMap], width: int) -> stat.Panel:
    """One number as words in their colour."""
    panel = _sized(stat.Panel(), title, about, LOW, width)
    panel = panel.text_mode(BigValueTextMode.VALUE).graph_mode(BigValueGraphMode.NONE)
    panel = panel.color_mode(BigValueColorMode.BACKGROUND).no_value("—").mappings(mapped)
    return _asking(panel.reduce_options(_LATEST), {"": query}, instant=True)


def name(title: str, about: str, queries: Queries, width: int) -> stat.Panel:
    """The name of what holds, out of several."""
    panel = _sized(stat.Panel(), title, about, LOW, width)
    panel = panel.text_mode(BigValueTextMode.NAME).graph_mode(BigValueGraphMode.NONE)
    panel = panel.color_mode(BigValueColorMode.NONE).no_value("—").reduce_options(_LATEST)
    return _asking(panel, queries, instant=True)


def lines(
    title: str, about: str, queries: Queries, *, unit: str = "percentunit", width: int = HALF
) -> timeseries.Panel:
    """Numbers over time."""
    panel = _sized(timeseries.Panel(), title, about, TALL, width).unit(unit).no_value("—")
    panel = panel.legend(
        shared.VizLegendOptions()
        .display_mode(LegendDisplayMode.LIST)
        .placement(LegendPlacement.BOTTOM)
        .show_legend(True)
    ).tooltip(shared.VizTooltipOptions().mode(TooltipDisplayMode.MULTI))
    return _asking(panel.fill_opacity(0).span_nulls(BRIDGED_MS), queries)


def stacked(panel: timeseries.Panel, colors: Mapping[str, str]) -> timeseries.Panel:
    """Bars on top of one another, each in its colour."""
    panel = panel.draw_style(GraphDrawStyle.BARS).fill_opacity(80).line_width(0)
    panel = panel.stacking(shared.StackingConfig().mode(StackingMode.NORMAL).group("A"))
    for legend, color in colors.items():
        panel = panel.override_by_name(legend, [_color(color)])
    return panel


def banded(panel: timeseries.Panel, legend: str, color: str) -> timeseries.Panel:
    """A line within its interval: the ends are called `legend, upper` and `legend, lower`."""
    hidden = DynamicConfigValue("custom.hideFrom", {"legend": True, "tooltip": False, "viz": False})
    thin = [DynamicConfigValue("custom.lineWidth", 0), hidden, _color(color)]
    upper = [DynamicConfigValue("custom.fillBelowTo", f"{legend}, lower")]
    upper.append(DynamicConfigValue("custom.fillOpacity", 15))
    panel = panel.override_by_name(legend, [_color(color)])
    panel = panel.override_by_name(f"{legend}, upper", thin + upper)
    return panel.override_by_name(f"{legend}, lower", thin)


def in_unit(panel: timeseries.Panel, legend: str, unit: str) -> timeseries.Panel:
    """One line in a unit of its own, on the right."""
    own = [
        DynamicConfigValue("unit", unit),
        DynamicConfigValue("custom.axisPlacement", "right"),
    ]
    return panel.override_by_name(legend, own)


def with_limit(panel: timeseries.Panel, limit: float) -> timeseries.Panel:
    """A line at a value that matters."""
    steps = [Threshold(value=None, color=GREEN), Threshold(value=limit, color=RED)]
    panel = panel.thresholds(
        dashboard.ThresholdsConfig().mode(ThresholdsMode.ABSOLUTE).steps(steps)
    )
    return panel.override_by_regexp(
        ".*", [DynamicConfigValue("custom.thresholdsStyle", {"mode": "dashed"})]
    )


def rows(title: str, about: str, queries: Queries, by: str, *, ascending: str = "") -> table.Panel:
    """A table of numbers as of now, a row for each value of a label.

    Args:
        title: of the panel.
        about: what it shows.
        queries: by the column.
        by: the label.
        ascending: column that rows are sorted by; "" for the order of the label.
    """
    panel = _sized(table.Panel(), title, about, TALL, WHOLE).no_value("—")
    panel = _asking(panel, queries, instant=True, as_table=True)
    renamed = {f"Value #{ref}": legend for ref, legend in zip(_REFS, queries, strict=False)}
    shown = [by, *renamed]
    for transformation in (
        DataTransformerConfig(id_val="merge", options={}),
        DataTransformerConfig(id_val="filterFieldsByName", options={"include": {"names": shown}}),
        DataTransformerConfig(id_val="organize", options={"renameByName": renamed}),
    ):
        panel = panel.with_transformation(transformation)
    if ascending:
        first = shared.TableSortByFieldState().display_name(ascending).desc(False)
        panel = panel.sort_by([first])
    ratios = [legend for legend in queries if not legend.startswith("n ")]
    for legend in ratios:
        unit = [DynamicConfigValue("unit", "percentunit"), DynamicConfigValue("decimals", 1)]
        panel = panel.override_by_name(legend, unit)
    return panel


def linked(panel: stat.Panel, title: str, url: str) -> stat.Panel:
    """With somewhere to go from each value."""
    return panel.data_links([dashboard.DashboardLink(title).url(url).target_blank(True)])


_LATEST = shared.ReduceDataOptions().calcs(["lastNotNull"])
_REFS = "ABCDEFGHIJKLMNOP"


def _sized(panel: Any, title: str, about: str, height: int, width: int) -> Any:
    return panel.title(title).description(about).datasource(SOURCE).height(height).span(width)


def _asking(panel: Any, queries: Queries, *, instant: bool = False, as_table: bool = False) -> Any:
    for ref, (legend, expr) in zip(_REFS, queries.items(), strict=False):
        query = prometheus.Dataquery().ref_id(ref).expr(expr).legend_format(legend)
        query = query.instant() if instant else query.range()
        panel = panel.with_target(query.format(PromQueryFormat.TABLE) if as_table else query)
    return panel


def _color(color: str) -> DynamicConfigValue:
    return DynamicConfigValue("color", {"mode": "fixed", "fixedColor": color})


def in_rows(
    board: dashboard.Dashboard, sections: Mapping[str, Sequence[Any]]
) -> dashboard.Dashboard:
    """The panels under the headings of their rows."""
    for title, panels in sections.items():
        board = board.with_row(dashboard.Row(title))
        for panel in panels:
            board = board.with_panel(panel)
    return board
