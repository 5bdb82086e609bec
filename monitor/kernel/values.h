/* Values of fields: numbers, times, classes. Part of scan.c.

A number is exactly the float that Python's `float` would give, or it is left to Python. */

#ifndef VALUES_H
#define VALUES_H

#include "json.h"
#include <math.h>

static const double EARLIEST = -2208988800.0, LATEST = 7258118400.0; /* 1900 and 2200, seconds */
static const i64 LATEST_MS = 7258118400000;

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

/* Reads Z or an offset, +02:00, +0200 or +02, as microseconds ahead of UTC. */
static bool read_offset(const u8 *at, const u8 *end, i64 *ahead)
{
    int hours, minutes = 0;
    size_t length = (size_t)(end - at);
    *ahead = 0;
    if (length == 1)
        return *at == 'Z' || *at == 'z';
    if ((length != 3 && length != 5 && length != 6) || (*at != '+' && *at != '-') ||
        !read_pair(at + 1, &hours) || (length == 6 && at[3] != ':') ||
        (length > 3 && !read_pair(end - 2, &minutes)) || hours > 23 || minutes > 59)
        return false;
    *ahead = (i64)(hours * 60 + minutes) * (*at == '+' ? 60000000 : -60000000);
    return true;
}

/* Reads RFC 3339 with up to six decimals, or without seconds, as epoch seconds. Python reads the
   other forms of ISO 8601. */
static bool read_iso8601(const Text *text, double *seconds)
{
    const u8 *at = text->start, *end = at + text->length;
    int century, year, month, day, hour, minute, second = 0;
    if (text->length < 17 || !read_pair(at, &century) || !read_pair(at + 2, &year) ||
        at[4] != '-' || !read_pair(at + 5, &month) || at[7] != '-' || !read_pair(at + 8, &day) ||
        (at[10] != 'T' && at[10] != 't' && at[10] != ' ') || !read_pair(at + 11, &hour) ||
        at[13] != ':' || !read_pair(at + 14, &minute))
        return false;
    bool to_seconds = at[16] == ':';
    if (to_seconds && (text->length < 20 || !read_pair(at + 17, &second)))
        return false;
    year += 100 * century;
    if (year < 1900 || year > 2199 || month < 1 || month > 12 || day < 1 ||
        day > days_in(year, month) || hour > 23 || minute > 59 || second > 59)
        return false;
    i64 microseconds = ((days_of(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
    microseconds *= 1000000;
    at += to_seconds ? 19 : 16;
    if (to_seconds && *at == '.') {
        i64 unit = 1000000;
        for (at++; at < end && *at >= '0' && *at <= '9' && unit > 1; at++) {
            unit /= 10;
            microseconds += (*at - '0') * unit;
        }
        if (unit == 1000000)
            return false;
    }
    i64 ahead;
    if (!read_offset(at, end, &ahead))
        return false;
    *seconds = (double)(microseconds - ahead) / 1e6;
    return true;
}

/* Reads seconds with up to three decimals, from 1970 to 2106, as milliseconds; false for others.

As floats they give the same: below 2**32 a float is at most 2**-22 s off, and its product with a
million, below 2**52, another 1/4 microsecond. That is less than half a microsecond in all, so that
the nearest whole one is the number as it is written. */
static bool read_plain_time(const Number *number, i64 *time)
{
    static const u64 UNITS[4] = {1000, 100, 10, 1};
    if (number->negative || number->exponent > 0 || number->exponent < -3 ||
        number->digits >= (u64)1 << 42)
        return false;
    *time = (i64)(number->digits * UNITS[-number->exponent]);
    return *time < (i64)1000 << 32;
}

/* Reads an event time as epoch milliseconds: as `within_years` in feeds/decode/field_columns.py. */
static bool read_time(const Value *value, i64 latest_ms, i64 *time)
{
    double seconds;
    if (value->kind == NUMBER && read_plain_time(&value->number, time))
        return *time <= latest_ms;
    if (value->kind == NUMBER ? !read_double(&value->number, &seconds)
                              : value->kind != TEXT || value->text.escaped ||
                                    !read_iso8601(&value->text, &seconds))
        return false;
    if (!(seconds >= EARLIEST && seconds < LATEST))
        return false;
    i64 microseconds = (i64)rint(seconds * 1e6);
    *time = microseconds / 1000 - (microseconds % 1000 < 0);
    return *time < LATEST_MS && *time <= latest_ms;
}

enum { MAX_DIGITS = 20 /* of an integer, and its sign */ };

/* Writes the digits of a name that is an integer; returns their number, -1 if it is none. */
static int write_integer(const Number *number, u8 *out)
{
    u8 digits[MAX_DIGITS], *first = digits + MAX_DIGITS;
    if (!number->integer || (number->negative && number->digits == 0))
        return -1;
    u64 left = number->digits;
    do
        *--first = (u8)('0' + left % 10);
    while (left /= 10);
    if (number->negative)
        *--first = '-';
    int length = (int)(digits + MAX_DIGITS - first);
    memcpy(out, first, (size_t)length);
    return length;
}

/* Reads a class: 0, 1, true or false; `missing` for null or no field. */
static bool read_class(const Value *value, i64 missing, i64 *found)
{
    switch (value->kind) {
    case ABSENT:
    case NONE: *found = missing; return true;
    case TRUE_: *found = 1; return true;
    case FALSE_: *found = 0; return true;
    case NUMBER: {
        /* 0, 1, and 0.0 and 1.0, as a column of floats is written */
        u64 one = value->number.integer ? 1 : value->number.exponent == -1 ? 10 : 0;
        *found = value->number.digits != 0;
        return one && !value->number.negative && (value->number.digits == 0 || value->number.digits == one);
    }
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

#endif
