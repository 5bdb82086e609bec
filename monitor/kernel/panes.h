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
void mark_written(const Ring *ring);

static inline i64 slot_of(const Ring *ring, i64 pane)
{
    i64 slot = pane % ring->slots;
    return slot < 0 ? slot + ring->slots : slot;
}

/* Makes a pane inside the ring the one that changes are added to. */
static inline void turn_to(Ring *ring, i64 pane)
{
    u64 near = (u64)ring->slot + ((u64)pane - (u64)ring->known); /* no division in most cases */
    bool follows = ring->known != NO_PANE && near < (u64)ring->slots;
    ring->slot = follows ? (i64)near : slot_of(ring, pane);
    ring->known = pane;
    ring->touched[ring->slot] = 1;
    ring->earliest = pane < ring->earliest ? pane : ring->earliest;
    ring->latest = pane > ring->latest ? pane : ring->latest;
}

/* Whether a change has its place, and cannot overflow 32 bits sooner than one by one. */
static inline bool fits(const Ring *ring, i64 row, i64 cell, i64 count)
{
    return row >= 0 && (u64)row < ring->rows && row < ring->room && cell >= 0 &&
           cell < ring->cells && ring->owners[row] >= 0 &&
           (u64)ring->owners[row] < ring->models && (ring->wide || (count >= -1 && count <= 1));
}

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
