"""A Kafka cluster in memory, with a group whose partitions move when a test asks for it.

As much of the client as the feed uses, behaving as documented:
callbacks come within `consume` and `close`, a partition is given to its next reader
once the one before has let it go, and what was paused or moved gives no message.
"""

from __future__ import annotations

import json
from collections import defaultdict

from confluent_kafka import (
    OFFSET_BEGINNING,
    OFFSET_END,
    OFFSET_STORED,
    KafkaError,
    KafkaException,
    TopicPartition,
)

UNKNOWN = -1001


class FakeMessage:
    def __init__(self, place, offset, value=None, time_ms=0, error=None):
        self._place, self._offset, self._value = place, offset, value
        self._time_ms, self._error = time_ms, error

    def topic(self):
        return self._place[0]

    def partition(self):
        return self._place[1]

    def offset(self):
        return self._offset

    def value(self):
        return self._value

    def timestamp(self):
        return 1, self._time_ms

    def error(self):
        return self._error


class FakeCluster:
    """Topics, what was committed, and who reads what."""

    def __init__(self, *places):
        self.logs = {place: [] for place in places}
        self.low = dict.fromkeys(places, 0)
        self.committed = {}
        self.commits = []
        self.members = []
        self.owner = dict.fromkeys(places)
        self.wanted = dict.fromkeys(places)

    def produce(self, place, event, time_ms=0):
        value = event if event is None or isinstance(event, bytes) else json.dumps(event).encode()
        self.logs[place].append((time_ms, value))

    def high(self, place):
        return len(self.logs[place])

    def consumer(self, feed, on_error, on_commit):
        return FakeConsumer(self, feed, on_error, on_commit)

    def spread(self, chance=None):
        """Assign all partitions anew to the present members."""
        for number, place in enumerate(sorted(self.logs)):
            if self.members:
                at = chance.randrange(len(self.members)) if chance else number % len(self.members)
                self.wanted[place] = self.members[at]

    def lose(self, member):
        """Take everything from a member without asking it."""
        for place, owner in self.owner.items():
            if owner is member:
                self.owner[place] = None
                member.lost.append(place)


class FakeConsumer:
    def __init__(self, cluster, feed, on_error, on_commit):
        self.cluster, self.feed, self.on_error, self.on_commit = cluster, feed, on_error, on_commit
        self.refusal = None
        self.at, self.paused, self.lost, self.ended = {}, set(), [], set()
        self.callbacks = None

    def subscribe(self, topics, *, on_assign, on_revoke, on_lost):
        assert topics
        self.callbacks = on_assign, on_revoke, on_lost
        self.cluster.members.append(self)
        self.cluster.spread()

    def list_topics(self, topic, timeout):
        assert timeout > 0
        assert topic in {place[0] for place in self.cluster.logs}

    def incremental_assign(self, partitions):
        for one in partitions:
            place = (one.topic, one.partition)
            stored = self.cluster.committed.get(place, (None, None))[0]
            low, high = self.get_watermark_offsets(one)
            logical = {OFFSET_STORED: stored, OFFSET_BEGINNING: low, OFFSET_END: high}
            self.at[place] = logical.get(one.offset, one.offset)

    def incremental_unassign(self, partitions):
        for one in partitions:
            self.at.pop((one.topic, one.partition), None)

    def committed(self, partitions, timeout):
        assert timeout > 0
        found = []
        for one in partitions:
            offset, text = self.cluster.committed.get((one.topic, one.partition), (UNKNOWN, None))
            found.append(TopicPartition(one.topic, one.partition, offset, metadata=text or ""))
        return found

    def commit(self, *, offsets, asynchronous):
        if self.refusal and asynchronous:
            self.on_commit(self.refusal, offsets)
            return
        if self.refusal:
            raise KafkaException(self.refusal)
        for one in offsets:
            place = (one.topic, one.partition)
            self.cluster.committed[place] = (one.offset, one.metadata)
            self.cluster.commits.append((self, place, one.offset))

    def get_watermark_offsets(self, one, **_):
        place = (one.topic, one.partition)
        return self.cluster.low[place], len(self.cluster.logs[place])

    def pause(self, partitions):
        self.paused |= {(one.topic, one.partition) for one in partitions}

    def resume(self, partitions):
        self.paused -= {(one.topic, one.partition) for one in partitions}

    def consume(self, most, timeout):
        assert timeout == 0
        if self.callbacks:
            self._rebalance()
        found = []
        for place in sorted(self.at):
            if place not in self.paused:
                found += self._fetch(place, most - len(found))
        return found[:most]

    def close(self):
        if self.callbacks:
            self.cluster.members.remove(self)
            mine = [place for place, owner in self.cluster.owner.items() if owner is self]
            self._call(1, mine)
            for place in mine:
                self.cluster.owner[place] = None
            self.cluster.spread()
        self.at.clear()

    def _rebalance(self):
        owner, wanted = self.cluster.owner, self.cluster.wanted
        if self.lost:
            self._call(2, self.lost)
            self.lost = []
        mine = [place for place, who in owner.items() if who is self]
        gone = [place for place in mine if wanted[place] is not self]
        if gone:
            self._call(1, gone)
            for place in gone:
                owner[place] = None
        free = [p for p, who in owner.items() if who is None and wanted[p] is self]
        if free:
            for place in free:
                owner[place] = self
            self._call(0, free)

    def _call(self, which, places):
        assert places == [] or len(set(places)) == len(places)
        if places:
            self.callbacks[which](self, [TopicPartition(*place) for place in places])

    def _fetch(self, place, most):
        log, low, at = self.cluster.logs[place], self.cluster.low[place], self.at[place]
        if at is None or not low <= at <= len(log):
            self.at[place] = -1
            if at == -1:
                return []
            code = KafkaError._AUTO_OFFSET_RESET
            return [FakeMessage(place, -1001, error=KafkaError(code))]
        found = []
        while self.at[place] < len(log) and len(found) < most:
            time_ms, value = log[self.at[place]]
            if value is not ...:  # compacted away
                found.append(FakeMessage(place, self.at[place], value, time_ms))
            self.at[place] += 1
        if self.at[place] == len(log) and (place, len(log)) not in self.ended:
            self.ended.add((place, len(log)))
            code = KafkaError._PARTITION_EOF
            found.append(FakeMessage(place, len(log), error=KafkaError(code)))
        return found


def places(topic, partitions):
    return [(topic, number) for number in range(partitions)]


def by_id(events, partitions):
    """Events by partition, all of one id in the same."""
    found = defaultdict(list)
    for event in events:
        found[sum(event["id"].encode()) % partitions].append(event)
    return found
