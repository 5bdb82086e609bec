"""Which process sends the counts of each shard.

A state directory that was copied makes two shards that send batches under the same numbers; of two
with one number, the receiver counts one. Each process of a shard draws a name at its start, so that
the one from before is noticed where it goes on.
"""

from __future__ import annotations

SENDER_HEADER = "Precision-Monitor-Sender"
"""Name of the shard and, after a space, of the process that sends."""
MOST_SHARDS = 1024
"""Shards that are remembered, those that were new last."""
MOST_PROCESSES = 64
"""Processes of a shard that are remembered, the latest ones."""
_LONGEST = 200
"""Characters of a sender; a longer one is not of this program."""


class Senders:
    """Remembers the processes of each shard, since the start of the receiver.

    >>> senders = Senders()
    >>> [senders.is_superseded(f"shard-1 {process}") for process in ("a", "a", "b", "a", "b")]
    [False, False, False, True, False]
    """

    def __init__(self) -> None:
        self._processes: dict[str, list[str]] = {}

    def is_superseded(self, sender: str) -> bool:
        """Note a request; return whether another process of the shard began to send since.

        Args:
            sender: value of the header; "" where a request has none.
        """
        shard, _, process = sender.rpartition(" ")
        if not shard or len(sender) > _LONGEST:
            return False
        known = self._processes.setdefault(shard, [])
        if process not in known:
            known.append(process)
            del known[:-MOST_PROCESSES]
        if len(self._processes) > MOST_SHARDS:
            del self._processes[next(iter(self._processes))]
        return process != known[-1]
