/* Bytes: words of memory, the hash of an id, UTF-8. Part of scan.c. */

#ifndef BYTES_H
#define BYTES_H

#include "kernel.h"
#include <string.h>

enum {
    MAX_NAME = 256, /* bytes of a model, a version or a segment value */
    MAX_ID = 240    /* bytes of an id; `xxh3` hashes no longer ones, and Python takes to 256 */
};

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

static inline bool is_ascii(const u8 *at, const u8 *end)
{
    u64 bits = 0;
    for (; end - at >= 8; at += 8)
        bits |= load64(at);
    for (; at < end; at++)
        bits |= *at;
    return !(bits & 0x8080808080808080u);
}

/* As Python's `bytes.decode`: no overlong form, no half of a surrogate pair. */
static inline bool is_utf8(const u8 *at, const u8 *end)
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

#endif
