"""Every command with its options and help; imports nothing slow.

command_line.py  parser of the command line
command.py       a command, and shared options
serving.py       run, top, healthcheck, demo: a serving monitor
recorded.py      replay, threshold, diagnose: recorded events
setup.py         sample, init, check-config, schema, rules, state: around a monitor
cluster.py       spark: the join on a cluster
"""

from monitor.cli.parser.command_line import COMMANDS, build_parser

__all__ = ["COMMANDS", "build_parser"]
