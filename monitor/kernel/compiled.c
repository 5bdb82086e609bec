/* Scans blocks of NDJSON, and of rows of CSV, into the columns of an event batch.

For readers of Python: this file is one extension module, `monitor.kernel.compiled`. Its
functions are listed at its end. `scan` reads the lines of a block whose form it knows, and writes one
row for each into NumPy arrays that its caller has allocated. Every other line it leaves: it
puts the line's number into an array, and the Python decoder reads that line. So this file
rejects no record and knows no reason; it only has to be right about the lines that it takes.
Each `return false` in `take_line` and what it calls means: leave this line to Python.
`find` and `enter` do what methods of the same names do in monitor/join/index.py, on the same
memory.

It follows three rules:

1. It reads no byte outside of the block: every read is behind a comparison with `end`.
2. It writes no row beyond the arrays: their lengths are checked before the first row.
3. A number is either exactly the float that Python's `float` would give, or its line is left.

The code needs GCC or Clang and a 64-bit little-endian machine. Elsewhere it does not compile,
and the program runs without it. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if !defined(__SIZEOF_INT128__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__ || FLT_EVAL_METHOD != 0
#error "the kernel needs 128-bit integers, little-endian words and plain doubles"
#endif

#ifndef SOURCE_DIGEST
#error "SOURCE_DIGEST is not given: hatch_build.py compiles this file"
#endif

typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t i64;
typedef unsigned __int128 u128;

enum {
    MAX_NAME = 256,     /* bytes of a model, a version or a segment value */
    MAX_ID = 240,       /* bytes of an id; `xxh3` hashes no longer ones, and Python takes to 256 */
    MAX_DEPTH = 16,     /* of a value in a field that is ignored */
    RELEASE_FROM = 4096 /* bytes of a block from which other threads may run meanwhile */
};

static const double EARLIEST = -2208988800.0, LATEST = 7258118400.0; /* 1900 and 2200, seconds */
static const i64 LATEST_MS = 7258118400000;
static const i64 NO_TIME = -((i64)1 << 62);
static const i64 RETRACTED = 2;

/* ---- Words of memory ---- */

static u64 load64(const u8 *at)
{
    u64 word;
    memcpy(&word, at, 8);
    return word;
}

static u32 load32(const u8 *at)
{
    u32 word;
    memcpy(&word, at, 4);
    return word;
}

/* ---- XXH3 with a seed, 64 bits, of 1 to 240 bytes ----

After the specification of xxHash (https://github.com/Cyan4973/xxHash, doc/xxhash_spec.md);
tests compare it with the package xxhash for every length. */

static const u8 SECRET[136] = {
    0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c,
    0xde, 0xd4, 0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f,
    0xcb, 0x79, 0xe6, 0x4e, 0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21,
    0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c,
    0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb, 0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3,
    0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8,
    0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7, 0xc7, 0x0b, 0x4f, 0x1d,
    0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64,
    0xea, 0xc5, 0xac, 0x83, 0x34, 0xd3, 0xeb, 0xc3};

#define PRIME_1 0x9E3779B185EBCA87u
#define PRIME_2 0xC2B2AE3D27D4EB4Fu
#define PRIME_3 0x165667B19E3779F9u
#define PRIME_MX1 0x165667919E3779F9u
#define PRIME_MX2 0x9FB21C651E98DF25u

static u64 rotated(u64 word, int bits)
{
    return word << bits | word >> (64 - bits);
}

static u64 folded_product(u64 a, u64 b)
{
    u128 product = (u128)a * b;
    return (u64)product ^ (u64)(product >> 64);
}

static u64 avalanche(u64 hash)
{
    hash = (hash ^ hash >> 37) * PRIME_MX1;
    return hash ^ hash >> 32;
}

static u64 mixed(const u8 *at, const u8 *secret, u64 seed)
{
    return folded_product(load64(at) ^ (load64(secret) + seed),
                          load64(at + 8) ^ (load64(secret + 8) - seed));
}

static u64 xxh3(const u8 *at, size_t length, u64 seed)
{
    if (length <= 3) {
        u32 word = (u32)at[0] << 16 | (u32)at[length >> 1] << 24 | at[length - 1] | (u32)length << 8;
        u64 hash = word ^ ((u64)(load32(SECRET) ^ load32(SECRET + 4)) + seed);
        hash = (hash ^ hash >> 33) * PRIME_2;
        hash = (hash ^ hash >> 29) * PRIME_3;
        return hash ^ hash >> 32;
    }
    if (length <= 8) {
        seed ^= (u64)__builtin_bswap32((u32)seed) << 32;
        u64 word = load32(at + length - 4) + ((u64)load32(at) << 32);
        u64 hash = word ^ ((load64(SECRET + 8) ^ load64(SECRET + 16)) - seed);
        hash = (hash ^ rotated(hash, 49) ^ rotated(hash, 24)) * PRIME_MX2;
        hash = (hash ^ ((hash >> 35) + length)) * PRIME_MX2;
        return hash ^ hash >> 28;
    }
    if (length <= 16) {
        u64 low = load64(at) ^ ((load64(SECRET + 24) ^ load64(SECRET + 32)) + seed);
        u64 high = load64(at + length - 8) ^ ((load64(SECRET + 40) ^ load64(SECRET + 48)) - seed);
        return avalanche(length + __builtin_bswap64(low) + high + folded_product(low, high));
    }
    u64 sum = length * PRIME_1;
    if (length <= 128) {
        for (size_t pair = (length - 1) / 32 + 1; pair-- > 0;) {
            sum += mixed(at + 16 * pair, SECRET + 32 * pair, seed);
            sum += mixed(at + length - 16 * (pair + 1), SECRET + 32 * pair + 16, seed);
        }
        return avalanche(sum);
    }
    for (size_t part = 0; part < 8; part++)
        sum += mixed(at + 16 * part, SECRET + 16 * part, seed);
    sum = avalanche(sum);
    for (size_t part = 8; part < length / 16; part++)
        sum += mixed(at + 16 * part, SECRET + 16 * (part - 8) + 3, seed);
    return avalanche(sum + mixed(at + length - 16, SECRET + 136 - 17, seed));
}

/* ---- UTF-8 ---- */

static bool is_ascii(const u8 *at, const u8 *end)
{
    u64 bits = 0;
    for (; end - at >= 8; at += 8)
        bits |= load64(at);
    for (; at < end; at++)
        bits |= *at;
    return !(bits & 0x8080808080808080u);
}

/* As Python's `bytes.decode`: no overlong form, no half of a surrogate pair. */
static bool is_utf8(const u8 *at, const u8 *end)
{
    while (at < end) {
        u8 first = *at++;
        if (first < 0x80)
            continue;
        int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
        if (first < 0xc2 || first > 0xf4 || end - at < more)
            return false;
        u8 least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
        u8 most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
        if (*at < least || *at > most)
            return false;
        for (int i = 1; i < more; i++)
            if ((at[i] & 0xc0) != 0x80)
                return false;
        at += more;
    }
    return true;
}

/* ---- JSON: strict, as RFC 8259 ---- */

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

static bool is_digit(const Cursor *cursor)
{
    return cursor->at < cursor->end && (u8)(*cursor->at - '0') <= 9;
}

/* Reads digits into a number, and returns how many there are. `significant` counts those from
   the first that is not 0. More than 19 may wrap around, which `read_number` refuses. */
static i64 read_digits(Cursor *cursor, Number *number, int *significant)
{
    const u8 *start = cursor->at;
    for (; is_digit(cursor); cursor->at++) {
        u8 digit = *cursor->at - '0';
        number->digits = number->digits * 10 + digit;
        *significant += *significant > 0 || digit > 0;
    }
    return cursor->at - start;
}

static bool read_number(Cursor *cursor, Number *number)
{
    *number = (Number){.integer = true};
    int significant = 0;
    number->negative = skip_word(cursor, "-", 1);
    bool zero = cursor->at < cursor->end && *cursor->at == '0';
    i64 whole = read_digits(cursor, number, &significant);
    if (whole == 0 || (zero && whole > 1))
        return false;
    if (skip_word(cursor, ".", 1)) {
        number->integer = false;
        i64 decimals = read_digits(cursor, number, &significant);
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
        int ignored = 0;
        i64 digits = read_digits(cursor, &power, &ignored);
        if (digits == 0 || digits > 2)
            return false;
        number->exponent += minus ? -(int)power.digits : (int)power.digits;
    }
    return significant <= 19;
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
static bool read_scalar(Cursor *cursor, Value *value)
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

/* ---- Values of fields ---- */

/* 5**27 is the largest power of five in 64 bits. */
static const u64 POWERS_OF_5[28] = {
    1u, 5u, 25u, 125u, 625u, 3125u, 15625u, 78125u, 390625u, 1953125u, 9765625u, 48828125u,
    244140625u, 1220703125u, 6103515625u, 30517578125u, 152587890625u, 762939453125u,
    3814697265625u, 19073486328125u, 95367431640625u, 476837158203125u, 2384185791015625u,
    11920928955078125u, 59604644775390625u, 298023223876953125u, 1490116119384765625u,
    7450580596923828125u};

static const double POWERS_OF_10[23] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
                                        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21,
                                        1e22};

/* The double nearest to digits / 10**decimals, ties to even; digits > 0, decimals <= 27.
   10**decimals is 5**decimals * 2**decimals, so that an integer division gives all bits that
   matter: the quotient has more than 64, and the remainder says if more follow. */
static double nearest(u64 digits, int decimals)
{
    int shift = 64 + __builtin_clzll(digits);
    u128 shifted = (u128)digits << shift;
    u128 quotient = shifted / POWERS_OF_5[decimals];
    bool inexact = shifted % POWERS_OF_5[decimals] != 0;
    int dropped = 128 - __builtin_clzll((u64)(quotient >> 64)) - 53;
    u64 kept = (u64)(quotient >> dropped);
    u128 rest = quotient & (((u128)1 << dropped) - 1), half = (u128)1 << (dropped - 1);
    if (rest > half || (rest == half && (inexact || kept & 1)))
        kept++;
    return ldexp((double)kept, dropped - shift - decimals);
}

static bool read_double(const Number *number, double *found)
{
    int exponent = number->exponent;
    double value;
    if (number->digits == 0) {
        if (number->negative && number->integer)
            return false; /* -0 is an integer, and so has no sign */
        value = 0.0;
    } else if (number->digits < (u64)1 << 53 && exponent >= -22 && exponent <= 22) {
        /* Both are exact, so that one operation rounds once. */
        value = (double)number->digits;
        value = exponent < 0 ? value / POWERS_OF_10[-exponent] : value * POWERS_OF_10[exponent];
    } else if (exponent <= 0 && exponent >= -27)
        value = nearest(number->digits, -exponent);
    else
        return false;
    *found = number->negative ? -value : value;
    return true;
}

static bool read_pair(const u8 *at, int *value)
{
    u8 tens = at[0] - '0', ones = at[1] - '0';
    *value = tens * 10 + ones;
    return tens <= 9 && ones <= 9;
}

/* Days from 1970-01-01 to a date of the years 1900 to 2199. */
static i64 days_of(int year, int month, int day)
{
    static const int BEFORE[12] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
    int past = month > 2 ? year : year - 1;
    i64 leap_days = past / 4 - past / 100 + past / 400 - (1969 / 4 - 1969 / 100 + 1969 / 400);
    return (i64)(year - 1970) * 365 + leap_days + BEFORE[month - 1] + day - 1;
}

static int days_in(int year, int month)
{
    if (month == 2)
        return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28;
    return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

/* Reads RFC 3339 with up to six decimals, and Z or an offset, as epoch seconds. */
static bool read_rfc3339(const Text *text, double *seconds)
{
    const u8 *at = text->start, *end = at + text->length;
    int century, year, month, day, hour, minute, second;
    if (text->length < 20 || !read_pair(at, &century) || !read_pair(at + 2, &year) ||
        at[4] != '-' || !read_pair(at + 5, &month) || at[7] != '-' || !read_pair(at + 8, &day) ||
        (at[10] != 'T' && at[10] != 't' && at[10] != ' ') || !read_pair(at + 11, &hour) ||
        at[13] != ':' || !read_pair(at + 14, &minute) || at[16] != ':' ||
        !read_pair(at + 17, &second))
        return false;
    year += 100 * century;
    if (year < 1900 || year > 2199 || month < 1 || month > 12 || day < 1 ||
        day > days_in(year, month) || hour > 23 || minute > 59 || second > 59)
        return false;
    i64 microseconds = ((days_of(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
    microseconds *= 1000000;
    at += 19;
    if (*at == '.') {
        i64 unit = 1000000;
        for (at++; at < end && *at >= '0' && *at <= '9' && unit > 1; at++) {
            unit /= 10;
            microseconds += (*at - '0') * unit;
        }
        if (unit == 1000000)
            return false;
    }
    if (end - at == 1 && (*at == 'Z' || *at == 'z')) {
        *seconds = (double)microseconds / 1e6;
        return true;
    }
    int ahead_hours, ahead_minutes;
    if (end - at != 6 || (*at != '+' && *at != '-') || at[3] != ':' ||
        !read_pair(at + 1, &ahead_hours) || !read_pair(at + 4, &ahead_minutes) ||
        ahead_hours > 23 || ahead_minutes > 59)
        return false;
    i64 ahead = (i64)(ahead_hours * 60 + ahead_minutes) * 60000000;
    *seconds = (double)(microseconds - (*at == '+' ? ahead : -ahead)) / 1e6;
    return true;
}

/* Reads an event time as epoch milliseconds: as `within_years` in feeds/decode/field_columns.py. */
static bool read_time(const Value *value, i64 latest_ms, i64 *time)
{
    double seconds;
    if (value->kind == NUMBER ? !read_double(&value->number, &seconds)
                              : value->kind != TEXT || value->text.escaped ||
                                    !read_rfc3339(&value->text, &seconds))
        return false;
    if (!(seconds >= EARLIEST && seconds < LATEST))
        return false;
    i64 microseconds = (i64)rint(seconds * 1e6);
    *time = microseconds / 1000 - (microseconds % 1000 < 0);
    return *time < LATEST_MS && *time <= latest_ms;
}

/* Reads a class: 0, 1, true or false; `missing` for null or no field. */
static bool read_class(const Value *value, i64 missing, i64 *found)
{
    switch (value->kind) {
    case ABSENT:
    case NONE: *found = missing; return true;
    case TRUE_: *found = 1; return true;
    case FALSE_: *found = 0; return true;
    case NUMBER:
        *found = (i64)value->number.digits;
        return value->number.integer && !value->number.negative && value->number.digits <= 1;
    default: return false;
    }
}

/* Reads a number from 0 to 1; NaN for null or no field. */
static bool read_share(const Value *value, double *found)
{
    *found = NAN;
    if (value->kind == ABSENT || value->kind == NONE)
        return true;
    return value->kind == NUMBER && read_double(&value->number, found) && *found >= 0 && *found <= 1;
}

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
    i64 *group, *given, *row;
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

typedef struct {
    u64 seed;
    i64 longest, latest_ms;
    Layout layout;
    Text *keys; /* configured segment keys, in order */
    size_t key_count;
    Value *segment; /* value of each of these keys in this record */
    u8 *group_key;  /* room for the texts of one group */
    Groups groups;
    Predictions predictions;
    Labels labels;
    Outcomes outcomes;
    bool no_memory;
} Scan;

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
            if (!skip_value(cursor, 2))
                return false;
            continue;
        }
        Value *value = &scan->segment[i];
        if (value->kind != ABSENT || !read_scalar(cursor, value))
            return false;
        if (value->kind != NONE && !(value->kind == TEXT && value->text.length > 0))
            return false;
    } while (skip(cursor, ','));
    return skip(cursor, '}');
}

/* Reads the fields of a line that is one object. */
static bool read_fields(Scan *scan, Cursor *cursor, Value *fields)
{
    if (!skip(cursor, '{'))
        return false;
    do {
        Text key;
        if (!(skip(cursor, '"') && read_text(cursor, &key) && !key.escaped && skip(cursor, ':')))
            return false;
        enum Field field = field_of(&key);
        if (field == FIELDS) {
            if (!skip_value(cursor, 1))
                return false;
        } else if (fields[field].kind != ABSENT) {
            return false; /* a key occurs twice */
        } else if (field == SEGMENT && skip(cursor, '{')) {
            fields[field].kind = OBJECT;
            if (!read_segment(scan, cursor))
                return false;
        } else if (!read_scalar(cursor, &fields[field]))
            return false;
    } while (skip(cursor, ','));
    if (!skip(cursor, '}'))
        return false;
    skip_blanks(cursor);
    return cursor->at == cursor->end;
}

static bool is_text(const u8 *at, const u8 *end, const char *text)
{
    size_t length = strlen(text);
    return (size_t)(end - at) == length && memcmp(at, text, length) == 0;
}

/* Reads a class out of a cell, as `class_of_text` in feeds/mapping/values.py reads the same words. */
static bool read_class_cell(const u8 *at, const u8 *end, Value *value)
{
    bool one = is_text(at, end, "1") || is_text(at, end, "1.0") || is_text(at, end, "true");
    value->kind = one ? TRUE_ : FALSE_;
    return one || is_text(at, end, "0") || is_text(at, end, "0.0") || is_text(at, end, "false");
}

/* Reads a cell that is not empty. */
static bool read_cell(enum Field field, const u8 *at, const u8 *end, Value *value)
{
    Cursor cursor = {at, end};
    switch (field) {
    case PREDICTION:
    case LABEL: return read_class_cell(at, end, value);
    case SCORE:
    case PROBABILITY:
        value->kind = NUMBER;
        return read_number(&cursor, &value->number) && cursor.at == end;
    case TS:
    case LABEL_TS:
        value->kind = NUMBER;
        if (read_number(&cursor, &value->number) && cursor.at == end)
            return true;
        break; /* RFC 3339, perhaps */
    case SEGMENT: return false; /* an object of JSON */
    default: break;
    }
    value->kind = TEXT;
    value->text = (Text){.start = at, .length = (size_t)(end - at)};
    return true;
}

/* Reads the cells of a row without quotes, as `_Rows` in feeds/csv_file.py does. */
static bool read_row(Scan *scan, const u8 *at, const u8 *end, Value *fields)
{
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
            Value *value = &scan->segment[column - FIELDS - 1];
            value->kind = stop > at ? TEXT : NONE;
            value->text = (Text){.start = at, .length = (size_t)(stop - at)};
            fields[SEGMENT].kind = OBJECT;
        } else if (column < FIELDS && stop > at && !read_cell(column, at, stop, &fields[column]))
            return false;
        at = separator ? separator + 1 : end;
    }
    return true;
}

/* The key of an id that is an integer: that of its digits. */
static bool read_integer_key(const Scan *scan, const Number *number, u64 *key)
{
    u8 digits[20], *first = digits + sizeof digits;
    if (!number->integer || (number->negative && number->digits == 0))
        return false;
    u64 left = number->digits;
    do
        *--first = (u8)('0' + left % 10);
    while (left /= 10);
    if (number->negative)
        *--first = '-';
    *key = xxh3(first, (size_t)(digits + sizeof digits - first), scan->seed);
    return true;
}

/* Reads an id as its key. */
static bool read_key(const Scan *scan, const Value *id, u64 *key)
{
    u8 plain[MAX_ID + 4];
    if (id->kind == NUMBER)
        return read_integer_key(scan, &id->number, key);
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
    } else if (name->kind != ABSENT && name->kind != NONE)
        return false;
    length_at[0] = (u8)((length + 1) & 0xff);
    length_at[1] = (u8)((length + 1) >> 8);
    *used += 2 + (size_t)(length < 0 ? 0 : length);
    return true;
}

static bool read_group(Scan *scan, const Value *fields, i64 *group)
{
    size_t used = 0;
    Kind segment = fields[SEGMENT].kind;
    if ((segment != ABSENT && segment != NONE && segment != OBJECT) ||
        (fields[MODEL].kind == TEXT && fields[MODEL].text.length == 0) ||
        !add_name(scan, &fields[MODEL], &used) || !add_name(scan, &fields[VERSION], &used))
        return false;
    for (size_t i = 0; i < scan->key_count; i++)
        if (!add_name(scan, &scan->segment[i], &used))
            return false;
    *group = number_of(&scan->groups, scan->group_key, used, scan->seed);
    scan->no_memory |= *group < 0;
    return *group >= 0;
}

static bool is_type(const Value *type, const char *name, size_t length)
{
    return type->kind == TEXT && type->text.length == length &&
           memcmp(type->text.start, name, length) == 0;
}

static bool take_label(Scan *scan, const Value *fields, i64 row)
{
    Labels *to = &scan->labels;
    u64 key;
    i64 time, value;
    double probability;
    if (fields[LABEL].kind == ABSENT || !read_key(scan, &fields[ID], &key) ||
        !read_time(&fields[TS], scan->latest_ms, &time) ||
        !read_class(&fields[LABEL], RETRACTED, &value) ||
        !read_share(&fields[PROBABILITY], &probability) || probability == 0)
        return false;
    size_t i = to->count++;
    to->key[i] = key;
    to->time[i] = time;
    to->value[i] = value;
    to->probability[i] = probability;
    to->prediction_time[i] = NO_TIME;
    to->row[i] = row;
    return true;
}

static void add_prediction(Predictions *to, u64 key, i64 time, double score, i64 group, i64 given,
                           i64 row)
{
    size_t i = to->count++;
    to->key[i] = key;
    to->time[i] = time;
    to->score[i] = score;
    to->group[i] = group;
    to->given[i] = given;
    to->row[i] = row;
}

static bool take_prediction(Scan *scan, const Value *fields, i64 row)
{
    u64 key;
    i64 time, given, group;
    double score;
    if (!read_key(scan, &fields[ID], &key) || !read_time(&fields[TS], scan->latest_ms, &time) ||
        !read_class(&fields[PREDICTION], -1, &given) || !read_share(&fields[SCORE], &score) ||
        (given < 0 && isnan(score)) || !read_group(scan, fields, &group))
        return false;
    add_prediction(&scan->predictions, key, time, score, group, given, row);
    return true;
}

/* An outcome with an id is a prediction and, unless its label is null, a label. */
static bool take_outcome(Scan *scan, const Value *fields, i64 row)
{
    u64 key = 0;
    i64 time, label_time, given, value, group;
    double score, probability;
    bool named = fields[ID].kind != ABSENT && fields[ID].kind != NONE;
    bool timed = fields[LABEL_TS].kind != ABSENT && fields[LABEL_TS].kind != NONE;
    if (fields[LABEL].kind == ABSENT || (named && !read_key(scan, &fields[ID], &key)) ||
        !read_time(&fields[TS], scan->latest_ms, &time) ||
        !read_time(&fields[timed ? LABEL_TS : TS], scan->latest_ms, &label_time) ||
        !read_class(&fields[PREDICTION], -1, &given) ||
        !read_class(&fields[LABEL], RETRACTED, &value) || !read_share(&fields[SCORE], &score) ||
        !read_share(&fields[PROBABILITY], &probability) || probability == 0 ||
        (given < 0 && isnan(score)) || (!named && (value == RETRACTED || probability < 1)) ||
        !read_group(scan, fields, &group))
        return false;
    if (!named) {
        Outcomes *to = &scan->outcomes;
        size_t i = to->count++;
        to->time[i] = time;
        to->label_time[i] = label_time;
        to->given[i] = given;
        to->actual[i] = value;
        to->score[i] = score;
        to->group[i] = group;
        to->row[i] = row;
        return true;
    }
    add_prediction(&scan->predictions, key, time, score, group, given, row);
    if (value != RETRACTED) {
        Labels *to = &scan->labels;
        size_t i = to->count++;
        to->key[i] = key;
        to->time[i] = label_time;
        to->value[i] = value;
        to->probability[i] = probability;
        to->prediction_time[i] = time;
        to->row[i] = row;
    }
    return true;
}

/* Reads a line; false if it has to be left. */
static bool take_line(Scan *scan, const u8 *start, const u8 *end, i64 row)
{
    Value fields[FIELDS];
    Cursor cursor = {start, end};
    for (int i = 0; i < FIELDS; i++)
        fields[i].kind = ABSENT;
    for (size_t i = 0; i < scan->key_count; i++)
        scan->segment[i].kind = ABSENT;
    if (end - start > scan->longest || (!is_ascii(start, end) && !is_utf8(start, end)) ||
        !(scan->layout.count ? read_row(scan, start, end, fields)
                             : read_fields(scan, &cursor, fields)))
        return false;
    if (fields[AUDIT].kind != ABSENT)
        return false; /* an audit, perhaps: Python decodes it */
    if (is_type(&fields[TYPE], "prediction", 10))
        return take_prediction(scan, fields, row);
    if (is_type(&fields[TYPE], "label", 5))
        return take_label(scan, fields, row);
    return is_type(&fields[TYPE], "outcome", 7) && take_outcome(scan, fields, row);
}

static bool is_blank(const u8 *start, const u8 *end)
{
    Cursor cursor = {start, end};
    skip_blanks(&cursor);
    return cursor.at == end;
}

/* ---- The module ---- */

/* Numbers of lines, and what becomes of them. */
typedef struct {
    i64 *starts, *left;
    size_t most, lines, left_count, taken;
} Lines;

static void scan_lines(Scan *scan, Lines *lines, const u8 *start, const u8 *end)
{
    const u8 *at = start;
    while (at < end && lines->lines < lines->most && !scan->no_memory) {
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

enum { MOST_BUFFERS = 24 };

/* The arrays that are written to, for as long as `scan` runs. */
typedef struct {
    Py_buffer views[MOST_BUFFERS];
    int count;
} Buffers;

static void release(Buffers *buffers)
{
    while (buffers->count > 0)
        PyBuffer_Release(&buffers->views[--buffers->count]);
}

/* An array of numbers of `size` bytes; NULL with an error set. `flags` say if it is written to. */
static Py_buffer *view_of(Buffers *buffers, PyObject *array, Py_ssize_t size, int flags)
{
    if (buffers->count == MOST_BUFFERS) {
        PyErr_SetString(PyExc_ValueError, "too many arrays");
        return NULL;
    }
    Py_buffer *view = &buffers->views[buffers->count];
    if (PyObject_GetBuffer(array, view, flags) < 0)
        return NULL;
    buffers->count++;
    if (view->itemsize != size) {
        PyErr_Format(PyExc_ValueError, "an array must have numbers of %zd bytes, got %zd", size,
                     view->itemsize);
        return NULL;
    }
    return view;
}

/* The memory of an array of at least `most` numbers of 8 bytes; NULL with an error set. */
static void *column(Buffers *buffers, PyObject *array, size_t most)
{
    Py_buffer *view = view_of(buffers, array, 8, PyBUF_CONTIG);
    if (view && (size_t)view->len / 8 < most) {
        PyErr_Format(PyExc_ValueError, "a column must have %zu rows or more", most);
        return NULL;
    }
    return view ? view->buf : NULL;
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
    void *p[6], *l[6], *o[7];
    if (!read_columns(buffers, predictions, most, p, 6) ||
        !read_columns(buffers, labels, most, l, 6) || !read_columns(buffers, outcomes, most, o, 7))
        return false;
    scan->predictions = (Predictions){p[0], p[1], p[2], p[3], p[4], p[5], 0};
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

/* Reads the segment keys, a tuple of bytes that outlives the scan; false with an error set. */
static bool read_keys(Scan *scan, PyObject *keys)
{
    scan->key_count = (size_t)PyTuple_Size(keys);
    scan->keys = PyMem_Calloc(scan->key_count + 1, sizeof *scan->keys);
    scan->segment = PyMem_Calloc(scan->key_count + 1, sizeof *scan->segment);
    scan->group_key = PyMem_Malloc((scan->key_count + 2) * (MAX_NAME + 6));
    if (!scan->keys || !scan->segment || !scan->group_key) {
        PyErr_NoMemory();
        return false;
    }
    for (size_t i = 0; i < scan->key_count; i++) {
        char *start;
        Py_ssize_t length;
        if (PyBytes_AsStringAndSize(PyTuple_GetItem(keys, (Py_ssize_t)i), &start, &length) < 0)
            return false;
        scan->keys[i] = (Text){.start = (const u8 *)start, .length = (size_t)length};
    }
    return true;
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
                         PyObject *arrays[6], PyObject *layout)
{
    Py_ssize_t most = PyObject_Size(arrays[5]);
    if (most < 0)
        return NULL;
    lines->most = (size_t)most;
    if (!(lines->starts = column(buffers, arrays[4], lines->most + 1)) ||
        !(lines->left = column(buffers, arrays[5], lines->most)) || !read_keys(scan, arrays[0]) ||
        !read_layout(scan, layout) ||
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

PyDoc_STRVAR(scan_doc,
"scan(block, seed, longest, latest_ms, segment_keys, predictions, labels, outcomes, starts, left, "
"layout=None, /)\n"
"--\n\n"
"Scan a block of NDJSON lines or of rows, and write the records of known forms into columns.\n\n"
"Other threads may run meanwhile. A line that is not taken is in `left`, unless it is blank.\n\n"
"Args:\n"
"    block: whole lines; the last one may lack its newline.\n"
"    seed: of the keys of ids.\n"
"    longest: bytes; longer lines are left.\n"
"    latest_ms: the latest accepted event time, epoch milliseconds.\n"
"    segment_keys: tuple of the segment keys to read, in UTF-8.\n"
"    predictions: key, time, score, group, given class (-1 for none), row.\n"
"    labels: key, time, value, sampling probability, time of the prediction, row.\n"
"    outcomes: time, label time, given class, actual class, score, group, row.\n"
"    starts: offset of each line in the block, and of its end; one row more than `left`.\n"
"    left: numbers of the lines that are not taken; as many rows as the block has lines.\n"
"    layout: None for NDJSON. For rows of cells: the field of each column, a byte (FIELDS for\n"
"        none, FIELDS + 1 + i for the segment key i); the separator's byte; the type of a row\n"
"        that names none; and whether rows have a label.\n\n"
"Returns:\n"
"    Rows written of predictions, labels, outcomes and `left`; lines taken; and the groups that\n"
"    `group` columns index: model, version and the value of each segment key as they are\n"
"    written, None for a missing one.\n\n"
"Raises:\n"
"    ValueError: the columns have fewer rows than the block has lines, or the layout is none.");

static PyObject *scan_block(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    Scan scan = {0};
    Lines lines = {0};
    Buffers buffers = {.count = 0};
    Py_buffer block;
    PyObject *layout = Py_None;
    PyObject *arrays[6]; /* segment keys; predictions, labels, outcomes; starts and left lines */
    unsigned long long seed;
    long long longest, latest_ms;
    if (!PyArg_ParseTuple(arguments, "y*KLLO!OOOOO|O", &block, &seed, &longest, &latest_ms,
                          &PyTuple_Type, &arrays[0], &arrays[1], &arrays[2], &arrays[3], &arrays[4],
                          &arrays[5], &layout))
        return NULL;
    scan.seed = seed;
    scan.longest = longest;
    scan.latest_ms = latest_ms;
    PyObject *result = scanned(&scan, &lines, &buffers, &block, arrays, layout);
    free_groups(&scan.groups);
    PyMem_Free(scan.keys);
    PyMem_Free(scan.segment);
    PyMem_Free(scan.group_key);
    release(&buffers);
    PyBuffer_Release(&block);
    return result;
}

PyDoc_STRVAR(key_doc,
"key_of(name, seed, /)\n"
"--\n\n"
"Return the key of an id, as `monitor.events.keys.keys_of_bytes` does.\n\n"
"Args:\n"
"    name: 1 to 240 bytes.\n"
"    seed: 64 bits.\n\n"
"Raises:\n"
"    ValueError: the id is shorter or longer.");

static PyObject *key_of(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    const char *id;
    Py_ssize_t length;
    unsigned long long seed;
    if (!PyArg_ParseTuple(arguments, "y#K", &id, &length, &seed))
        return NULL;
    if (length < 1 || length > MAX_ID) {
        PyErr_Format(PyExc_ValueError, "an id must have 1 to %d bytes, got %zd", MAX_ID, length);
        return NULL;
    }
    return PyLong_FromUnsignedLongLong(xxh3((const u8 *)id, (size_t)length, seed));
}

/* ---- The index of keys: `_Places` of monitor/join/index.py, whose docstring describes it ---- */

enum {
    GROUP = 8,   /* places that are searched together */
    JUMPS = 32,  /* groups that are searched in ever wider jumps; then one after the other */
    AHEAD = 32   /* keys whose memory is fetched before the first of them is looked for */
};

/* The index, and the keys that are looked for or entered. */
typedef struct {
    u32 *places;
    u64 groups, slots, multiplier;
    const u64 *keys;
    size_t count;
} Places;

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
    u32 mark = ((u32)(key * index->multiplier >> 24) << 24) & ~(u32)(index->slots - 1);
    return mark > index->slots ? mark : (u32)index->slots;
}

static void fetch_groups(const Places *index, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        __builtin_prefetch(index->places + GROUP * first_group(index, index->keys[i]));
}

/* Fetches the rows that the keys may be found in, so that reading them does not wait in turn. */
static void fetch_rows(const Places *index, size_t from, size_t to, const u64 *rows, size_t row_count,
                       size_t words)
{
    for (size_t i = from; i < to; i++) {
        const u32 *places = index->places + GROUP * first_group(index, index->keys[i]);
        u32 mark = mark_of(index, index->keys[i]), slots = (u32)index->slots - 1;
        for (int place = 0; place < GROUP; place++)
            if ((places[place] & ~slots) == mark && (places[place] & slots) < row_count) {
                __builtin_prefetch(rows + words * (places[place] & slots));
                break;
            }
    }
}

/* The slot of a key; -1 if it has no place. */
static i64 slot_of(const Places *index, u64 key, const u64 *rows, size_t row_count, size_t words)
{
    u64 group = first_group(index, key);
    u32 mark = mark_of(index, key), slots = (u32)index->slots - 1;
    for (u64 step = 1; step <= index->groups + JUMPS; step++) {
        const u32 *places = index->places + GROUP * group;
        for (int place = 0; place < GROUP; place++) {
            if (!places[place])
                return -1;
            u32 slot = places[place] & slots;
            if ((places[place] & ~slots) == mark && slot < row_count && rows[words * slot] == key)
                return slot;
        }
        group = next_group(index, group, step);
    }
    return -1;
}

/* Gives a key the first free place; false if all are taken. */
static bool take_place(const Places *index, u64 key, u32 slot)
{
    u64 group = first_group(index, key);
    for (u64 step = 1; step <= index->groups + JUMPS; step++) {
        u32 *places = index->places + GROUP * group;
        for (int place = 0; place < GROUP; place++)
            if (!places[place]) {
                places[place] = mark_of(index, key) | slot;
                return true;
            }
        group = next_group(index, group, step);
    }
    return false;
}

/* Reads the arguments that `find` and `enter` share; false with an error set. */
static bool read_places(Buffers *buffers, Places *index, PyObject *places, PyObject *keys, int flags)
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

PyDoc_STRVAR(find_doc,
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

static PyObject *find(PyObject *Py_UNUSED(module), PyObject *arguments)
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
    Py_buffer *of_rows;
    i64 *to;
    if (!read_places(&buffers, &index, places, keys, PyBUF_CONTIG_RO) ||
        !(of_rows = view_of(&buffers, rows, 8, PyBUF_CONTIG_RO)) ||
        !(to = column(&buffers, found, index.count)))
        goto end;
    if (of_rows->ndim != 2 || of_rows->shape[1] < 1) {
        PyErr_SetString(PyExc_ValueError, "rows must have two dimensions");
        goto end;
    }
    size_t row_count = (size_t)of_rows->shape[0], words = (size_t)of_rows->shape[1];
    for (size_t from = 0; from < index.count; from += AHEAD) {
        size_t stop = index.count - from < AHEAD ? index.count : from + AHEAD;
        fetch_groups(&index, from, stop);
        fetch_rows(&index, from, stop, of_rows->buf, row_count, words);
        for (size_t i = from; i < stop; i++)
            to[i] = slot_of(&index, index.keys[i], of_rows->buf, row_count, words);
    }
    done = true;
end:
    release(&buffers);
    return done ? Py_NewRef(Py_None) : NULL;
}

PyDoc_STRVAR(enter_doc,
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

static PyObject *enter(PyObject *Py_UNUSED(module), PyObject *arguments)
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
    for (size_t from = 0; done && from < index.count; from += AHEAD) {
        size_t stop = index.count - from < AHEAD ? index.count : from + AHEAD;
        fetch_groups(&index, from, stop);
        for (size_t i = from; done && i < stop; i++)
            done = slot[i] >= 0 && (u64)slot[i] < index.slots &&
                   take_place(&index, index.keys[i], (u32)slot[i]);
    }
    if (!done)
        PyErr_SetString(PyExc_ValueError, "a key has no slot in bounds, or no place is free");
end:
    release(&buffers);
    return done ? Py_NewRef(Py_None) : NULL;
}

static PyMethodDef METHODS[] = {{"scan", scan_block, METH_VARARGS, scan_doc},
                                {"key_of", key_of, METH_VARARGS, key_doc},
                                {"find", find, METH_VARARGS, find_doc},
                                {"enter", enter, METH_VARARGS, enter_doc},
                                {NULL, NULL, 0, NULL}};

/* `FIELDS` names the fields in the order of their numbers. */
static int add_constants(PyObject *module)
{
    const char *fields = "type id ts prediction score model version segment label label_ts "
                         "sampling_probability audit";
    return PyModule_AddStringConstant(module, "SOURCE_DIGEST", SOURCE_DIGEST) ||
           PyModule_AddStringConstant(module, "FIELDS", fields) ? -1 : 0;
}

static PyModuleDef_Slot SLOTS[] = {
    {Py_mod_exec, add_constants},
#ifdef Py_mod_gil
    {Py_mod_gil, Py_MOD_GIL_NOT_USED}, /* Python without a GIL: no function has state of its own */
#endif
    {0, NULL}};

static struct PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, "compiled",
                                    "The hot path: scans NDJSON and rows into columns, and searches the index of keys.", 0, METHODS,
                                    SLOTS, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_compiled(void)
{
    return PyModuleDef_Init(&MODULE);
}
