"""Pictures of the page in every state that it can be in, to look at one by one.

    python -m tests.exporter.page.pictures DIRECTORY [CASE …]

Each case is a monitor that has counted a seeded stream; its page is drawn in Chromium, for a
desk and for a phone, light and dark, and once for print. The same program draws the same
pictures. Standard output has a line for each picture, and says where a page is wider than its
screen or where the browser complained.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from playwright import sync_api as playwright

from monitor.config import Config
from monitor.demo.flights import MODEL as FLIGHTS
from monitor.demo.flights import flights, flights_config
from monitor.engine import Monitor
from monitor.exporter.api.engine_access import EngineUnavailableError
from monitor.exporter.app import create_app
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.web.server import BackgroundServer

START = 1_767_225_600
"""Midnight of 1 January 2026, epoch seconds."""
DAY = 86_400
SCREENS = {"desk": (1280, 900), "phone": (390, 844)}
_SHAPES = {1: (6.0, 2.5), 0: (1.6, 9.0)}
_SHADOW_FROM = 9
_WORSE = {1: (3.0, 3.5), 0: (2.2, 8.0)}


class Stream(NamedTuple):
    """Scored predictions of one model, and labels some hours later.

    Attributes:
        model: its name.
        days: that it has predicted for.
        a_day: predictions a day.
        prevalence: share of actual positives.
        changes: from this day on, what follows holds; the last day for none.
        rarer: the share of actual positives is divided by this.
        worse: the scores separate the classes worse.
        dead: nothing is flagged any more.
        labels_until: day of the last label; 0 for no labels at all.
        versions: of the model, before and after the change.
        segments: keys, each with its values.
        canary: share of the predictions that change; the others stay with the first version.
        shadow: version that scores every case from the tenth day on; "" for none.
    """

    model: str
    days: float = 45.0
    a_day: int = 700
    prevalence: float = 0.12
    changes: float = 10_000.0
    rarer: float = 1.0
    worse: bool = False
    dead: bool = False
    labels_until: float = 10_000.0
    versions: tuple[str, str] = ("", "")
    segments: Mapping[str, tuple[str, ...]] = {}
    canary: float = 1.0
    shadow: str = ""

    def events(self, seed: int) -> list[tuple[float, dict[str, Any]]]:
        """Return its events, each with its time."""
        rng = np.random.default_rng(seed)
        size = int(self.days * self.a_day)
        days = np.sort(rng.uniform(0, self.days, size))
        late = days >= self.changes
        if self.canary < 1:
            late &= rng.uniform(size=size) < self.canary
        positive = rng.uniform(size=size) < self.prevalence / np.where(late, self.rarer, 1.0)
        scores = np.empty(size)
        for actual in (0, 1):
            for changed in (False, True):
                rows = np.flatnonzero((positive == actual) & (late == changed))
                shape = (_WORSE if self.worse and changed else _SHAPES)[actual]
                scores[rows] = rng.beta(*shape, len(rows))
        if self.dead:
            scores[late] *= 0.45
        delays = rng.lognormal(1.5, 0.8, size) / 24
        values = {key: rng.choice(found, size) for key, found in self.segments.items()}
        found: list[tuple[float, dict[str, Any]]] = []
        for row in range(size):
            event: dict[str, Any] = {
                "type": "prediction",
                "id": f"{self.model}-{row}",
                "ts": round(START + DAY * float(days[row]), 3),
                "model": self.model,
                "score": round(float(scores[row]), 4),
                "prediction": int(scores[row] >= 0.5),
            }
            if version := self.versions[int(late[row])]:
                event["version"] = version
            if values:
                event["segment"] = {key: str(column[row]) for key, column in values.items()}
            found.append((event["ts"], event))
            if self.shadow and days[row] >= _SHADOW_FROM:
                other = int(scores[row] + rng.normal(0, 0.1) >= 0.5)
                shadow = event | {"version": self.shadow, "prediction": other}
                found.append((event["ts"], shadow))
            labelled = float(days[row] + delays[row])
            if labelled < min(self.days, self.labels_until):
                ts = round(START + DAY * labelled, 3)
                label = {"type": "label", "id": event["id"], "ts": ts, "label": int(positive[row])}
                found.append((ts, label))
        return found


class ClassedStream(NamedTuple):
    """Labelled predictions of a model of many classes.

    Attributes:
        classes: how many.
        a_day: predictions a day.
        changes: from this day on, more of the first class is predicted as the second.
    """

    classes: int
    a_day: int = 2_000
    changes: float = 10_000.0

    @property
    def names(self) -> list[str]:
        """Names of the classes, long ones as well."""
        first = ["card", "loan", "mortgage", "current account", "other"]
        return (first + [f"product {number}" for number in range(6, 99)])[: self.classes]

    def events(self, seed: int) -> list[tuple[float, dict[str, Any]]]:
        """Return its events, each with its time."""
        rng, size, days = np.random.default_rng(seed), int(45 * self.a_day), 45.0
        at = np.sort(rng.uniform(0, days, size))
        shares = np.linspace(2.0, 1.0, self.classes)
        actual = rng.choice(self.classes, size, p=shares / shares.sum())
        rates = rng.dirichlet(np.full(self.classes, 0.5), self.classes) * 0.14
        np.fill_diagonal(rates, 0.0)
        rates += np.diag(1 - rates.sum(axis=1))
        later = rates.copy()
        later[0, :2] += [-0.2, 0.2]
        late = (at >= self.changes)[:, None]
        below = np.where(late, later.cumsum(axis=1)[actual], rates.cumsum(axis=1)[actual])
        predicted = (rng.uniform(size=size)[:, None] > below).sum(axis=1).clip(0, self.classes - 1)
        names, times = self.names, (START + DAY * at).round(3)
        return [
            (
                t,
                {
                    "type": "outcome",
                    "ts": t,
                    "model": "mail",
                    "prediction": names[p],
                    "label": names[a],
                },
            )
            for t, p, a in zip(times.tolist(), predicted.tolist(), actual.tolist(), strict=True)
        ]


class Case(NamedTuple):
    """A page to draw.

    Attributes:
        make: returns the monitor.
        path: of the page, behind the address.
        busy: the history cannot be read.
        print: it is drawn as it is printed.
    """

    make: Callable[[], Monitor]
    path: str = "/"
    busy: bool = False
    print: bool = False


def monitor_of(*streams: Stream, seed: int = 1, **settings: Any) -> Monitor:
    """Return a monitor that has counted some streams.

    Args:
        streams: the models.
        seed: of all chance.
        settings: of every model; `label_timeout` is 14 days unless it says otherwise.
    """
    keys = sorted({key for stream in streams for key in stream.segments})
    keys += ["version"] * any(stream.canary < 1 or stream.shadow for stream in streams)
    defaults = {"label_timeout": "14d", "segments": keys, **settings}
    config = Config(defaults=defaults, windows=["1d", "7d", "28d"], pane="10m")
    monitor = Monitor(config)
    decoder = Decoder(DecodeSettings.from_config(config))
    events = [
        event for number, one in enumerate(streams) for event in one.events(1_000 * seed + number)
    ]
    events.sort(key=lambda event: event[0])
    lines = msgspec.json.Encoder().encode_lines([event for _, event in events])
    monitor.apply(decoder.decode_lines(lines, source="pictures", first_line=1))
    return monitor


def classed(stream: ClassedStream) -> Monitor:
    """Return a monitor that has counted a stream of a model of many classes."""
    model = {"classes": stream.names, "label_timeout": "2d", "maturity": "1h"}
    config = Config(models={"mail": model}, windows=["1d", "7d"], pane="1h")
    monitor, decoder = Monitor(config), Decoder(DecodeSettings.from_config(config))
    lines = msgspec.json.Encoder().encode_lines([event for _, event in stream.events(3)])
    monitor.apply(decoder.decode_lines(lines, source="pictures", first_line=1))
    return monitor


def demo() -> Monitor:
    """Return the monitor of the bundled flights."""
    monitor = Monitor(flights_config())
    monitor.apply(flights(monitor.config))
    return monitor


def fleet() -> Monitor:
    """Return a monitor of thirty models, most of them as ever."""
    odd = {
        3: {"rarer": 2.5},
        7: {"worse": True},
        11: {"dead": True},
        16: {"labels_until": 30.0},
        19: {"labels_until": 0.0},
        23: {"days": 3.0},
    }
    names = ("fraud", "churn", "spam", "default", "returns", "abuse")
    return monitor_of(
        *(
            Stream(f"{names[i % 6]}-{i // 6 + 1}", a_day=150, changes=33.0)._replace(
                **odd.get(i, {})
            )
            for i in range(30)
        )
    )


_SHOPS = {
    "region": ("north", "south", "west"),
    "channel": ("web", "app", "phone"),
    "tier": ("new", "regular", "gold"),
}
CASES: Mapping[str, Case] = {
    "demo": Case(demo, f"/?model={FLIGHTS}&before=2013-07&after=2013-09"),
    "fleet": Case(fleet),
    "no-labels": Case(lambda: monitor_of(Stream("fraud", labels_until=0.0))),
    "first-day": Case(lambda: monitor_of(Stream("fraud", days=0.9))),
    "degraded": Case(lambda: monitor_of(Stream("fraud", a_day=2_000, changes=36.0, worse=True))),
    "dead": Case(lambda: monitor_of(Stream("fraud", changes=43.5, dead=True))),
    "prevalence": Case(lambda: monitor_of(Stream("fraud", a_day=2_000, changes=33.0, rarer=3.0))),
    "labels-lost": Case(lambda: monitor_of(Stream("fraud", labels_until=32.0), label_timeout="7d")),
    "canary": Case(
        lambda: monitor_of(
            Stream("fraud", changes=30.0, versions=("v7", "v8")),
            Stream("fraud-canary", days=45.0, a_day=40, versions=("v9", "v9")),
        ),
        "/?model=fraud",
    ),
    "versions": Case(
        lambda: monitor_of(
            Stream(
                "fraud",
                a_day=2_000,
                changes=33.0,
                worse=True,
                versions=("v7", "v8"),
                canary=0.25,
                segments={"region": ("north", "south", "west")},
            )
        )
    ),
    "versions-open": Case(
        lambda: monitor_of(Stream("fraud", changes=41.0, versions=("v7", "v8-hotfix"), canary=0.2))
    ),
    "versions-long": Case(
        lambda: monitor_of(
            Stream(
                "fraud",
                changes=33.0,
                worse=True,
                versions=(
                    "registry.example.com/risk/fraud-scorer:2026-01-04-5f2c9e1b7a4d3c8e6f0a",
                    "registry.example.com/risk/fraud-scorer:2026-02-03-9d8c7b6a5f4e3d2c1b0a",
                ),
                canary=0.25,
            )
        )
    ),
    "shadow": Case(
        lambda: monitor_of(
            Stream("fraud", versions=("v7", "v8"), shadow="v8-shadow"),
            shadow_versions=["*-shadow"],
        )
    ),
    "deployed": Case(
        lambda: monitor_of(
            Stream("fraud", a_day=2_000, changes=41.5, worse=True, versions=("v7", "v8"))
        )
    ),
    "segments": Case(
        lambda: monitor_of(
            Stream("fraud", a_day=1_500, changes=33.0, rarer=2.0, segments=_SHOPS),
            objective={"precision": 0.7},
        )
    ),
    "print": Case(
        lambda: monitor_of(Stream("fraud", a_day=2_000, changes=33.0, rarer=3.0)), print=True
    ),
    "classes": Case(lambda: classed(ClassedStream(5, changes=36.0))),
    "classes-steady": Case(lambda: classed(ClassedStream(5))),
    "classes-30": Case(lambda: classed(ClassedStream(30, a_day=6_000, changes=36.0))),
    "busy": Case(lambda: monitor_of(Stream("fraud"), Stream("churn")), "/?model=fraud", busy=True),
}
"""By name."""


@contextmanager
def served(case: Case) -> Iterator[str]:
    """Serve the monitor of a case; yield the address of its page."""
    monitor = case.make()
    state = monitor.snapshot()

    def read(ask: Callable[[Monitor], Any]) -> Any:
        if case.busy:
            raise EngineUnavailableError("history: the monitor is too busy to look back; try again")
        return ask(monitor)

    with BackgroundServer(create_app(lambda: state, ready=lambda: True, read_engine=read)) as run:
        yield f"{run.url}{case.path}"


def draw(browser: playwright.Browser, name: str, folder: Path) -> Iterator[str]:
    """Draw all pictures of a case.

    Args:
        browser: to draw with.
        name: of the case.
        folder: to write to.

    Yields:
        A line for each.
    """
    case = CASES[name]
    with served(case) as url:
        for screen, (width, height) in SCREENS.items():
            for scheme in ("light",) if case.print else ("light", "dark"):
                page = browser.new_page(
                    viewport={"width": width, "height": height}, color_scheme=scheme
                )
                complaints: list[str] = []
                page.on("console", lambda message, to=complaints: to.append(message.text))
                page.on("pageerror", lambda error, to=complaints: to.append(str(error)))
                page.goto(url)
                page.wait_for_load_state("networkidle")
                if case.print:
                    page.emulate_media(media="print")
                path = folder / f"{name}-{screen}-{scheme}.png"
                page.screenshot(path=path, full_page=True)
                wide = page.evaluate("document.documentElement.scrollWidth")
                faults = [f"{wide} wide"] * (wide > width) + complaints
                yield f"{path}  {'; '.join(faults) or 'in order'}"
                page.close()


def main() -> None:
    """Draw the pictures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, metavar="DIRECTORY")
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(CASES)}")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    path = shutil.which("chromium")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        for name in options.cases or CASES:
            for told in draw(browser, name, options.folder):
                print(told, flush=True)
        browser.close()


if __name__ == "__main__":
    main()
