/* Counting of scores by segment value: as `ValueScores.apply` of monitor/windows/value_scores.py, on its memory. */

#include "tallies.h"

typedef struct {
    i64 none; /* the bin of no score */
    const i64 *rows; /* (groups, keys): those that a group counts in, -1 for none */
    size_t keys;
    const i64 *columns; /* (outcomes, bins): those of the table */
    size_t outcomes, bins;
} ValueScores;

/* Whether a change is of a label of a prediction with a score. */
static bool is_scored(const Deltas *deltas, const ValueScores *scores, size_t i)
{
    return deltas->score[i] != scores->none && deltas->cell[i] < (i64)scores->outcomes;
}

static i64 column_of(const Deltas *deltas, const ValueScores *scores, size_t i)
{
    return scores->columns[scores->bins * (size_t)deltas->cell[i] + (size_t)deltas->score[i]];
}

/* Whether every score has its place, in days; notes the models. */
static bool values_fit(const Deltas *deltas, const ValueScores *scores, const Tally *days)
{
    const Ring *ring = &days->ring;
    for (size_t i = 0; i < deltas->rows; i++) {
        i64 model;
        if (!is_scored(deltas, scores, i))
            continue;
        if (deltas->cell[i] < 0 || (u64)deltas->score[i] >= scores->bins ||
            (model = model_of(deltas, i)) < 0 || !deltas->changes[model])
            return false;
        deltas->changed[model] = 1;
        i64 cell = column_of(deltas, scores, i);
        const i64 *rows = scores->rows + scores->keys * (size_t)deltas->group[i];
        for (size_t key = 0; key < scores->keys; key++)
            if (rows[key] != -1 && (!fits(ring, rows[key], cell, deltas->count[i]) ||
                                    ring->owners[rows[key]] != model ||
                                    has_left(days, deltas->time[i], model)))
                return false; /* it has no row, or belongs to a week */
    }
    return true;
}

static void tally_values(const Deltas *deltas, const ValueScores *scores, Tallies *tallies)
{
    Tally *by_day = &tallies->all[0];
    Panes days = panes_of(by_day);
    for (size_t i = 0; i < deltas->rows; i++) {
        if (!is_scored(deltas, scores, i))
            continue;
        i64 pane = pane_of(&days, deltas->time[i]), cell = column_of(deltas, scores, i);
        const i64 *rows = scores->rows + scores->keys * (size_t)deltas->group[i];
        for (size_t key = 0; key < scores->keys; key++)
            if (rows[key] != -1)
                put(by_day, pane, rows[key], cell, deltas->count[i]);
    }
    note_changes(deltas);
    end_tallies(tallies);
}

/* Reads the rows of groups and the columns of scores; false with an error set. */
static bool read_places(Buffers *buffers, ValueScores *scores, const Deltas *deltas, PyObject *rows,
                        PyObject *columns)
{
    Py_buffer *of_groups = view_of(buffers, rows, 8, PyBUF_CONTIG_RO), *of_scores;
    if (!of_groups || !(of_scores = view_of(buffers, columns, 8, PyBUF_CONTIG_RO)))
        return false;
    if (of_groups->ndim != 2 || (size_t)of_groups->shape[0] != deltas->groups ||
        of_scores->ndim != 2) {
        PyErr_SetString(PyExc_ValueError, "rows must be of groups and keys, columns of scores");
        return false;
    }
    scores->rows = of_groups->buf;
    scores->keys = (size_t)of_groups->shape[1];
    scores->columns = of_scores->buf;
    scores->outcomes = (size_t)of_scores->shape[0];
    scores->bins = (size_t)of_scores->shape[1];
    return true;
}

const char value_scores_doc[] = PyDoc_STR(
"count_value_scores(deltas, models, rows, columns, no_score, changes, rings, /)\n"
"--\n\n"
"Count labelled scores by segment value, as `ValueScores.apply` of monitor.windows.value_scores\n"
"does.\n\n"
"Args:\n"
"    deltas: time, bin of the score, group, cell and count of each change, int64.\n"
"    models: model number of each group, int64.\n"
"    rows: of the table that each group counts in, -1 for none, int64 (groups, keys).\n"
"    columns: of the table, by outcome and bin, int64.\n"
"    no_score: bin of a prediction without one.\n"
"    changes: of each model, int64; 1 is added where a score of it is counted.\n"
"    rings: of days, as `count_delays` takes them; added to.\n\n"
"Returns:\n"
"    As `count_delays`; None, too, where a change lies behind the days, or changes of a model\n"
"    without any are the first.\n\n"
"Raises:\n"
"    ValueError: an array has another shape or another type.");

PyObject *count_value_scores(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    Buffers buffers = {.count = 0};
    Deltas deltas = {0};
    ValueScores scores = {0};
    Tallies tallies = {.count = 0};
    PyObject *given, *models, *rows, *columns, *changes, *rings, *result = NULL;
    long long none;
    if (!PyArg_ParseTuple(arguments, "OOOOLOO", &given, &models, &rows, &columns, &none, &changes,
                          &rings))
        return NULL;
    if (!read_deltas(&buffers, &deltas, given, &deltas.score, models, changes) ||
        !read_places(&buffers, &scores, &deltas, rows, columns) ||
        !read_rings(&buffers, &tallies, rings, 1, 1, deltas.rows * scores.keys))
        goto end;
    scores.none = none;
    PyThreadState *state = deltas.rows >= RELEASE_FROM ? PyEval_SaveThread() : NULL;
    bool plain = values_fit(&deltas, &scores, &tallies.all[0]);
    if (plain)
        tally_values(&deltas, &scores, &tallies);
    if (state)
        PyEval_RestoreThread(state);
    result = plain ? ahead_of(&tallies) : Py_NewRef(Py_None);
end:
    free_tallies(&tallies);
    PyMem_Free(deltas.changed);
    release(&buffers);
    return result;
}
