# ruff: noqa: INP001  # scripts beside what they write, no package
"""What a person chooses at the head of a dashboard, the matchers of it, and annotations."""

from __future__ import annotations

from grafana_foundation_sdk.builders import dashboard
from grafana_foundation_sdk.models.dashboard import (
    DataSourceRef,
    VariableOption,
    VariableRefresh,
    VariableSort,
)

SOURCE = DataSourceRef(type_val="prometheus", uid="${datasource}")
_PLACE = 'job=~"$job",instance=~"$instance"'
MONITORS = f"{{{_PLACE}}}"
MODEL = f'{{{_PLACE},model="$model",class=""}}'
WINDOW = f'{{{_PLACE},model="$model",window="$window",class=""}}'
TOTALS = f'{{{_PLACE},model="$model",window="$window",segment="",class=""}}'
CLASSES = f'{{{_PLACE},model="$model",class!=""}}'
CLASSES_OF_WINDOW = f'{{{_PLACE},model="$model",window="$window",class!=""}}'
BY_SEGMENT = f'{{{_PLACE},model="$model",window="$window",segment="$segment"}}'
"""Matchers for the choices at the head of a dashboard."""


def among(where: str, *matchers: str) -> str:
    """Matchers with further ones.

    Args:
        where: such as `MODEL`.
        matchers: such as `label="fraud"`.
    """
    return f"{where[:-1]},{','.join(matchers)}}}"


def runbooks() -> dashboard.TextBoxVariable:
    """Return the variable with the address of the project's documents."""
    return (
        dashboard.TextBoxVariable("runbooks")
        .label("Documents at")
        .description("Address of this project as your team reads it, with its final slash.")
        .default_value("")
    )


def page() -> dashboard.TextBoxVariable:
    """Return the variable with the address of the monitor's own page."""
    return (
        dashboard.TextBoxVariable("page")
        .label("Monitor at")
        .description("Address of the monitor's page, as your browser reaches it.")
        .default_value("http://127.0.0.1:9108/")
    )


def choice(name: str, label: str, series: str, of: str) -> dashboard.QueryVariable:
    """A variable of the values that a label has."""
    return (
        dashboard.QueryVariable(name)
        .label(label)
        .datasource(SOURCE)
        .query(f"label_values({series}, {of})")
        .refresh(VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(VariableSort.NATURAL_ASC)
    )


def monitors(*, one: bool = False) -> list[dashboard.QueryVariable]:
    """Return the variables that choose scrape jobs and instances: all of them at first.

    Args:
        one: a single instance is chosen.
    """
    info = "precision_monitor_build_info"
    instance = choice("instance", "Monitor", f'{info}{{job=~"$job"}}', "instance")
    return [_several(choice("job", "Job", info, "job")), instance if one else _several(instance)]


def of_a_model(board: dashboard.Dashboard) -> dashboard.Dashboard:
    """Add the variables of a dashboard about one model in one window."""
    windows = f"classifier_window_info{MODEL}"
    for variable in (
        *monitors(),
        choice("model", "Model", f"classifier_window_info{MONITORS}", "model"),
        choice("window", "Window", windows, "window"),
    ):
        board = board.with_variable(variable)
    return board


def _several(variable: dashboard.QueryVariable) -> dashboard.QueryVariable:
    everything = VariableOption(text="All", value="$__all", selected=True)
    return variable.multi(True).include_all(True).all_value(".*").current(everything)


def deployments() -> dashboard.AnnotationQuery:
    """Return the annotations at which another version of the model began to predict.

    A canary of little traffic is marked once, however rarely it predicts. Nothing is marked
    where the monitor itself was away, or sees the model for the first time.
    """
    info = f"classifier_version_info{MODEL}"
    return (
        dashboard.AnnotationQuery()
        .name("Deployments")
        .datasource(SOURCE)
        .enable(True)
        .icon_color("blue")
        .expr(
            f"({info} unless last_over_time({info}[2h] offset 5m))"
            f" and on (job, instance, model) classifier_model_info{MODEL} offset 5m"
        )
    )


def degradations() -> dashboard.AnnotationQuery:
    """While the model pages."""
    return (
        dashboard.AnnotationQuery()
        .name("Model degraded")
        .datasource(SOURCE)
        .enable(True)
        .icon_color("red")
        .expr(f"classifier_degradation_detected{MODEL} == 1")
    )
