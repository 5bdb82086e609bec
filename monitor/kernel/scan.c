/* Scans blocks of NDJSON, and of rows of CSV, into the columns of an event batch.

`scan` reads the lines of a block whose form it knows, and writes one row for each into NumPy
arrays that its caller has allocated. Every other line it leaves: it puts the line's number into
an array, and the Python decoder reads that line. So this file rejects no record and knows no
reason; it only has to be right about the lines that it takes. Each `return false` in `take_line`
and what it calls means: leave this line to Python.

It reads no byte outside of the block, and writes no row beyond the arrays: their lengths are
checked before the first row. */

#include "classes.h"
#include "forms.h"

enum { RELEASE_FROM = 4096 /* bytes of a block from which other threads may run meanwhile */ };

/* ---- Groups: distinct models, versions and segment values of a block ---- */

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

/* ---- Records ---- */

enum Field {
    TYPE, ID, TS, PREDICTION, SCORE, MODEL, VERSION, SEGMENT, LABEL, LABEL_TS, PROBABILITY, AUDIT,
    SOURCE,
    FIELDS
};

/* The field of this name; FIELDS if the name is none of them. */
static enum Field field_of(const Text *key)
{
#define IS(name, field) \
    if (memcmp(key->start, name, sizeof name - 1) == 0) return field
    switch (key->length) {
    case 2: IS("id", ID); IS("ts", TS); break;
    case 4: IS("type", TYPE); break;
    case 5: IS("score", SCORE); IS("model", MODEL); IS("label", LABEL); IS("audit", AUDIT); break;
    case 6: IS("source", SOURCE); break;
    case 7: IS("version", VERSION); IS("segment", SEGMENT); break;
    case 8: IS("label_ts", LABEL_TS); break;
    case 10: IS("prediction", PREDICTION); break;
    case 20: IS("sampling_probability", PROBABILITY); break;
    }
#undef IS
    return FIELDS;
}

/* The columns of predictions, labels and outcomes; `count` is the number of rows so far. */
typedef struct {
    u64 *key;
    i64 *time;
    double *score;
    i64 *group, *given, *row, *actual;
    size_t count;
} Predictions;

typedef struct {
    u64 *key;
    i64 *time, *value;
    double *probability;
    i64 *prediction_time, *row;
    size_t count;
} Labels;

typedef struct {
    i64 *time, *label_time, *given, *actual;
    double *score;
    i64 *group, *row;
    size_t count;
} Outcomes;

/* Which field each cell of a row holds; without columns, a line is an object. */
typedef struct {
    const u8 *columns; /* a Field; FIELDS for none; FIELDS + 1 + i for the segment key i */
    size_t count;
    u8 separator;
    Text type;     /* of a row that names none */
    bool labelled; /* a row has a label, null if its cell is empty */
} Layout;

/* The group of a model whose name is 4 to 16 bytes long: these are its first and last ones. */
typedef struct {
    u64 first, last;
    size_t length;
    i64 group;
} LateModel;

enum { LATE_BITS = 6 /* of their number */ };

typedef struct {
    u64 seed;
    i64 longest, latest_ms;
    Layout layout;
    Text *keys; /* configured segment keys, in order */
    size_t key_count;
    Names names; /* of classes */
    /* The values of a line: of fields; of segment keys; of other keys, which are not read. Those
       of the line that is being read come first, and then those of each form. */
    Value *values;
    size_t value_count; /* of one line */
    Spans spans;
    Forms forms;
    u8 *group_key; /* room for the texts of one group */
    Groups groups;
    LateModel late[1 << LATE_BITS];
    Predictions predictions;
    Labels labels;
    Outcomes outcomes;
    bool no_memory;
} Scan;

/* Reads a value that is no object and no array, and remembers where it is. */
static bool read_value(Scan *scan, Cursor *cursor, size_t slot)
{
    skip_blanks(cursor);
    const u8 *start = cursor->at;
    Value *value = &scan->values[slot];
    if (!read_scalar(cursor, value))
        return false;
    bool text = value->kind == TEXT;
    if (slot != TYPE) /* lines of one form are of one type */
        add_span(&scan->spans, start + text, cursor->at - text, slot, text);
    return true;
}

/* Skips the value of a key that is not read. */
static bool skip_unread(Scan *scan, Cursor *cursor, int depth)
{
    skip_blanks(cursor);
    if (cursor->at < cursor->end && (*cursor->at == '{' || *cursor->at == '['))
        return skip_value(cursor, depth);
    return read_value(scan, cursor, FIELDS + scan->key_count);
}

static bool fits_segment(const Value *value)
{
    return value->kind == ABSENT || value->kind == NONE || value->kind == NUMBER ||
           (value->kind == TEXT && value->text.length > 0);
}

/* Reads a segment, the cursor behind its opening brace. */
static bool read_segment(Scan *scan, Cursor *cursor)
{
    if (skip(cursor, '}'))
        return true;
    do {
        Text key;
        if (!(skip(cursor, '"') && read_text(cursor, &key) && !key.escaped && skip(cursor, ':')))
            return false;
        size_t i = 0;
        while (i < scan->key_count && (scan->keys[i].length != key.length ||
                                       memcmp(scan->keys[i].start, key.start, key.length) != 0))
            i++;
        if (i == scan->key_count) {
            if (!skip_unread(scan, cursor, 2))
                return false;
            continue;
        }
        const Value *value = &scan->values[FIELDS + i];
        if (value->kind != ABSENT || !read_value(scan, cursor, FIELDS + i) || !fits_segment(value))
            return false;
    } while (skip(cursor, ','));
    return skip(cursor, '}');
}

/* Reads a key and its closing quote, if the key is that of a field as nearly every line spells
   it; else FIELDS, and nothing is read. */
static enum Field read_usual_key(Cursor *cursor)
{
#define IS(name, field)                                                                       \
    if (memcmp(cursor->at, name "\"", sizeof name) == 0) {                                     \
        cursor->at += sizeof name;                                                            \
        return field;                                                                         \
    }
    if (cursor->end - cursor->at < 24)
        return FIELDS; /* a comparison below may reach behind the end */
    switch (*cursor->at) {
    case 'i': IS("id", ID) break;
    case 'l': IS("label", LABEL) IS("label_ts", LABEL_TS) break;
    case 'm': IS("model", MODEL) break;
    case 'p': IS("prediction", PREDICTION) break;
    case 's': IS("score", SCORE) IS("segment", SEGMENT) break;
    case 't': IS("type", TYPE) IS("ts", TS) break;
    case 'v': IS("version", VERSION) break;
    }
#undef IS
    return FIELDS;
}

static bool is_text(const u8 *at, const u8 *end, const char *text)
{
    size_t length = strlen(text);
    return (size_t)(end - at) == length && memcmp(at, text, length) == 0;
}

/* Reads the fields of a line that is one object. */
static bool read_fields(Scan *scan, Cursor *cursor)
{
    Value *fields = scan->values;
    if (!skip(cursor, '{'))
        return false;
    do {
        if (!skip(cursor, '"'))
            return false;
        enum Field field = read_usual_key(cursor);
        if (field == FIELDS) {
            Text key;
            if (!read_text(cursor, &key) || key.escaped ||
                (scan->names.count && is_text(key.start, key.start + key.length, "scores")))
                return false; /* scores of classes, perhaps: Python reads them */
            field = field_of(&key);
        }
        if (!skip(cursor, ':'))
            return false;
        if (field == FIELDS) {
            if (!skip_unread(scan, cursor, 1))
                return false;
        } else if (fields[field].kind != ABSENT) {
            return false; /* a key occurs twice */
        } else if (field == SEGMENT && skip(cursor, '{')) {
            fields[field].kind = OBJECT;
            if (!read_segment(scan, cursor))
                return false;
        } else if (!read_value(scan, cursor, field))
            return false;
    } while (skip(cursor, ','));
    if (!skip(cursor, '}'))
        return false;
    skip_blanks(cursor);
    return cursor->at == cursor->end;
}

/* Reads a class out of a cell, as `class_of_text` in feeds/mapping/values.py does. */
static bool read_class_cell(const Names *names, const u8 *at, const u8 *end, Value *value)
{
    bool one = is_text(at, end, "1") || is_text(at, end, "1.0") || is_text(at, end, "true");
    value->kind = NUMBER;
    value->number = (Number){.digits = one, .integer = true};
    if (one || is_text(at, end, "0") || is_text(at, end, "0.0") || is_text(at, end, "false"))
        return true;
    value->kind = TEXT;
    value->text = (Text){.start = at, .length = (size_t)(end - at)};
    return names->count && !may_be_word(at, end);
}

/* Reads a cell that is not empty. */
static bool read_cell(const Names *names, enum Field field, const u8 *at, const u8 *end,
                      Value *value)
{
    Cursor cursor = {at, end};
    switch (field) {
    case PREDICTION:
    case LABEL: return read_class_cell(names, at, end, value);
    case SCORE:
    case PROBABILITY:
        value->kind = NUMBER;
        return read_number(&cursor, &value->number) && cursor.at == end;
    case TS:
    case LABEL_TS:
        value->kind = NUMBER;
        if (read_number(&cursor, &value->number) && cursor.at == end)
            return true;
        break; /* ISO 8601, perhaps */
    case SEGMENT: return false; /* an object of JSON */
    default: break;
    }
    value->kind = TEXT;
    value->text = (Text){.start = at, .length = (size_t)(end - at)};
    return true;
}

/* Reads the cells of a row without quotes, as `_Rows` in feeds/csv_file.py does. */
static bool read_row(Scan *scan, const u8 *at, const u8 *end)
{
    Value *fields = scan->values;
    const Layout *layout = &scan->layout;
    if (memchr(at, '"', (size_t)(end - at)))
        return false;
    fields[TYPE].kind = TEXT;
    fields[TYPE].text = layout->type;
    if (layout->labelled)
        fields[LABEL].kind = NONE;
    for (size_t i = 0; i < layout->count; i++) {
        const u8 *separator = memchr(at, layout->separator, (size_t)(end - at));
        if ((separator == NULL) != (i + 1 == layout->count))
            return false; /* more or fewer cells than columns */
        const u8 *stop = separator ? separator : end;
        u8 column = layout->columns[i];
        if (column > FIELDS) {
            Value *value = &fields[column - 1];
            value->kind = stop > at ? TEXT : NONE;
            value->text = (Text){.start = at, .length = (size_t)(stop - at)};
            fields[SEGMENT].kind = OBJECT;
        } else if (column < FIELDS && stop > at &&
                   !read_cell(&scan->names, column, at, stop, &fields[column]))
            return false;
        at = separator ? separator + 1 : end;
    }
    return true;
}

/* Reads an id as its key. */
static bool read_key(const Scan *scan, const Value *id, u64 *key)
{
    u8 plain[MAX_ID + 4];
    if (id->kind == NUMBER) {
        int length = write_integer(&id->number, plain);
        if (length < 0)
            return false;
        *key = xxh3(plain, (size_t)length, scan->seed);
        return true;
    }
    if (id->kind != TEXT || id->text.length == 0)
        return false;
    if (!id->text.escaped) {
        if (id->text.length > MAX_ID)
            return false;
        *key = xxh3(id->text.start, id->text.length, scan->seed);
        return true;
    }
    int length = write_text(&id->text, plain, sizeof plain);
    if (length < 1 || length > MAX_ID)
        return false;
    *key = xxh3(plain, (size_t)length, scan->seed);
    return true;
}

/* Adds a name, or that it is missing, to the texts of a group. */
static bool add_name(Scan *scan, const Value *name, size_t *used)
{
    u8 *length_at = scan->group_key + *used;
    int length = -1;
    if (name->kind == TEXT) {
        length = write_text(&name->text, length_at + 2, MAX_NAME + 4);
        if (length < 0 || length > MAX_NAME)
            return false;
    } else if (name->kind == NUMBER) {
        length = write_integer(&name->number, length_at + 2);
        if (length < 0)
            return false;
    } else if (name->kind != ABSENT && name->kind != NONE)
        return false;
    length_at[0] = (u8)((length + 1) & 0xff);
    length_at[1] = (u8)((length + 1) >> 8);
    *used += 2 + (size_t)(length < 0 ? 0 : length);
    return true;
}

/* The place of a model's name among those that came lately; NULL for one that is too long or short,
   and where records may have more than a model. */
static LateModel *late_model(Scan *scan, const Value *fields)
{
    const Text *name = &fields[MODEL].text;
    if (scan->key_count || fields[MODEL].kind != TEXT || name->escaped || name->length < 4 ||
        name->length > 16 || fields[VERSION].kind != ABSENT || fields[SEGMENT].kind != ABSENT)
        return NULL;
    LateModel model = {.length = name->length};
    const u8 *start = name->start, *end = start + name->length;
    if (name->length < 8) {
        model.first = load32(start);
        model.last = load32(end - 4);
    } else {
        model.first = load64(start);
        model.last = load64(end - 8);
    }
    u64 mixed = (model.first ^ rotated(model.last, 29) ^ model.length) * PRIME_1;
    LateModel *known = &scan->late[mixed >> (64 - LATE_BITS)];
    if (known->length != model.length || known->first != model.first || known->last != model.last) {
        *known = model;
        known->group = -1;
    }
    return known;
}

static bool read_group(Scan *scan, const Value *fields, i64 *group)
{
    LateModel *late = late_model(scan, fields);
    if (late && late->group >= 0) {
        *group = late->group;
        return true;
    }
    size_t used = 0;
    Kind segment = fields[SEGMENT].kind;
    if ((segment != ABSENT && segment != NONE && segment != OBJECT) ||
        (fields[MODEL].kind == TEXT && fields[MODEL].text.length == 0) ||
        !add_name(scan, &fields[MODEL], &used) || !add_name(scan, &fields[VERSION], &used))
        return false;
    for (size_t i = 0; i < scan->key_count; i++)
        if (!add_name(scan, &fields[FIELDS + i], &used))
            return false;
    *group = number_of(&scan->groups, scan->group_key, used, scan->seed);
    scan->no_memory |= *group < 0;
    if (late)
        late->group = *group;
    return *group >= 0;
}

static bool take_label(Scan *scan, const Value *fields, i64 row)
{
    Labels *to = &scan->labels;
    u64 key;
    i64 time, code;
    double probability;
    if (fields[LABEL].kind == ABSENT || !read_key(scan, &fields[ID], &key) ||
        !read_time(&fields[TS], scan->latest_ms, &time) ||
        !read_code(&scan->names, &fields[LABEL], &code) ||
        !read_share(&fields[PROBABILITY], &probability) || probability == 0)
        return false;
    size_t i = to->count++;
    to->key[i] = key;
    to->time[i] = time;
    to->value[i] = label_of(&scan->names, code);
    to->probability[i] = probability;
    to->prediction_time[i] = NO_TIME;
    to->row[i] = row;
    return true;
}

static void add_prediction(Predictions *to, u64 key, i64 time, double score, i64 group, i64 given,
                           i64 actual, i64 row)
{
    size_t i = to->count++;
    to->key[i] = key;
    to->time[i] = time;
    to->score[i] = score;
    to->group[i] = group;
    to->given[i] = given;
    to->actual[i] = actual;
    to->row[i] = row;
}

static bool take_prediction(Scan *scan, const Value *fields, i64 row)
{
    u64 key;
    i64 time, given, group;
    double score;
    if (!read_key(scan, &fields[ID], &key) || !read_time(&fields[TS], scan->latest_ms, &time) ||
        !read_code(&scan->names, &fields[PREDICTION], &given) ||
        !read_share(&fields[SCORE], &score) || (given < 0 && isnan(score)) || !read_group(scan, fields, &group))
        return false;
    add_prediction(&scan->predictions, key, time, score, group, given, NO_CODE, row);
    return true;
}

/* An outcome with an id is a prediction and, unless its label is null, a label. */
static bool take_outcome(Scan *scan, const Value *fields, i64 row)
{
    u64 key = 0;
    i64 time, label_time, given, actual, group;
    double score, probability;
    bool named = fields[ID].kind != ABSENT && fields[ID].kind != NONE;
    bool timed = fields[LABEL_TS].kind != ABSENT && fields[LABEL_TS].kind != NONE;
    if (fields[LABEL].kind == ABSENT || (named && !read_key(scan, &fields[ID], &key)) ||
        !read_time(&fields[TS], scan->latest_ms, &time) ||
        !read_time(&fields[timed ? LABEL_TS : TS], scan->latest_ms, &label_time) ||
        !read_code(&scan->names, &fields[PREDICTION], &given) ||
        !read_code(&scan->names, &fields[LABEL], &actual) || !read_share(&fields[SCORE], &score) ||
        !read_share(&fields[PROBABILITY], &probability) || probability == 0 ||
        (given < 0 && isnan(score)) || (!named && (actual == NO_CODE || probability < 1)) ||
        !read_group(scan, fields, &group))
        return false;
    if (!named) {
        Outcomes *to = &scan->outcomes;
        size_t i = to->count++;
        to->time[i] = time;
        to->label_time[i] = label_time;
        to->given[i] = given;
        to->actual[i] = actual;
        to->score[i] = score;
        to->group[i] = group;
        to->row[i] = row;
        return true;
    }
    add_prediction(&scan->predictions, key, time, score, group, given, actual, row);
    if (actual != NO_CODE) {
        Labels *to = &scan->labels;
        size_t i = to->count++;
        to->key[i] = key;
        to->time[i] = label_time;
        to->value[i] = label_of(&scan->names, actual);
        to->probability[i] = probability;
        to->prediction_time[i] = time;
        to->row[i] = row;
    }
    return true;
}

/* The types of a line that are read, and how it is called. */
typedef bool Take(Scan *scan, const Value *fields, i64 row);
static const struct {
    const char *name;
    size_t length;
    Take *take;
} TYPES[3] = {{"prediction", 10, take_prediction}, {"label", 5, take_label}, {"outcome", 7, take_outcome}};
enum { PREDICTIONS = 0 /* their place among the types */, TYPE_COUNT = sizeof TYPES / sizeof *TYPES };

static int type_of(const Value *type)
{
    int i = 0;
    while (i < TYPE_COUNT && (type->kind != TEXT || type->text.length != TYPES[i].length ||
                              memcmp(type->text.start, TYPES[i].name, TYPES[i].length) != 0))
        i++;
    return i;
}

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
    if (given == Py_None)
        return true;
    if (!PyTuple_Check(given)) {
        PyErr_SetString(PyExc_ValueError, "the classes must be a tuple or None");
        return false;
    }
    if (!PyArg_ParseTuple(given, "O!O", &PyTuple_Type, &texts, &values) ||
        !(names->all = read_texts(texts, &names->count)) ||
        !(names->values = read_column(buffers, values, 8, names->count)))
        return false;
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
    if (lines->starts[lines->lines] != block->len) {
        PyErr_Format(PyExc_ValueError, "the block has more than %zu lines", lines->most);
        return NULL;
    }
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
"    left: numbers of the lines that are not taken; as many rows as the block has lines.\n"
"    layout: None for NDJSON. For rows of cells: the field of each column, a byte (FIELDS for\n"
"        none, FIELDS + 1 + i for the segment key i); the separator's byte; the type of a row\n"
"        that names none; and whether rows have a label.\n"
"    classes: names in UTF-8 that classes may have, and the values of labels with them; None\n"
"        where classes are 0 and 1.\n\n"
"A class is -1 for none, else 0 or 1. With names 2 stands for false, 3 for true, 4 + 2 * i for\n"
"the name i as a text, 5 + 2 * i for the name i as an integer.\n\n"
"Returns:\n"
"    Rows written of predictions, labels, outcomes and `left`; lines taken; and the groups that\n"
"    `group` columns index: model, version and the value of each segment key as they are\n"
"    written, None for a missing one.\n\n"
"Raises:\n"
"    ValueError: the columns have fewer rows than the block has lines, or the layout is none.");

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

const char lines_doc[] = PyDoc_STR(
"count_lines(block, /)\n"
"--\n\n"
"Count the newlines of a block, as `monitor.feeds.decode.lines.count_lines` does.\n\n"
"Args:\n"
"    block: bytes.");

PyObject *count_lines(PyObject *Py_UNUSED(module), PyObject *block)
{
    Py_buffer view;
    if (PyObject_GetBuffer(block, &view, PyBUF_CONTIG_RO) < 0)
        return NULL;
    const u8 *at = view.buf, *end = at + view.len;
    Py_ssize_t lines = 0;
    while (at < end) {
        const u8 *stop = end - at < 255 ? end : at + 255;
        u8 few = 0; /* at most 255 of them: bytes are added many at once */
        for (; at < stop; at++)
            few += *at == '\n';
        lines += few;
    }
    PyBuffer_Release(&view);
    return PyLong_FromSsize_t(lines);
}
