/* Counting of label delays: as `LabelDelays.apply` of monitor/labels/delays.py, on its memory. */

#include "tallies.h"
#include <math.h>
#include <string.h>

enum { IN_STRETCH = 48, STRETCHES = 28 * 16 }; /* bits of a double that differ in one; how many */

typedef struct {
    i64 *counts, *total_ms; /* (models, outcomes, bins); (models, outcomes) */
    const double *edges;    /* of the bins, seconds, in rising order; the last is infinite */
    size_t bins;
    u64 positive; /* a bit for each outcome whose label is positive */
    u32 starts[STRETCHES]; /* by stretch: where the search for a bin begins */
} Delays;

enum { OUTCOMES = 4, COHORTS = 0, LATEST = 1, REPORTS = 2 };

/* The stretch of a delay that is not negative: the first STRETCHES cut each octave from half a second
   on into equal parts. */
static size_t stretch_of(double seconds)
{
    u64 bits, first = 0x3FE0000000000000 >> IN_STRETCH; /* .5 */
    memcpy(&bits, &seconds, sizeof bits);
    bits >>= IN_STRETCH;
    return bits < first ? 0 : bits - first < STRETCHES ? (size_t)(bits - first) : STRETCHES - 1;
}

/* Notes for each stretch the first edge that is not below its delays, 0 for the first stretch. */
static void note_starts(Delays *delays)
{
    u32 edge = 0;
    delays->starts[0] = 0;
    for (size_t stretch = 1; stretch < STRETCHES; stretch++) {
        u64 bits = (0x3FE0000000000000 >> IN_STRETCH) + stretch;
        double least;
        bits <<= IN_STRETCH;
        memcpy(&least, &bits, sizeof least);
        while (delays->edges[edge] < least)
            edge++;
        delays->starts[stretch] = edge;
    }
}

/* The first edge that is not below a delay, which is not negative; the last one is infinite. A
   search by halves takes several times as long: nobody foresees which half it is. */
static size_t bin_of(const Delays *delays, double seconds)
{
    size_t edge = delays->starts[stretch_of(seconds)];
    while (delays->edges[edge] < seconds)
        edge++;
    return edge;
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

static void tally_delays(const Deltas *deltas, Delays *delays, Tallies *tallies)
{
    Tally *cohorts = &tallies->all[COHORTS], *latest = &tallies->all[LATEST];
    Tally *reports = &tallies->all[REPORTS];
    Panes days = panes_of(cohorts), hours = panes_of(latest), times = panes_of(reports);
    note_starts(delays);
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
    note_changes(deltas);
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
    PyObject *given, *models, *edges, *counts, *total, *changes, *rings, *result = NULL;
    unsigned long long positive;
    if (!PyArg_ParseTuple(arguments, "OOOKOOOO", &given, &models, &edges, &positive, &counts, &total,
                          &changes, &rings))
        return NULL;
    if (!read_deltas(&buffers, &deltas, given, &deltas.label_time, models, changes) ||
        !(delays.edges = read_rows(&buffers, edges, 8, &delays.bins)) ||
        !(delays.counts = column(&buffers, counts, deltas.models * OUTCOMES * delays.bins)) ||
        !(delays.total_ms = column(&buffers, total, deltas.models * OUTCOMES)) ||
        !read_rings(&buffers, &tallies, rings, 3, 3, deltas.rows))
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
