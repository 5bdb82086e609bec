"""A standalone Spark on loopback: master, workers, drivers, and ways to kill them."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from ports import free_port
from recount import Recount

HOME = Path(find_spec("pyspark").origin).parent if find_spec("pyspark") else None
CELLS = ("tp", "fp", "fn", "tn")
PANE = 60
ENDS = 16
"""Records at the end of a stream, those of the two models together."""
SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Of a JVM that lives for a minute: half of its time would be spent on compiling better."""
CONFIG = """\
id_secret: a secret of these tests
models:
  fraud: {label_timeout: 1h, horizon: 1d, maturity: 20m, segments: [region]}
  spam: {label_timeout: 1h, horizon: 1d, maturity: 20m, segments: [region]}
windows: [10m, 1h]
"""


def until(what, condition, *needed, seconds=600):
    """Waits for a condition of real processes; its value.

    Args:
        what: is waited for.
        condition: true once it holds.
        needed: what is `Started` and must be alive for that.
        seconds: for which at most.
    """
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if value := condition():
            return value
        for started in needed:
            started.check_alive(what)
        time.sleep(0.1)
    raise AssertionError(f"{what}: did not happen within {seconds} s")


class Started:
    """A process in a group of its own, and its log."""

    def __init__(self, log, words, environment=None):
        self.log = log
        with log.open("wb") as file:
            self.process = subprocess.Popen(
                words, stdout=file, stderr=subprocess.STDOUT, env=environment,
                start_new_session=True,
            )  # fmt: skip

    def output(self):
        return self.log.read_text(errors="replace")

    def check_alive(self, what):
        """Fails, with the last lines of the log, where it has ended before something happened."""
        if self.process.poll() is not None:
            ended = f"{self.log.stem} ended with {self.process.returncode}"
            raise AssertionError(f"{what}: {ended} before that:\n{self.output()[-3000:]}")

    def finish(self, seconds=600):
        """Waits for a good end."""
        assert self.process.wait(timeout=seconds) == 0, self.output()[-3000:]

    def kill(self):
        """kill -9 of it alone."""
        kill(self.process.pid)
        self.process.wait()

    def kill_group(self):
        """kill -9 of it and all of its group."""
        _kill(os.killpg, self.process.pid)
        self.process.wait()


def stream(predictions, seed=1, *, delay=240):
    """Events of two models and five regions, an hour's worth of panes, delays up to 50 minutes.

    With a delay of 2,000 seconds in the mean, two in five predictions wait at once.

    Labels are late, duplicated, revised, retracted, early and missing; some come after
    their timeout; some predictions come twice. Ends with records of one time in both
    models, so that the time of each comes equally far however the stream is divided.
    """
    rng, arrivals = random.Random(seed), []
    for i in range(predictions):
        ts = 1_790_000_000 + round(3600 * i / predictions, 3)
        one = {
            "type": "prediction",
            "id": f"p{i}",
            "ts": ts,
            "prediction": rng.randint(0, 1),
            "model": rng.choice(["fraud", "spam"]),
            "segment": {"region": rng.choice("abcde")},
        }
        arrivals.append((ts, one))
        if rng.random() < 0.02:
            arrivals.append((ts + rng.uniform(0, 600), one))
        if rng.random() < 0.05:
            continue
        labelled_at = ts + round(min(rng.expovariate(1 / delay), 3000), 3)
        label = {"type": "label", "id": f"p{i}", "ts": labelled_at, "label": rng.randint(0, 1)}
        arrived = labelled_at if rng.random() > 0.02 else ts - rng.uniform(0, 300)
        arrivals.append((arrived, label))
        fate = rng.random()
        if fate < 0.04:
            arrivals.append((arrived + rng.uniform(0, 300), label))
        elif fate < 0.10:
            revised = {**label, "ts": round(labelled_at + 60, 3), "label": rng.choice([0, 1, None])}
            arrivals.append((labelled_at + rng.uniform(-60, 400), revised))
        elif fate < 0.11:
            arrivals.append((labelled_at, {**label, "ts": round(ts + 3700, 3)}))
    arrivals.sort(key=lambda pair: pair[0])
    end = {"type": "prediction", "ts": 1_790_008_000, "prediction": 0, "segment": {"region": "a"}}
    ends = [
        end | {"id": f"{model}{i}", "model": model}
        for model in ("fraud", "spam")
        for i in range(ENDS // 2)
    ]
    return [event for _, event in arrivals] + ends


def waiting(predictions):
    """Predictions of the minute before a stream, which no label comes for."""
    for i in range(predictions):
        ts = round(1_790_000_000 - 60 + 59 * i / predictions, 3)
        event = {"type": "prediction", "id": f"w{i}", "ts": ts, "prediction": i % 2}
        yield event | {"model": "fraud", "segment": {"region": "a"}}


def write(events, directory, files, first=()):
    """A stream as files in the order of their names and of their times of change.

    Args:
        events: the stream.
        directory: of the files.
        files: how many, at most.
        first: events of one more file, before the others.
    """
    directory.mkdir(parents=True)
    size = -(-(len(events) - ENDS) // files)
    parts = [events[i : i + size] for i in range(0, len(events) - ENDS, size)]
    parts[-1] += events[len(parts) * size :] if len(parts) * size < len(events) else []
    parts = [*([first] if first else []), *parts]
    for number, part in enumerate(parts):
        path = directory / f"part-{number:03d}.ndjson"
        path.write_text("".join(json.dumps(event) + "\n" for event in part))
        os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))


def recounted(events):
    """Outcomes by (model, region, pane, cell), by the independent recount; and predictions."""
    recount, found = Recount(events, 3600), Counter()
    for prediction, cell in recount.outcomes():
        found[*_place(prediction), cell] += 1
    for prediction in recount.predictions.values():
        found[*_place(prediction), "predicted", prediction["prediction"]] += 1
    return found


def summed(directory):
    """The same, of the counts that a job has sent to a directory."""
    found = Counter()
    for path in sorted(directory.glob("*.ndjson")):
        for event in map(json.loads, path.read_text().splitlines()):
            for cell in CELLS:
                found[*_place(event), cell] += event[cell]
            for called, name in enumerate(("predicted_negative", "predicted_positive")):
                found[*_place(event), "predicted", called] += event[name]
    return Counter({place: count for place, count in found.items() if count})


def _place(event):
    return event["model"], event["segment"]["region"], int(event["ts"] // PANE * PANE)


class Cluster:
    """A master and workers, each of one core, and the drivers of jobs.

    Args:
        scratch: directory for logs and work.
        workers: how many.
    """

    def __init__(self, scratch, workers=2):
        self.scratch, self.started = scratch, []
        self.environment = os.environ | {
            "SPARK_HOME": str(HOME),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_WORKER_DIR": str(scratch / "work"),
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": SHORT_LIVED,
            "PYSPARK_PYTHON": sys.executable,
            "PYSPARK_DRIVER_PYTHON": sys.executable,
        }
        port = free_port()
        self.url = f"spark://127.0.0.1:{port}"
        web = str(free_port())
        self.master = self._daemon(
            "master", "master.Master", "--host", "127.0.0.1", "--port", str(port),
            "--webui-port", web,
        )  # fmt: skip
        output = self.master.output
        until("master is up", lambda: "I have been elected leader" in output(), self.master)
        self.workers = [self._worker(i) for i in range(workers)]
        until(
            "workers are there", lambda: output().count("Registering worker") >= workers,
            self.master, *self.workers,
        )  # fmt: skip

    def submit(self, name, *words):
        """A driver, by spark-submit."""
        import monitor.cli.spark as command  # noqa: PLC0415

        given = {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.extraJavaOptions": SHORT_LIVED,
            "spark.executor.extraJavaOptions": SHORT_LIVED,
            "spark.ui.enabled": "false",
            "spark.executor.memory": "700m",
            "spark.driver.memory": "700m",
            "spark.network.timeout": "60s",
        }
        conf = [word for key, value in given.items() for word in ("--conf", f"{key}={value}")]
        program = str(HOME / "bin" / "spark-submit")
        script = str(Path(command.__file__))
        return self._start(name, program, "--master", self.url, *conf, script, *words)

    def executors(self, worker):
        """Process ids of the executors of a worker."""
        found = subprocess.run(
            ["ps", "-ww", "-o", "pid=,args=", "--ppid", str(worker.process.pid)],
            capture_output=True, text=True, check=False,
        ).stdout  # fmt: skip
        return [int(row.split()[0]) for row in found.splitlines() if "ExecutorBackend" in row]

    def stop(self):
        for started in self.started:
            for pid in self.executors(started):
                kill(pid)
            started.kill_group()

    def _worker(self, number):
        return self._daemon(
            f"worker{number}", "worker.Worker", "--host", "127.0.0.1", "--cores", "1",
            "--memory", "1g", "--webui-port", "0", self.url,
        )  # fmt: skip

    def _daemon(self, name, daemon, *words):
        program = str(HOME / "bin" / "spark-class")
        return self._start(name, program, f"org.apache.spark.deploy.{daemon}", *words)

    def _start(self, name, *words):
        started = Started(self.scratch / f"{name}.log", words, self.environment)
        self.started.append(started)
        return started


def _kill(how, pid):
    with suppress(ProcessLookupError):
        how(pid, signal.SIGKILL)


def kill(pid):
    """kill -9 of one process."""
    _kill(os.kill, pid)


def is_in_batch(checkpoint, least):
    """Return whether a batch from this number on has begun and is not committed."""
    begun = _numbers(checkpoint / "offsets")
    return (
        bool(begun) and max(begun) >= least and max(begun) not in _numbers(checkpoint / "commits")
    )


def _numbers(directory):
    if not directory.exists():
        return set()
    return {int(path.name) for path in directory.iterdir() if path.name.isdecimal()}
