/* What the functions that count deltas share; see tallies.h. */

#include "tallies.h"

/* Reads rings, tuples of counts, written, newest, owners and width, for at most so many changes of
   each; false with an error set. */
bool read_rings(Buffers *buffers, Tallies *tallies, PyObject *rings, int least, int most,
                size_t changes)
{
    if (!PyTuple_Check(rings) || PyTuple_Size(rings) < least || PyTuple_Size(rings) > most) {
        PyErr_Format(PyExc_ValueError, "rings must be a tuple of %d to %d", least, most);
        return false;
    }
    int count = (int)PyTuple_Size(rings);
    tallies->all = PyMem_Calloc((size_t)count, sizeof *tallies->all);
    tallies->ahead = PyMem_Malloc((size_t)count * AHEAD * changes * sizeof(i64) + 1);
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
        tally->ahead = tallies->ahead + (size_t)i * AHEAD * changes;
    }
    return true;
}

void free_tallies(Tallies *tallies)
{
    for (int i = 0; i < tallies->count; i++)
        PyMem_Free(tallies->all[i].ring.touched);
    PyMem_Free(tallies->all);
    PyMem_Free(tallies->ahead);
}

/* Ends the counting. */
void end_tallies(Tallies *tallies)
{
    for (int i = 0; i < tallies->count; i++)
        mark_written(&tallies->all[i].ring);
}

/* For each ring the changes ahead, 32 bytes each; None without any. */
PyObject *ahead_of(const Tallies *tallies)
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

/* Reads the counters of changes, and makes flags for them; false with an error set. */
static bool read_counters(Buffers *buffers, Deltas *deltas, PyObject *changes)
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

/* Reads columns of deltas, a tuple of time, a second column, group, cell and count, with the model
   of each group and the counters of changes; false with an error set. */
bool read_deltas(Buffers *buffers, Deltas *deltas, PyObject *given, const i64 **second,
                 PyObject *models, PyObject *changes)
{
    PyObject *columns[5];
    if (!PyTuple_Check(given) || PyTuple_Size(given) != 5) {
        PyErr_SetString(PyExc_ValueError, "deltas must be a tuple of five columns");
        return false;
    }
    for (Py_ssize_t i = 0; i < 5; i++)
        columns[i] = PyTuple_GetItem(given, i);
    return (deltas->time = read_rows(buffers, columns[0], 8, &deltas->rows)) &&
           (*second = read_column(buffers, columns[1], 8, deltas->rows)) &&
           (deltas->group = read_column(buffers, columns[2], 8, deltas->rows)) &&
           (deltas->cell = read_column(buffers, columns[3], 8, deltas->rows)) &&
           (deltas->count = read_column(buffers, columns[4], 8, deltas->rows)) &&
           (deltas->model_of_group = read_rows(buffers, models, 8, &deltas->groups)) &&
           read_counters(buffers, deltas, changes);
}

/* Whether the largest cell of a model has its place in a ring. */
bool model_fits(const Deltas *deltas, const Ring *ring, i64 cells)
{
    for (size_t model = 0; model < deltas->models; model++)
        if (deltas->changed[model] && !fits(ring, (i64)model, cells - 1, 1))
            return false;
    return true;
}

/* Adds 1 to the counter of each model that has changed. */
void note_changes(const Deltas *deltas)
{
    for (size_t model = 0; model < deltas->models; model++)
        deltas->changes[model] += deltas->changed[model];
}
