"""`init` looks at topics of Kafka and at links as at a file."""

import gzip
import json
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice
from threading import Thread

import pytest
from cli.commands import ran
from confluent_kafka import Producer

from monitor.cli import init_source
from monitor.config import load_config
from monitor.demo.claims import Story, cases, event_lines

DEADLINE = 600


@pytest.fixture(scope="module")
def lines():
    """The first claims of the sample, and their labels."""
    found = list(event_lines(islice(cases(Story.HEALTHY, 3), 2_000)))
    assert len(found) > 3_900
    return found


@pytest.fixture(scope="module")
def brokers(lines):
    """A cluster in this process that holds predictions and labels, each in a topic of its own."""
    cluster = Producer({"test.mock.num.brokers": 1, "log_level": 0})
    found = cluster.list_topics(timeout=DEADLINE).brokers.values()
    address = ",".join(f"{one.host}:{one.port}" for one in found)
    producer = Producer({"bootstrap.servers": address, "log_level": 0})
    for line in lines:
        event = json.loads(line)
        producer.produce(f"{event['type']}s", line.encode(), key=event["id"].encode())
    assert producer.flush(DEADLINE) == 0
    yield address
    del cluster


@pytest.fixture
def initialized(capsys, tmp_path):
    def init(place, *words):
        output = tmp_path / "monitor.yaml"
        done = ran(capsys, "init", place, "-o", output, *words)
        assert done.code == 0, done.err
        return load_config(output), done.err, output.read_text()

    return init


@pytest.fixture
def link(tmp_path):
    """A server of the files in a folder."""
    folder = tmp_path / "served"
    folder.mkdir()

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder)) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield folder, f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_topics_are_looked_at_together(initialized, lines, brokers):
    config, said, _ = initialized(f"kafka://{brokers}/predictions,labels")
    (feed,) = config.feeds
    assert (feed.type, ",".join(feed.brokers)) == ("kafka", brokers)
    assert feed.topics == ("predictions", "labels")
    assert f"{len(lines):,} records looked at" in said
    made = sum('"prediction",' in line for line in lines)
    assert f"default: {made:,} predictions" in said
    (model,) = config.models.values()
    assert model.segments == ("region",)
    assert model.labelling == "complete"


def test_of_topics_with_too_many_messages_the_latest_are_looked_at(
    monkeypatch, initialized, brokers
):
    monkeypatch.setattr(init_source, "MOST_MESSAGES", 1_000)
    _, said, _ = initialized(f"kafka://{brokers}/predictions,labels")
    looked = int(said.partition(" records looked at")[0].rpartition(" ")[2].replace(",", ""))
    assert 500 <= looked <= 1_000 + 8, "as many of each partition, rounded up"


def test_a_topic_that_is_not_there_is_named(capsys, brokers):
    done = ran(capsys, "init", f"kafka://{brokers}/nowhere!", "-o", "-")
    assert done.code == 3
    assert "nowhere!" in done.err


@pytest.mark.parametrize("place", ["kafka://h:1", "kafka:///t", "kafka://h/t"])
def test_topics_without_brokers_or_name_are_wrong_usage(capsys, place):
    done = ran(capsys, "init", place)
    assert done.code == 2
    assert "must be kafka://HOST:PORT[,HOST:PORT]/TOPIC[,TOPIC]" in done.err


def test_properties_of_topics_are_written_and_used(capsys, tmp_path, initialized, brokers):
    path = tmp_path / "kafka.properties"
    path.write_text("client.id=looker\n")
    config, _, _ = initialized(f"kafka://{brokers}/predictions,labels", "--properties", path)
    assert config.feeds[0].properties_file == path
    path.write_text("no.such.setting=1\n")
    done = ran(capsys, "init", f"kafka://{brokers}/labels", "--properties", path, "-o", "-")
    assert done.code == 2
    assert "no.such.setting" in done.err
    done = ran(capsys, "init", "events.ndjson", "--properties", path, "-o", "-")
    assert (done.code, "--properties: is for kafka" in done.err) == (2, True)


@pytest.mark.parametrize("name", ["events.ndjson", "events.ndjson.gz"])
def test_a_link_is_looked_at_as_the_file_behind_it(initialized, lines, link, name):
    folder, url = link
    data = "".join(f"{line}\n" for line in lines).encode()
    (folder / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    config, said, text = initialized(f"{url}/{name}?token=1")
    assert str(config.feeds[0].path) == name
    assert f"# from {url}/{name}?***; download it there first" in text
    assert "default: 2,000 predictions in 2 days" in said


def test_a_link_without_a_file_says_what_it_answered(capsys, link):
    _, url = link
    done = ran(capsys, "init", f"{url}/nothing.csv", "-o", "-")
    assert done.code == 3
    assert f"{url}/nothing.csv: answered 404" in done.err


@pytest.mark.parametrize(
    ("place", "code", "message"),
    [
        (
            "nosuch://host/file",
            3,
            "names a store that is not known, got 'nosuch'; write one like s3://",
        ),
        (
            "sqlite:///claims.db",
            3,
            "is a database, which a feed of type sql reads. Next: write the",
        ),
        ("sql:claims", 2, "sql:claims: is a database, which a feed of type sql reads. Next: write"),
        ("http://127.0.0.1:1/events.csv", 3, "cannot be read"),
    ],
)
def test_what_cannot_be_looked_at_is_refused(capsys, place, code, message):
    done = ran(capsys, "init", place, "-o", "-")
    assert (done.code, done.out) == (code, "")
    assert message in done.err
