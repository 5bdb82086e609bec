"""The series of /metrics pushed by OTLP; OpenTelemetry's exporter is an extra.

availability.py  says whether the exporter is installed
conversion.py    families of Prometheus as metrics of OpenTelemetry
pusher.py        pushes them at intervals, on a thread of its own
"""
