/* Counting of deltas: label delays and scores in the panes of rings.

Each function does what a method in Python does, on the same memory, in a pass over the rows
instead of a call of NumPy for each step. A pass before it checks that every row has its place;
where one has none, or 32 bits may be too few, nothing is written and None is returned. */

#include "panes.h"
#include <math.h>

enum {
    RELEASE_FROM = 512, /* rows from which other threads may run meanwhile */
    AT_ONCE = 512, /* changes of a ring that are collected before they are added */
    AHEAD = 4      /* pane, row, cell and count */
};

static const i64 NOT_YET = -((i64)1 << 60); /* the newest pane of a model without a time */

/* A ring, changes that are collected for it, and all that were ahead of their models. */
typedef struct {
    Ring ring;
    i64 width; /* of a pane, milliseconds */
    i64 pane[AT_ONCE], row[AT_ONCE], cell[AT_ONCE], count[AT_ONCE], late[AT_ONCE];
    i64 *ahead; /* (changes, 4) */
    size_t ahead_count;
} Tally;

typedef struct {
    Tally *all;
    int count;
    i64 *ahead;
} Tallies;

/* Reads rings, tuples of counts, written, newest, owners and width, for at most so many changes of
   each; false with an error set. */
static bool read_rings(Buffers *buffers, Tallies *tallies, PyObject *rings, int count, size_t most)
{
    if (!PyTuple_Check(rings) || PyTuple_Size(rings) != count) {
        PyErr_Format(PyExc_ValueError, "rings must be a tuple of %d", count);
        return false;
    }
    tallies->all = PyMem_Calloc((size_t)count, sizeof *tallies->all);
    tallies->ahead = PyMem_Malloc((size_t)count * AHEAD * most * sizeof(i64) + 1);
    if (!tallies->all || !tallies->ahead) {
        PyErr_NoMemory();
        return false;
    }
    tallies->count = count;
    for (int i = 0; i < count; i++) {
        PyObject *counts, *written, *newest, *owners;
        long long width;
        Tally *tally = &tallies->all[i];
        if (!PyArg_ParseTuple(PyTuple_GetItem(rings, i), "OOOOL", &counts, &written, &newest,
                              &owners, &width) ||
            !read_ring(buffers, &tally->ring, counts, written, newest, owners))
            return false;
        if (width < 1) {
            PyErr_SetString(PyExc_ValueError, "a pane must have a width");
            return false;
        }
        tally->width = width;
        tally->ring.pane = tally->pane;
        tally->ring.row = tally->row;
        tally->ring.cell = tally->cell;
        tally->ring.count = tally->count;
        tally->ring.ahead = tally->late;
        tally->ahead = tallies->ahead + (size_t)i * AHEAD * most;
    }
    return true;
}

static void free_tallies(Tallies *tallies)
{
    for (int i = 0; i < tallies->count; i++)
        PyMem_Free(tallies->all[i].ring.touched);
    PyMem_Free(tallies->all);
    PyMem_Free(tallies->ahead);
}

/* Adds what is collected. */
static void flush(Tally *tally)
{
    Ring *ring = &tally->ring;
    add_changes(ring);
    for (size_t i = 0; i < ring->ahead_count; i++) {
        i64 at = ring->ahead[i], *to = tally->ahead + AHEAD * tally->ahead_count++;
        to[0] = tally->pane[at];
        to[1] = tally->row[at];
        to[2] = tally->cell[at];
        to[3] = tally->count[at];
    }
    ring->changes = 0;
}

static void put(Tally *tally, i64 pane, i64 row, i64 cell, i64 count)
{
    if (tally->ring.changes == AT_ONCE)
        flush(tally);
    size_t i = tally->ring.changes++;
    tally->pane[i] = pane;
    tally->row[i] = row;
    tally->cell[i] = cell;
    tally->count[i] = count;
}

static void end_tallies(Tallies *tallies)
{
    for (int i = 0; i < tallies->count; i++) {
        flush(&tallies->all[i]);
        mark_written(&tallies->all[i].ring);
    }
}

/* The pane of a time: nearly always that of the one before. */
typedef struct {
    i64 pane, start, width;
} Panes;

static i64 pane_of(Panes *panes, i64 time)
{
    if ((u64)time - (u64)panes->start >= (u64)panes->width) {
        i64 pane = time / panes->width;
        panes->pane = pane - (time % panes->width < 0);
        panes->start = (i64)((u64)panes->pane * (u64)panes->width);
    }
    return panes->pane;
}

static Panes panes_of(const Tally *tally)
{
    return (Panes){.width = tally->width};
}

/* For each ring the changes ahead, 32 bytes each; None without any. */
static PyObject *ahead_of(const Tallies *tallies)
{
    PyObject *found = PyTuple_New(tallies->count);
    for (int i = 0; found && i < tallies->count; i++) {
        const Tally *tally = &tallies->all[i];
        size_t bytes = tally->ahead_count * AHEAD * sizeof(i64);
        PyObject *ahead = Py_NewRef(Py_None);
        if (bytes) {
            Py_DECREF(ahead);
            ahead = PyBytes_FromStringAndSize((const char *)tally->ahead, (Py_ssize_t)bytes);
        }
        if (!ahead || PyTuple_SetItem(found, i, ahead) < 0)
            Py_CLEAR(found);
    }
    return found;
}

/* Adds 1 to the counter of each model that a flag names. */
static void add_flags(i64 *changes, const u8 *flags, size_t count)
{
    for (size_t i = 0; i < count; i++)
        changes[i] += flags[i];
}

/* Columns of deltas, and the model of each group. */
typedef struct {
    const i64 *time, *label_time, *group, *cell, *score, *count;
    size_t rows;
    const i64 *model_of_group;
    size_t groups;
    i64 *changes; /* of each model */
    size_t models;
    u8 *changed; /* flags of models */
} Deltas;

/* The model of a row; -1 if it has none. */
static i64 model_of(const Deltas *deltas, size_t i)
{
    u64 group = (u64)deltas->group[i];
    i64 model = group < deltas->groups ? deltas->model_of_group[group] : -1;
    return (u64)model < deltas->models ? model : -1;
}

/* Reads the counters of changes, and makes flags for them; false with an error set. */
static bool read_changes(Buffers *buffers, Deltas *deltas, PyObject *changes)
{
    Py_buffer *view = view_of(buffers, changes, 8, PyBUF_CONTIG);
    if (!view)
        return false;
    deltas->changes = view->buf;
    deltas->models = (size_t)view->len / 8;
    deltas->changed = PyMem_Calloc(deltas->models + 1, 1);
    if (!deltas->changed)
        PyErr_NoMemory();
    return deltas->changed;
}

/* ---- Label delays ---- */

typedef struct {
    i64 *counts, *total_ms; /* (models, outcomes, bins); (models, outcomes) */
    const double *edges;    /* of the bins, seconds, in rising order; the last is infinite */
    size_t bins;
    u64 positive; /* a bit for each outcome whose label is positive */
} Delays;

enum { OUTCOMES = 4, COHORTS = 0, LATEST = 1, REPORTS = 2 };

/* The first edge that is not below a delay. */
static size_t bin_of(const Delays *delays, double seconds)
{
    size_t first = 0, count = delays->bins;
    while (count > 0) {
        size_t half = count / 2;
        bool below = delays->edges[first + half] < seconds;
        first = below ? first + half + 1 : first;
        count = below ? count - half - 1 : half;
    }
    return first;
}

/* Whether the largest cell of a model has its place in a ring. */
static bool model_fits(const Deltas *deltas, const Ring *ring, i64 cells)
{
    for (size_t model = 0; model < deltas->models; model++)
        if (deltas->changed[model] && !fits(ring, (i64)model, cells - 1, 1))
            return false;
    return true;
}

/* Whether every outcome has its place; notes the models. */
static bool delays_fit(const Deltas *deltas, const Delays *delays, const Tallies *tallies)
{
    i64 least = 0, most = 0;
    for (size_t i = 0; i < deltas->rows; i++) {
        i64 cell = deltas->cell[i], model, count = deltas->count[i];
        if (cell >= OUTCOMES)
            continue;
        if (cell < 0 || (model = model_of(deltas, i)) < 0)
            return false;
        deltas->changed[model] = 1;
        least = count < least ? count : least;
        most = count > most ? count : most;
    }
    for (int i = 0; i < tallies->count; i++) {
        const Ring *ring = &tallies->all[i].ring;
        i64 cells = i == COHORTS ? OUTCOMES * (i64)delays->bins : 1;
        if (!model_fits(deltas, ring, cells) || (!ring->wide && (least < -1 || most > 1)))
            return false;
    }
    return delays->bins > 0 && delays->edges[delays->bins - 1] == INFINITY;
}

static void tally_delays(const Deltas *deltas, const Delays *delays, Tallies *tallies)
{
    Tally *cohorts = &tallies->all[COHORTS], *latest = &tallies->all[LATEST];
    Tally *reports = &tallies->all[REPORTS];
    Panes days = panes_of(cohorts), hours = panes_of(latest), times = panes_of(reports);
    for (size_t i = 0; i < deltas->rows; i++) {
        i64 cell = deltas->cell[i], count = deltas->count[i], when = deltas->label_time[i];
        if (cell >= OUTCOMES)
            continue;
        i64 model = model_of(deltas, i), delay = (i64)((u64)when - (u64)deltas->time[i]);
        delay = delay > 0 ? delay : 0;
        i64 kind = cell * (i64)delays->bins + (i64)bin_of(delays, (double)delay / 1000.0);
        ((u64 *)delays->counts)[model * OUTCOMES * (i64)delays->bins + kind] += (u64)count;
        ((u64 *)delays->total_ms)[model * OUTCOMES + cell] += (u64)count * (u64)delay;
        put(cohorts, pane_of(&days, deltas->time[i]), model, kind, count);
        put(latest, pane_of(&hours, when), model, 0, count);
        if (delays->positive >> cell & 1)
            put(reports, pane_of(&times, when), model, 0, count);
    }
    add_flags(deltas->changes, deltas->changed, deltas->models);
    end_tallies(tallies);
}

const char delays_doc[] = PyDoc_STR(
"count_delays(deltas, models, edges, positive, counts, total_ms, changes, rings, /)\n"
"--\n\n"
"Count the delays of outcomes, as `LabelDelays.apply` of monitor.labels.delays does.\n\n"
"Args:\n"
"    deltas: time, label time, group, cell and count of each change, int64.\n"
"    models: model number of each group, int64.\n"
"    edges: upper edges of the bins, seconds, float64; the last is infinite.\n"
"    positive: a bit for each outcome whose label is positive.\n"
"    counts: (models, outcomes, bins), int64; added to.\n"
"    total_ms: (models, outcomes), int64; added to.\n"
"    changes: of each model, int64; 1 is added where a delay changes.\n"
"    rings: of cohorts, latest labels and reports: counts, written, newest pane by model, model\n"
"        by row, and the width of a pane, milliseconds; added to.\n\n"
"Returns:\n"
"    For each ring the changes ahead of their model as bytes, int64 (changes, 4): pane, row, cell\n"
"    and count; None without any. None for all if a change has no place, and then nothing has\n"
"    changed.\n\n"
"Raises:\n"
"    ValueError: an array has another shape or another type.");

PyObject *count_delays(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    Buffers buffers = {.count = 0};
    Deltas deltas = {0};
    Delays delays = {0};
    Tallies tallies = {.count = 0};
    PyObject *time, *label_time, *group, *cell, *count, *models, *edges, *counts, *total, *changes,
        *rings, *result = NULL;
    unsigned long long positive;
    if (!PyArg_ParseTuple(arguments, "(OOOOO)OOKOOOO", &time, &label_time, &group, &cell, &count,
                          &models, &edges, &positive, &counts, &total, &changes, &rings))
        return NULL;
    if (!(deltas.time = read_rows(&buffers, time, 8, &deltas.rows)) ||
        !(deltas.label_time = read_column(&buffers, label_time, 8, deltas.rows)) ||
        !(deltas.group = read_column(&buffers, group, 8, deltas.rows)) ||
        !(deltas.cell = read_column(&buffers, cell, 8, deltas.rows)) ||
        !(deltas.count = read_column(&buffers, count, 8, deltas.rows)) ||
        !(deltas.model_of_group = read_rows(&buffers, models, 8, &deltas.groups)) ||
        !(delays.edges = read_rows(&buffers, edges, 8, &delays.bins)) ||
        !read_changes(&buffers, &deltas, changes) ||
        !(delays.counts = column(&buffers, counts, deltas.models * OUTCOMES * delays.bins)) ||
        !(delays.total_ms = column(&buffers, total, deltas.models * OUTCOMES)) ||
        !read_rings(&buffers, &tallies, rings, 3, deltas.rows))
        goto end;
    delays.positive = positive;
    PyThreadState *state = deltas.rows >= RELEASE_FROM ? PyEval_SaveThread() : NULL;
    bool plain = delays_fit(&deltas, &delays, &tallies);
    if (plain)
        tally_delays(&deltas, &delays, &tallies);
    if (state)
        PyEval_RestoreThread(state);
    result = plain ? ahead_of(&tallies) : Py_NewRef(Py_None);
end:
    free_tallies(&tallies);
    PyMem_Free(deltas.changed);
    release(&buffers);
    return result;
}

/* ---- Scores ---- */

typedef struct {
    i64 none, bins; /* the bin of no score; bins of a histogram */
    const i64 *kinds; /* histogram of each cell */
    size_t cells;
    i64 all; /* the histogram of all predictions */
} Scores;

enum { RECENT = 0, DAYS = 1, MOST_KINDS = 16, MOST_BINS = 1 << 20 };

static bool has_left(const Ring *ring, i64 pane, i64 model)
{
    i64 newest = ring->newest[model];
    return newest != NOT_YET && pane <= newest - ring->slots;
}

/* Whether every score has its place, in half-hours or days; notes the models. */
static bool scores_fit(const Deltas *deltas, const Scores *scores, const Tallies *tallies)
{
    const Ring *recent = &tallies->all[RECENT].ring, *by_day = &tallies->all[DAYS].ring;
    Panes halves = panes_of(&tallies->all[RECENT]), days = panes_of(&tallies->all[DAYS]);
    i64 least = 0, most = 0;
    if ((u64)scores->all >= MOST_KINDS || scores->bins < 1 || scores->bins > MOST_BINS)
        return false;
    for (size_t i = 0; i < deltas->rows; i++) {
        i64 score = deltas->score[i], cell = deltas->cell[i], count = deltas->count[i], model;
        if (score == scores->none)
            continue;
        if (score < 0 || score >= scores->bins || (u64)cell >= scores->cells ||
            (u64)scores->kinds[cell] > (u64)scores->all || (model = model_of(deltas, i)) < 0 ||
            (u64)model >= recent->models || (u64)model >= by_day->models)
            return false;
        deltas->changed[model] = 1;
        least = count < least ? count : least;
        most = count > most ? count : most;
        if ((scores->kinds[cell] != scores->all ||
             has_left(recent, pane_of(&halves, deltas->time[i]), model)) &&
            has_left(by_day, pane_of(&days, deltas->time[i]), model))
            return false; /* it belongs to a week */
    }
    if ((!recent->wide || !by_day->wide) && (least < -1 || most > 1))
        return false;
    return model_fits(deltas, recent, scores->bins) &&
           model_fits(deltas, by_day, (scores->all + 1) * scores->bins);
}

static void tally_scores(const Deltas *deltas, const Scores *scores, Tallies *tallies)
{
    Tally *recent = &tallies->all[RECENT], *by_day = &tallies->all[DAYS];
    Panes halves = panes_of(recent), days = panes_of(by_day);
    for (size_t i = 0; i < deltas->rows; i++) {
        i64 score = deltas->score[i], count = deltas->count[i];
        if (score == scores->none)
            continue;
        i64 model = model_of(deltas, i), kind = scores->kinds[deltas->cell[i]];
        i64 pane = pane_of(&halves, deltas->time[i]);
        if (kind == scores->all && !has_left(&recent->ring, pane, model))
            put(recent, pane, model, score, count);
        else
            put(by_day, pane_of(&days, deltas->time[i]), model, kind * scores->bins + score, count);
    }
    add_flags(deltas->changes, deltas->changed, deltas->models);
    end_tallies(tallies);
}

const char scores_doc[] = PyDoc_STR(
"count_scores(deltas, models, kinds, of_all, no_score, bins, changes, rings, /)\n"
"--\n\n"
"Count scores in histograms, as `Scores.apply` of monitor.windows.scores does.\n\n"
"Args:\n"
"    deltas: time, group, cell, bin of the score and count of each change, int64.\n"
"    models: model number of each group, int64.\n"
"    kinds: histogram of each cell, int64.\n"
"    of_all: histogram of all predictions.\n"
"    no_score: bin of a prediction without one.\n"
"    bins: of a histogram.\n"
"    changes: of each model, int64; 1 is added where a score is counted.\n"
"    rings: of half-hours and days, as `count_delays` takes them; added to.\n\n"
"Returns:\n"
"    As `count_delays`; None, too, where a change lies behind the days.\n\n"
"Raises:\n"
"    ValueError: an array has another shape or another type.");

PyObject *count_scores(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    Buffers buffers = {.count = 0};
    Deltas deltas = {0};
    Scores scores = {0};
    Tallies tallies = {.count = 0};
    PyObject *time, *group, *cell, *score, *count, *models, *kinds, *changes, *rings,
        *result = NULL;
    long long all, none, bins;
    if (!PyArg_ParseTuple(arguments, "(OOOOO)OOLLLOO", &time, &group, &cell, &score, &count, &models,
                          &kinds, &all, &none, &bins, &changes, &rings))
        return NULL;
    if (!(deltas.time = read_rows(&buffers, time, 8, &deltas.rows)) ||
        !(deltas.group = read_column(&buffers, group, 8, deltas.rows)) ||
        !(deltas.cell = read_column(&buffers, cell, 8, deltas.rows)) ||
        !(deltas.score = read_column(&buffers, score, 8, deltas.rows)) ||
        !(deltas.count = read_column(&buffers, count, 8, deltas.rows)) ||
        !(deltas.model_of_group = read_rows(&buffers, models, 8, &deltas.groups)) ||
        !(scores.kinds = read_rows(&buffers, kinds, 8, &scores.cells)) ||
        !read_changes(&buffers, &deltas, changes) ||
        !read_rings(&buffers, &tallies, rings, 2, deltas.rows))
        goto end;
    scores.all = all;
    scores.none = none;
    scores.bins = bins;
    PyThreadState *state = deltas.rows >= RELEASE_FROM ? PyEval_SaveThread() : NULL;
    bool plain = scores_fit(&deltas, &scores, &tallies);
    if (plain)
        tally_scores(&deltas, &scores, &tallies);
    if (state)
        PyEval_RestoreThread(state);
    result = plain ? ahead_of(&tallies) : Py_NewRef(Py_None);
end:
    free_tallies(&tallies);
    PyMem_Free(deltas.changed);
    release(&buffers);
    return result;
}
