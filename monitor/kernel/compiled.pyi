from typing import Any

from numpy.typing import NDArray

SOURCE_DIGEST: str
FIELDS: str

def scan(
    block: bytes,
    seed: int,
    longest: int,
    latest_ms: int,
    segment_keys: tuple[bytes, ...],
    predictions: tuple[NDArray[Any], ...],
    labels: tuple[NDArray[Any], ...],
    outcomes: tuple[NDArray[Any], ...],
    starts: NDArray[Any],
    left: NDArray[Any],
    layout: tuple[bytes, int, bytes, bool] | None = None,
    classes: tuple[tuple[bytes, ...], NDArray[Any], bool] | None = None,
    /,
) -> tuple[int, int, int, int, int, list[tuple[str | None, ...]]]: ...
def count_lines(block: bytes, /) -> int: ...
def keys_of(
    texts: NDArray[Any], offsets: NDArray[Any], seed: int, keys: NDArray[Any], /
) -> list[int]: ...
def find(
    places: NDArray[Any],
    slots: int,
    multiplier: int,
    keys: NDArray[Any],
    rows: NDArray[Any],
    found: NDArray[Any],
    /,
) -> None: ...
def enter(
    places: NDArray[Any],
    slots: int,
    multiplier: int,
    keys: NDArray[Any],
    entered: NDArray[Any],
    /,
) -> None: ...
def remember(
    index: tuple[NDArray[Any], int, int],
    table: tuple[NDArray[Any], NDArray[Any], NDArray[Any]],
    predictions: tuple[NDArray[Any], ...],
    terms: tuple[NDArray[Any], ...],
    counted: NDArray[Any],
    changes: tuple[NDArray[Any], ...],
    /,
) -> bool: ...
def meet(
    rows: NDArray[Any],
    slots: NDArray[Any],
    labels: tuple[NDArray[Any], ...],
    terms: tuple[NDArray[Any], ...],
    kept_from: int,
    books: tuple[NDArray[Any], ...],
    changes: tuple[NDArray[Any], ...],
    met: tuple[NDArray[Any], ...],
    /,
) -> tuple[int, int, int, int] | None: ...
def count(
    counts: NDArray[Any],
    written: NDArray[Any],
    newest: NDArray[Any],
    owners: NDArray[Any],
    changes: tuple[NDArray[Any], ...],
    ahead: NDArray[Any],
    /,
) -> int: ...
def count_delays(
    deltas: tuple[NDArray[Any], ...],
    models: NDArray[Any],
    edges: NDArray[Any],
    positive: int,
    counts: NDArray[Any],
    total_ms: NDArray[Any],
    changes: NDArray[Any],
    rings: tuple[tuple[Any, ...], ...],
    /,
) -> tuple[bytes | None, ...] | None: ...
def count_scores(
    deltas: tuple[NDArray[Any], ...],
    models: NDArray[Any],
    kinds: NDArray[Any],
    of_all: int,
    no_score: int,
    bins: int,
    changes: NDArray[Any],
    rings: tuple[tuple[Any, ...], ...],
    /,
) -> tuple[bytes | None, ...] | None: ...
def count_value_scores(
    deltas: tuple[NDArray[Any], ...],
    models: NDArray[Any],
    rows: NDArray[Any],
    columns: NDArray[Any],
    no_score: int,
    changes: NDArray[Any],
    rings: tuple[tuple[Any, ...], ...],
    /,
) -> tuple[bytes | None, ...] | None: ...
def count_windows(
    deltas: tuple[NDArray[Any], ...],
    models: NDArray[Any],
    series: NDArray[Any],
    lifetime: NDArray[Any],
    changes: NDArray[Any],
    first_changed: NDArray[Any] | None,
    rings: tuple[tuple[Any, ...], ...],
    windows: tuple[tuple[NDArray[Any], ...], ...],
    /,
) -> tuple[bytes | None, ...] | None: ...
def in_pace(
    events: tuple[NDArray[Any], ...],
    models: NDArray[Any],
    kind: int,
    terms: tuple[NDArray[Any], ...],
    columns: tuple[NDArray[Any], ...],
    present: NDArray[Any],
    /,
) -> bool: ...
