"""Times that a format writes: `time.format` of a mapping, `--time-format`, and what is proposed."""

import io
import json
import shlex
from datetime import datetime
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from cli.commands import ran
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from monitor import Monitor
from monitor.config.mapping import MappedRecords, mapped_records
from monitor.feeds.arrow.arrow_files import read_arrow
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.feeds.mapping.proposed_formats import proposed_formats

EARLIEST = datetime(1990, 1, 1)  # noqa: DTZ001  # of no zone
LATEST = datetime(2060, 1, 1)  # noqa: DTZ001  # likewise
BERLIN = ZoneInfo("Europe/Berlin")
FORM = "%d.%m.%Y %H:%M"
WRITTEN = ["07.08.2026 10:00", "13.08.2026 23:59"]
MOMENTS = [datetime(2026, 8, 7, 10, tzinfo=BERLIN), datetime(2026, 8, 13, 23, 59, tzinfo=BERLIN)]
SECONDS = [moment.timestamp() for moment in MOMENTS]
OPTIONS = ("--time-format", FORM, "--zone", "Europe/Berlin")


def mapping(**time: str) -> MappedRecords:
    return mapped_records({}, {}, time)


def times_in_parquet(ts: pa.Array, form: MappedRecords) -> tuple[list[float], int]:
    """Times of the predictions of a file in seconds, and the number of rejected rows."""
    sink = io.BytesIO()
    rows = {"ts": ts, "id": [str(n) for n in range(len(ts))], "prediction": [1] * len(ts)}
    parquet.write_table(pa.table(rows), sink)
    decoder = Decoder(DecodeSettings())
    ((batch, _),) = read_arrow(
        io.BytesIO(sink.getvalue()), "x", decoder, parquet=True, mapping=form, say=lambda _: None
    )
    return (batch.predictions.time / 1000).tolist(), len(batch.rejected)


@pytest.mark.parametrize("ending", ["csv", "ndjson"])
def test_files_of_text_are_read_by_a_format(capsys, tmp_path, ending):
    path = tmp_path / f"events.{ending}"
    rows = [{"ts": ts, "id": str(n), "prediction": 1} for n, ts in enumerate(WRITTEN)]
    if ending == "csv":
        path.write_text("ts,id,prediction\n" + "".join(f"{r['ts']},{r['id']},1\n" for r in rows))
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert ran(capsys, "replay", path).code == 3
    done = ran(capsys, "replay", path, *OPTIONS)
    assert (done.code, "2 events read, 0 rejected" in done.out) == (0, True)


def test_a_column_of_text_or_of_dates_in_digits_is_read_by_a_format():
    found = times_in_parquet(pa.array(WRITTEN), mapping(format=FORM, zone="Europe/Berlin"))
    assert found == (SECONDS, 0)
    digits = pa.array([20260807, 20260813])
    days = [datetime(2026, 8, day, tzinfo=BERLIN).timestamp() for day in (7, 13)]
    form = mapping(format="%Y%m%d", zone="Europe/Berlin")
    assert times_in_parquet(digits, form) == (days, 0)


def test_a_value_of_another_form_is_read_as_without_a_format():
    mixed = pa.array([WRITTEN[0], "2026-08-13T23:59:00+02:00", "soon"])
    found = times_in_parquet(mixed, mapping(format=FORM, zone="Europe/Berlin"))
    assert found == (SECONDS, 1)


def test_a_time_that_names_its_zone_needs_no_other_and_one_without_is_rejected():
    zoned = [f"{text} +0200" for text in WRITTEN]
    assert times_in_parquet(pa.array(zoned), mapping(format=f"{FORM} %z")) == (SECONDS, 0)
    assert times_in_parquet(pa.array(WRITTEN), mapping(format=FORM)) == ([], 2)


def test_frames_are_read_by_a_format():
    monitor = Monitor()
    rows = {"ts": WRITTEN, "prediction": [1, 0], "label": [1, 0]}
    assert monitor.feed(rows, time={"format": FORM, "zone": "Europe/Berlin"}).rejected == {}
    with pytest.raises(
        ValueError, match=r"time=\{'format': '%d.%m.%Y %H:%M', 'zone': 'Europe/Berlin'"
    ):
        Monitor().feed(rows)


@pytest.mark.parametrize("form", ["%d.%m. %H:%M", "%H:%M", "%d.%m.%Y %Q", "", "today"])
def test_a_format_without_a_day_or_with_an_unknown_directive_is_refused(form):
    with pytest.raises(ValueError, match=r"^(format: |.*format)"):
        mapping(format=form)


@pytest.mark.parametrize(
    "form",
    [
        *("%d.%m.%Y", "%d/%m/%y %H:%M", "%m/%d/%Y %I:%M %p", "%m/%d/%Y, %H:%M:%S", "%d-%b-%Y"),
        *("%d-%B-%Y %H:%M", "%d.%m.%YT%H:%M:%S.%f", "%m-%d-%y %I:%M%p", "%Y/%m/%d %H:%M:%S"),
        *("%d-%b-%y %I.%M.%S.%f %p", "%a, %d %b %Y %H:%M:%S GMT", "%d/%b/%Y:%H:%M:%S +0000"),
        *("%b %d, %Y @ %H:%M:%S.%f", "%b %d %Y %I:%M%p", "%Y%m%d%H%M%S", "%Y%m%d%H%M"),
    ],
)
@given(moment=st.datetimes(EARLIEST, LATEST))
def test_the_format_that_wrote_a_date_is_proposed(form, moment):
    if form == "%d-%B-%Y %H:%M" and moment.month == 5:
        return  # May is its own abbreviation
    assert form.replace("+0000", "%z") in proposed_formats([moment.strftime(form)])


@pytest.mark.parametrize(
    ("written", "options"),
    [
        ("20260807100000", "--time-format %Y%m%d%H%M%S --zone Europe/Berlin"),
        (
            "07-AUG-26 10.00.00.000000 AM",
            "--time-format '%d-%b-%y %I.%M.%S.%f %p' --zone Europe/Berlin",
        ),
        (
            '"Fri, 07 Aug 2026 10:00:00 GMT"',
            "--time-format '%a, %d %b %Y %H:%M:%S GMT' --zone UTC",
        ),
        ("07/Aug/2026:10:00:00 +0200", "--time-format '%d/%b/%Y:%H:%M:%S %z'"),
    ],
    ids=["digits", "Oracle", "mail", "web server"],
)
def test_a_file_is_read_by_the_format_that_its_message_names(capsys, tmp_path, written, options):
    path = tmp_path / "events.csv"
    path.write_text(f"ts,id,prediction\n{written},a,1\n")
    done = ran(capsys, "replay", path)
    assert (done.code, done.err.rpartition("these times: ")[2]) == (3, f"{options}\n")
    done = ran(capsys, "replay", path, *shlex.split(options))
    assert (done.code, "1 event read, 0 rejected" in done.out) == (0, True)


@pytest.mark.parametrize("written", ["46241.41667", '"46241,41667"'], ids=["point", "comma"])
def test_days_of_a_spreadsheet_are_named(capsys, tmp_path, written):
    path = tmp_path / "events.csv"
    path.write_text(f"ts,id,prediction\n{written},a,1\n")
    assert "a number of days, as spreadsheets keep times" in ran(capsys, "replay", path).err


def test_the_message_names_both_formats_where_the_days_leave_a_doubt(capsys, tmp_path):
    path = tmp_path / "events.csv"
    path.write_text("ts,id,prediction\n07/08/2026 10:00,a,1\n")
    told = ran(capsys, "replay", path).err
    assert "--time-format '%d/%m/%Y %H:%M' --zone Europe/Berlin" in told
    assert "the day may come first, or the month, got '07/08/2026 10:00'" in told
    assert "then --time-format '%m/%d/%Y %H:%M'" in told
    path.write_text("ts,id,prediction\n13/08/2026 10:00,a,1\n")
    assert "the day may come first" not in ran(capsys, "replay", path).err


def test_the_commands_that_are_named_have_the_format(capsys, tmp_path):
    path = tmp_path / "events.csv"
    lines = (f"{day:02}.08.2026 10:0{n},1,1\n" for day in range(1, 29) for n in range(9))
    path.write_text("ts,prediction,label\n" + "".join(lines))
    done = ran(capsys, "replay", path, *OPTIONS)
    assert "--time-format '%d.%m.%Y %H:%M'" in done.out.replace("\n", " ")
