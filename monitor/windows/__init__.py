"""Panes of event time, and the windows over them: which outcomes count now."""

from monitor.windows.windows import Windows

__all__ = ["Windows"]
