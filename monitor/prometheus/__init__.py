"""Prometheus: one table of series over the snapshot, read in two ways.

family.py        what a family of series is: its name, its possible samples, its values
windows.py       the families about windows: the quality of the classifier
models.py        the families about models: counters, delays, versions
books.py         the families about the monitor, so that its conservation laws can be checked
series.py        all of them in the order of the exposition, and as a table for people
collector.py     the table as a prometheus_client collector, for anybody's registry
text.py          the table as text, ten times faster and equal byte for byte
exposition.py    what a scrape gets: rendered once a snapshot, compressed
negotiation.py   which format a client gets

A new series is one more `Family` in the module that it belongs to; collector,
text and table follow.
"""
