# ruff: noqa: INP001  # scripts beside what they write, no package
"""Fleet: which model needs a look?"""

from __future__ import annotations

import choices
import parts
import verdicts
from grafana_foundation_sdk.builders.dashboard import Dashboard
from grafana_foundation_sdk.models.dashboard import DynamicConfigValue

_WINDOW = choices.among(choices.MONITORS, 'window="$window"', 'class=""')
_WINDOWS = f"classifier_window_info{choices.MONITORS}"
_TOTALS = choices.among(_WINDOW, 'segment=""')
_MODEL = "${__value.text:percentencode}"
_VERDICT, _REASON, _LABELS, _LAST = "verdict", "why it is open", "labels", "last event"
_RATIO, _REFERENCE_RATIO = "class ratio", "class ratio of the reference"


def fleet() -> Dashboard:
    """Return the dashboard with a row for each model."""
    board = parts.new(
        "Precision monitor: fleet",
        "precision-monitor-fleet",
        "Which model needs a look? Pages come first, then certain falls, then what else moved. A "
        "click on a model leads on.",
        "7d",
    )
    for variable in choices.monitors():
        board = board.with_variable(variable)
    board = (
        board.with_variable(
            choices.choice(
                "window", "Window", f"classifier_window_info{choices.MONITORS}", "window"
            )
        )
        .with_variable(choices.runbooks())
        .with_variable(choices.page())
    )
    return parts.in_rows(
        board,
        {
            "Models": [_models()],
            "Over time": [
                _over_time("Precision", "classifier_precision_ratio"),
                _over_time("Balanced precision", "classifier_balanced_precision_ratio"),
            ],
        },
    )


def _mean(series: str, where: str = _TOTALS) -> str:
    return f"avg by (model) ({series}{where})"


def _models() -> object:
    watermark = f"precision_monitor_model_watermark_timestamp_seconds{choices.MONITORS}"
    panel = parts.rows(
        "Models, the most urgent first",
        "As of now, in the chosen window. Where several monitors see a model, the most urgent "
        "verdict and the mean of their numbers. A verdict is red while the model pages.",
        {
            _VERDICT: verdicts.state(choices.MONITORS, _WINDOW),
            _REASON: verdicts.reason(_WINDOW),
            "precision": _mean("classifier_precision_ratio"),
            "balanced precision": _mean("classifier_balanced_precision_ratio"),
            _RATIO: _mean("classifier_class_ratio"),
            _REFERENCE_RATIO: _mean("classifier_reference_class_ratio", choices.MONITORS),
            _LABELS: verdicts.label_status(_WINDOW),
            _LAST: f"1000 * max by (model) ({watermark})",
        },
        "model",
        ascending=_VERDICT,
    )
    for column, words, cell in (
        (_VERDICT, verdicts.STATE_WORDS, "color-background"),
        (_REASON, verdicts.REASON_WORDS, "auto"),
        (_LABELS, verdicts.STATUS_WORDS, "color-text"),
    ):
        panel = parts.in_words(panel, column, words, cell)
    plain = [DynamicConfigValue("unit", "short"), DynamicConfigValue("decimals", 4)]
    for column in (_RATIO, _REFERENCE_RATIO):
        panel = panel.override_by_name(column, plain)
    panel = panel.override_by_name(_LAST, [DynamicConfigValue("unit", "dateTimeFromNow")])
    chosen = (
        f"?var-model={_MODEL}&var-window=${{window}}&${{job:queryparam}}&${{datasource:queryparam}}"
    )
    return parts.leading_on(
        panel,
        "model",
        {
            "On call: what moved": f"/d/precision-monitor-on-call{chosen}",
            "Model detail: which segment": f"/d/precision-monitor-model-detail{chosen}",
            "The monitor's page": f"${{page}}?model={_MODEL}",
        },
    )


def _over_time(title: str, series: str) -> object:
    return parts.lines(title, "By model.", {"{{model}}": _mean(series)})
