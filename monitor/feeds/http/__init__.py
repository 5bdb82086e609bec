"""Feeds over HTTP: clients post events, and get 200 once these are on disk.

    app.py                 routes, and the steps of a request
    feed_settings.py       settings of a feed, and the headers of its answers
    bodies.py              reads and decompresses a body within time and size limits
    json_bodies.py         NDJSON, JSON arrays, single objects, feedback → lines
    arrow_bodies.py        Arrow streams → lines
    cloudevents.py         CloudEvents, structured, batched and binary → lines
    inference_events.py    requests and responses of inference servers → predictions
    inference_payloads.py  rows of their payloads, protocols V1 and V2
    record_limit.py        maximum number of records per request
    memory_budget.py       bounds the memory of all requests in progress
    rate_limit.py          bounds the records per second of each client
    offload.py             runs long work in a thread
    responses.py           JSON responses
    openapi.py             OpenAPI document of the routes

Storing and counting the events is up to the caller, which implements `app.Intake`.
"""

from monitor.feeds.http.app import Intake, PostedEvents, create_feed_app
from monitor.feeds.http.feed_settings import FeedSettings

__all__ = ["FeedSettings", "Intake", "PostedEvents", "create_feed_app"]
