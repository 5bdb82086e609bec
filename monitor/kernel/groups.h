/* Groups: distinct models, versions and segment values of a block. Part of scan.c. */

#ifndef GROUPS_H
#define GROUPS_H

#include "bytes.h"

/* The texts of each group, one after the other: a group is one run of bytes, in which every
   text is its length plus 1 in two bytes, and then the text; a missing text is two zeros. */
typedef struct {
    u8 *bytes;
    size_t used, room;
    size_t *starts; /* of each group in `bytes`; one more than there are groups */
    u64 *hashes;
    size_t count, most;
    u32 *places; /* a hash table: number of the group plus 1, 0 for an empty place */
    size_t mask; /* number of places, a power of two, minus 1 */
} Groups;

static bool grow_bytes(Groups *groups, size_t more)
{
    if (groups->room - groups->used >= more)
        return true;
    size_t room = 2 * groups->room + more + 4096;
    u8 *bytes = PyMem_RawRealloc(groups->bytes, room);
    if (!bytes)
        return false;
    groups->bytes = bytes;
    groups->room = room;
    return true;
}

static bool grow_groups(Groups *groups)
{
    if (groups->count < groups->most)
        return true;
    size_t most = groups->most ? 4 * groups->most : 64, places = 4 * most;
    size_t *starts = PyMem_RawRealloc(groups->starts, (most + 1) * sizeof *starts);
    if (starts)
        groups->starts = starts;
    u64 *hashes = PyMem_RawRealloc(groups->hashes, most * sizeof *hashes);
    if (hashes)
        groups->hashes = hashes;
    u32 *table = PyMem_RawCalloc(places, sizeof *table);
    if (!starts || !hashes || !table) {
        PyMem_RawFree(table);
        return false;
    }
    groups->starts[0] = 0;
    groups->most = most;
    groups->mask = places - 1;
    for (size_t i = 0; i < groups->count; i++) {
        size_t place = groups->hashes[i] & groups->mask;
        while (table[place])
            place = (place + 1) & groups->mask;
        table[place] = (u32)i + 1;
    }
    PyMem_RawFree(groups->places);
    groups->places = table;
    return true;
}

static void free_groups(Groups *groups)
{
    PyMem_RawFree(groups->bytes);
    PyMem_RawFree(groups->starts);
    PyMem_RawFree(groups->hashes);
    PyMem_RawFree(groups->places);
}

/* The number of a group, a new one if it is new; -1 without memory. */
static i64 number_of(Groups *groups, const u8 *key, size_t length, u64 seed)
{
    u64 hash = seed;
    for (size_t at = 0; at < length; at += MAX_ID)
        hash = xxh3(key + at, length - at < MAX_ID ? length - at : MAX_ID, hash);
    if (!grow_groups(groups))
        return -1;
    size_t place = hash & groups->mask;
    for (; groups->places[place]; place = (place + 1) & groups->mask) {
        size_t number = groups->places[place] - 1, start = groups->starts[number];
        if (groups->hashes[number] == hash && groups->starts[number + 1] - start == length &&
            memcmp(groups->bytes + start, key, length) == 0)
            return (i64)number;
    }
    if (!grow_bytes(groups, length))
        return -1;
    memcpy(groups->bytes + groups->used, key, length);
    groups->used += length;
    groups->hashes[groups->count] = hash;
    groups->places[place] = (u32)groups->count + 1;
    groups->starts[groups->count + 1] = groups->used;
    return (i64)groups->count++;
}

#endif
