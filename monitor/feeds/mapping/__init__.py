"""Mappings: which columns of a table or a record hold the fields of events.

field_sources  the column or constant of each field, for one table
values         values of any format as the fields hold them: classes, times, numbers
zones          times without a zone, by the zone that the mapping names
record_reader  records as fields, one by one: JSON, and rows of tables
mapped_lines   a decoder of lines whose fields have other names than those of events
guessing       the mapping of a table whose columns have common names
"""
