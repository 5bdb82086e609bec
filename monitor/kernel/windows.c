/* Counting into windows: as `WindowCounts.apply` of monitor/windows/counting.py, on its memory. */

#include "tallies.h"

enum { CELLS = 6, MOST_RINGS = 5, MOST_WINDOWS = 16 };
enum { HOURS = 0, FINE = 1, COARSE = 2, BY_LABEL = 3 }; /* rings; BY_LABEL and after: by the label */
enum { RING, START, END, RANGE };                       /* of a window's panes, by model */

/* The panes of a window by model, and its sums; see `RunningWindow` of monitor/windows/running.py. */
typedef struct {
    const i64 (*ranges)[RANGE];
    i64 *sums, *changes;
    u8 *changed; /* flags of models */
} Window;

typedef struct {
    const i64 *series; /* (groups, keys): those that a group counts in, -1 for none */
    size_t keys;
    i64 *lifetime; /* (rows, CELLS) */
    size_t rows;
    i64 *first_changed; /* by model: the first coarse pane whose counts have changed; or NULL */
    Window windows[MOST_WINDOWS];
    int window_count;
} Windows;

/* Whether a group's series and its model have their places in all rings. */
static bool group_fits(const Deltas *deltas, const Windows *windows, const Tallies *tallies,
                       size_t group)
{
    i64 model = deltas->model_of_group[group];
    if (!fits(&tallies->all[HOURS].ring, model, CELLS - 1, 1))
        return false;
    for (size_t key = 0; key < windows->keys; key++) {
        i64 row = windows->series[windows->keys * group + key];
        if (row == -1)
            continue;
        if (row < 0 || (u64)row >= windows->rows)
            return false;
        for (int i = FINE; i < tallies->count; i++) {
            const Ring *ring = &tallies->all[i].ring;
            if (!fits(ring, row, CELLS - 1, 1) || ring->owners[row] != model)
                return false;
        }
    }
    return true;
}

/* Whether every change has its place, in the ring of coarse panes too; notes the models. */
static bool changes_fit(const Deltas *given, const Windows *windows, const Tallies *tallies,
                        u8 *known)
{
    const Deltas deltas = *given; /* copies, which no store below can change */
    const Tally coarse = tallies->all[COARSE];
    i64 least = 0, most = 0;
    for (size_t i = 0; i < deltas.rows; i++) {
        i64 model = model_of(&deltas, i), count = deltas.count[i];
        if (model < 0 || deltas.cell[i] < 0 || deltas.cell[i] >= CELLS)
            return false;
        u8 *fit = &known[deltas.group[i]];
        if (!*fit && !group_fits(given, windows, tallies, (size_t)deltas.group[i]))
            return false;
        *fit = 1;
        if ((u64)model >= coarse.ring.models || has_left(&coarse, deltas.time[i], model))
            return false; /* it belongs to a day */
        deltas.changed[model] = 1;
        least = count < least ? count : least;
        most = count > most ? count : most;
    }
    for (int i = 0; i < tallies->count; i++)
        if (!tallies->all[i].ring.wide && (least < -1 || most > 1))
            return false;
    return true;
}

/* The panes of a change: of hours, and of each ring of the windows. */
typedef struct {
    i64 of[MOST_RINGS];
} Place;

/* Changes of groups and cells in the same panes, summed: most predictions lie in the panes of the
   one before, and a batch has few groups. */
enum { SUMS = 1 << 10, MIXER = 0x9E3779B1 };

typedef struct {
    Place place;
    i64 keys[SUMS], counts[SUMS]; /* CELLS * group + cell */
    u32 used[SUMS];               /* those in use */
    size_t count;
    u8 taken[SUMS];
} Sums;

/* Adds a sum to the windows that its pane lies in. */
static void add_to_windows(Windows *windows, const i64 *panes, int rings, i64 model, i64 row,
                           i64 cell, i64 count)
{
    for (int i = 0; i < windows->window_count; i++) {
        Window *window = &windows->windows[i];
        const i64 *range = window->ranges[model];
        if (range[RING] < 0 || range[RING] >= rings || panes[range[RING]] < range[START] ||
            panes[range[RING]] >= range[END])
            continue;
        ((u64 *)window->sums)[CELLS * row + cell] += (u64)count;
        window->changed[model] = 1;
    }
}

static void add_sum(const Deltas *deltas, Windows *windows, Tallies *tallies, const Place *place,
                    i64 key, i64 count)
{
    size_t group = (size_t)(key / CELLS);
    i64 cell = key % CELLS, model = deltas->model_of_group[group], coarse = place->of[COARSE];
    put(&tallies->all[HOURS], place->of[HOURS], model, cell, count);
    for (size_t i = 0; i < windows->keys; i++) {
        i64 row = windows->series[windows->keys * group + i];
        if (row == -1)
            continue;
        ((u64 *)windows->lifetime)[CELLS * row + cell] += (u64)count;
        for (int ring = FINE; ring < tallies->count; ring++)
            put(&tallies->all[ring], place->of[ring], row, cell, count);
        add_to_windows(windows, place->of + FINE, tallies->count - FINE, model, row, cell, count);
        if (windows->first_changed && coarse < windows->first_changed[model])
            windows->first_changed[model] = coarse;
    }
}

static void flush(const Deltas *deltas, Windows *windows, Tallies *tallies, Sums *sums)
{
    for (size_t i = 0; i < sums->count; i++) {
        u32 at = sums->used[i];
        add_sum(deltas, windows, tallies, &sums->place, sums->keys[at], sums->counts[at]);
        sums->taken[at] = 0;
    }
    sums->count = 0;
}

/* The times that lie in the same panes of some rings: the panes of most are those of the one before. */
typedef struct {
    Panes of[MOST_RINGS];
    i64 from;
    u64 length;
} Stay;

static inline bool stays(const Stay *stay, i64 time)
{
    return (u64)time - (u64)stay->from < stay->length;
}

/* Moves to the panes of a time, those of the rings from `first` on and before `end`. */
static void move_to(Stay *stay, Place *place, int first, int end, i64 time)
{
    u64 before = UINT64_MAX, after = UINT64_MAX;
    for (int ring = first; ring < end; ring++) {
        Panes *panes = &stay->of[ring];
        place->of[ring] = pane_of(panes, time);
        u64 past = (u64)time - (u64)panes->start, left = (u64)panes->width - past;
        before = past < before ? past : before;
        after = left < after ? left : after;
    }
    stay->from = (i64)((u64)time - before);
    stay->length = before + after;
}

/* Adds a change of a key to its sum; false if another key has its place. */
static inline bool add_to_sum(Sums *sums, i64 key, i64 count)
{
    u32 at = (u32)key * MIXER >> 22;
    if (!sums->taken[at]) {
        sums->taken[at] = 1;
        sums->keys[at] = key;
        sums->counts[at] = 0;
        sums->used[sums->count++] = at;
    }
    if (sums->keys[at] != key)
        return false;
    sums->counts[at] = (i64)((u64)sums->counts[at] + (u64)count);
    return true;
}

static void tally_windows(const Deltas *given, Windows *windows, Tallies *tallies)
{
    const Deltas deltas = *given; /* a copy, which no store below can change */
    const int rings = tallies->count, by_time = rings < BY_LABEL ? rings : BY_LABEL;
    Sums sums = {.count = 0};
    Stay times = {.length = 0}, label_times = {.length = 0};
    if (rings <= BY_LABEL)
        label_times.length = UINT64_MAX; /* no ring is by the label: its time decides nothing */
    for (int i = 0; i < rings; i++)
        times.of[i] = label_times.of[i] = panes_of(&tallies->all[i]);
    for (size_t i = 0; i < deltas.rows; i++) {
        bool same_time = stays(&times, deltas.time[i]);
        bool same_label = stays(&label_times, deltas.label_time[i]);
        if (!same_time || !same_label)
            flush(given, windows, tallies, &sums); /* while the place is still the former */
        if (!same_time)
            move_to(&times, &sums.place, 0, by_time, deltas.time[i]);
        if (!same_label)
            move_to(&label_times, &sums.place, BY_LABEL, rings, deltas.label_time[i]);
        i64 key = CELLS * deltas.group[i] + deltas.cell[i];
        if (!add_to_sum(&sums, key, deltas.count[i])) {
            flush(given, windows, tallies, &sums);
            add_to_sum(&sums, key, deltas.count[i]);
        }
    }
    flush(given, windows, tallies, &sums);
    note_changes(given);
    for (int i = 0; i < windows->window_count; i++)
        for (size_t model = 0; model < deltas.models; model++)
            windows->windows[i].changes[model] += windows->windows[i].changed[model];
    end_tallies(tallies);
}

/* Reads windows, tuples of ranges, sums and changes; false with an error set. */
static bool read_windows(Buffers *buffers, Windows *windows, PyObject *given, size_t models)
{
    if (!PyTuple_Check(given) || PyTuple_Size(given) > MOST_WINDOWS) {
        PyErr_Format(PyExc_ValueError, "windows must be a tuple of at most %d", MOST_WINDOWS);
        return false;
    }
    for (Py_ssize_t i = 0; i < PyTuple_Size(given); i++) {
        Window *window = &windows->windows[i];
        PyObject *ranges, *sums, *changes;
        if (!PyArg_ParseTuple(PyTuple_GetItem(given, i), "OOO", &ranges, &sums, &changes) ||
            !(window->ranges = read_column(buffers, ranges, 8, RANGE * models)) ||
            !(window->sums = column(buffers, sums, CELLS * windows->rows)) ||
            !(window->changes = column(buffers, changes, models)))
            return false;
        if (!(window->changed = PyMem_Calloc(models + 1, 1))) {
            PyErr_NoMemory();
            return false;
        }
        windows->window_count++;
    }
    return true;
}

/* Reads the series of groups and the counts since the start; false with an error set. */
static bool read_series(Buffers *buffers, Windows *windows, const Deltas *deltas, PyObject *series,
                        PyObject *lifetime, PyObject *first_changed)
{
    Py_buffer *of_series = view_of(buffers, series, 8, PyBUF_CONTIG_RO), *of_lifetime;
    if (!of_series || !(of_lifetime = view_of(buffers, lifetime, 8, PyBUF_CONTIG)))
        return false;
    if (of_series->ndim != 2 || (size_t)of_series->shape[0] != deltas->groups) {
        PyErr_SetString(PyExc_ValueError, "series must have a row for each group");
        return false;
    }
    windows->series = of_series->buf;
    windows->keys = (size_t)of_series->shape[1];
    windows->lifetime = of_lifetime->buf;
    windows->rows = (size_t)of_lifetime->len / (8 * CELLS);
    return first_changed == Py_None ||
           (windows->first_changed = column(buffers, first_changed, deltas->models));
}

const char windows_doc[] = PyDoc_STR(
"count_windows(deltas, models, series, lifetime, changes, first_changed, rings, windows, /)\n"
"--\n\n"
"Count changes in panes and windows, as `WindowCounts.apply` of monitor.windows.counting does.\n\n"
"Args:\n"
"    deltas: time, label time, group, cell and count of each change, int64.\n"
"    models: model number of each group, int64.\n"
"    series: series that each group counts in, -1 for none, int64 (groups, keys).\n"
"    lifetime: counts since the start, int64 (series, 6); added to.\n"
"    changes: of each model, int64; 1 is added where a count changes.\n"
"    first_changed: by model, lowered to the first coarse pane that changes, int64; or None.\n"
"    rings: of hours by model; of fine and coarse panes by series, and these by the label's time\n"
"        where models go by it; as `count_delays` takes them; added to.\n"
"    windows: of each window the ring and the panes by model, int64 (models, 3), its sums, int64\n"
"        (series, 6), and changes by model; the last two are added to.\n\n"
"Returns:\n"
"    As `count_delays`; None, too, where a change lies behind the coarse panes.\n\n"
"Raises:\n"
"    ValueError: an array has another shape or another type.");

PyObject *count_windows(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    Buffers buffers = {.count = 0};
    Deltas deltas = {0};
    Windows windows = {.window_count = 0};
    Tallies tallies = {.count = 0};
    u8 *known = NULL;
    PyObject *given, *models, *series, *lifetime, *changes, *first_changed, *rings, *of_windows,
        *result = NULL;
    if (!PyArg_ParseTuple(arguments, "OOOOOOOO", &given, &models, &series, &lifetime, &changes,
                          &first_changed, &rings, &of_windows))
        return NULL;
    if (!read_deltas(&buffers, &deltas, given, &deltas.label_time, models, changes) ||
        !read_series(&buffers, &windows, &deltas, series, lifetime, first_changed) ||
        !read_windows(&buffers, &windows, of_windows, deltas.models) ||
        !read_rings(&buffers, &tallies, rings, COARSE + 1, MOST_RINGS, deltas.rows * (windows.keys + 1)))
        goto end;
    if (!(known = PyMem_Calloc(deltas.groups + 1, 1))) {
        PyErr_NoMemory();
        goto end;
    }
    PyThreadState *state = deltas.rows >= RELEASE_FROM ? PyEval_SaveThread() : NULL;
    bool plain = changes_fit(&deltas, &windows, &tallies, known);
    if (plain)
        tally_windows(&deltas, &windows, &tallies);
    if (state)
        PyEval_RestoreThread(state);
    result = plain ? ahead_of(&tallies) : Py_NewRef(Py_None);
end:
    for (int i = 0; i < windows.window_count; i++)
        PyMem_Free(windows.windows[i].changed);
    PyMem_Free(known);
    free_tallies(&tallies);
    PyMem_Free(deltas.changed);
    release(&buffers);
    return result;
}
