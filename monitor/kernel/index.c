/* The index of keys: what methods of the same names do in monitor/join/index.py, on the same memory.

The docstring of that module describes it. */

#include "kernel.h"

enum {
    GROUP = 8,   /* places that are searched together */
    JUMPS = 32,  /* groups that are searched in ever wider jumps; then one after the other */
    AHEAD = 32,  /* keys whose memory is fetched before the first of them is looked for */
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

static void fetch_groups(const Places *index, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        __builtin_prefetch(index->places + GROUP * first_group(index, index->keys[i]));
}

/* Fetches the rows that the keys may be found in, so that reading them does not wait in turn. */
static void fetch_rows(const Places *index, size_t from, size_t to, const u64 *rows, size_t row_count,
                       size_t words)
{
    for (size_t i = from; i < to; i++) {
        const u32 *places = index->places + GROUP * first_group(index, index->keys[i]);
        u32 mark = mark_of(index, index->keys[i]), slots = (u32)index->slots - 1;
        for (int place = 0; place < GROUP; place++)
            if ((places[place] & ~slots) == mark && (places[place] & slots) < row_count) {
                __builtin_prefetch(rows + words * (places[place] & slots));
                break;
            }
    }
}

/* The slot of a key; -1 if it has no place. */
static i64 slot_of(const Places *index, u64 key, const u64 *rows, size_t row_count, size_t words)
{
    u64 group = first_group(index, key);
    u32 mark = mark_of(index, key), slots = (u32)index->slots - 1;
    for (u64 step = 1; step <= index->groups + JUMPS; step++) {
        const u32 *places = index->places + GROUP * group;
        for (int place = 0; place < GROUP; place++) {
            if (!places[place])
                return -1;
            u32 slot = places[place] & slots;
            if ((places[place] & ~slots) == mark && slot < row_count && rows[words * slot] == key)
                return slot;
        }
        group = next_group(index, group, step);
    }
    return -1;
}

/* Gives a key the first free place; false if all are taken. */
static bool take_place(const Places *index, u64 key, u32 slot)
{
    u64 group = first_group(index, key);
    for (u64 step = 1; step <= index->groups + JUMPS; step++) {
        u32 *places = index->places + GROUP * group;
        for (int place = 0; place < GROUP; place++)
            if (!places[place]) {
                places[place] = mark_of(index, key) | slot;
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
    for (size_t from = 0; from < index.count; from += AHEAD) {
        size_t stop = index.count - from < AHEAD ? index.count : from + AHEAD;
        fetch_groups(&index, from, stop);
        fetch_rows(&index, from, stop, of_rows->buf, row_count, words);
        for (size_t i = from; i < stop; i++)
            to[i] = slot_of(&index, index.keys[i], of_rows->buf, row_count, words);
    }
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
    for (size_t from = 0; done && from < index.count; from += AHEAD) {
        size_t stop = index.count - from < AHEAD ? index.count : from + AHEAD;
        fetch_groups(&index, from, stop);
        for (size_t i = from; done && i < stop; i++)
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
