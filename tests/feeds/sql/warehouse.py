"""A table of labels and predictions, and a service that reads it and keeps its state on disk."""

from at_once import AtOnce
from sqlalchemy import NullPool, create_engine, text

from monitor.clock import ManualClock
from monitor.config import Config
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.feeds.sql.sql_source import SqlSource
from monitor.service.checkpointing import Checkpointer
from monitor.service.loop import Service
from monitor.state import Checkpoints, StateFaults

QUERY = "SELECT * FROM events WHERE seq >= :cursor"
FEED = {"type": "sql", "query": QUERY, "cursor": "seq"}
TABLE = (
    "CREATE TABLE events (seq INTEGER, type VARCHAR(20), id VARCHAR(20), ts FLOAT, "
    "prediction INTEGER, label INTEGER)"
)
COLUMNS = ("seq", "type", "id", "ts", "prediction", "label")


class Warehouse:
    """A database with the table `events`."""

    def __init__(self, url):
        self.url = url
        self.engine = create_engine(url, poolclass=NullPool)
        self.run(TABLE)

    def run(self, statement, *rows):
        with self.engine.begin() as connection:
            connection.execute(text(statement), list(rows) or None)

    def add(self, *events):
        """Insert events, pairs of a cursor and an event."""
        rows = [dict.fromkeys(COLUMNS) | {"seq": seq} | event for seq, event in events]
        if rows:
            self.run(
                "INSERT INTO events VALUES (:seq, :type, :id, :ts, :prediction, :label)", *rows
            )


class Rejections(list):
    def write(self, rejections):
        self.extend(rejections)


class Running:
    """A service over one database, with its state in a folder."""

    def __init__(self, folder, url, *, page_rows=10_000, read=None, **feed):
        self.config = Config(
            feeds=[{**FEED, "url": url, **feed}],
            state={"directory": folder, "checkpoint_every": "10s"},
        )
        self.clock, self.reported, self.rejected = ManualClock(1_790_000_000), [], Rejections()
        self.source = SqlSource(
            self.config.feeds[0],
            Decoder(DecodeSettings.from_config(self.config)),
            self.clock,
            self.reported.append,
            worker=AtOnce(),
            page_rows=page_rows,
            read=read,
        )
        self.service = Service(
            self.config,
            [self.source],
            clock=self.clock,
            rejected=self.rejected,
            say=self.reported.append,
            checkpointer=Checkpointer(
                self.config,
                Checkpoints(folder / "checkpoints"),
                faults=StateFaults(),
                clock=self.clock,
                say=self.reported.append,
                writer=AtOnce(),
            ),
        )

    @property
    def monitor(self):
        return self.service._monitor

    @property
    def records(self):
        return self.monitor.snapshot().records

    def turns(self, number, seconds=60.0):
        for _ in range(number):
            self.clock.sleep(seconds)
            self.service.turn()
        return self
