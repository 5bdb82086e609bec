/* Times of models, advanced by events in pace: as `TimeColumns.after` of
monitor/events/time_columns.py, where all events of a batch are in pace. */

#include "kernel.h"
#include <string.h>

enum { RANK = 3, ABOVE = RANK - 1, PARTS = 3 }; /* PARTS of an event: time, key and kind */
enum { RELEASE_FROM = 512 /* rows from which other threads may run meanwhile */ };

typedef struct {
    i64 parts[PARTS];
} Event;

/* The highest distinct events of a model, the highest first. */
typedef struct {
    Event all[RANK];
    int count;
    bool touched; /* it has an event above its time */
} Highest;

typedef struct {
    const i64 *group, *time, *key;
    const i64 *model_of_group;
    i64 kind;
    size_t count, groups;
    const i64 *limit, *near; /* by model: its latest event in pace; see `TimeColumns` */
    const u8 *settled;
    i64 *now, *events; /* by model; written to */
    i64 (*tops)[ABOVE][PARTS];
    u8 *present; /* flags of models that have events */
    size_t models;
    Highest *highest;
} Pace;

static int compared(const Event *a, const Event *b)
{
    for (int i = 0; i < PARTS; i++)
        if (a->parts[i] != b->parts[i])
            return a->parts[i] < b->parts[i] ? -1 : 1;
    return 0;
}

static void enter_event(Highest *highest, const Event *event)
{
    int place = highest->count;
    while (place > 0) {
        int order = compared(event, &highest->all[place - 1]);
        if (order == 0)
            return; /* the same event again */
        if (order < 0)
            break;
        place--;
    }
    if (place == RANK)
        return;
    highest->count += highest->count < RANK;
    for (int i = highest->count - 1; i > place; i--)
        highest->all[i] = highest->all[i - 1];
    highest->all[place] = *event;
}

static void begin(Highest *highest, i64 tops[ABOVE][PARTS])
{
    highest->touched = true;
    for (int i = 0; i < ABOVE; i++)
        if (tops[i][0] != NO_TIME) {
            Event known;
            memcpy(&known, tops[i], sizeof known);
            enter_event(highest, &known);
        }
}

static bool take_events(const Pace *given)
{
    const Pace copy = *given, *pace = &copy; /* a flag that is set changes none of its fields */
    for (size_t i = 0; i < pace->count; i++) {
        i64 time = pace->time[i], model;
        if ((u64)pace->group[i] >= pace->groups)
            return false;
        model = pace->model_of_group[pace->group[i]];
        if ((u64)model >= pace->models || !pace->settled[model] || time > pace->limit[model])
            return false;
        pace->present[model] = 1;
        pace->events[model]++;
        if (time <= pace->now[model])
            continue;
        Highest *highest = &pace->highest[model];
        if (!highest->touched)
            begin(highest, pace->tops[model]);
        if (highest->count == RANK && time < highest->all[ABOVE].parts[0])
            continue;
        enter_event(highest, &(Event){{time, pace->key[i], pace->kind}});
    }
    return true;
}

/* Advances the models; false if one of them brings near what is set aside. */
static bool advance(const Pace *pace)
{
    for (size_t model = 0; model < pace->models; model++) {
        const Highest *highest = &pace->highest[model];
        if (highest->touched) {
            if (highest->count == RANK)
                pace->now[model] = highest->all[ABOVE].parts[0];
            for (int i = 0; i < ABOVE; i++) {
                bool above = i < highest->count && highest->all[i].parts[0] > pace->now[model];
                Event none = {{NO_TIME, 0, 0}};
                memcpy(pace->tops[model][i], above ? &highest->all[i] : &none, sizeof none);
            }
        }
        if (pace->present[model] && pace->now[model] >= pace->near[model])
            return false;
    }
    return true;
}

const char pace_doc[] = PyDoc_STR(
"in_pace(events, models, kind, terms, columns, present, /)\n"
"--\n\n"
"Advance the times of models, as `TimeColumns.after` of monitor.events.time_columns does.\n\n"
"Args:\n"
"    events: group, time and key of each, int64.\n"
"    models: model number of each group, int64.\n"
"    kind: of all of them.\n"
"    terms: by model: the latest time that is in pace; the time at which what is set aside\n"
"        counts, int64; and whether the bulk of its stream has decided its time, a byte.\n"
"    columns: by model: time, number of events, and the highest events (models, 2, 3), int64;\n"
"        written to.\n"
"    present: a byte for each model; set where it has events.\n\n"
"Returns:\n"
"    False if not all events are in pace; then what is written means nothing.\n\n"
"Raises:\n"
"    ValueError: an array has another shape or another type.");

PyObject *in_pace(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    Buffers buffers = {.count = 0};
    Pace pace = {.highest = NULL};
    PyObject *group, *models, *time, *key, *limit, *near, *settled, *now, *events, *tops, *present;
    long long kind;
    if (!PyArg_ParseTuple(arguments, "(OOO)OL(OOO)(OOO)O", &group, &time, &key, &models, &kind, &limit,
                          &near, &settled, &now, &events, &tops, &present))
        return NULL;
    pace.kind = kind;
    bool done = false, plain = false;
    Py_buffer *of_present;
    if (!(pace.group = read_rows(&buffers, group, 8, &pace.count)) ||
        !(pace.model_of_group = read_rows(&buffers, models, 8, &pace.groups)) ||
        !(pace.time = read_column(&buffers, time, 8, pace.count)) ||
        !(pace.key = read_column(&buffers, key, 8, pace.count)) ||
        !(pace.limit = read_rows(&buffers, limit, 8, &pace.models)) ||
        !(pace.near = read_column(&buffers, near, 8, pace.models)) ||
        !(pace.settled = read_column(&buffers, settled, 1, pace.models)) ||
        !(pace.now = column(&buffers, now, pace.models)) ||
        !(pace.events = column(&buffers, events, pace.models)) ||
        !(pace.tops = column(&buffers, tops, ABOVE * PARTS * pace.models)) ||
        !(of_present = view_of(&buffers, present, 1, PyBUF_CONTIG)))
        goto end;
    if ((size_t)of_present->len < pace.models) {
        PyErr_SetString(PyExc_ValueError, "a flag for each model must be there");
        goto end;
    }
    pace.present = of_present->buf;
    if (!(pace.highest = PyMem_Calloc(pace.models + 1, sizeof *pace.highest))) {
        PyErr_NoMemory();
        goto end;
    }
    done = true;
    PyThreadState *state = pace.count >= RELEASE_FROM ? PyEval_SaveThread() : NULL;
    plain = take_events(&pace) && advance(&pace);
    if (state)
        PyEval_RestoreThread(state);
end:
    PyMem_Free(pace.highest);
    release(&buffers);
    return done ? PyBool_FromLong(plain) : NULL;
}
