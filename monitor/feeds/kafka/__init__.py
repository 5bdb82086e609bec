"""Feeds of Kafka topics; the client library is an extra, which only this package imports.

    installed.py            tells whether the client library is there
    client.py               creates a consumer of confluent-kafka from a feed's settings
    properties.py           reads client settings from a file
    messages.py             converts message values to lines, with the position of each
    value_lines.py          values that are not JSON, as lines of JSON
    avro_values.py          records of Avro values
    protobuf_values.py      records of Protobuf values
    schema_registry.py      the registry's client, and the schemas that values refer to
    value_queue.py          messages that wait, in order, until their values are decoded
    partition.py            progress of one partition: read, delivered, skipped
    schedule.py             which partition's messages are delivered next, by message time
    offsets.py              the offset at which a partition is resumed
    assigned_partitions.py  assignment, revocation, loss and commits of partitions
    source.py               the source that combines them
    latest_messages.py      the messages that topics hold now, for `init`

The checkpoint is authoritative: a partition resumes at the offset in it, which belongs to
the counters in the same file. Offsets are committed to the group afterwards, for
monitoring tools and for the next reader of the partition.
"""
