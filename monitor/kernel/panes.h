/* A ring of panes, as `PaneSlots` of monitor/windows/pane_slots.py. Part of panes.c and of those that count. */

#ifndef PANES_H
#define PANES_H

#include "kernel.h"

#pragma GCC visibility push(hidden)

static const i64 NO_PANE = INT64_MIN;

/* A ring, and the pane that was added to last. */
typedef struct {
    const i64 *newest, *owners; /* newest pane by model; model by row */
    size_t models, rows;
    void *counts; /* (slots, room, cells), 32 or 64 bits each */
    bool wide;
    i64 slots, room, cells;
    u8 *written;
    i64 known, slot;      /* the pane that was added to last, and its slot */
    i64 earliest, latest; /* panes that were added to */
    u8 *touched;          /* the slots of these */
} Ring;

bool read_ring(Buffers *buffers, Ring *ring, PyObject *counts, PyObject *written, PyObject *newest,
               PyObject *owners);
bool fits(const Ring *ring, i64 row, i64 cell, i64 count);
void turn_to(Ring *ring, i64 pane);
void mark_written(const Ring *ring);

/* Lets the cell of a change come into the caches, if it is of the pane that was added to last. */
static inline void fetch_cell(const Ring *ring, i64 row, i64 cell)
{
    size_t at = (size_t)((ring->slot * ring->room + row) * ring->cells + cell);
    __builtin_prefetch((const u8 *)ring->counts + (ring->wide ? 8 : 4) * at);
}

/* Adds a change that fits; false, and it is not added, if it is ahead of the newest pane of its
   model. One whose pane has left the ring is dropped. `mark_written` has to follow the last. */
static inline bool add_change(Ring *ring, i64 pane, i64 row, i64 cell, i64 count)
{
    i64 newest = ring->newest[ring->owners[row]];
    if (pane > newest)
        return false;
    if (pane <= newest - ring->slots)
        return true;
    if (pane != ring->known) /* nearly always that of the change before */
        turn_to(ring, pane);
    size_t at = (size_t)((ring->slot * ring->room + row) * ring->cells + cell);
    if (ring->wide) /* as unsigned numbers, which may wrap around, as NumPy's do */
        ((u64 *)ring->counts)[at] += (u64)count;
    else
        ((u32 *)ring->counts)[at] += (u32)count;
    return true;
}

#pragma GCC visibility pop
#endif
