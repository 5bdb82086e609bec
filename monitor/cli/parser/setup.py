"""Options of `sample`, `init`, `check-config`, `completion`, `schema`, `rules` and `state`."""

from __future__ import annotations

import argparse
import math

from monitor.cli.parser.command import (
    PROGRAM,
    Command,
    add_config,
    add_mapping,
    add_threshold,
    no_arguments,
    ratio,
)

STORIES = ("healthy", "rarer", "worse")
"""Scenarios of `sample`; `monitor.demo.claims` describes each."""


def _sample(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "story",
        nargs="?",
        choices=STORIES,
        default=STORIES[0],
        metavar="STORY",
        help="what happens two weeks before the end: healthy (nothing), rarer (positives become "
        "rarer), worse (the model gets worse); default %(default)s",
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=1,
        metavar="N",
        help="random seed; the same seed gives the same events (default %(default)s)",
    )
    parser.add_argument(
        "--csv",
        action="store_true",
        help="print CSV with a row for each case in place of a line of JSON for each event",
    )


SAMPLE = Command(
    "sample",
    "print made-up events to try the other commands on",
    about="""\
Prints ten weeks of made-up events (70,000 claims, 15 MB), as a model that flags
insurance claims would send them: predictions with scores and regions, and labels
that come within two days. STORY is the change two weeks before the end.
""",
    examples=f"""\
  {PROGRAM} sample rarer > events.ndjson
  {PROGRAM} sample worse | {PROGRAM} replay -
  {PROGRAM} sample worse --seed 7 --csv > claims.csv
""",
    arguments=_sample,
)


def _init(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "places",
        nargs="+",
        metavar="FILE|TOPIC|URL",
        help="recorded events, as for replay; kafka://BROKER[,BROKER]/TOPIC[,TOPIC]; or an "
        "http(s) link to recorded events; several, as predictions and labels, make a feed each",
    )
    parser.add_argument(
        "--properties",
        metavar="FILE",
        help="settings of the Kafka client, one key=value a line, as for TLS and SASL",
    )
    parser.add_argument(
        "-o",
        "--output",
        default="monitor.yaml",
        metavar="OUT",
        help="file to write, which must not exist (default %(default)s); - for stdout",
    )
    add_mapping(parser)
    add_threshold(parser)


INIT = Command(
    "init",
    "look at recorded events and write a configuration for them",
    about="""Reads a file, or what topics of Kafka hold, as `replay` does, says what it found,
and writes a commented configuration: the mapping, the models, segments of few
values, how labels seem to come, a label timeout from the delays seen, and windows
and a reference that the volume can carry. Asks nothing, and never overwrites a
file. Of several files each becomes a feed with columns of its own, and the ids are
the columns whose values meet. Of topics it looks at the latest 500,000 messages,
joins no group and commits nothing.
""",
    examples=f"""  {PROGRAM} init events.ndjson
  {PROGRAM} init predictions.csv labels.csv
  {PROGRAM} init claims.parquet --field label=fraud -o claims.yaml
  {PROGRAM} init kafka://kafka-1:9092/predictions,labels
  {PROGRAM} init https://data.example.com/events.ndjson.gz -o -
""",
    arguments=_init,
)


def _reference(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="held-out test set, as for replay")
    parser.add_argument(
        "--threshold",
        type=ratio,
        metavar="T",
        help="scores at or above T are positive predictions, where the file has no predictions "
        "(default: models.NAME.threshold of the configuration)",
    )
    add_config(parser, required=False)
    add_mapping(parser)


REFERENCE = Command(
    "reference",
    "make a reference from a held-out test set",
    about="""\
Counts a file of predictions with their labels, and prints the block of the
configuration that makes these outcomes the reference of the model. Says what it
found, with 95 % intervals, and warns if that is too little to judge by. The file
needs no times; every label in it counts.

The class ratio of the test set becomes that of the reference. If positives were
made more frequent in it, the monitor reports that they became rarer.
""",
    examples=f"""\
  {PROGRAM} reference test_set.csv
  {PROGRAM} reference test_set.parquet --field label=fraud --threshold 0.5
""",
    arguments=_reference,
)


def _check_config(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="configuration file, YAML")
    parser.add_argument(
        "--rate",
        metavar="P,F",
        type=_rate,
        help="actual positives and false positives a day, of each model: says when its first "
        "reference is complete",
    )


def _rate(text: str) -> tuple[float, float]:
    try:
        positives, false_positives = (float(part) for part in text.split(","))
    except ValueError:
        positives = false_positives = -1.0
    if not (0 <= positives < math.inf and 0 <= false_positives < math.inf):
        raise argparse.ArgumentTypeError(
            f"must be two numbers of cases a day, such as 58,20, got {text!r}"
        )
    return positives, false_positives


CHECK_CONFIG = Command(
    "check-config",
    "check a configuration and explain it",
    about="""\
Reads a configuration as `run` does. Prints what it means, and which results
its labelling allows, then "ok"; or all its faults at once, each with its line
(exit code 2).
""",
    examples=f"""\
  {PROGRAM} check-config monitor.yaml
  {PROGRAM} check-config monitor.yaml --rate 58,20
""",
    arguments=_check_config,
)


def _completion(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "shell", choices=("bash", "zsh", "tcsh"), metavar="SHELL", help="%(choices)s"
    )


COMPLETION = Command(
    "completion",
    "print a script that completes commands in a shell",
    about="""\
Prints a script by which a shell completes commands, options and files. Needs the
extra `completion`.
""",
    examples=f"""\
  {PROGRAM} completion bash > /etc/bash_completion.d/{PROGRAM}
  {PROGRAM} completion zsh > ~/.zfunc/_{PROGRAM}
""",
    arguments=_completion,
)


SCHEMA = Command(
    "schema",
    "print the JSON Schema of the configuration",
    about="""\
Prints the JSON Schema of the configuration file, for editors: a first line
`# yaml-language-server: $schema=monitor.schema.json` gives completion.
""",
    examples=f"""\
  {PROGRAM} schema > monitor.schema.json
""",
    arguments=no_arguments,
)


def _rules(parser: argparse.ArgumentParser) -> None:
    add_config(parser, required=False)
    parser.add_argument(
        "--job",
        default="precision-monitor",
        metavar="NAME",
        help="Prometheus job of the monitor (default %(default)s)",
    )
    parser.add_argument(
        "--runbooks",
        default="",
        metavar="URL",
        help="base URL of runbook links in alerts, where your team reads README.md and deploy/ "
        "(default: paths within the project)",
    )
    parser.add_argument(
        "--dashboards",
        default="",
        metavar="URL",
        help="URL of the Grafana that has deploy/grafana/dashboards; alerts then link to them",
    )
    parser.add_argument(
        "--objective-severity",
        choices=("page", "ticket"),
        default="ticket",
        help="severity of a missed objective (default %(default)s)",
    )
    parser.add_argument(
        "--label-silence",
        default="1d",
        metavar="DURATION",
        help="alert after this long without a label (default %(default)s)",
    )
    parser.add_argument(
        "--prediction-silence",
        default="1h",
        metavar="DURATION",
        help="alert after this long without a prediction (default %(default)s)",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--kubernetes",
        action="store_true",
        help="print a PrometheusRule for the Prometheus Operator",
    )
    form.add_argument(
        "--grafana",
        metavar="UID",
        help="print the alerts only, as a Grafana provisioning file for the data source UID",
    )


RULES = Command(
    "rules",
    "print recording and alerting rules for Prometheus",
    about="""\
Prints the rules for the configured models and windows as a Prometheus rule
file (2.42 or later): metrics computed from counts, so that several monitors add
up, and alerts. The model pages; prevalence, labels and feeds open tickets.
Without -c the rules apply to any model whose labels count as they are, and the
default windows; a model's objective must then be recorded by hand. Models with
labelling sampled, weighted or flagged_only, or with label_errors, need -c: of
these, counts are no evidence. Where exporter.external_url is configured, alerts
link to the comparison on the monitor's page.
""",
    examples=f"""\
  {PROGRAM} rules -c monitor.yaml > precision-monitor.rules.yml
  {PROGRAM} rules -c monitor.yaml --objective-severity page --label-silence 3d
  {PROGRAM} rules -c monitor.yaml --kubernetes | kubectl apply -f -
""",
    arguments=_rules,
)


def _state(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action",
        choices=("check", "show", "salvage", "take-back", "stop-forwarding"),
        help="check: read every file and list damaged ones; show: describe the newest checkpoint; "
        "salvage: copy what is not damaged; take-back: set the time of a model back; "
        "stop-forwarding: send no more counts to the receiver",
    )
    parser.add_argument("directory", metavar="DIR", help="configured state.directory")
    parser.add_argument("--to", metavar="NEW_DIR", help="of salvage: the directory to create")
    parser.add_argument("--model", metavar="NAME", help="of take-back: the model")
    parser.add_argument(
        "--time", metavar="TIME", help="of take-back: where its time stands then, ISO 8601"
    )


STATE = Command(
    "state",
    "inspect the state on disk, or salvage it",
    about="""\
Reads a state directory without changing it; the monitor may be running. `check`
reads every checkpoint and every segment of the journal, prints a line for each,
and exits with 1 if one is damaged. `show` describes the newest good checkpoint,
and the position at which each feed continues.

`salvage`, while no monitor runs, copies the directory without its damage, and
exits with 1 if the copy lacks something. It repairs single damaged bytes, leaves
out damaged checkpoints, and puts blank lines in place of damaged requests. Then
move the directory away, and the copy into its place.

`take-back`, while no monitor runs, sets the time of a model back after so many
events with false times came that it had gone ahead. It writes a new checkpoint.
Counters stay; windows fill again, and detectors begin anew.

`stop-forwarding`, while no monitor runs, ends what `forward` began where the
receiver is gone for good: what that one lacks is never sent. It writes a new
checkpoint; counts of this monitor stay. Then take `forward` out of the
configuration: with it, a start on this directory is refused.
""",
    examples=f"""\
  {PROGRAM} state check ./state
  {PROGRAM} state show ./state
  {PROGRAM} state salvage ./state --to ./state.salvaged
  {PROGRAM} state take-back ./state --model fraud --time 2026-11-01T00:00:00Z
  {PROGRAM} state stop-forwarding ./state
""",
    arguments=_state,
)
