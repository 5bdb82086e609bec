/* What all files of the kernel share: names of types, arrays of NumPy, and the functions that
compiled.c lists for Python.

The code needs GCC or Clang and a 64-bit little-endian machine. Elsewhere it does not compile,
and the program runs without it. */

#ifndef KERNEL_H
#define KERNEL_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <float.h>
#include <stdbool.h>
#include <stdint.h>

#if !defined(__SIZEOF_INT128__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__ || FLT_EVAL_METHOD != 0
#error "the kernel needs 128-bit integers, little-endian words and plain doubles"
#endif

#pragma GCC visibility push(hidden) /* these names are the module's own */

typedef uint8_t u8;
typedef int32_t i32;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t i64;
typedef unsigned __int128 u128;

static const i64 NO_TIME = -((i64)1 << 62); /* a time that is not given */
static const i64 RETRACTED = 2;             /* the value of a label that is null */

/* ---- Arrays (arrays.c) ---- */

enum { MOST_BUFFERS = 128 };

/* The arrays that a function reads and writes, for as long as it runs. */
typedef struct {
    Py_buffer views[MOST_BUFFERS];
    int count;
} Buffers;

void release(Buffers *buffers);
Py_buffer *view_of(Buffers *buffers, PyObject *array, Py_ssize_t size, int flags);
void *column(Buffers *buffers, PyObject *array, size_t most);
const void *read_rows(Buffers *buffers, PyObject *array, Py_ssize_t size, size_t *count);
const void *read_column(Buffers *buffers, PyObject *array, Py_ssize_t size, size_t count);

/* ---- Functions of the module, in the order of compiled.c ---- */

extern const char scan_doc[], lines_doc[], keys_doc[], find_doc[], enter_doc[], remember_doc[],
    meet_doc[], count_doc[], delays_doc[], scores_doc[], value_scores_doc[],
    windows_doc[], pace_doc[];

PyObject *scan_block(PyObject *module, PyObject *arguments); /* scan.c */
PyObject *count_lines(PyObject *module, PyObject *block);     /* lines.c */
PyObject *keys_of(PyObject *module, PyObject *arguments); /* keys.c */
PyObject *find(PyObject *module, PyObject *arguments); /* index.c */
PyObject *enter(PyObject *module, PyObject *arguments);
PyObject *remember(PyObject *module, PyObject *arguments);     /* predictions.c */
PyObject *meet(PyObject *module, PyObject *arguments);         /* labels.c */
PyObject *count(PyObject *module, PyObject *arguments);        /* panes.c */
PyObject *count_delays(PyObject *module, PyObject *arguments); /* delays.c */
PyObject *count_scores(PyObject *module, PyObject *arguments); /* scores.c */
PyObject *count_value_scores(PyObject *module, PyObject *arguments); /* value_scores.c */
PyObject *count_windows(PyObject *module, PyObject *arguments); /* windows.c */

PyObject *in_pace(PyObject *module, PyObject *arguments); /* times.c */

#pragma GCC visibility pop
#endif
