"""The engine: batches of events in, snapshots out. Deterministic: no clock, no I/O."""

from monitor.engine.monitor import Monitor

__all__ = ["Monitor"]
