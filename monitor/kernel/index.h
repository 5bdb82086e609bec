/* The index of keys, and entering new ones. Part of index.c and predictions.c. */

#ifndef INDEX_H
#define INDEX_H

#include "kernel.h"

#pragma GCC visibility push(hidden)

/* The index, and the keys that are looked for or entered. */
typedef struct {
    u32 *places;
    u64 groups, slots, multiplier;
    const u64 *keys;
    size_t count;
} Places;

/* Rows of the table by slot; the first word of each is its key. */
typedef struct {
    u64 *at;
    size_t count, words;
} Rows;

/* The next slot of runs of slots that follow one another. */
typedef struct {
    const i64 (*run)[2]; /* the first slot of each, and the one behind its last */
    i64 next;
} Slots;

Slots slots_of(const i64 (*runs)[2]);
i64 next_slot(Slots *slots);
bool read_places(Buffers *buffers, Places *index, PyObject *places, PyObject *keys, int flags);
bool read_table(Buffers *buffers, Rows *rows, PyObject *array, int flags);
bool enter_new(const Places *index, const Rows *rows, const i64 (*runs)[2], size_t *taken);

#pragma GCC visibility pop
#endif
