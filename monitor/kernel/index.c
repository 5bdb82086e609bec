/* The index of keys: what methods of the same names do in monitor/join/index.py, on the same memory.

The docstring of that module describes it. */

#include "index.h"
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum {
    GROUP = 8,   /* places that are searched together */
    JUMPS = 32,  /* groups that are searched in ever wider jumps; then one after the other */
    AHEAD = 16,  /* keys between the one whose memory is fetched and the one that needs it */
    UNSURE = -2, /* a slot that the first group does not show */
    RELEASE_FROM = 512 /* keys from which other threads may run meanwhile */
};

/* A key as rows hold it: 0 is a row without one. */
static u64 storable(u64 key) { return key ? key : 1; }

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
    u32 mark = (u32)(key * index->multiplier) & ~(u32)(index->slots - 1);
    return mark > index->slots ? mark : (u32)index->slots;
}

static void fetch_group(const Places *index, u64 key)
{
    __builtin_prefetch(index->places + GROUP * first_group(index, key));
}

/* The places of a group with this value in these bits, a bit each. Without a branch. */
static u32 places_with(const u32 *places, u32 bits, u32 value)
{
#ifdef __SSE2__ /* every x86-64 has it; compilers do not find it in the loop below */
    __m128i mask = _mm_set1_epi32((int)bits), wanted = _mm_set1_epi32((int)value);
    __m128i low = _mm_loadu_si128((const __m128i *)places);
    __m128i high = _mm_loadu_si128((const __m128i *)(places + GROUP / 2));
    low = _mm_cmpeq_epi32(_mm_and_si128(low, mask), wanted);
    high = _mm_cmpeq_epi32(_mm_and_si128(high, mask), wanted);
    return (u32)(_mm_movemask_ps(_mm_castsi128_ps(low)) |
                 _mm_movemask_ps(_mm_castsi128_ps(high)) << GROUP / 2);
#else
    u32 found = 0;
    for (int place = 0; place < GROUP; place++)
        found |= (u32)((places[place] & bits) == value) << place;
    return found;
#endif
}

/* The slot of a key; -1 if it has no place. */
static i64 slot_of(const Places *index, u64 key, const Rows *rows)
{
    u64 group = first_group(index, key);
    u32 mark = mark_of(index, key), slots = (u32)index->slots - 1;
    for (u64 step = 1; step <= index->groups + JUMPS; step++) {
        const u32 *places = index->places + GROUP * group;
        for (u32 alike = places_with(places, ~slots, mark); alike; alike &= alike - 1) {
            u32 slot = places[__builtin_ctz(alike)] & slots;
            if (slot < rows->count && rows->at[rows->words * slot] == key)
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
static void find_slots(const Places *index, const Rows *rows, i64 *found)
{
    const u64 *keys = index->keys;
    for (size_t next = 0; next < index->count + 2 * AHEAD; next++) {
        if (next < index->count)
            fetch_group(index, keys[next]);
        size_t i = next - AHEAD; /* wraps around at the start: then it is not below the count */
        if (i < index->count) {
            found[i] = likely_slot(index, keys[i], rows->count);
            __builtin_prefetch(rows->at + rows->words * (size_t)(found[i] < 0 ? 0 : found[i]));
        }
        i -= AHEAD;
        if (i < index->count && found[i] != -1 &&
            (found[i] == UNSURE || rows->at[rows->words * (size_t)found[i]] != keys[i]))
            found[i] = slot_of(index, keys[i], rows);
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

/* ---- New keys ---- */

Slots slots_of(const i64 (*runs)[2])
{
    return (Slots){runs, **runs};
}

i64 next_slot(Slots *slots)
{
    while (slots->next == slots->run[0][1])
        slots->next = (*++slots->run)[0];
    return slots->next++;
}

/* Enters a key, and returns its place; -1 if it is known, or no place is free. */
static i64 enter_if_new(const Places *index, const Rows *rows, u64 key, u32 slot)
{
    u64 group = first_group(index, key);
    u32 mark = mark_of(index, key), slots = (u32)index->slots - 1;
    for (u64 step = 1; step <= index->groups + JUMPS; step++) {
        u32 *places = index->places + GROUP * group;
        for (u32 alike = places_with(places, ~slots, mark); alike; alike &= alike - 1) {
            u32 other = places[__builtin_ctz(alike)] & slots;
            if (other < rows->count && rows->at[rows->words * other] == key)
                return -1;
        }
        u32 unused = places_with(places, ~(u32)0, 0);
        if (unused) {
            int place = __builtin_ctz(unused);
            places[place] = mark | slot;
            rows->at[rows->words * slot] = key;
            return (i64)(GROUP * group) + place;
        }
        group = next_group(index, group, step);
    }
    return -1;
}

/* Enters keys, and writes them into their rows; false, and nothing has changed, if one of them is
   known or comes twice. `taken` has room for a number for each key. The slots are in bounds. */
bool enter_new(const Places *index, const Rows *rows, const i64 (*runs)[2], size_t *taken)
{
    const u64 *keys = index->keys;
    Slots slots = slots_of(runs);
    size_t entered = 0;
    for (size_t next = 0; next < index->count + AHEAD; next++) {
        if (next < index->count)
            fetch_group(index, storable(keys[next]));
        if (next < AHEAD)
            continue;
        u64 key = storable(keys[entered]);
        i64 place = enter_if_new(index, rows, key, (u32)next_slot(&slots));
        if (place < 0)
            break;
        taken[entered++] = (size_t)place;
    }
    if (entered == index->count)
        return true;
    slots = slots_of(runs);
    for (size_t i = 0; i < entered; i++) {
        index->places[taken[i]] = 0;
        rows->at[rows->words * (size_t)next_slot(&slots)] = 0;
    }
    return false;
}

/* Reads the memory of the table; false with an error set. */
bool read_table(Buffers *buffers, Rows *rows, PyObject *array, int flags)
{
    Py_buffer *view = view_of(buffers, array, 8, flags);
    if (!view)
        return false;
    if (view->ndim != 2 || view->shape[1] < 1) {
        PyErr_SetString(PyExc_ValueError, "rows must have two dimensions");
        return false;
    }
    *rows = (Rows){view->buf, (size_t)view->shape[0], (size_t)view->shape[1]};
    return true;
}

/* Reads the arguments that `find` and `enter` share; false with an error set. */
bool read_places(Buffers *buffers, Places *index, PyObject *places, PyObject *keys, int flags)
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
    Rows table;
    i64 *to;
    if (!read_places(&buffers, &index, places, keys, PyBUF_CONTIG_RO) ||
        !read_table(&buffers, &table, rows, PyBUF_CONTIG_RO) ||
        !(to = column(&buffers, found, index.count)))
        goto end;
    PyThreadState *state = index.count >= RELEASE_FROM ? PyEval_SaveThread() : NULL;
    find_slots(&index, &table, to);
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
