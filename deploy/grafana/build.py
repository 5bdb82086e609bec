# ruff: noqa: INP001  # scripts beside what they write, no package
"""Writes the dashboards, by Grafana's foundation SDK for Grafana 11.6.

pip install -e . 'grafana-foundation-sdk==1769699379!11.6.0'
python deploy/grafana/build.py [FOLDER]

Words and colours of verdicts come from `monitor.report.vocabulary`.
"""

import json
import sys
from pathlib import Path

import fleet
import model_detail
import monitor_health
import on_call
from grafana_foundation_sdk.cog.encoder import JSONEncoder

ALL = {
    "fleet.json": fleet.fleet,
    "on-call.json": on_call.on_call,
    "model-detail.json": model_detail.model_detail,
    "monitor-health.json": monitor_health.monitor_health,
}
"""Each dashboard by its file."""
FOLDER = Path(__file__).with_name("dashboards")


def main(folder: Path) -> None:
    """Write every dashboard into the folder."""
    for name, make in ALL.items():
        board = make().build()
        for number, panel in enumerate(board.panels or (), start=1):
            panel.id_val = number
        text = json.dumps(board, cls=JSONEncoder, indent=2, sort_keys=True)
        (folder / name).write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
