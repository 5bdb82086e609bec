/* A ring of panes, as `PaneSlots` of monitor/windows/pane_slots.py. Part of panes.c and tallies.c. */

#ifndef PANES_H
#define PANES_H

#include "kernel.h"

#pragma GCC visibility push(hidden)

/* Changes of counts, and the ring that they are added to. */
typedef struct {
    const i64 *pane, *row, *cell, *count;
    size_t changes;
    const i64 *newest, *owners; /* newest pane by model; model by row */
    size_t models, rows;
    void *counts; /* (slots, room, cells), 32 or 64 bits each */
    bool wide;
    i64 slots, room, cells;
    u8 *written;
    i64 *ahead; /* indices of the changes ahead of the newest pane of their model */
    size_t ahead_count;
    i64 earliest, latest; /* panes that were added to */
    u8 *touched;          /* the slots of these */
} Ring;

bool read_ring(Buffers *buffers, Ring *ring, PyObject *counts, PyObject *written, PyObject *newest,
               PyObject *owners);
bool fits(const Ring *ring, i64 row, i64 cell, i64 count);
void add_changes(Ring *ring);
void mark_written(const Ring *ring);

#pragma GCC visibility pop
#endif
