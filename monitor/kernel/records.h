/* Takes the fields of a line as a record: a row of the columns. Part of scan.c.

Each `return false` means: leave this line to Python. */

#ifndef RECORDS_H
#define RECORDS_H

#include "scan.h"

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

#endif
