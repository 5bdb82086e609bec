/* Forms of lines: most lines of a stream differ in their values alone. Part of scan.c.

A form is the bytes of a line between its values: keys, punctuation, words. `learn` takes the form
of a line that has been read, and `read_known` compares the next lines with it run by run, and
reads only the values. A line that has the form has the same fields as a reading byte by byte finds:
the bytes outside of its values are those of a line that was read, a text ends at its first quote,
and `read_number` reads the numbers of both. A text with an escape or a byte that is not ASCII has
no known form, so that `read_fields` reads its line. */

#ifndef FORMS_H
#define FORMS_H

#include "json.h"

enum {
    MOST_STEPS = 24, /* values of a line with a form */
    MOST_WORDS = 96, /* eight bytes each, of the runs of a form */
    MOST_FORMS = 8,
    FREE_FORMS = 16 /* forms that are learned whether or not lines have the known ones */
};

/* A value of a line: a text without its quotes, a number or a word. */
typedef struct {
    const u8 *start, *end;
    size_t slot; /* where it belongs in the values of a line */
    bool text;
} Span;

/* The values of the line that is being read, in their order. */
typedef struct {
    Span all[MOST_STEPS];
    size_t count;
    bool whole; /* `all` has every value that may differ in the next line */
} Spans;

/* A run of bytes, and the value behind it. */
typedef struct {
    size_t length; /* bytes of the run */
    size_t words;  /* the last one is filled up */
    u64 last;      /* the bits of the last one that count */
    size_t slot;
    bool text;
} Step;

typedef struct {
    Step steps[MOST_STEPS + 1]; /* the last one has no value */
    size_t count;
    u64 words[MOST_WORDS]; /* of the runs, one after the other */
    Value *values;         /* of the line, with those that all lines of this form share */
    int type;              /* as the caller numbers them */
} Form;

typedef struct {
    Form *all;
    size_t count, next; /* of the forms; which is replaced */
    size_t learned, known; /* forms so far; lines that had one */
} Forms;

static void add_span(Spans *spans, const u8 *start, const u8 *end, size_t slot, bool text)
{
    if (spans->count == MOST_STEPS) {
        spans->whole = false;
        return;
    }
    spans->all[spans->count++] = (Span){start, end, slot, text};
}

/* Adds a run to a form; false if there is no room. */
static bool add_run(Form *form, size_t *used, const u8 *start, const u8 *end)
{
    size_t length = (size_t)(end - start), words = (length + 7) / 8;
    if (MOST_WORDS - *used < words || length == 0)
        return false;
    form->words[*used + words - 1] = 0;
    memcpy(form->words + *used, start, length);
    u64 last = length % 8 ? ((u64)1 << 8 * (length % 8)) - 1 : ~(u64)0;
    form->steps[form->count++] = (Step){.length = length, .words = words, .last = last};
    *used += words;
    return true;
}

/* Takes the form of a line with these values into the place of an unused or an old form. */
static void learn(Forms *forms, const u8 *start, const u8 *end, const Spans *spans,
                  const Value *values, size_t value_count, int type)
{
    if (!spans->whole || forms->learned > FREE_FORMS + forms->known / 16)
        return;
    Form *form = &forms->all[forms->next];
    size_t used = 0;
    form->count = 0;
    bool fits = true;
    for (size_t i = 0; fits && i < spans->count; i++) {
        const Span *span = &spans->all[i];
        fits = add_run(form, &used, start, span->start);
        if (fits) {
            form->steps[i].slot = span->slot;
            form->steps[i].text = span->text;
        }
        start = span->end;
    }
    fits = fits && add_run(form, &used, start, end);
    if (!fits)
        form->count = 0; /* no line has it */
    memcpy(form->values, values, value_count * sizeof *values);
    form->type = type;
    forms->learned++;
    forms->next = (forms->next + 1) % MOST_FORMS;
    forms->count += forms->count < MOST_FORMS;
}

/* The first byte of a text that is a quote, a backslash, a control character or not ASCII; NULL if
   there is none up to the last bytes before `end`. */
static const u8 *plain_end(const u8 *at, const u8 *end)
{
#ifdef __SSE2__ /* every x86-64 has it */
    for (; end - at >= 16; at += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)at);
        __m128i quotes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
        __m128i backslashes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
        __m128i others = _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20)); /* signed: no ASCII is below 0 */
        int found = _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quotes, backslashes), others));
        if (found)
            return at + __builtin_ctz((unsigned)found);
    }
#endif
    for (; end - at >= 8; at += 8) {
        u64 word = load64(at), found = marks(word) | (word & 0x8080808080808080u);
        if (found)
            return at + __builtin_ctzll(found) / 8;
    }
    return NULL;
}

/* Reads an ASCII text up to its closing quote, which stays; false if it is none. */
static bool read_plain_text(Cursor *cursor, Text *text)
{
    const u8 *stop = plain_end(cursor->at, cursor->end);
    if (!stop)
        return false;
    text->start = cursor->at;
    text->escaped = false;
    text->length = (size_t)(stop - cursor->at);
    cursor->at = stop;
    return *stop == '"';
}

/* Reads a line as one of a form, into the values of the form; the cursor is behind it if it is. */
static bool read_as(const Form *form, Cursor *cursor)
{
    const u64 *run = form->words;
    for (const Step *step = form->steps, *last = step + form->count - 1;; step++) {
        if ((size_t)(cursor->end - cursor->at) < 8 * step->words)
            return false;
        size_t i = 0;
        for (; i + 1 < step->words; i++)
            if (load64(cursor->at + 8 * i) != run[i])
                return false;
        if ((load64(cursor->at + 8 * i) ^ run[i]) & step->last)
            return false;
        run += step->words;
        cursor->at += step->length;
        if (step == last)
            return true;
        Value *value = &form->values[step->slot];
        if (step->text) {
            value->kind = TEXT;
            if (!read_plain_text(cursor, &value->text))
                return false;
        } else if (cursor->at == cursor->end || *cursor->at <= ' ' || *cursor->at == '"' ||
                   !read_scalar(cursor, value))
            return false;
    }
}

/* Reads a line as one of a known form; NULL if it has none of them, or nothing follows it that
   ends a line. Then `next` is the start of the next line. */
static Form *read_known(Forms *forms, const u8 *start, const u8 *end, const u8 **stop,
                        const u8 **next)
{
    for (size_t i = 0; i < forms->count; i++) {
        Form *form = &forms->all[i];
        Cursor cursor = {start, end};
        if (form->count == 0 || !read_as(form, &cursor))
            continue;
        *stop = *next = cursor.at;
        if (*next < end && **next == '\r')
            ++*next;
        if (*next == end ? *stop == end : *(*next)++ == '\n') {
            forms->known++;
            return form;
        }
    }
    return NULL;
}

#endif
