/* Counting of deltas into several rings of panes by one call. Part of delays.c, scores.c,
value_scores.c and windows.c.

Each function does what a method in Python does, on the same memory, in a pass over the rows
instead of a call of NumPy for each step. A pass before it checks that every row has its place;
where one has none, or 32 bits may be too few, nothing is written and None is returned. */

#ifndef TALLIES_H
#define TALLIES_H

#include "panes.h"

#pragma GCC visibility push(hidden)

enum { RELEASE_FROM = 512 /* rows from which other threads may run meanwhile */ };
enum { AHEAD = 4 /* pane, row, cell and count */ };

static const i64 NOT_YET = -((i64)1 << 60); /* the newest pane of a model without a time */

/* A ring, and all changes that were ahead of their models. */
typedef struct {
    Ring ring;
    i64 width; /* of a pane, milliseconds */
    i64 *ahead; /* (changes, 4) */
    size_t ahead_count;
} Tally;

typedef struct {
    Tally *all;
    int count;
    i64 *ahead;
} Tallies;

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

/* The pane of a time: nearly always that of the one before. */
typedef struct {
    i64 pane, start, width;
} Panes;

bool read_rings(Buffers *buffers, Tallies *tallies, PyObject *rings, int least, int most,
                size_t changes);
void free_tallies(Tallies *tallies);
void end_tallies(Tallies *tallies);
PyObject *ahead_of(const Tallies *tallies);
bool read_deltas(Buffers *buffers, Deltas *deltas, PyObject *given, const i64 **second,
                 PyObject *models, PyObject *changes);
bool model_fits(const Deltas *deltas, const Ring *ring, i64 cells);
void note_changes(const Deltas *deltas);

static inline void put(Tally *tally, i64 pane, i64 row, i64 cell, i64 count)
{
    if (add_change(&tally->ring, pane, row, cell, count))
        return;
    i64 *to = tally->ahead + AHEAD * tally->ahead_count++;
    to[0] = pane;
    to[1] = row;
    to[2] = cell;
    to[3] = count;
}

static inline Panes panes_of(const Tally *tally)
{
    return (Panes){.width = tally->width};
}

static inline i64 pane_of(Panes *panes, i64 time)
{
    if ((u64)time - (u64)panes->start >= (u64)panes->width) {
        i64 pane = time / panes->width;
        panes->pane = pane - (time % panes->width < 0);
        panes->start = (i64)((u64)panes->pane * (u64)panes->width);
    }
    return panes->pane;
}

/* The model of a row; -1 if it has none. */
static inline i64 model_of(const Deltas *deltas, size_t i)
{
    u64 group = (u64)deltas->group[i];
    i64 model = group < deltas->groups ? deltas->model_of_group[group] : -1;
    return (u64)model < deltas->models ? model : -1;
}

/* Whether a time lies in a pane that has left the ring of a model. */
static inline bool has_left(const Tally *tally, i64 time, i64 model)
{
    i64 newest = tally->ring.newest[model], start;
    if (newest == NOT_YET)
        return false;
    i64 oldest = newest - tally->ring.slots + 1;
    if (__builtin_mul_overflow(oldest, tally->width, &start))
        return oldest > 0;
    return time < start;
}

#pragma GCC visibility pop
#endif
