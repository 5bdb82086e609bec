"""Watches each model against its reference: verdicts of windows, detectors by pane."""

from monitor.watch.watch import Watch

__all__ = ["Watch"]
