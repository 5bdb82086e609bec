"""Avro and Protobuf values, as the serializers of confluent-kafka write them."""

import base64
import json
import struct
from datetime import UTC, datetime
from decimal import Decimal
from importlib.util import find_spec

import pytest
from at_once import AtOnce
from feeds.kafka.cluster import FakeCluster, places
from feeds.kafka.reader import Reader, cells, counted, stream
from feeds.kafka.test_kafka_cluster import DEADLINE, Cluster, reading, turn

from monitor.config import Config
from monitor.engine import Monitor
from monitor.errors import ConfigError
from monitor.extras import install_command
from monitor.feeds.kafka import installed
from monitor.service.sources import unavailable_feeds

pytestmark = pytest.mark.dev("fastavro", "authlib")

if find_spec("fastavro") and find_spec("authlib"):
    from confluent_kafka.schema_registry import SchemaRegistryClient, topic_subject_name_strategy
    from confluent_kafka.schema_registry.avro import AvroSerializer
    from confluent_kafka.schema_registry.protobuf import ProtobufSerializer
    from confluent_kafka.serialization import MessageField, SerializationContext
    from feeds.kafka.registry import serving
    from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
    from google.protobuf.descriptor_pool import Default
    from google.protobuf.message_factory import GetMessageClass

START = datetime(2026, 7, 1, 12, 0, 0, 500_000, tzinfo=UTC)
AVRO = {
    "type": "record",
    "name": "Event",
    "fields": [
        {"name": "type", "type": "string"},
        {"name": "id", "type": "long"},
        {"name": "made", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {
            "name": "outcome",
            "type": {
                "type": "record",
                "name": "Outcome",
                "fields": [
                    {"name": "prediction", "type": ["null", "boolean"]},
                    {"name": "label", "type": ["null", "int"]},
                    {
                        "name": "score",
                        "type": [
                            "null",
                            "double",
                            {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2},
                        ],
                    },
                ],
            },
        },
    ],
}
MAPPING = {
    "fields": {
        "ts": "made",
        "prediction": "outcome.prediction",
        "label": "outcome.label",
        "score": "outcome.score",
    }
}


@pytest.fixture
def registry():
    with serving() as (found, url):
        found.url = url
        yield found


def context():
    return SerializationContext("events", MessageField.VALUE)


def avro(registry, schema=AVRO):
    client = SchemaRegistryClient({"url": registry.url})
    settings = {"subject.name.strategy": topic_subject_name_strategy}
    write = AvroSerializer(client, json.dumps(schema), conf=settings)
    return lambda record: write(record, context())


def record_of(event):
    """An event as other systems have it: nested, with typed times and whole ids."""
    return {
        "type": event["type"],
        "id": int(event["id"].removeprefix("p")),
        "made": datetime.fromtimestamp(event["ts"], UTC),
        "outcome": {
            "prediction": None if "prediction" not in event else bool(event["prediction"]),
            "label": event.get("label"),
            "score": None,
        },
    }


def settings(registry, form="avro", **more):
    value = {"format": form, "schema_registry": {"url": registry.url, **more}}
    return {"value": value, **MAPPING}


def test_avro_records_count_like_events(registry):
    cluster, write, events = FakeCluster(*places("events", 2)), avro(registry), stream(200)
    for event in events:
        place = ("events", int(event["id"][1:]) % 2)
        cluster.produce(place, write(record_of(event)), 1000 * event["ts"])
    reader = Reader(cluster, worker=AtOnce(), **settings(registry)).turns()
    assert reader.records == len(events)
    assert reader.rejected == []
    assert cells(reader.monitor) == counted(events)
    assert [path for path in registry.asked if path.startswith("/schemas/ids/1")] == [
        "/schemas/ids/1"
    ]


def field(name, number, kind, *, of="", optional=None):
    made = FieldDescriptorProto(name=name, number=number, type=kind, type_name=of or None)
    made.label = FieldDescriptorProto.LABEL_OPTIONAL
    if optional is not None:
        made.proto3_optional, made.oneof_index = True, optional
    return made


@pytest.fixture(scope="module")
def event_class():
    """Class of a Protobuf message with a message of another file, an enum and an own timestamp."""
    kinds = FieldDescriptorProto
    inner = FileDescriptorProto(name="pm/outcome.proto", package="pm", syntax="proto3")
    outcome = inner.message_type.add(name="Outcome")
    names = {"prediction": kinds.TYPE_BOOL, "label": kinds.TYPE_INT32, "score": kinds.TYPE_DOUBLE}
    for index, (name, kind) in enumerate(names.items()):
        outcome.field.append(field(name, index + 1, kind, optional=index))
        outcome.oneof_decl.add(name=f"_{name}")
    outer = FileDescriptorProto(name="pm/event.proto", package="pm", syntax="proto3")
    outer.dependency.extend(["google/protobuf/timestamp.proto", "pm/outcome.proto"])
    outer.message_type.add(name="Unused")
    event = outer.message_type.add(name="Envelope").nested_type.add(name="Event")
    types = event.enum_type.add(name="Type")
    types.value.add(name="prediction", number=0)
    types.value.add(name="label", number=1)
    event.field.extend(
        [
            field("type", 1, kinds.TYPE_ENUM, of=".pm.Envelope.Event.Type"),
            field("id", 2, kinds.TYPE_INT64),
            field("made", 3, kinds.TYPE_MESSAGE, of=".google.protobuf.Timestamp"),
            field("outcome", 4, kinds.TYPE_MESSAGE, of=".pm.Outcome"),
        ]
    )
    Default().Add(inner)
    Default().Add(outer)
    return GetMessageClass(Default().FindMessageTypeByName("pm.Envelope.Event"))


def protobuf(registry, event_class):
    client = SchemaRegistryClient({"url": registry.url})
    settings = {"subject.name.strategy": topic_subject_name_strategy}
    write = ProtobufSerializer(event_class, client, conf=settings)

    def written(record):
        given = {name: value for name, value in record["outcome"].items() if value is not None}
        plain = {name: record[name] for name in ("type", "id", "made")}
        return write(event_class(**plain, outcome=given), context())

    return written


def test_protobuf_records_count_like_events(registry, event_class):
    cluster = FakeCluster(*places("events", 2))
    events = [event for event in stream(200) if event.get("label", 0) is not None]
    write = protobuf(registry, event_class)
    for event in events:
        place = ("events", int(event["id"][1:]) % 2)
        cluster.produce(place, write(record_of(event)), 1000 * event["ts"])
    reader = Reader(cluster, worker=AtOnce(), **settings(registry, "protobuf")).turns()
    assert reader.records == len(events)
    assert reader.rejected == []
    assert cells(reader.monitor) == counted(events)


def test_the_real_client_and_a_thread_read_them_too(registry):
    cluster, write, monitor = Cluster(), avro(registry), Monitor()
    events = [event for event in stream(60) if event["type"] == "prediction"]
    for event in events:
        cluster._producer.produce("predictions", write(record_of(event)))
    assert cluster._producer.flush(DEADLINE) == 0
    with reading(cluster.feed(topics=["predictions"], **settings(registry))) as source:
        turn([source], monitor, until=lambda: monitor.snapshot().records == len(events))
    assert sum(monitor.snapshot().rejected.values()) == 0


def test_logical_types_are_times_numbers_and_ids_to_the_millisecond(registry):
    cluster, write = FakeCluster(("events", 0)), avro(registry)
    record = record_of({"type": "outcome", "id": "p7", "ts": 0, "prediction": 1, "label": 1})
    record["made"] = START
    record["outcome"]["score"] = Decimal("0.25")
    cluster.produce(("events", 0), write(record))
    reader = Reader(cluster, worker=AtOnce(), **settings(registry))
    batch = next(filter(None, (reader.turn() for _ in range(5))))
    assert batch.predictions.time.tolist() == [round(START.timestamp() * 1000)]
    assert batch.predictions.score.tolist() == [0.25]


def unreadable(registry, event_class):
    """Values that are not what the schema says, and what is told of each."""
    prefix = b"\0" + struct.pack(">I", 1)
    number = registry.register("other-value", {"schema": '"string"'})[0]
    wrong = protobuf(registry, event_class)
    record = record_of({"type": "prediction", "id": "p1", "ts": 0, "prediction": 1})
    return {
        b"no frame": "value: does not begin with the id of a schema: Invalid magic byte",
        b"\0\1": "value: does not begin with the id of a schema",
        prefix + b"\x80": "value: does not fit its schema 1: ",
        b"\0" + struct.pack(">I", 999) + b"a": "value: has a schema that the registry lacks: ",
        b"\0" + struct.pack(">I", number) + b"\x02a": "record: must be a JSON object",
        wrong(record): "which is PROTOBUF, not AVRO",
    }


def test_bad_values_are_rejected_with_what_is_wrong_and_the_rest_counts(registry, event_class):
    cluster, write = FakeCluster(("events", 0)), avro(registry)
    good = record_of({"type": "prediction", "id": "p1", "ts": 60, "prediction": 1})
    cluster.produce(("events", 0), write(good))
    expected = unreadable(registry, event_class)
    for value in expected:
        cluster.produce(("events", 0), value)
    cluster.produce(("events", 0), None)
    cluster.produce(("events", 0), write({**good, "id": 2}))
    reader = Reader(cluster, worker=AtOnce(), **settings(registry)).turns()
    assert reader.records == 2 + len(expected)
    found = sorted(reader.rejected, key=lambda rejection: rejection.position)
    assert [r.position for r in found] == [f"events[0]@{n + 1}" for n in range(len(expected))]
    for rejection, (value, told) in zip(found, expected.items(), strict=True):
        assert told in rejection.detail
        assert rejection.reason == "malformed"
        assert rejection.record in (value, b'"a"')


def odd_protobuf():
    """Schemas and payloads (behind the id of the schema) that no record can be read from."""
    kinds = FieldDescriptorProto
    any_file = FileDescriptorProto(name="any.proto", syntax="proto3")
    any_file.dependency.append("google/protobuf/any.proto")
    any_file.message_type.add(name="Event").field.append(
        field("made", 1, kinds.TYPE_MESSAGE, of=".google.protobuf.Any")
    )
    unknown = FileDescriptorProto(name="unknown.proto", syntax="proto3")
    unknown.message_type.add(name="Event").field.append(
        field("made", 1, kinds.TYPE_MESSAGE, of=".pm.NoSuch")
    )
    of_unknown_type = b"\x0a\x10\x0a\x0ea.b/pm.Missing"
    return {
        "an Any of an unknown type": (any_file, b"\0" + of_unknown_type, "does not fit its schema"),
        "a message before the first": (any_file, b"\2\1", "has no such message"),
        "a message behind the last": (any_file, b"\2\2", "has no such message"),
        "a type that is nowhere": (unknown, b"\0", "has a schema that cannot be used"),
    }


@pytest.mark.parametrize("number", range(4))
def test_odd_protobuf_is_unreadable_and_no_failure_of_the_feed(registry, number):
    from monitor.feeds.kafka.protobuf_values import ProtobufValues  # noqa: PLC0415  # an extra
    from monitor.feeds.kafka.value_lines import line_of  # noqa: PLC0415  # beside it

    name, (file, payload, told) = list(odd_protobuf().items())[number]
    schema = base64.b64encode(file.SerializeToString()).decode()
    schema_id = registry.register(name, {"schema": schema, "schemaType": "PROTOBUF"})[0]
    value = b"\0" + struct.pack(">I", schema_id) + payload
    found = line_of(value, ProtobufValues(SchemaRegistryClient({"url": registry.url})))
    assert told in found.detail
    assert found.raw == value


@pytest.mark.parametrize("refuses", [401, 503])
def test_a_registry_that_is_away_stalls_and_loses_nothing(registry, refuses):
    cluster, write = FakeCluster(*places("events", 2)), avro(registry)
    for number in range(6):
        record = record_of({"type": "prediction", "id": f"p{number}", "ts": 60, "prediction": 1})
        cluster.produce(("events", number % 2), write(record))
    registry.refuses = refuses
    reader = Reader(cluster, worker=AtOnce(), **settings(registry)).turns(8)
    assert reader.records == 0
    assert reader.source.position()["offsets"] == {}
    assert cluster.members[0].paused == {("events", 0), ("events", 1)}
    assert len(reader.reported) == 1
    assert reader.reported[0].startswith("kafka events: the schema registry does not answer: ")
    registry.refuses = None
    reader.turns(8)
    assert reader.records == 6
    assert reader.reported[1:] == ["kafka events: the schema registry answers again"]
    assert reader.source.position()["offsets"] == {"events": {"0": 3, "1": 3}}


def test_messages_with_known_schemas_before_an_unknown_one_are_counted(registry):
    cluster, write = FakeCluster(("events", 0)), avro(registry)
    record = record_of({"type": "prediction", "id": "p1", "ts": 60, "prediction": 1})
    cluster.produce(("events", 0), write(record))
    reader = Reader(cluster, worker=AtOnce(), **settings(registry)).turns()
    cluster.produce(("events", 0), write({**record, "id": 2}))
    other = json.loads(json.dumps(AVRO).replace('"Event"', '"Other"'))
    cluster.produce(("events", 0), avro(registry, other)({**record, "id": 3}))
    cluster.produce(("events", 0), write({**record, "id": 4}))
    registry.refuses = 503
    reader.turns(8)
    assert reader.records == 1, "a portion is decoded as a whole"
    registry.refuses = None
    assert reader.turns(8).records == 4


def test_a_partition_that_moves_while_its_values_wait_is_read_by_the_next_reader(registry):
    cluster, write = FakeCluster(*places("events", 2)), avro(registry)
    for number in range(8):
        record = record_of({"type": "prediction", "id": f"p{number}", "ts": 60, "prediction": 1})
        cluster.produce(("events", number % 2), write(record))
    registry.refuses = 503
    one = Reader(cluster, worker=AtOnce(), **settings(registry)).turns(3)
    other = Reader(cluster, worker=AtOnce(), **settings(registry))
    one.turns(2)
    other.turns(2)
    registry.refuses = None
    one.turns(8)
    other.turns(8)
    assert (one.records, other.records) == (4, 4)


def test_the_secrets_of_the_registry_are_sent_and_never_shown(registry, tmp_path):
    secrets = tmp_path / "registry.properties"
    secrets.write_text("basic.auth.user.info=monitor:s3cret\n")
    feed = settings(registry, properties_file=str(secrets))
    config = Config(feeds=[{"type": "kafka", "brokers": ["a:1"], "topics": ["t"], **feed}])
    assert "s3cret" not in config.model_dump_json()
    cluster, write = FakeCluster(("events", 0)), avro(registry)
    record = record_of({"type": "prediction", "id": "p1", "ts": 60, "prediction": 1})
    cluster.produce(("events", 0), write(record))
    assert Reader(cluster, worker=AtOnce(), **feed).turns().records == 1
    assert registry.authorized == {"Basic bW9uaXRvcjpzM2NyZXQ="}


def test_a_setting_that_the_client_refuses_is_a_fault(registry):
    feed = settings(registry, properties={"no.such": "s3cret"})
    with pytest.raises(ConfigError, match=r"refused by the client: .*no\.such") as refused:
        Reader(FakeCluster(("events", 0)), **feed)
    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize(
    ("form", "package"), [("avro", "fastavro"), ("protobuf", "google.protobuf")]
)
def test_without_the_extra_it_is_named(registry, monkeypatch, form, package):
    monkeypatch.setattr(installed, "find_spec", lambda name: None if name == package else "there")
    feed = {"type": "kafka", "brokers": ["a:1"], "topics": ["t"], **settings(registry, form)}
    told = f"{form} needs packages that are not installed; {install_command('kafka-schemas')}"
    assert unavailable_feeds(Config(feeds=[feed])) == (f"feeds[0].value: {told}",)
