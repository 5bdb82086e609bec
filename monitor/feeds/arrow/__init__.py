"""Parquet and Arrow tables, read with pyarrow, an optional dependency.

arrow_files  batches of rows of a file; imports pyarrow when called
id_columns   ids as keys
reading      one column as NumPy arrays
decoding     batches of rows to columns of events, whole columns at a time
rows         the same row by row, for rows of unusual types or with faults
soundness    whether a batch may be read at all
"""
