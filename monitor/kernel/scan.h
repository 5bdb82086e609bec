/* What a scan reads into: fields, columns, and all that it knows. Part of scan.c. */

#ifndef SCAN_H
#define SCAN_H

#include "classes.h"
#include "forms.h"
#include "groups.h"

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

#endif
