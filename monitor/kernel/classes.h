/* Classes by their names, as some models have them. Part of scan.c.

A class that a field holds becomes a code: of 0, 1, false, true, or of a name of the list that the
caller gives. What a code is in the model of its record, feeds/decode/written_classes.py decides. */

#ifndef CLASSES_H
#define CLASSES_H

#include "values.h"

enum {
    NO_CODE = -1,     /* null, or no field */
    CODE_OF_FALSE = 2, /* and that of true is 3; without names these are 0 and 1 */
    FIRST_NAME = 4    /* name i as a text is FIRST_NAME + 2 * i; as an integer, that plus 1 */
};

/* The names of the classes of all models; without any, classes are 0 and 1. */
typedef struct {
    Text *all;
    const i64 *values; /* what a label with a name has for a value */
    size_t count;
    bool two; /* some model has two classes: 0, 1, false and true may label its cases */
    u32 *places; /* a hash table: number of the name plus 1, 0 for an empty place */
    size_t mask; /* number of places, a power of two, minus 1 */
} Names;

static bool enter_names(Names *names)
{
    size_t places = 4;
    while (places < 4 * names->count)
        places *= 2;
    names->places = PyMem_RawCalloc(places, sizeof *names->places);
    if (!names->places)
        return false;
    names->mask = places - 1;
    for (size_t i = 0; i < names->count; i++) {
        const Text *name = &names->all[i];
        if (name->length < 1 || name->length > MAX_ID)
            continue; /* not found, so that lines with it are left */
        size_t place = xxh3(name->start, name->length, 0) & names->mask;
        while (names->places[place])
            place = (place + 1) & names->mask;
        names->places[place] = (u32)i + 1;
    }
    return true;
}

static void free_names(Names *names)
{
    PyMem_Free(names->all);
    PyMem_RawFree(names->places);
}

/* The code of a name; NO_CODE if no model has a class of this name. */
static i64 code_of(const Names *names, const u8 *name, size_t length)
{
    if (length < 1 || length > MAX_ID)
        return NO_CODE;
    size_t place = xxh3(name, length, 0) & names->mask;
    for (; names->places[place]; place = (place + 1) & names->mask) {
        const Text *known = &names->all[names->places[place] - 1];
        if (known->length == length && memcmp(known->start, name, length) == 0)
            return FIRST_NAME + 2 * (i64)(names->places[place] - 1);
    }
    return NO_CODE;
}

/* Reads the class that a field holds; NO_CODE for null or no field. */
static bool read_code(const Names *names, const Value *value, i64 *code)
{
    u8 plain[MAX_ID + 4];
    int length;
    if (names->count == 0)
        return read_class(value, NO_CODE, code);
    switch (value->kind) {
    case ABSENT:
    case NONE: *code = NO_CODE; return true;
    case TRUE_: *code = CODE_OF_FALSE + 1; return names->two;
    case FALSE_: *code = CODE_OF_FALSE; return names->two;
    case NUMBER:
        if (read_class(value, NO_CODE, code))
            return names->two || code_of(names, (const u8 *)(*code ? "1" : "0"), 1) != NO_CODE;
        length = write_integer(&value->number, plain);
        *code = length < 0 ? NO_CODE : code_of(names, plain, (size_t)length);
        *code += *code != NO_CODE;
        return *code != NO_CODE;
    case TEXT:
        if (!value->text.escaped)
            *code = code_of(names, value->text.start, value->text.length);
        else {
            length = write_text(&value->text, plain, sizeof plain);
            *code = length < 0 ? NO_CODE : code_of(names, plain, (size_t)length);
        }
        return *code != NO_CODE;
    default: return false;
    }
}

/* The value of a label by the code of its class. */
static i64 label_of(const Names *names, i64 code)
{
    if (code == NO_CODE)
        return RETRACTED;
    return code < FIRST_NAME ? code & 1 : names->values[(code - FIRST_NAME) / 2];
}

static bool is_blank_byte(u8 byte) { return byte == ' ' || (byte >= 9 && byte <= 13) || (byte >= 28 && byte <= 31); }

/* Tells whether a cell may be 0, 1, 0.0, 1.0, false or true in another spelling, with blanks or
   capitals, as feeds/mapping/class_texts.py reads them. */
static bool may_be_word(const u8 *at, const u8 *end)
{
    if (at < end && (*at >= 0x80 || end[-1] >= 0x80))
        return true; /* a blank outside of ASCII, perhaps */
    while (at < end && is_blank_byte(*at))
        at++;
    while (at < end && is_blank_byte(end[-1]))
        end--;
    static const char *const WORDS[6] = {"0", "1", "0.0", "1.0", "false", "true"};
    for (size_t i = 0; i < 6; i++) {
        size_t length = strlen(WORDS[i]), same = 0;
        if ((size_t)(end - at) != length)
            continue;
        while (same < length && (at[same] | (at[same] >= 'A' && at[same] <= 'Z' ? 0x20 : 0)) == (u8)WORDS[i][same])
            same++;
        if (same == length)
            return true;
    }
    return false;
}

#endif
