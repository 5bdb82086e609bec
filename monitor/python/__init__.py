"""The monitor inside a Python program: tables in, results out as objects to look at.

embedded       `Monitor` of the public names: the engine, tables, and results by model
views          a model and a window of it, as objects with plain floats
comparing      `compare`: why precision moved between two tables, ranges or pairs of arrays
version_tables `compare_versions`: two versions of a model in one table
tables         any table as batches of events
table_columns  its columns: names, and values as plain ones
case_tables    tables of cases, read by the same columns
comparison     its result, as text and as the page's pictures
frames         tables of pandas or polars, where one of them is installed
river          metrics and a drift detector for river
sklearn        scores and scorers for scikit-learn
"""
