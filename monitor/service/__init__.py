"""The running process: feeds → engine → exporter.

    sources.py       what the configured feeds give, whenever there is something
    event_clock.py   event time as it goes on while nothing comes
    loop.py          reads, counts, and publishes a snapshot once a second
    liveness.py      signs of life, and for how long there was none
    reloads.py       the configuration is read again: all of it, or nothing
    doors.py         who reaches the listeners
    changes.py       what of it can be taken without a restart

One thread reads and counts; the exporter's threads only read the snapshot that
was published last, which is frozen.

Where this differs from a single module, good sense won: a feed that is followed
has a life of its own, and event time is worth a test of its own.
"""

from monitor.service.loop import Service

__all__ = ["Service"]
