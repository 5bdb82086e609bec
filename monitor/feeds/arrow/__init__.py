"""Parquet and Arrow tables, by pyarrow, which is an extra: nothing here is imported without it.

files      batches of rows out of a file
reading    one column as NumPy arrays
decoding   batches of rows to columns of events, whole columns at a time
rows       the same row by row, for what is unusual or unfit
"""
