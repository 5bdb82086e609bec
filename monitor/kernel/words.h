/* The words of a row of the table, see monitor/join/packing.py. Part of predictions.c and labels.c. */

#ifndef WORDS_H
#define WORDS_H

#include "kernel.h"

enum { KEY, WHEN, WHAT, WORDS };             /* words of a row */
enum { TP, FP, FN, TN, POSITIVE, NEGATIVE }; /* cells, see monitor/join/deltas.py */
enum { GROUP_BITS = 20, STRATUM_AT = 11, RANK_AT = 18, LABEL_TIME_AT = 20 };
enum { CLASSES = 64 /* of a model */ };

static const i64 EARLIEST_MS = -2208988800000, LATEST_MS = 7258118400000; /* 1900 and 2200 */

static inline bool is_in_years(i64 time) { return time >= EARLIEST_MS && time < LATEST_MS; }

/* What changes: the columns of `Deltas`, see monitor/join/deltas.py. */
enum { DELTA_COLUMNS = 7 };

typedef struct {
    i64 *time, *label_time, *group, *cell, *score_bin, *count, *stratum;
    size_t rows;
} Changes;

/* Reads a tuple of the columns, which have so many rows or more; false with an error set. */
static inline bool read_changes(Buffers *buffers, Changes *changes, PyObject *columns, size_t rows)
{
    i64 **written[DELTA_COLUMNS] = {&changes->time, &changes->label_time, &changes->group,
                                    &changes->cell, &changes->score_bin, &changes->count,
                                    &changes->stratum};
    changes->rows = 0;
    if (!PyTuple_Check(columns) || PyTuple_Size(columns) != DELTA_COLUMNS) {
        PyErr_Format(PyExc_ValueError, "the changes must be a tuple of %d", DELTA_COLUMNS);
        return false;
    }
    for (int i = 0; i < DELTA_COLUMNS; i++)
        if (!(*written[i] = column(buffers, PyTuple_GetItem(columns, i), rows)))
            return false;
    return true;
}

#endif
