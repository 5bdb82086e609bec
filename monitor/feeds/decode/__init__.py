"""Records to columns: the only place that knows the names of fields.

    lines     where each line of a block starts and ends
    records   typed records: what msgspec decodes a line into
    columns   many records at once, as columns, and which of them are unfit
    reasons   why one unfit record cannot be used
    decoder   the four put together
    live      a decoder whose settings can be changed while feeds use it

A block of lines is decoded at once. Where that fails, each line is decoded on
its own, so that a bad line costs nothing but itself. The columns only say
*that* a record is unfit; *why* is said in one place, `reasons`, from the record
itself, whatever format it came in.

What a record may hold, beyond the contract: null says the same as leaving a
field out, but for `label`, where it retracts. Fields that are not known are
ignored, as are segment keys that no model keeps. Of a key given twice the last
one counts; a `type` given twice with two values is `bad_value`.
"""

from monitor.feeds.decode.decoder import Decoder
from monitor.feeds.decode.field_columns import milliseconds
from monitor.feeds.decode.live import LiveDecoder
from monitor.feeds.decode.settings import MAX_RECORD_BYTES, DecodeSettings, ModelFields

__all__ = [
    "MAX_RECORD_BYTES",
    "DecodeSettings",
    "Decoder",
    "LiveDecoder",
    "ModelFields",
    "milliseconds",
]
