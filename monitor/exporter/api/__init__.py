"""The API behind the page: plain objects about a running monitor, read over HTTP.

    status     every model now: metrics by window, verdict, detections, freshness
    series     one model over time, as far back as it is kept
    compare    why precision moved between two stretches of time, as `diagnose --json`
    curve      precision against recall at every threshold, and which one would do
    asking     how an answer gets at what the engine's thread alone may read
    routes     HTTP: parameters, errors, what is remembered between two requests
    openapi    the document that describes it

All but `asking` and `routes` are pure functions of frozen things.
"""
