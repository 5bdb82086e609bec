"""Events that are posted: what a request must look like, and what it is told.

    app.py        the routes, and what happens to a request on its way
    bodies.py     a body is read within its deadline and its size, and unpacked
    envelopes.py  NDJSON, a JSON array, one object, feedback: all become lines
    arrow.py      rows of an Arrow stream: likewise
    cloudevents.py  CloudEvents, structured, batched and binary: likewise
    inference.py  what inference servers log: requests and responses become predictions
    payloads.py   rows out of these
    bounds.py     how many records a request may hold
    beside.py     short work at once, long work in a thread
    room.py       how many bytes may be on their way at a time
    answers.py    what clients are told
    openapi.py    the same, for machines

An answer of 2xx means that the events are on disk. Where they are kept and who
counts them is none of this package's business: see `app.Intake`.
"""

from monitor.feeds.http.app import Arrived, FeedSettings, Intake, create_feed_app

__all__ = ["Arrived", "FeedSettings", "Intake", "create_feed_app"]
