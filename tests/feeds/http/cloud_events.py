"""CloudEvents as their own library writes them, posted to a feed."""

import datetime as dt
import json

from cloudevents.core.v1.event import CloudEvent

NOW = 1_700_000_000
MOMENT = dt.datetime(2023, 11, 14, 22, 13, 20, tzinfo=dt.UTC)
PREDICTION = {"type": "prediction", "id": "a", "ts": NOW, "prediction": 1}
PATH = "/v1/cloudevents"


def event(data, **attributes):
    given = {
        "specversion": "1.0",
        "id": "e1",
        "source": "//scorer",
        "type": "monitor.prediction",
        "time": MOMENT,
        "datacontenttype": "application/json",
        **attributes,
    }
    return CloudEvent({k: v for k, v in given.items() if v is not None}, data)


def post(feed, message, **headers):
    return feed.client.post(PATH, content=message.body, headers={**message.headers, **headers})


def stored(feed):
    return [json.loads(line) for line in feed.intake.lines.splitlines()]
