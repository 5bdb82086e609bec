"""What people and machines read: Prometheus, and later the page, the report and the rules.

    prometheus/   the table of series over a snapshot, a collector, a fast writer of the same
    app.py        the routes of the exporter's listener
    server.py     runs an app in the background of the process

Exporters only read the frozen `Snapshot`; nothing here changes what is counted.
"""
