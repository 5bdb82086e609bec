"""The engine: batches of events in, snapshots out. Deterministic: no clock, no I/O."""

from monitor.engine.counting_monitor import CountingMonitor
from monitor.engine.monitor import Monitor

__all__ = ["CountingMonitor", "Monitor"]
