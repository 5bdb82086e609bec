"""Prometheus: one list of series over the snapshot, and the rules that read them.

family.py            what a family of series is: its name, its possible samples, its values
window_families.py   the families about windows: the quality of the classifier
verdict_families.py  the families about verdicts, causes, detectors and the reference
model_families.py    the families about models: counters, delays
version_families.py  the families about versions of a model
monitor_families.py  the families about the monitor, so that its conservation laws can be checked
families.py          all of them in the order of the exposition, and as a table for people
process_series.py    the series of the running process, which no snapshot holds
feed_series.py       those of them that are about feeds
forward_series.py    those of a monitor that forwards its counts
collector.py         the families as a prometheus_client collector, for any registry
text.py              the families as text, ten times faster and equal byte for byte
series_limit.py      what of a snapshot is exported, so that a scrape stays within the limit
exposition.py        the answer to a scrape: rendered once a snapshot, compressed
negotiation.py       the format that a client gets
rules/               recording and alerting rules for the configured models

A new series is one more `Family` in the module that it belongs to; collector, text and
table follow.
"""
