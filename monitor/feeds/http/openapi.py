"""OpenAPI document of the feed's routes."""

from __future__ import annotations

from typing import Any

from monitor.events.columns import MAX_ID_BYTES
from monitor.events.reject_reasons import RejectReason
from monitor.feeds.http.arrow_bodies import MEDIA_TYPE
from monitor.version import __version__

_RETRY = {"Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}}}
_CHALLENGE = {
    "WWW-Authenticate": {
        "description": "Accepted schemes: Bearer, Basic.",
        "schema": {"type": "string"},
    }
}
_STATE = {
    "Precision-Monitor-State": {
        "description": "Identity of the state that has the events. A request that names another "
        "one in this header is refused.",
        "schema": {"type": "string"},
    },
    "Precision-Monitor-Settings": {
        "description": "Digest of the settings by which events become counts.",
        "schema": {"type": "string"},
    },
}
_CLASS = {"enum": [0, 1, True, False, None]}
_TIME = {
    "description": "Epoch seconds, or ISO 8601 with its zone.",
    "oneOf": [{"type": "number"}, {"type": "string", "format": "date-time"}],
}
_ID = {
    "oneOf": [
        {"type": "string", "minLength": 1, "maxLength": MAX_ID_BYTES},
        {"type": "integer", "description": "The same as its decimal text."},
    ]
}


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def _json(name: str) -> dict[str, Any]:
    return {"application/json": {"schema": _ref(name)}}


def _error(description: str, headers: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"description": description, "content": _json("Error"), "headers": headers or {}}


def _records(record: str) -> dict[str, Any]:
    one_or_many = {"oneOf": [_ref(record), {"type": "array", "items": _ref(record)}]}
    return {
        "application/x-ndjson": {"schema": {"type": "string"}},
        "application/json": {"schema": one_or_many},
    }


_CLOUD_EVENTS = {
    "application/cloudevents+json": {"schema": _ref("CloudEvent")},
    "application/cloudevents-batch+json": {
        "schema": {"type": "array", "items": _ref("CloudEvent")}
    },
    "application/json": {
        "schema": {"description": "Data of a binary event; its attributes are headers ce-*."}
    },
}


def _post(summary: str, content: dict[str, Any]) -> dict[str, Any]:
    return {
        "post": {
            "summary": summary,
            "security": [{}, {"bearer": []}, {"basic": []}],
            "requestBody": {"required": True, "content": content},
            "responses": {
                "200": {
                    "description": "The events are on disk.",
                    "content": _json("Accepted"),
                    "headers": _STATE,
                },
                "400": _error("The body is damaged or not JSON."),
                "401": _error("Authentication is required.", _CHALLENGE),
                "403": _error("The request comes from a web page."),
                "408": _error("The body did not arrive in time."),
                "409": _error(
                    "Another process sends the counts of the shard in Precision-Monitor-Sender.",
                    _STATE,
                ),
                "411": _error("The request does not say how long its body is."),
                "412": _error(
                    "The state is not the one of the header Precision-Monitor-State.", _STATE
                ),
                "413": _error("The body is too large, or has too many records."),
                "415": _error("The type or the encoding of the body is not supported."),
                "429": _error(
                    "Too many events are waiting, or the client exceeds its rate.", _RETRY
                ),
                "503": _error("State is being restored, or the disk cannot be written.", _RETRY),
            },
        }
    }


_FAULT = {
    "type": "object",
    "required": ["line", "reason", "detail"],
    "properties": {
        "line": {"type": "integer", "minimum": 1},
        "reason": {"enum": [str(reason) for reason in RejectReason]},
        "detail": {"type": "string"},
    },
}
_SCHEMAS = {
    "Event": {
        "type": "object",
        "required": ["ts"],
        "properties": {
            "type": {"enum": ["prediction", "label", "outcome", "counts"]},
            "id": _ID,
            "ts": _TIME,
        },
    },
    "Feedback": {
        "type": "object",
        "required": ["id", "label"],
        "properties": {"id": _ID, "label": _CLASS, "ts": _TIME, "source": _ID},
    },
    "CloudEvent": {
        "type": "object",
        "required": ["specversion", "id", "source", "type"],
        "properties": {
            "specversion": {"const": "1.0"},
            "id": {"type": "string", "minLength": 1, "maxLength": 256},
            "source": {"type": "string", "minLength": 1},
            "type": {"type": "string", "minLength": 1},
            "time": {"type": "string", "format": "date-time"},
            "data": {"description": "An event, a payload, or a list of events."},
        },
    },
    "Accepted": {
        "type": "object",
        "required": ["accepted", "rejected", "faults"],
        "properties": {
            "accepted": {"type": "integer", "minimum": 0},
            "rejected": {
                "description": "Number of rejected records by reason.",
                "type": "object",
                "propertyNames": {"enum": [str(reason) for reason in RejectReason]},
                "additionalProperties": {"type": "integer", "minimum": 1},
            },
            "faults": {
                "description": "Details of the first rejected records.",
                "type": "array",
                "items": _FAULT,
            },
        },
        "additionalProperties": False,
    },
    "Error": {
        "type": "object",
        "required": ["error"],
        "properties": {
            "error": {"type": "string"},
            "settings": {
                "description": "Of 412: the settings by which events become counts.",
                "type": "object",
            },
        },
        "additionalProperties": False,
    },
}

DOCUMENT: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "Precision monitor: feed", "version": __version__},
    "paths": {
        "/v1/events": _post(
            "Predictions, labels, outcomes and counts.",
            _records("Event") | {MEDIA_TYPE: {"schema": {"type": "string"}}},
        ),
        "/v1/feedback": _post("Labels: id and label; ts defaults to now.", _records("Feedback")),
        "/v1/cloudevents": _post(
            "Events, and payloads of inference servers, as CloudEvents 1.0.", _CLOUD_EVENTS
        ),
        "/healthz": {
            "get": {"summary": "Liveness.", "responses": {"200": {"description": "Alive."}}}
        },
    },
    "components": {
        "schemas": _SCHEMAS,
        "securitySchemes": {
            "bearer": {"type": "http", "scheme": "bearer"},
            "basic": {"type": "http", "scheme": "basic"},
        },
    },
}
"""OpenAPI 3.1 document."""
