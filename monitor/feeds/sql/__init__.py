"""Feeds of databases; SQLAlchemy is an extra, which only this package imports.

    database_url.py  says what a URL needs to be read, and hides its secrets in messages
    cursor.py        how far the rows were read: the last cursor, and the rows that have it
    row_query.py     runs the feed's query for one page of rows, sorted by the cursor
    row_decoder.py   turns rows into columns, by the mapping of the feed
    row_finder.py    finds the rows that were not read before; for `replay`, all of them
    sql_source.py    the source that combines them, with the query on a thread of its own

A page ends between two values of the cursor. The query returns the rows that equal the
cursor again; those that were counted are recognized by their content. So each row counts
once, though others with its cursor come later, and over restarts.
"""
