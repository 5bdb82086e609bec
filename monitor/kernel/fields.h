/* Reads the fields of a line of JSON, or the cells of a row. Part of scan.c.

Each `return false` means: leave this line to Python. */

#ifndef FIELDS_H
#define FIELDS_H

#include "scan.h"

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

/* Reads a class out of a cell, as `ClassTexts` in feeds/mapping/class_texts.py does. With names it
   leaves true and false, which name a class in some models. */
static bool read_class_cell(const Names *names, const u8 *at, const u8 *end, Value *value)
{
    bool one = is_text(at, end, "1") || is_text(at, end, "1.0");
    one = one || (!names->count && is_text(at, end, "true"));
    value->kind = NUMBER;
    value->number = (Number){.digits = one, .integer = true};
    if (one || is_text(at, end, "0") || is_text(at, end, "0.0"))
        return true;
    if (!names->count && is_text(at, end, "false"))
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

#endif
