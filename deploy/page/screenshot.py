# ruff: noqa: INP001  # a script beside what it writes, no package
"""Takes the picture of the page that the README shows: July and September 2013 of the flights.

It shows the sections When and Why down to the sum of the causes, without the form and the text.

pip install playwright    (and chromium on the PATH)
python deploy/page/screenshot.py [FILE]
"""

import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path

from playwright.sync_api import FloatRect, sync_playwright

from monitor import Monitor
from monitor.clock import SystemClock
from monitor.demo.flights import MODEL, flights, flights_config
from monitor.demo.playback import playback
from monitor.exporter.app import create_app
from monitor.web.server import BackgroundServer

FILE = Path(__file__).with_name("page.png")
NOW = datetime(2013, 10, 3, tzinfo=UTC)
"""September is labelled in full by then."""
COMPARED = f"?model={MODEL}&before=2013-07&after=2013-09"
LEFT_OUT = (
    "#choose, #when details, .readout, .key:not(:has(svg)), #why .verdict ~ p:not(.counterfactual)"
)
WIDTH, HEIGHT = 850, 1000
MARGIN = 8
PATIENCE_SECONDS = 60


def watched() -> Monitor:
    """Return the demo's monitor as it stands at `NOW`."""
    config = flights_config()
    monitor = Monitor(config)
    for batch in playback(flights(config), seconds=0, clock=SystemClock()):
        if (monitor.watermark_ms or 0) >= NOW.timestamp() * 1000:
            break
        monitor.apply(batch)
    return monitor


def main(file: Path) -> None:
    """Write the picture."""
    monitor = watched()
    snapshot = monitor.snapshot()
    app = create_app(
        lambda: snapshot,
        ready=lambda: True,
        read_engine=lambda read: read(monitor),
        patience=PATIENCE_SECONDS,
    )
    with BackgroundServer(app) as server, sync_playwright() as started:
        browser = started.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=["--no-sandbox", "--disable-dev-shm-usage"],
        )
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
        page.goto(f"{server.url}/{COMPARED}")
        page.evaluate("out => document.querySelectorAll(out).forEach(e => e.remove())", LEFT_OUT)
        top = page.locator("#when").bounding_box()
        bottom = page.locator("#why .counterfactual").bounding_box()
        if top is None or bottom is None:
            raise SystemExit("the page lacks #when or the sum of #why: see LEFT_OUT")
        first, end = top["y"] - MARGIN, bottom["y"] + bottom["height"] + MARGIN
        clip: FloatRect = {"x": 0, "y": first, "width": WIDTH, "height": end - first}
        page.screenshot(path=file, full_page=True, clip=clip)
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FILE)
