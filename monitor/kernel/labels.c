/* Labels that meet their predictions in the memory of the join.

`meet` is `LabelRules.apply` of monitor/join/label_rules.py behind the search, for what nearly every
batch is: without sampled labels, and of no prediction past its horizon. A batch that has anything
else is left to Python: the first pass over its rows finds that, and nothing has changed by then. */

#include "words.h"

enum { NO_OUTCOME = -1, CELLS = 5 }; /* CELLS: of `Meeting.transitions`, none among them */
enum { FIRST_CLASS = 3 /* value of a label with the first class of a model of many */ };
enum { RELEASE_FROM = 512 /* rows from which other threads may run meanwhile */ };

static i64 time_of(u64 when) { return (i64)(when >> GROUP_BITS) + EARLIEST_MS; }
static u64 group_of(u64 when) { return when & ((1u << GROUP_BITS) - 1); }
static i64 label_time_of(u64 what) { return (i64)(what >> LABEL_TIME_AT) + EARLIEST_MS; }
static i64 label_value_of(u64 what) { return (i64)(what >> RANK_AT & 3) - 1; } /* -1: no label */
static u64 prediction_part(u64 what) { return what & ((1u << STRATUM_AT) - 1); }

static i64 outcome_of(u64 what)
{
    i64 label = label_value_of(what);
    bool positive = what & 1;
    if (label != 0 && label != 1)
        return NO_OUTCOME;
    return label ? (positive ? TP : FN) : (positive ? FP : TN);
}

typedef struct {
    u64 *rows;
    size_t row_count;
    const i64 *slots, *time, *value, *prediction_time;
    const u64 *key;
    size_t count;
    const i64 *model_of_group, *timeout;
    size_t groups, models;
    i64 kept_from; /* no prediction from this moment on is past its horizon */
    i64 *applied, *matched, *labels, *transitions; /* the books, by model */
    Changes changes;
    i64 *met_model, *met_time;
    u64 *met_key;
    size_t met, duplicates, late;
} Meeting;

static bool is_plain_label(const Meeting *m, size_t i)
{
    if (m->slots[i] < 0)
        return true; /* its prediction is unknown: not for this function */
    if ((u64)m->slots[i] >= m->row_count || !is_in_years(m->time[i]) ||
        m->value[i] < 0 || m->value[i] >= FIRST_CLASS + CLASSES)
        return false;
    u64 when = m->rows[WORDS * (u64)m->slots[i] + WHEN], group = group_of(when);
    if (group >= m->groups || time_of(when) < m->kept_from)
        return false;
    i64 model = m->model_of_group[group];
    return model >= 0 && (u64)model < m->models;
}

static void add_change(Changes *changes, u64 when, u64 what, i64 cell, i64 count)
{
    size_t i = changes->rows++;
    changes->time[i] = time_of(when);
    changes->label_time[i] = label_time_of(what);
    changes->group[i] = (i64)group_of(when);
    changes->cell[i] = cell;
    changes->score_bin[i] = (i64)(prediction_part(what) >> 1);
    changes->stratum[i] = (i64)(what >> STRATUM_AT & 127);
    changes->count[i] = count;
}

/* Puts a label in force where it wins over the one in force: the one with the greater word. */
static void put_label(Meeting *m, size_t i, u64 *row, i64 model)
{
    bool many = m->value[i] >= FIRST_CLASS; /* its class in the place of the stratum */
    i64 value = many ? 1 : m->value[i], stratum = many ? m->value[i] - FIRST_CLASS : 0;
    u64 own = row[WHAT], label = (u64)(m->time[i] - EARLIEST_MS) << 2 | (u64)(value + 1);
    u64 given = label << RANK_AT | (u64)stratum << STRATUM_AT | prediction_part(own);
    bool first = label_value_of(own) < 0;
    m->applied[model] += first;
    m->duplicates += !first;
    if (given <= own)
        return;
    row[WHAT] = given;
    m->labels[3 * model + value]++;
    i64 old = outcome_of(own), new = outcome_of(given);
    if (old != NO_OUTCOME)
        add_change(&m->changes, row[WHEN], own, old, -1);
    if (new != NO_OUTCOME)
        add_change(&m->changes, row[WHEN], given, new, +1);
    m->matched[model] += (new != NO_OUTCOME) - (old != NO_OUTCOME);
    if (old != new)
        m->transitions[CELLS * (CELLS * model + 1 + old) + 1 + new]++;
}

static bool meet_labels(Meeting *m)
{
    for (size_t i = 0; i < m->count; i++)
        if (!is_plain_label(m, i))
            return false;
    for (size_t i = 0; i < m->count; i++) {
        if (m->slots[i] < 0)
            continue;
        u64 *row = m->rows + WORDS * (u64)m->slots[i];
        i64 model = m->model_of_group[group_of(row[WHEN])];
        bool alone = m->prediction_time[i] == NO_TIME;
        if (alone) {
            m->met_model[m->met] = model;
            m->met_time[m->met] = m->time[i];
            m->met_key[m->met++] = m->key[i];
        }
        if (alone && m->time[i] - time_of(row[WHEN]) > m->timeout[model])
            m->late++;
        else
            put_label(m, i, row, model);
    }
    return true;
}

const char meet_doc[] = PyDoc_STR(
"meet(rows, slots, labels, terms, kept_from, books, changes, met, /)\n"
"--\n\n"
"Join plain labels to their predictions, as `LabelRules.apply` of monitor.join.label_rules does.\n\n"
"Args:\n"
"    rows: of the table, uint64 of shape (slots, 3); written to.\n"
"    slots: of the prediction of each label; labels with -1 are skipped.\n"
"    labels: key, time, value (3 and more: classes of a model of many) and time of the\n"
"        prediction in the same record.\n"
"    terms: model of each group; label timeout by model, milliseconds.\n"
"    kept_from: a moment from which on no prediction is past its horizon, epoch milliseconds.\n"
"    books: by model, added to: applied, matched, labels (3) and transitions (5, 5).\n"
"    changes: written to: the columns of `Deltas`, with two rows for each label.\n"
"    met: written to: model, time and key of labels that met their prediction.\n\n"
"Returns:\n"
"    Rows of `changes`, rows of `met`, labels that were duplicates and labels that were late;\n"
"    None if some are not plain, and then nothing has changed.\n\n"
"Raises:\n"
"    ValueError: an array has another shape or another type.");

PyObject *meet(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    Buffers buffers = {.count = 0};
    Meeting m = {.met = 0};
    PyObject *rows, *slots, *key, *time, *value, *prediction_time, *models, *timeout;
    PyObject *books[4], *changes, *met[3];
    long long kept_from;
    if (!PyArg_ParseTuple(arguments, "OO(OOOO)(OO)L(OOOO)O(OOO)", &rows, &slots, &key, &time,
                          &value, &prediction_time, &models, &timeout, &kept_from, &books[0],
                          &books[1], &books[2], &books[3], &changes, &met[0], &met[1], &met[2]))
        return NULL;
    m.kept_from = kept_from;
    bool done = false, plain = false;
    Py_buffer *of_rows = view_of(&buffers, rows, 8, PyBUF_CONTIG);
    if (!of_rows || !(m.slots = read_rows(&buffers, slots, 8, &m.count)) ||
        !(m.key = read_column(&buffers, key, 8, m.count)) ||
        !(m.time = read_column(&buffers, time, 8, m.count)) ||
        !(m.value = read_column(&buffers, value, 8, m.count)) ||
        !(m.prediction_time = read_column(&buffers, prediction_time, 8, m.count)) ||
        !(m.model_of_group = read_rows(&buffers, models, 8, &m.groups)) ||
        !(m.timeout = read_rows(&buffers, timeout, 8, &m.models)) ||
        !(m.applied = column(&buffers, books[0], m.models)) ||
        !(m.matched = column(&buffers, books[1], m.models)) ||
        !(m.labels = column(&buffers, books[2], 3 * m.models)) ||
        !(m.transitions = column(&buffers, books[3], CELLS * CELLS * m.models)) ||
        !(m.met_model = column(&buffers, met[0], m.count)) ||
        !(m.met_time = column(&buffers, met[1], m.count)) ||
        !(m.met_key = column(&buffers, met[2], m.count)) ||
        !read_changes(&buffers, &m.changes, changes, 2 * m.count))
        goto end;
    if (of_rows->ndim != 2 || of_rows->shape[1] != WORDS) {
        PyErr_Format(PyExc_ValueError, "rows must have %d words", WORDS);
        goto end;
    }
    m.rows = of_rows->buf;
    m.row_count = (size_t)of_rows->shape[0];
    done = true;
    PyThreadState *state = m.count >= RELEASE_FROM ? PyEval_SaveThread() : NULL;
    plain = meet_labels(&m);
    if (state)
        PyEval_RestoreThread(state);
end:
    release(&buffers);
    if (!done)
        return NULL;
    if (!plain)
        Py_RETURN_NONE;
    return Py_BuildValue("nnnn", (Py_ssize_t)m.changes.rows, (Py_ssize_t)m.met, (Py_ssize_t)m.duplicates,
                         (Py_ssize_t)m.late);
}
