"""The exporter's listener: the page, the API, the series and the probes over HTTP.

    app         its routes
    api/        JSON answers about a running monitor
    page/       the same for people, as HTML
    backfill/   the series of the past, for Prometheus to import

The series come from `monitor.prometheus`. The exporter reads frozen snapshots, and the
engine's history in the engine's own thread; it changes nothing.
"""
