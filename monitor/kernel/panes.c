/* Counting into panes: as `PaneSlots.add` of monitor/windows/pane_slots.py, on its memory. */

#include "panes.h"

enum { RELEASE_FROM = 512 /* rows from which other threads may run meanwhile */ };

/* Marks all slots from the first to the last pane that was added to; each where they wrap around. */
void mark_written(const Ring *ring)
{
    if (ring->latest - ring->earliest < ring->slots) {
        i64 slot = slot_of(ring, ring->earliest);
        for (i64 pane = ring->earliest; pane <= ring->latest; pane++) {
            ring->written[slot] = 1;
            slot = slot + 1 < ring->slots ? slot + 1 : 0;
        }
    } else
        for (i64 slot = 0; slot < ring->slots; slot++)
            ring->written[slot] |= ring->touched[slot];
}

/* Reads the memory of a ring; false with an error set. `touched` is to be freed with PyMem_Free. */
bool read_ring(Buffers *buffers, Ring *ring, PyObject *counts, PyObject *written, PyObject *newest,
               PyObject *owners)
{
    Py_buffer *of_counts = view_of(buffers, counts, 0, PyBUF_CONTIG), *of_written;
    if (!of_counts || !(of_written = view_of(buffers, written, 1, PyBUF_CONTIG)) ||
        !(ring->newest = read_rows(buffers, newest, 8, &ring->models)) ||
        !(ring->owners = read_rows(buffers, owners, 8, &ring->rows)))
        return false;
    if (of_counts->ndim != 3 || (of_counts->itemsize != 4 && of_counts->itemsize != 8) ||
        of_counts->shape[0] < 1 || of_counts->shape[0] > of_written->len) {
        PyErr_SetString(PyExc_ValueError, "counts must be (slots, rows, cells) of 4 or 8 bytes");
        return false;
    }
    ring->counts = of_counts->buf;
    ring->wide = of_counts->itemsize == 8;
    ring->slots = of_counts->shape[0];
    ring->room = of_counts->shape[1];
    ring->cells = of_counts->shape[2];
    ring->written = of_written->buf;
    ring->earliest = (i64)1 << 62;
    ring->latest = -ring->earliest;
    ring->known = NO_PANE;
    if (!(ring->touched = PyMem_Calloc((size_t)ring->slots, 1)))
        PyErr_NoMemory();
    return ring->touched;
}

const char count_doc[] = PyDoc_STR(
"count(counts, written, newest, owners, changes, ahead, /)\n"
"--\n\n"
"Add changes to the panes of a ring, as `PaneSlots.add` of monitor.windows.pane_slots does.\n\n"
"Args:\n"
"    counts: int32 or int64 of shape (slots, rows, cells); added to.\n"
"    written: a byte for each slot; set where panes are added to.\n"
"    newest: newest pane of each model, int64.\n"
"    owners: model number of each row, int64.\n"
"    changes: pane, row, cell and count of each change, int64.\n"
"    ahead: written to: the changes ahead of the newest pane of their model, by index.\n\n"
"Returns:\n"
"    Number of changes ahead; -1 if 32 bits may be too few for some changes, or some have no\n"
"    place, and then nothing has changed.\n\n"
"Raises:\n"
"    ValueError: an array has another shape or another type.");

PyObject *count(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    Buffers buffers = {.count = 0};
    Ring ring = {.touched = NULL};
    PyObject *counts, *written, *newest, *owners, *pane, *row, *cell, *change, *ahead;
    const i64 *panes, *rows, *cells, *amounts;
    i64 *found;
    size_t changes, found_count = 0;
    if (!PyArg_ParseTuple(arguments, "OOOO(OOOO)O", &counts, &written, &newest, &owners, &pane, &row,
                          &cell, &change, &ahead))
        return NULL;
    bool done = false, plain = false;
    if (!read_ring(&buffers, &ring, counts, written, newest, owners) ||
        !(panes = read_rows(&buffers, pane, 8, &changes)) ||
        !(rows = read_column(&buffers, row, 8, changes)) ||
        !(cells = read_column(&buffers, cell, 8, changes)) ||
        !(amounts = read_column(&buffers, change, 8, changes)) ||
        !(found = column(&buffers, ahead, changes)))
        goto end;
    done = true;
    PyThreadState *state = changes >= RELEASE_FROM ? PyEval_SaveThread() : NULL;
    plain = true;
    for (size_t i = 0; i < changes && plain; i++)
        plain = fits(&ring, rows[i], cells[i], amounts[i]);
    if (plain) {
        for (size_t i = 0; i < changes; i++)
            if (!add_change(&ring, panes[i], rows[i], cells[i], amounts[i]))
                found[found_count++] = (i64)i;
        mark_written(&ring);
    }
    if (state)
        PyEval_RestoreThread(state);
end:
    PyMem_Free(ring.touched);
    release(&buffers);
    return done ? PyLong_FromSsize_t(plain ? (Py_ssize_t)found_count : -1) : NULL;
}
