/* Predictions of new ids, entered into the memory of the join.

`remember` is `PredictionRules.remember` of monitor/join/prediction_rules.py for what nearly every
batch is: each id once, none known, and no prediction past its horizon. A batch that has anything
else is left to Python, and then nothing has changed. */

#include "index.h"
#include "words.h"

enum { SCORE_BINS = 1000, NO_SCORE = 1023 };
enum { RELEASE_FROM = 512 /* rows from which other threads may run meanwhile */ };

/* The last bin whose lower edge a score reaches, as `bin_of` of monitor/events/score_bins.py. */
static i64 bin_of(double score)
{
    if (score != score)
        return NO_SCORE;
    i64 bin = (i64)(score * SCORE_BINS);
    bin = bin - (score < (double)bin / SCORE_BINS) + (score >= (double)(bin + 1) / SCORE_BINS);
    return bin < SCORE_BINS ? bin : SCORE_BINS - 1;
}

typedef struct {
    Places index; /* with the keys */
    Rows rows;
    const i64 (*runs)[2]; /* of the slots of the new rows */
    size_t run_count;
    u64 *earliest; /* `when` of each chunk of rows */
    size_t chunk;  /* rows of one */
    const i64 *time, *group, *given; /* `given`: the class of a model of many, -1 of others */
    const double *score;
    const u8 *positive;
    const i64 *model_of_group, *ends; /* `ends`: a model's earlier predictions are over */
    size_t groups, models;
    i64 *counted; /* (models, 2): predictions of the books */
    Changes changes;
    size_t *taken; /* places of the keys, while they are entered */
} Remembering;

static bool is_plain(const Remembering *r, size_t i)
{
    if (!is_in_years(r->time[i]) || r->given[i] < -1 || r->given[i] >= CLASSES ||
        r->group[i] < 0 || (u64)r->group[i] >= r->groups || r->positive[i] > 1)
        return false;
    i64 model = r->model_of_group[r->group[i]];
    double score = r->score[i];
    return model >= 0 && (u64)model < r->models && r->time[i] >= r->ends[model] &&
           (score != score || (score >= 0 && score <= 1));
}

/* Writes the rows, and what changes. */
static void write_rows(Remembering *r)
{
    Slots slots = slots_of(r->runs);
    Changes *to = &r->changes;
    for (size_t i = 0; i < r->index.count; i++) {
        size_t slot = (size_t)next_slot(&slots);
        i64 bin = r->given[i] < 0 ? bin_of(r->score[i]) : r->given[i];
        u64 *row = r->rows.at + WORDS * slot, *earliest = r->earliest + slot / r->chunk;
        row[WHEN] = (u64)(r->time[i] - EARLIEST_MS) << GROUP_BITS | (u64)r->group[i];
        row[WHAT] = (u64)bin << 1 | r->positive[i];
        *earliest = row[WHEN] < *earliest ? row[WHEN] : *earliest;
        r->counted[2 * r->model_of_group[r->group[i]] + r->positive[i]]++;
        to->time[i] = to->label_time[i] = r->time[i];
        to->group[i] = r->group[i];
        to->cell[i] = r->positive[i] ? POSITIVE : NEGATIVE;
        to->score_bin[i] = bin;
        to->count[i] = 1;
        to->stratum[i] = 0;
    }
}

static bool remember_rows(Remembering *r)
{
    for (size_t i = 0; i < r->index.count; i++)
        if (!is_plain(r, i))
            return false;
    if (!enter_new(&r->index, &r->rows, r->runs, r->taken))
        return false;
    write_rows(r);
    return true;
}

/* Whether the runs have a slot for each row, in bounds; sets an error if not. */
static bool runs_fit(const Remembering *r)
{
    u64 least = r->index.slots < r->rows.count ? r->index.slots : r->rows.count, room = 0;
    bool fit = true;
    for (size_t i = 0; i < r->run_count && fit; i++) {
        i64 first = r->runs[i][0], end = r->runs[i][1];
        fit = first >= 0 && first <= end && (u64)end <= least;
        room += fit ? (u64)(end - first) : 0;
    }
    fit = fit && r->run_count > 0 && room >= r->index.count && r->chunk > 0;
    if (!fit)
        PyErr_SetString(PyExc_ValueError, "a key has no slot in bounds");
    return fit;
}

static bool read_memory(Buffers *buffers, Remembering *r, PyObject *rows, PyObject *earliest,
                        PyObject *runs)
{
    size_t chunks, bounds;
    Py_buffer *view;
    if (!read_table(buffers, &r->rows, rows, PyBUF_CONTIG) ||
        !(view = view_of(buffers, earliest, 8, PyBUF_CONTIG)) ||
        !(r->runs = read_rows(buffers, runs, 8, &bounds)))
        return false;
    if (r->rows.words != WORDS) {
        PyErr_Format(PyExc_ValueError, "rows must have %d words", WORDS);
        return false;
    }
    r->earliest = view->buf;
    chunks = (size_t)view->len / 8;
    r->chunk = chunks && r->rows.count % chunks == 0 ? r->rows.count / chunks : 0;
    r->run_count = bounds / 2;
    return runs_fit(r);
}

const char remember_doc[] = PyDoc_STR(
"remember(index, table, predictions, terms, counted, changes, /)\n"
"--\n\n"
"Remember predictions, as `PredictionRules.remember` of monitor.join.prediction_rules does.\n\n"
"Args:\n"
"    index: places, slots and multiplier, as `find` takes them; written to.\n"
"    table: its rows, uint64 of shape (slots, 3); the earliest `when` of each chunk of rows,\n"
"        uint64; first slot and end of each run of slots for the new rows, int64 of shape\n"
"        (runs, 2). The first two are written to.\n"
"    predictions: key, time, group, predicted class of a model of many (-1 for none), score, and\n"
"        whether the predicted class is the positive one, a byte each.\n"
"    terms: model of each group; the moment by model before which predictions are over.\n"
"    counted: predictions of the books by model and class, added to.\n"
"    changes: written to: the columns of `Deltas`, a row for each prediction.\n\n"
"Returns:\n"
"    False if an id is in the index or comes twice, or a prediction is not plain; then nothing\n"
"    has changed.\n\n"
"Raises:\n"
"    ValueError: an array has another shape or type, or a slot is out of bounds.");

PyObject *remember(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    Buffers buffers = {.count = 0};
    Remembering r = {.taken = NULL};
    PyObject *places, *rows, *earliest, *runs, *key, *time, *group, *given, *score, *positive,
        *models, *ends, *counted, *changes;
    unsigned long long slots, multiplier;
    if (!PyArg_ParseTuple(arguments, "(OKK)(OOO)(OOOOOO)(OO)OO", &places, &slots, &multiplier, &rows,
                          &earliest, &runs, &key, &time, &group, &given, &score, &positive, &models,
                          &ends, &counted, &changes))
        return NULL;
    r.index.slots = slots;
    r.index.multiplier = multiplier;
    bool done = false, plain = false;
    if (!read_places(&buffers, &r.index, places, key, PyBUF_CONTIG) ||
        !read_memory(&buffers, &r, rows, earliest, runs) ||
        !(r.time = read_column(&buffers, time, 8, r.index.count)) ||
        !(r.group = read_column(&buffers, group, 8, r.index.count)) ||
        !(r.given = read_column(&buffers, given, 8, r.index.count)) ||
        !(r.score = read_column(&buffers, score, 8, r.index.count)) ||
        !(r.positive = read_column(&buffers, positive, 1, r.index.count)) ||
        !(r.model_of_group = read_rows(&buffers, models, 8, &r.groups)) ||
        !(r.ends = read_rows(&buffers, ends, 8, &r.models)) ||
        !(r.counted = column(&buffers, counted, 2 * r.models)) ||
        !read_changes(&buffers, &r.changes, changes, r.index.count))
        goto end;
    if (!(r.taken = PyMem_Malloc((r.index.count + 1) * sizeof *r.taken))) {
        PyErr_NoMemory();
        goto end;
    }
    done = true;
    PyThreadState *state = r.index.count >= RELEASE_FROM ? PyEval_SaveThread() : NULL;
    plain = remember_rows(&r);
    if (state)
        PyEval_RestoreThread(state);
end:
    PyMem_Free(r.taken);
    release(&buffers);
    return done ? PyBool_FromLong(plain) : NULL;
}
