"""Topics of a Kafka cluster; the client is an extra, which nothing outside of this folder needs.

    client.py      a consumer of the confluent-kafka library, by the settings of a feed
    properties.py  settings of the client in a file of their own
    messages.py    message values as lines, and where each of them stood
    partition.py   one partition: what was read of it, what was given, what was skipped
    schedule.py    which partition's messages are given next, by the time of the messages
    offsets.py     where a partition is to be read on from
    share.py       the partitions that are ours: assigned, given away, lost, committed
    source.py      the parts together, as a source with a position

The checkpoint is what counts: a partition goes on from the offset in it, together with
the counters that lie in the same file. What is committed to the group follows it, for
people and their tools to see, and for whoever reads the partition next.
"""

import importlib.util


def is_installed() -> bool:
    """Whether the client is there; nothing of it is imported."""
    return importlib.util.find_spec("confluent_kafka") is not None
