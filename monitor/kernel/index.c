/* The index of keys: what methods of the same names do in monitor/join/index.py, on the same memory.

The docstring of that module describes it. */

#include "kernel.h"

enum {
    GROUP = 8,   /* places that are searched together */
    JUMPS = 32,  /* groups that are searched in ever wider jumps; then one after the other */
    AHEAD = 16,  /* keys between the one whose memory is fetched and the one that needs it */
    UNSURE = -2, /* a slot that the first group does not show */
    RELEASE_FROM = 512 /* keys from which other threads may run meanwhile */
};

/* The index, and the keys that are looked for or entered. */
typedef struct {
    u32 *places;
    u64 groups, slots, multiplier;
    const u64 *keys;
    size_t count;
} Places;

/* The group where the search for a key begins, and the next one. */
static u64 first_group(const Places *index, u64 key)
{
    return ((key * index->multiplier >> 32) * index->groups) >> 32;
}

static u64 next_group(const Places *index, u64 group, u64 step)
{
    group += step < JUMPS ? step : 1;
    while (group >= index->groups)
        group -= index->groups;
    return group;
}

/* The bits of a place that are not its slot, never 0. */
static u32 mark_of(const Places *index, u64 key)
{
    u32 mark = ((u32)(key * index->multiplier >> 24) << 24) & ~(u32)(index->slots - 1);
    return mark > index->slots ? mark : (u32)index->slots;
}

static void fetch_group(const Places *index, u64 key)
{
    __builtin_prefetch(index->places + GROUP * first_group(index, key));
}

/* The places of a group with this value in these bits, a bit each. Without a branch, so that the
   compiler compares several at once. */
static u32 places_with(const u32 *places, u32 bits, u32 value)
{
    u32 found = 0;
    for (int place = 0; place < GROUP; place++)
        found |= (u32)((places[place] & bits) == value) << place;
    return found;
}

/* The slot of a key; -1 if it has no place. */
static i64 slot_of(const Places *index, u64 key, const u64 *rows, size_t row_count, size_t words)
{
    u64 group = first_group(index, key);
    u32 mark = mark_of(index, key), slots = (u32)index->slots - 1;
    for (u64 step = 1; step <= index->groups + JUMPS; step++) {
        const u32 *places = index->places + GROUP * group;
        for (u32 alike = places_with(places, ~slots, mark); alike; alike &= alike - 1) {
            u32 slot = places[__builtin_ctz(alike)] & slots;
            if (slot < row_count && rows[words * slot] == key)
                return slot;
        }
        if (!places[GROUP - 1])
            return -1; /* the lowest places are taken first */
        group = next_group(index, group, step);
    }
    return -1;
}

/* The slot of a key as far as its first group shows it without a look at the row: the slot of the
   first place with its mark, `UNSURE` if there is none in a full group, -1 if it has no place. */
static i64 likely_slot(const Places *index, u64 key, size_t row_count)
{
    u32 slots = (u32)index->slots - 1;
    const u32 *places = index->places + GROUP * first_group(index, key);
    u32 alike = places_with(places, ~slots, mark_of(index, key));
    if (!alike)
        return places[GROUP - 1] ? UNSURE : -1;
    u32 slot = places[__builtin_ctz(alike)] & slots;
    return slot < row_count ? (i64)slot : UNSURE;
}

/* Finds the slot of each key. While one is looked for, the row that the key some places on is
   likely in, and the group of the one as far behind that, come into the caches. */
static void find_slots(const Places *index, const u64 *rows, size_t row_count, size_t words, i64 *found)
{
    const u64 *keys = index->keys;
    for (size_t next = 0; next < index->count + 2 * AHEAD; next++) {
        if (next < index->count)
            fetch_group(index, keys[next]);
        size_t i = next - AHEAD; /* wraps around at the start: then it is not below the count */
        if (i < index->count) {
            found[i] = likely_slot(index, keys[i], row_count);
            __builtin_prefetch(rows + words * (size_t)(found[i] < 0 ? 0 : found[i]));
        }
        i -= AHEAD;
        if (i < index->count && found[i] != -1 &&
            (found[i] == UNSURE || rows[words * (size_t)found[i]] != keys[i]))
            found[i] = slot_of(index, keys[i], rows, row_count, words);
    }
}

/* Gives a key the first free place; false if all are taken. */
static bool take_place(const Places *index, u64 key, u32 slot)
{
    u64 group = first_group(index, key);
    for (u64 step = 1; step <= index->groups + JUMPS; step++) {
        u32 *places = index->places + GROUP * group;
        u32 unused = places_with(places, ~(u32)0, 0);
        if (unused) {
            places[__builtin_ctz(unused)] = mark_of(index, key) | slot;
            return true;
        }
        group = next_group(index, group, step);
    }
    return false;
}

/* Reads the arguments that `find` and `enter` share; false with an error set. */
static bool read_places(Buffers *buffers, Places *index, PyObject *places, PyObject *keys, int flags)
{
    Py_buffer *of_places = view_of(buffers, places, 4, flags);
    Py_buffer *of_keys = of_places ? view_of(buffers, keys, 8, PyBUF_CONTIG_RO) : NULL;
    if (!of_keys)
        return false;
    index->places = of_places->buf;
    index->groups = (u64)of_places->len / (4 * GROUP);
    index->keys = of_keys->buf;
    index->count = (size_t)of_keys->len / 8;
    if (index->groups == 0 || index->groups >> 32 || index->slots == 0 || index->slots >> 31 ||
        index->slots & (index->slots - 1)) {
        PyErr_SetString(PyExc_ValueError, "slots must be a power of two, and places at least 8");
        return false;
    }
    return true;
}

const char find_doc[] = PyDoc_STR(
"find(places, slots, multiplier, keys, rows, found, /)\n"
"--\n\n"
"Find the slots of keys, as `_Places.find` of monitor.join.index does.\n\n"
"Args:\n"
"    places: the index, uint32 of shape (groups, 8).\n"
"    slots: exclusive upper bound of slots, a power of two.\n"
"    multiplier: of the keys, odd.\n"
"    keys: uint64.\n"
"    rows: uint64 of shape (slots, words); the first word is the key.\n"
"    found: int64, written to: the slot of each key, -1 for none.\n\n"
"Raises:\n"
"    ValueError: an array has another shape or another type.");

PyObject *find(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    Buffers buffers = {.count = 0};
    Places index;
    PyObject *places, *keys, *rows, *found;
    unsigned long long slots, multiplier;
    if (!PyArg_ParseTuple(arguments, "OKKOOO", &places, &slots, &multiplier, &keys, &rows, &found))
        return NULL;
    index.slots = slots;
    index.multiplier = multiplier;
    bool done = false;
    Py_buffer *of_rows;
    i64 *to;
    if (!read_places(&buffers, &index, places, keys, PyBUF_CONTIG_RO) ||
        !(of_rows = view_of(&buffers, rows, 8, PyBUF_CONTIG_RO)) ||
        !(to = column(&buffers, found, index.count)))
        goto end;
    if (of_rows->ndim != 2 || of_rows->shape[1] < 1) {
        PyErr_SetString(PyExc_ValueError, "rows must have two dimensions");
        goto end;
    }
    size_t row_count = (size_t)of_rows->shape[0], words = (size_t)of_rows->shape[1];
    PyThreadState *state = index.count >= RELEASE_FROM ? PyEval_SaveThread() : NULL;
    find_slots(&index, of_rows->buf, row_count, words, to);
    if (state)
        PyEval_RestoreThread(state);
    done = true;
end:
    release(&buffers);
    return done ? Py_NewRef(Py_None) : NULL;
}

const char enter_doc[] = PyDoc_STR(
"enter(places, slots, multiplier, keys, entered, /)\n"
"--\n\n"
"Enter distinct keys that have no place yet, as `_Places.enter` of monitor.join.index does.\n\n"
"Args:\n"
"    places: the index, uint32 of shape (groups, 8); written to.\n"
"    slots: exclusive upper bound of slots, a power of two.\n"
"    multiplier: of the keys, odd.\n"
"    keys: uint64.\n"
"    entered: the slot of each key, int64.\n\n"
"Raises:\n"
"    ValueError: an array has another shape or type, a slot is out of bounds, or no place is free.");

PyObject *enter(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    Buffers buffers = {.count = 0};
    Places index;
    PyObject *places, *keys, *entered;
    unsigned long long slots, multiplier;
    if (!PyArg_ParseTuple(arguments, "OKKOO", &places, &slots, &multiplier, &keys, &entered))
        return NULL;
    index.slots = slots;
    index.multiplier = multiplier;
    bool done = false;
    Py_buffer *of_slots;
    if (!read_places(&buffers, &index, places, keys, PyBUF_CONTIG) ||
        !(of_slots = view_of(&buffers, entered, 8, PyBUF_CONTIG_RO)))
        goto end;
    const i64 *slot = of_slots->buf;
    done = (size_t)of_slots->len / 8 >= index.count;
    PyThreadState *state = index.count >= RELEASE_FROM ? PyEval_SaveThread() : NULL;
    for (size_t next = 0; done && next < index.count + AHEAD; next++) {
        if (next < index.count)
            fetch_group(&index, index.keys[next]);
        size_t i = next - AHEAD; /* wraps around at the start: then it is not below the count */
        if (i < index.count)
            done = slot[i] >= 0 && (u64)slot[i] < index.slots &&
                   take_place(&index, index.keys[i], (u32)slot[i]);
    }
    if (state)
        PyEval_RestoreThread(state);
    if (!done)
        PyErr_SetString(PyExc_ValueError, "a key has no slot in bounds, or no place is free");
end:
    release(&buffers);
    return done ? Py_NewRef(Py_None) : NULL;
}
