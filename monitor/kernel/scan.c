/* Scans blocks of NDJSON, and of rows of CSV, into the columns of an event batch.

`scan` reads the lines of a block whose form it knows, and writes one row for each into NumPy
arrays that its caller has allocated. Every other line it leaves: it puts the line's number into
an array, and the Python decoder reads that line. So this file rejects no record and knows no
reason; it only has to be right about the lines that it takes. Each `return false` in `take_line`
and what it calls means: leave this line to Python.

It reads no byte outside of the block, and writes no row beyond the arrays: their lengths are
checked before the first row. */

#include "fields.h"
#include "records.h"

enum { RELEASE_FROM = 4096 /* bytes of a block from which other threads may run meanwhile */ };

/* Reads a line; false if it has to be left. */
static bool take_line(Scan *scan, const u8 *start, const u8 *end, i64 row)
{
    Value *fields = scan->values;
    Cursor cursor = {start, end};
    for (size_t i = 0; i < scan->value_count; i++)
        fields[i].kind = ABSENT;
    scan->spans.count = 0;
    scan->spans.whole = scan->layout.count == 0;
    if (end - start > scan->longest || (!is_ascii(start, end) && !is_utf8(start, end)) ||
        !(scan->layout.count ? read_row(scan, start, end) : read_fields(scan, &cursor)))
        return false;
    int type = type_of(&fields[TYPE]);
    if (fields[AUDIT].kind != ABSENT || (type != PREDICTIONS && fields[SOURCE].kind != ABSENT))
        return false; /* an audit, perhaps, or a label of a source: Python decodes it */
    if (type == TYPE_COUNT || !TYPES[type].take(scan, fields, row))
        return false;
    learn(&scan->forms, start, end, &scan->spans, fields, scan->value_count, type);
    return true;
}

/* Reads a line that has a known form, and returns the start of the next one; NULL if it has none,
   or has to be left. */
static const u8 *take_known(Scan *scan, const u8 *start, const u8 *end, i64 row)
{
    const u8 *stop, *next;
    const Form *form = read_known(&scan->forms, start, end, &stop, &next);
    if (!form || stop - start > scan->longest)
        return NULL;
    for (size_t i = 0; i < scan->key_count; i++)
        if (!fits_segment(&form->values[FIELDS + i]))
            return NULL;
    return TYPES[form->type].take(scan, form->values, row) ? next : NULL;
}

static bool is_blank(const u8 *start, const u8 *end)
{
    Cursor cursor = {start, end};
    skip_blanks(&cursor);
    return cursor.at == end;
}

/* ---- Lines ---- */

/* Numbers of lines, and what becomes of them. */
typedef struct {
    i64 *starts, *left;
    size_t most, lines, left_count, taken;
} Lines;

static void scan_lines(Scan *scan, Lines *lines, const u8 *start, const u8 *end)
{
    const u8 *at = start;
    while (at < end && lines->lines < lines->most && !scan->no_memory) {
        const u8 *known = take_known(scan, at, end, (i64)lines->lines);
        if (known) {
            lines->starts[lines->lines++] = at - start;
            lines->taken++;
            at = known;
            continue;
        }
        const u8 *newline = memchr(at, '\n', (size_t)(end - at));
        const u8 *stop = newline ? newline : end, *next = newline ? newline + 1 : end;
        if (stop > at && stop[-1] == '\r')
            stop--;
        i64 row = (i64)lines->lines;
        lines->starts[lines->lines++] = at - start;
        if (take_line(scan, at, stop, row))
            lines->taken++;
        else if (stop - at > scan->longest || !is_blank(at, stop))
            lines->left[lines->left_count++] = row;
        at = next;
    }
    lines->starts[lines->lines] = at - start;
}

/* Reads a tuple of arrays as the memory of columns; false with an error set. */
static bool read_columns(Buffers *buffers, PyObject *arrays, size_t most, void *columns[],
                         Py_ssize_t count)
{
    if (!PyTuple_Check(arrays) || PyTuple_Size(arrays) != count) {
        PyErr_Format(PyExc_ValueError, "columns must be a tuple of %zd arrays", count);
        return false;
    }
    for (Py_ssize_t i = 0; i < count; i++)
        if (!(columns[i] = column(buffers, PyTuple_GetItem(arrays, i), most)))
            return false;
    return true;
}

static bool read_all_columns(Buffers *buffers, Scan *scan, size_t most, PyObject *predictions,
                             PyObject *labels, PyObject *outcomes)
{
    void *p[7], *l[6], *o[7];
    if (!read_columns(buffers, predictions, most, p, 7) ||
        !read_columns(buffers, labels, most, l, 6) || !read_columns(buffers, outcomes, most, o, 7))
        return false;
    scan->predictions = (Predictions){p[0], p[1], p[2], p[3], p[4], p[5], p[6], 0};
    scan->labels = (Labels){l[0], l[1], l[2], l[3], l[4], l[5], 0};
    scan->outcomes = (Outcomes){o[0], o[1], o[2], o[3], o[4], o[5], o[6], 0};
    return true;
}

/* The next text of a group as a Python string, None for a missing one. */
static PyObject *text_at(const u8 **at)
{
    int stored = (*at)[0] | (*at)[1] << 8;
    *at += 2;
    if (stored == 0)
        Py_RETURN_NONE;
    const u8 *start = *at;
    *at += stored - 1;
    return PyUnicode_DecodeUTF8((const char *)start, stored - 1, "strict");
}

/* The groups as tuples: model, version, and one value for each segment key. */
static PyObject *list_of(const Groups *groups, size_t names)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < groups->count; i++) {
        const u8 *at = groups->bytes + groups->starts[i];
        PyObject *group = PyTuple_New((Py_ssize_t)names);
        bool done = group != NULL;
        for (size_t name = 0; done && name < names; name++) {
            PyObject *text = text_at(&at);
            done = text && PyTuple_SetItem(group, (Py_ssize_t)name, text) == 0;
        }
        done = done && PyList_Append(list, group) == 0;
        Py_XDECREF(group);
        if (!done)
            Py_CLEAR(list);
    }
    return list;
}

/* Reads a tuple of bytes that outlives the scan as texts; NULL with an error set. */
static Text *read_texts(PyObject *given, size_t *count)
{
    *count = (size_t)PyTuple_Size(given);
    Text *texts = PyMem_Calloc(*count + 1, sizeof *texts);
    if (!texts) {
        PyErr_NoMemory();
        return NULL;
    }
    for (size_t i = 0; i < *count; i++) {
        char *start;
        Py_ssize_t length;
        if (PyBytes_AsStringAndSize(PyTuple_GetItem(given, (Py_ssize_t)i), &start, &length) < 0) {
            PyMem_Free(texts);
            return NULL;
        }
        texts[i] = (Text){.start = (const u8 *)start, .length = (size_t)length};
    }
    return texts;
}

/* Reads the segment keys, a tuple of bytes that outlives the scan; false with an error set. */
static bool read_keys(Scan *scan, PyObject *keys)
{
    if (!(scan->keys = read_texts(keys, &scan->key_count)))
        return false;
    scan->value_count = FIELDS + scan->key_count + 1;
    scan->values = PyMem_Calloc((1 + MOST_FORMS) * scan->value_count, sizeof *scan->values);
    scan->group_key = PyMem_Malloc((scan->key_count + 2) * (MAX_NAME + 6));
    if (!scan->values || !scan->group_key) {
        PyErr_NoMemory();
        return false;
    }
    for (size_t i = 0; i < MOST_FORMS; i++)
        scan->forms.all[i].values = scan->values + (i + 1) * scan->value_count;
    return true;
}

/* Reads the names of classes and the values of their labels; false with an error set. */
static bool read_names(Buffers *buffers, Names *names, PyObject *given)
{
    PyObject *texts, *values;
    int two;
    if (given == Py_None)
        return true;
    if (!PyTuple_Check(given)) {
        PyErr_SetString(PyExc_ValueError, "the classes must be a tuple or None");
        return false;
    }
    if (!PyArg_ParseTuple(given, "O!Op", &PyTuple_Type, &texts, &values, &two) ||
        !(names->all = read_texts(texts, &names->count)) ||
        !(names->values = read_column(buffers, values, 8, names->count)))
        return false;
    names->two = two;
    if (enter_names(names))
        return true;
    PyErr_NoMemory();
    return false;
}

/* Reads how cells are fields, a tuple that outlives the scan; false with an error set. */
static bool read_layout(Scan *scan, PyObject *given)
{
    Layout *layout = &scan->layout;
    const char *columns, *type;
    Py_ssize_t count, type_length;
    int separator, labelled;
    if (given == Py_None)
        return true;
    if (!PyTuple_Check(given)) {
        PyErr_SetString(PyExc_ValueError, "the layout must be a tuple or None");
        return false;
    }
    if (!PyArg_ParseTuple(given, "y#iy#p", &columns, &count, &separator, &type, &type_length,
                          &labelled))
        return false;
    layout->columns = (const u8 *)columns;
    layout->count = (size_t)count;
    layout->separator = (u8)separator;
    layout->type = (Text){.start = (const u8 *)type, .length = (size_t)type_length};
    layout->labelled = labelled;
    for (Py_ssize_t i = 0; i < count; i++)
        if (layout->columns[i] > FIELDS + scan->key_count) {
            PyErr_SetString(PyExc_ValueError, "a column is of no field and of no segment key");
            return false;
        }
    if (count == 0 || separator < 1 || separator > 127 || separator == '\n' || separator == '"') {
        PyErr_SetString(PyExc_ValueError, "a row must have columns and an ASCII separator");
        return false;
    }
    return true;
}

static PyObject *scanned(Scan *scan, Lines *lines, Buffers *buffers, const Py_buffer *block,
                         PyObject *arrays[6], PyObject *layout, PyObject *classes)
{
    Py_ssize_t most = PyObject_Size(arrays[5]);
    if (most < 0)
        return NULL;
    lines->most = (size_t)most;
    if (!(lines->starts = column(buffers, arrays[4], lines->most + 1)) ||
        !(lines->left = column(buffers, arrays[5], lines->most)) || !read_keys(scan, arrays[0]) ||
        !read_layout(scan, layout) || !read_names(buffers, &scan->names, classes) ||
        !read_all_columns(buffers, scan, lines->most, arrays[1], arrays[2], arrays[3]))
        return NULL;
    PyThreadState *state = block->len >= RELEASE_FROM ? PyEval_SaveThread() : NULL;
    scan_lines(scan, lines, block->buf, (const u8 *)block->buf + block->len);
    if (state)
        PyEval_RestoreThread(state);
    if (scan->no_memory)
        return PyErr_NoMemory();
    if (lines->starts[lines->lines] != block->len)
        Py_RETURN_NONE; /* more lines than rows */
    PyObject *groups = list_of(&scan->groups, scan->key_count + 2);
    return groups ? Py_BuildValue("nnnnnN", (Py_ssize_t)scan->predictions.count,
                                  (Py_ssize_t)scan->labels.count, (Py_ssize_t)scan->outcomes.count,
                                  (Py_ssize_t)lines->left_count, (Py_ssize_t)lines->taken, groups)
                  : NULL;
}

const char scan_doc[] = PyDoc_STR(
"scan(block, seed, longest, latest_ms, segment_keys, predictions, labels, outcomes, starts, left, "
"layout=None, classes=None, /)\n"
"--\n\n"
"Scan a block of NDJSON lines or of rows, and write the records of known forms into columns.\n\n"
"Other threads may run meanwhile. A line that is not taken is in `left`, unless it is blank.\n\n"
"Args:\n"
"    block: whole lines; the last one may lack its newline.\n"
"    seed: of the keys of ids.\n"
"    longest: bytes; longer lines are left.\n"
"    latest_ms: the latest accepted event time, epoch milliseconds.\n"
"    segment_keys: tuple of the segment keys to read, in UTF-8.\n"
"    predictions: key, time, score, group, given class, row; actual class of the record.\n"
"    labels: key, time, value, sampling probability, time of the prediction, row.\n"
"    outcomes: time, label time, given class, actual class, score, group, row.\n"
"    starts: offset of each line in the block, and of its end; one row more than `left`.\n"
"    left: numbers of the lines that are not taken; at least as many rows as the block has lines.\n"
"    layout: None for NDJSON. For rows of cells: the field of each column, a byte (FIELDS for\n"
"        none, FIELDS + 1 + i for the segment key i); the separator's byte; the type of a row\n"
"        that names none; and whether rows have a label.\n"
"    classes: names in UTF-8 that classes may have, the values of labels with them, and whether\n"
"        a model has two classes; None where all models have the classes 0 and 1.\n\n"
"A class is -1 for none, else 0 or 1. With names 2 stands for false, 3 for true, 4 + 2 * i for\n"
"the name i as a text, 5 + 2 * i for the name i as an integer.\n\n"
"Returns:\n"
"    Rows written of predictions, labels, outcomes and `left`; lines taken; and the groups that\n"
"    `group` columns index: model, version and the value of each segment key as they are\n"
"    written, None for a missing one. None if the block has more lines than `left` has rows; then\n"
"    what is written means nothing.\n\n"
"Raises:\n"
"    ValueError: a column has fewer rows than `left`, or the layout is none.");

PyObject *scan_block(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    Form forms[MOST_FORMS];
    Scan scan = {.forms.all = forms};
    Lines lines = {0};
    Buffers buffers = {.count = 0};
    Py_buffer block;
    PyObject *layout = Py_None, *classes = Py_None;
    PyObject *arrays[6]; /* segment keys; predictions, labels, outcomes; starts and left lines */
    unsigned long long seed;
    long long longest, latest_ms;
    if (!PyArg_ParseTuple(arguments, "y*KLLO!OOOOO|OO", &block, &seed, &longest, &latest_ms,
                          &PyTuple_Type, &arrays[0], &arrays[1], &arrays[2], &arrays[3], &arrays[4],
                          &arrays[5], &layout, &classes))
        return NULL;
    scan.seed = seed;
    scan.longest = longest;
    scan.latest_ms = latest_ms;
    PyObject *result = scanned(&scan, &lines, &buffers, &block, arrays, layout, classes);
    free_groups(&scan.groups);
    PyMem_Free(scan.keys);
    free_names(&scan.names);
    PyMem_Free(scan.values);
    PyMem_Free(scan.group_key);
    release(&buffers);
    PyBuffer_Release(&block);
    return result;
}
