"""Two versions compared from recorded events, by the hours that a monitor holds."""

from watch.versioned import batches

from monitor.diagnosis.versions import compare_recorded


def recorded(events, config, mature_until, **asked):
    """Compare the same events as `compare` does, with the version as no segment."""
    without = config.models["m"].with_segments(("region",))
    plain = config.model_copy(update={"models": {"m": without}})
    return compare_recorded(
        [*batches(events, plain)], "m", without, mature_until=mature_until, **asked
    )


def same(live, other):
    assert [one.name for one in live.versions] == [one.name for one in other.versions]
    assert [one.first for one in live.versions] == [one.first for one in other.versions]
    assert tuple(live.within) == tuple(other.within)
    assert live.predictions == other.predictions
    assert live.segments == other.segments
    for mine, theirs in zip(live.comparison.counts, other.comparison.counts, strict=True):
        assert mine.cells.tolist() == theirs.cells.tolist()
    mine, theirs = live.comparison.strata, other.comparison.strata
    assert mine.found == theirs.found
    assert mine.differences == theirs.differences
    assert mine.parts == theirs.parts
