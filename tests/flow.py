"""The order of the packages: each imports only from itself and from those before it."""

FLOW = (
    ("what all may import", ("errors", "version", "clock", "counts", "config")),
    ("events as columns", ("events",)),
    ("pure functions of counts", ("metrics", "drift", "verdicts", "snapshot")),
    ("bytes to events", ("web", "feeds", "state")),
    ("events to counts", ("join", "windows", "labels")),
    ("counts to verdicts", ("watch", "engine", "diagnosis", "distributed")),
    ("results to people and machines", ("report", "prometheus", "exporter")),
    ("the running process", ("service", "demo", "cli", "__main__")),
)
"""Groups in the order of the flow: what a group does, and its modules and packages."""

ORDER = tuple(name for _, names in FLOW for name in names)
