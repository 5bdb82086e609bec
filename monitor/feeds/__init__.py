"""Where events come from: bytes with a position in, columns out.

`decode` turns records into columns and is the only place that knows field
names; `files` and `tables` read files; `dead_letter` keeps what could not be
used; `acknowledgement` is the answer to events that are on disk. Whatever the
feed, a bad record is counted under one reason and the stream goes on; only a
feed that cannot be read at all raises `FeedError`.
"""
