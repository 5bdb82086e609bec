"""`precision-monitor demo --alerts`: two faults in turn, and who is told of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import fill

from monitor import metrics
from monitor.cli.output import show, tell
from monitor.cli.shutdown import cleared_by_sigterm
from monitor.clock import Clock, SystemClock
from monitor.demo.faults.programs import installed, running
from monitor.demo.faults.rules import hurried_rules
from monitor.demo.faults.stream import NORMAL, RARER, REFERENCE_DAYS, WORSE, Days, World, config
from monitor.demo.faults.webhook import Told, Webhook
from monitor.engine import Monitor
from monitor.snapshot import Snapshot

TICKET, PAGE = "PrevalenceShift", "ModelDegraded"

_DAY_SECONDS = 0.5
"""Wall time of a simulated day."""
_NORMAL_DAYS = REFERENCE_DAYS + 3
_QUIET_DAYS = 7
"""So long the first fault goes on after its alert, to see that no page follows."""
_MOST_SECONDS = 90.0
"""Wall time for an alert to arrive."""
_WIDTH = 79

_INTRODUCTION = """\
A simulated model is watched by this monitor, a Prometheus and an Alertmanager, all
on this machine; half a second is a day. First positives become half as frequent,
then the model gets worse. Precision falls both times. Who is told what?
"""


def run() -> int:
    """Put the two faults on the model; exit code 0 if the right people were told, else 1."""
    from monitor.exporter.app import create_app  # noqa: PLC0415  # --help need not wait for it
    from monitor.web.server import BackgroundServer  # noqa: PLC0415  # same

    installed()
    show(_INTRODUCTION)
    webhook, clock = Webhook(), SystemClock()
    story = _Story(webhook.new, clock)
    app = create_app(lambda: story.snapshot, ready=lambda: True)
    with (
        cleared_by_sigterm(),
        TemporaryDirectory(prefix="precision-monitor-") as folder,
        BackgroundServer(app) as served,
        BackgroundServer(webhook.app) as receiver,
        running(
            Path(folder),
            rules=hurried_rules(config()),
            monitor=served.port,
            webhook=f"{receiver.url}/alerts",
            clock=clock,
        ) as programs,
    ):
        show(f"monitor {served.url}/metrics, Prometheus {programs.prometheus},")
        show(f"Alertmanager {programs.alertmanager}\n")
        return story.tell()


class _Story:
    """The days as they pass, and what is told on each.

    Args:
        told: gives the alerts that have arrived since it was last asked.
        clock: days pass by it.

    Attributes:
        snapshot: the state of the monitor.
    """

    def __init__(self, told: Callable[[], list[Told]], clock: Clock) -> None:
        self._new, self._clock = told, clock
        self._days, self._monitor = Days(), Monitor(config())
        self._all: list[Told] = []
        self.snapshot: Snapshot = self._monitor.snapshot()

    def tell(self) -> int:
        """Live through the days; what the exit code should be."""
        for _ in range(_NORMAL_DAYS):
            self._day(NORMAL)
        show(f"{self._when()}all is well{self._numbers()}")
        show(f"{self._when()}FAULT: positives become half as frequent")
        came = self._until(RARER, TICKET)
        for _ in range(_QUIET_DAYS):
            self._day(RARER)
        first = list(self._all)
        show(f"{self._when()}{_QUIET_DAYS} more days of it{self._numbers()}")
        show(f"{self._when()}FAULT: on top of it the model misses twice as many positives")
        came = self._until(WORSE, PAGE) and came
        return _verdict(first, self._all[len(first) :]) if came else self._missed()

    def _until(self, world: World, alert: str) -> bool:
        """Days pass until an alert has arrived; whether it did."""
        deadline = self._clock.monotonic() + _MOST_SECONDS
        while alert not in {told.name for told in self._all}:
            if self._clock.monotonic() > deadline:
                return False
            self._day(world)
        return True

    def _day(self, world: World) -> None:
        self._monitor.apply(self._days.next(world))
        self.snapshot = self._monitor.snapshot()
        self._clock.sleep(_DAY_SECONDS)
        for told in self._new():
            self._all.append(told)
            text = f"{told.severity.upper()} {told.name}: {told.summary}"
            show(fill(text, _WIDTH, initial_indent=self._when(), subsequent_indent=" " * 8))

    def _when(self) -> str:
        return f"day {self._days.done:<4}"

    def _numbers(self) -> str:
        counts = self.snapshot.windows[0].counts[0]
        return (
            f": precision {float(metrics.precision(counts)):.3f}, "
            f"balanced precision {float(metrics.balanced_precision(counts)):.3f}"
        )

    def _missed(self) -> int:
        names = ", ".join(told.name for told in self._all) or "none"
        tell(f"an alert did not arrive within {_MOST_SECONDS:.0f} seconds; those that did: {names}")
        return 1


def _verdict(first: Sequence[Told], second: Sequence[Told]) -> int:
    """What is to be seen, if it is to be seen."""
    pages = [[told.name for told in part if told.severity == "page"] for part in (first, second)]
    if pages != [[], [PAGE]] or TICKET not in {told.name for told in first}:
        tell(f"not as it should be: pages of the first fault {pages[0]}, of the second {pages[1]}")
        return 1
    show("\nRarer positives were a ticket, the worse model a page; nobody was woken before.")
    return 0
