"""`precision-monitor demo --alerts`: two faults in turn, and the alerts of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import fill

from monitor import metrics
from monitor.cli.output import show, tell
from monitor.cli.shutdown import cleared_by_sigterm
from monitor.clock import Clock, SystemClock
from monitor.demo.faults.hurried_rules import hurried_rules
from monitor.demo.faults.programs import installed, running
from monitor.demo.faults.simulation import (
    NORMAL,
    RARER,
    REFERENCE_DAYS,
    WORSE,
    DailyEvents,
    World,
    config,
)
from monitor.demo.faults.webhook import ReceivedAlert, Webhook
from monitor.engine import Monitor
from monitor.snapshot import Snapshot

TICKET, PAGE = "PrevalenceShift", "ModelDegraded"

_DAY_SECONDS = 0.5
"""Wall time of a simulated day."""
_NORMAL_DAYS = REFERENCE_DAYS + 3
_QUIET_DAYS = 7
"""Days with the first fault after its alert, to see that no page follows."""
_MOST_SECONDS = 90.0
"""Maximum wall time until an alert arrives."""
_WIDTH = 79

_INTRODUCTION = """\
This monitor, a Prometheus and an Alertmanager, all on this machine, monitor a
simulated model; half a second is a day. First positives become half as frequent,
then the model gets worse. Precision falls both times. Which alerts fire?
"""


def run() -> int:
    """Inject the two faults.

    Returns:
        0 if each fault raised the expected alerts only, else 1.

    Raises:
        UsageError: Prometheus or Alertmanager is missing, or does not start.
    """
    from monitor.exporter.app import create_app  # noqa: PLC0415  # not needed for --help
    from monitor.web.server import BackgroundServer  # noqa: PLC0415  # same

    installed()
    show(_INTRODUCTION)
    webhook, clock = Webhook(), SystemClock()
    days = _SimulatedDays(webhook.new, clock)
    app = create_app(lambda: days.snapshot, ready=lambda: True)
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
        return days.run()


class _SimulatedDays:
    """The simulated days, and the alerts on each.

    Args:
        new_alerts: returns the alerts received since its last call.
        clock: paces the days.

    Attributes:
        snapshot: the current snapshot of the monitor.
    """

    def __init__(self, new_alerts: Callable[[], list[ReceivedAlert]], clock: Clock) -> None:
        self._new, self._clock = new_alerts, clock
        self._days, self._monitor = DailyEvents(), Monitor(config())
        self._all: list[ReceivedAlert] = []
        self.snapshot: Snapshot = self._monitor.snapshot()

    def run(self) -> int:
        """Simulate all days; return the exit code."""
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
        """Simulate days until an alert arrives; return False if it does not."""
        deadline = self._clock.monotonic() + _MOST_SECONDS
        while alert not in {received.name for received in self._all}:
            if self._clock.monotonic() > deadline:
                return False
            self._day(world)
        return True

    def _day(self, world: World) -> None:
        self._monitor.apply(self._days.next(world))
        self.snapshot = self._monitor.snapshot()
        self._clock.sleep(_DAY_SECONDS)
        for alert in self._new():
            self._all.append(alert)
            text = f"{alert.severity.upper()} {alert.name}: {alert.summary}"
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
        names = ", ".join(alert.name for alert in self._all) or "none"
        tell(f"an alert did not arrive within {_MOST_SECONDS:.0f} seconds; received: {names}")
        return 1


def _verdict(first: Sequence[ReceivedAlert], second: Sequence[ReceivedAlert]) -> int:
    """Print the conclusion if the alerts are as expected; return the exit code."""
    pages = [[a.name for a in alerts if a.severity == "page"] for alerts in (first, second)]
    if pages != [[], [PAGE]] or TICKET not in {alert.name for alert in first}:
        tell(f"unexpected alerts: pages of the first fault {pages[0]}, of the second {pages[1]}")
        return 1
    show("\nRarer positives opened a ticket, the worse model a page; no page came before.")
    return 0
