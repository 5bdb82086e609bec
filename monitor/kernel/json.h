/* JSON, strict as RFC 8259: reads strings and numbers, and skips other values. Part of scan.c.

Every read is behind a comparison with `end`. */

#ifndef JSON_H
#define JSON_H

#include "bytes.h"
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { MAX_DEPTH = 16 /* of a value in a field that is ignored */ };

/* What is left of a line to read. */
typedef struct {
    const u8 *at, *end;
} Cursor;

/* A string between its quotes, as written. */
typedef struct {
    const u8 *start;
    size_t length;
    bool escaped; /* it has at least one backslash */
} Text;

/* A number: (-1 if `negative`) * digits * 10**exponent. */
typedef struct {
    u64 digits;
    int exponent;
    bool negative;
    bool integer; /* it is written without a point and without an exponent */
} Number;

typedef enum { ABSENT, NONE, TRUE_, FALSE_, NUMBER, TEXT, OBJECT } Kind;

/* The value of a field. */
typedef struct {
    Kind kind;
    union {
        Text text;
        Number number;
    };
} Value;

static void skip_blanks(Cursor *cursor)
{
    while (cursor->at < cursor->end &&
           (*cursor->at == ' ' || *cursor->at == '\t' || *cursor->at == '\r'))
        cursor->at++;
}

/* Skips blanks, and then this byte, if it is next. */
static bool skip(Cursor *cursor, u8 byte)
{
    if (cursor->at < cursor->end && *cursor->at != byte) /* nearly never: there are no blanks */
        skip_blanks(cursor);
    if (cursor->at == cursor->end || *cursor->at != byte)
        return false;
    cursor->at++;
    return true;
}

static bool skip_word(Cursor *cursor, const char *word, size_t length)
{
    if ((size_t)(cursor->end - cursor->at) < length || memcmp(cursor->at, word, length) != 0)
        return false;
    cursor->at += length;
    return true;
}

/* Marks the quotes, backslashes and control characters among 8 bytes; the lowest mark is exact. */
static u64 marks(u64 word)
{
    const u64 ones = 0x0101010101010101u, tops = 0x8080808080808080u;
    u64 quote = word ^ ones * '"', backslash = word ^ ones * '\\';
    return (((quote - ones) & ~quote) | ((backslash - ones) & ~backslash) |
            ((word - ones * 0x20) & ~word)) & tops;
}

/* The value of four hexadecimal digits; -1 if they are none. */
static int hexadecimal(const u8 *at, const u8 *end)
{
    if (end - at < 4)
        return -1;
    int value = 0;
    for (int i = 0; i < 4; i++) {
        u8 digit = at[i], letter = digit | 0x20;
        if (digit >= '0' && digit <= '9')
            value = value * 16 + digit - '0';
        else if (letter >= 'a' && letter <= 'f')
            value = value * 16 + letter - 'a' + 10;
        else
            return -1;
    }
    return value;
}

/* Reads an escape, the cursor behind its backslash; -1 if it stands for no character. */
static int read_escape(Cursor *cursor)
{
    if (cursor->at == cursor->end)
        return -1;
    switch (*cursor->at++) {
    case '"': return '"';
    case '\\': return '\\';
    case '/': return '/';
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case 'u': break;
    default: return -1;
    }
    int unit = hexadecimal(cursor->at, cursor->end);
    if (unit < 0 || (unit >= 0xdc00 && unit <= 0xdfff))
        return -1;
    cursor->at += 4;
    if (unit < 0xd800 || unit > 0xdfff)
        return unit;
    if (!skip_word(cursor, "\\u", 2))
        return -1;
    int low = hexadecimal(cursor->at, cursor->end);
    if (low < 0xdc00 || low > 0xdfff)
        return -1;
    cursor->at += 4;
    return 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
}

/* Reads a string, the cursor behind its opening quote. */
static bool read_text(Cursor *cursor, Text *text)
{
    text->start = cursor->at;
    text->escaped = false;
    for (;;) {
        u64 found = 0;
        while (cursor->end - cursor->at >= 8 && !(found = marks(load64(cursor->at))))
            cursor->at += 8;
        if (found)
            cursor->at += __builtin_ctzll(found) / 8;
        else
            while (cursor->at < cursor->end && *cursor->at >= 0x20 && *cursor->at != '"' &&
                   *cursor->at != '\\')
                cursor->at++;
        if (cursor->at == cursor->end)
            return false;
        u8 byte = *cursor->at++;
        if (byte == '"') {
            text->length = (size_t)(cursor->at - 1 - text->start);
            return true;
        }
        if (byte != '\\' || read_escape(cursor) < 0)
            return false;
        text->escaped = true;
    }
}

/* Writes the characters of a text as UTF-8; returns how many bytes, -1 if there is no room. */
static int write_text(const Text *text, u8 *to, size_t room)
{
    if (!text->escaped) {
        if (text->length > room)
            return -1;
        memcpy(to, text->start, text->length);
        return (int)text->length;
    }
    Cursor cursor = {text->start, text->start + text->length};
    size_t used = 0;
    while (cursor.at < cursor.end) {
        if (room - used < 4)
            return -1;
        u8 byte = *cursor.at++;
        if (byte != '\\') {
            to[used++] = byte;
            continue;
        }
        int character = read_escape(&cursor);
        if (character < 0)
            return -1;
        if (character < 0x80)
            to[used++] = (u8)character;
        else if (character < 0x800) {
            to[used++] = (u8)(0xc0 | character >> 6);
            to[used++] = (u8)(0x80 | (character & 0x3f));
        } else if (character < 0x10000) {
            to[used++] = (u8)(0xe0 | character >> 12);
            to[used++] = (u8)(0x80 | (character >> 6 & 0x3f));
            to[used++] = (u8)(0x80 | (character & 0x3f));
        } else {
            to[used++] = (u8)(0xf0 | character >> 18);
            to[used++] = (u8)(0x80 | (character >> 12 & 0x3f));
            to[used++] = (u8)(0x80 | (character >> 6 & 0x3f));
            to[used++] = (u8)(0x80 | (character & 0x3f));
        }
    }
    return (int)used;
}

/* The value of the first `count` of 8 digits, each of which is a byte from 0 to 9. */
static u64 value_of(u64 digits, int count)
{
    if (count == 0)
        return 0;
    digits <<= 64 - 8 * count; /* zeros before them */
    digits = digits * 10 + (digits >> 8);
    return ((digits & 0x000000ff000000ff) * (100 + ((u64)1000000 << 32)) +
            (digits >> 16 & 0x000000ff000000ff) * (1 + ((u64)10000 << 32))) >> 32;
}

static const u64 POWERS[9] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};

/* The value of 1 to 16 digits; whole words are read from where they begin. */
static u64 value_at(const u8 *at, int count)
{
    const u64 zeros = 0x3030303030303030u;
    u64 value = value_of(load64(at) ^ zeros, count < 8 ? count : 8);
    return count <= 8 ? value
                      : value * POWERS[count - 8] + value_of(load64(at + 8) ^ zeros, count - 8);
}

/* Reads digits into a number, and returns how many there are. More than 19 significant ones may
   wrap around, which `read_number` refuses. */
static inline __attribute__((always_inline)) i64 read_digits(Cursor *cursor, Number *number)
{
    const u8 *start = cursor->at;
    int count = 8;
    while (count == 8 && cursor->end - cursor->at >= 8) {
        const u64 tops = 0x8080808080808080u;
        u64 digits = load64(cursor->at) ^ 0x3030303030303030u;
        u64 others = ((digits + 0x7676767676767676u) | digits) & tops; /* the lowest is exact */
        count = others ? __builtin_ctzll(others) / 8 : 8;
        number->digits = number->digits * POWERS[count] + value_of(digits, count);
        cursor->at += count;
    }
    if (count == 8) /* near the end of the line */
        for (; cursor->at < cursor->end && (u8)(*cursor->at - '0') <= 9; cursor->at++)
            number->digits = number->digits * 10 + (u64)(*cursor->at - '0');
    return cursor->at - start;
}

/* How many digits a number has from the first that is not 0, its exponent left out. */
static int significant_digits(const u8 *at, const u8 *end)
{
    int count = 0;
    for (; at < end && (*at == '-' || *at == '.' || (u8)(*at - '0') <= 9); at++)
        count += *at != '-' && *at != '.' && (count > 0 || *at != '0');
    return count;
}

/* Reads an integer of one digit, as most classes are; false, and nothing is read, for others. */
static bool read_one_digit(Cursor *cursor, Number *number)
{
    const u8 *at = cursor->at;
    if (cursor->end - at < 2 || (u8)(at[0] - '0') > 9 || (at[1] != ',' && at[1] != '}'))
        return false;
    *number = (Number){.digits = at[0] - '0', .integer = true};
    cursor->at++;
    return true;
}

/* Reads a number as most are written: digits, and perhaps a point and up to 8 digits, before a
   comma or a brace, in 16 bytes. All of its ends are found at once, so that what follows need not
   wait for one after the other. False, and nothing is read, for others. */
static inline __attribute__((always_inline)) bool read_short_number(Cursor *cursor, Number *number)
{
#ifdef __SSE2__ /* every x86-64 has it */
    const u8 *at = cursor->at;
    if (cursor->end - at < 32)
        return false; /* words are read as a whole */
    __m128i digits = _mm_sub_epi8(_mm_loadu_si128((const __m128i *)at), _mm_set1_epi8('0'));
    __m128i are = _mm_cmpeq_epi8(_mm_min_epu8(digits, _mm_set1_epi8(9)), digits);
    u32 others = ~(u32)_mm_movemask_epi8(are); /* the upper half is set: there is a last one */
    int whole = __builtin_ctz(others), end = whole, decimals = 0;
    if (whole < 15 && at[whole] == '.') {
        end = __builtin_ctz(others & (others - 1));
        decimals = end - whole - 1;
        if (decimals == 0 || decimals > 8)
            return false;
    }
    if (whole == 0 || end > 15 || (at[end] != ',' && at[end] != '}') || (*at == '0' && whole > 1))
        return false;
    u64 value = value_at(at, whole);
    if (decimals)
        value = value * POWERS[decimals] + value_at(at + whole + 1, decimals);
    *number = (Number){.digits = value, .exponent = -decimals, .integer = !decimals};
    cursor->at = at + end;
    return true;
#else
    (void)cursor, (void)number;
    return false;
#endif
}

static inline __attribute__((always_inline)) bool read_number(Cursor *cursor, Number *number)
{
    if (read_one_digit(cursor, number) || read_short_number(cursor, number))
        return true;
    const u8 *start = cursor->at;
    i64 decimals = 0;
    *number = (Number){.integer = true};
    number->negative = skip_word(cursor, "-", 1);
    bool zero = cursor->at < cursor->end && *cursor->at == '0';
    i64 whole = read_digits(cursor, number);
    if (whole == 0 || (zero && whole > 1))
        return false;
    if (skip_word(cursor, ".", 1)) {
        number->integer = false;
        decimals = read_digits(cursor, number);
        if (decimals == 0 || decimals > 99)
            return false;
        number->exponent = -(int)decimals;
    }
    if (skip_word(cursor, "e", 1) || skip_word(cursor, "E", 1)) {
        number->integer = false;
        bool minus = skip_word(cursor, "-", 1);
        if (!minus)
            skip_word(cursor, "+", 1);
        Number power = {0};
        i64 digits = read_digits(cursor, &power);
        if (digits == 0 || digits > 2)
            return false;
        number->exponent += minus ? -(int)power.digits : (int)power.digits;
    }
    return whole + decimals <= 19 || significant_digits(start, cursor->at) <= 19;
}

static bool skip_value(Cursor *cursor, int depth);

/* Skips what follows an opening brace (with `keys`) or bracket, to its end. */
static bool skip_items(Cursor *cursor, bool keys, int depth)
{
    u8 close = keys ? '}' : ']';
    if (skip(cursor, close))
        return true;
    do {
        Text key;
        if (keys && !(skip(cursor, '"') && read_text(cursor, &key) && skip(cursor, ':')))
            return false;
        if (!skip_value(cursor, depth))
            return false;
    } while (skip(cursor, ','));
    return skip(cursor, close);
}

/* Reads a value that is no object and no array. */
static inline __attribute__((always_inline)) bool read_scalar(Cursor *cursor, Value *value)
{
    skip_blanks(cursor);
    if (cursor->at == cursor->end)
        return false;
    switch (*cursor->at) {
    case '"':
        cursor->at++;
        value->kind = TEXT;
        return read_text(cursor, &value->text);
    case 'n':
        value->kind = NONE;
        return skip_word(cursor, "null", 4);
    case 't':
        value->kind = TRUE_;
        return skip_word(cursor, "true", 4);
    case 'f':
        value->kind = FALSE_;
        return skip_word(cursor, "false", 5);
    default:
        value->kind = NUMBER;
        return read_number(cursor, &value->number);
    }
}

static bool skip_value(Cursor *cursor, int depth)
{
    Value ignored;
    if (skip(cursor, '{'))
        return depth < MAX_DEPTH && skip_items(cursor, true, depth + 1);
    if (skip(cursor, '['))
        return depth < MAX_DEPTH && skip_items(cursor, false, depth + 1);
    return read_scalar(cursor, &ignored);
}

#endif
