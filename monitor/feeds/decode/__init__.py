"""Records to columns: the only place that knows the names of fields.

    lines          where each line of a block starts and ends
    records        typed records, which msgspec decodes lines into
    field_columns  values of a field as a column
    groups         model, version and segment values as the number of a group
    completed      records without a type, or with an integer id
    odd_lines      lines one by one: such records, and what is wrong with others
    assemble       many records as columns, and which of them are unfit
    reasons        why an unfit record cannot be used
    scanning       blocks through the compiled kernel, and the lines that it leaves
    decoder        blocks of lines in, batches of columns out
    live           a decoder whose settings can change while feeds use it

The compiled kernel takes the usual lines of a block, where it is installed. The decoder
decodes the others at once, or all lines without the kernel. If that fails, it decodes line
by line, so that a bad line affects no other. The columns only mark a record as
unfit. `reasons` then finds the reason from the record itself, whatever its format.

Beyond the contract: null is the same as a missing field, except that a null
`label` retracts. Unknown fields are ignored, and so are segment keys that no model
is configured with. If a key occurs twice, the last one counts; two different values
of `type` are `bad_value`.
"""

from monitor.feeds.decode.decoder import Decoder, LineDecoder
from monitor.feeds.decode.field_columns import milliseconds
from monitor.feeds.decode.live import LiveDecoder
from monitor.feeds.decode.settings import MAX_RECORD_BYTES, DecodeSettings, ModelFields

__all__ = [
    "MAX_RECORD_BYTES",
    "DecodeSettings",
    "Decoder",
    "LineDecoder",
    "LiveDecoder",
    "ModelFields",
    "milliseconds",
]
