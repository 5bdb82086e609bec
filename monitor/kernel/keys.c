/* Keys of ids from the memory of a column of texts, as Arrow lays them out: all texts one after
   another, and where each begins. */

#include "bytes.h"

const char keys_doc[] = PyDoc_STR(
"keys_of(texts, offsets, seed, keys, /)\n"
"--\n\n"
"Compute the keys of ids, as `monitor.events.keys.keys_of_bytes` does.\n\n"
"Args:\n"
"    texts: bytes of all ids.\n"
"    offsets: first byte of each id, and of what follows the last one, int64.\n"
"    seed: 64 bits.\n"
"    keys: is written to, a row for each id; 0 for an id of no byte.\n\n"
"Returns:\n"
"    The rows of ids of over 240 bytes, whose keys are not computed.\n\n"
"Raises:\n"
"    ValueError: an offset lies outside of the texts, or before the one that precedes it.");

static PyObject *hashed(const u8 *texts, size_t length, const i64 *offsets, size_t rows, u64 seed,
                        u64 *keys)
{
    PyObject *left = PyList_New(0);
    for (size_t row = 0; left && row < rows; row++) {
        i64 from = offsets[row], to = offsets[row + 1];
        if (from < 0 || to < from || (u64)to > length) {
            PyErr_Format(PyExc_ValueError, "row %zu lies outside of the texts", row);
            Py_CLEAR(left);
        } else if (to - from > MAX_ID) {
            PyObject *number = PyLong_FromSize_t(row);
            if (!number || PyList_Append(left, number) < 0)
                Py_CLEAR(left);
            Py_XDECREF(number);
        } else {
            keys[row] = to == from ? 0 : xxh3(texts + from, (size_t)(to - from), seed);
        }
    }
    return left;
}

PyObject *keys_of(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *texts, *offsets, *keys, *left = NULL;
    unsigned long long seed;
    if (!PyArg_ParseTuple(arguments, "OOKO", &texts, &offsets, &seed, &keys))
        return NULL;
    Buffers buffers = {.count = 0};
    size_t length, bounds;
    const u8 *bytes = read_rows(&buffers, texts, 1, &length);
    const i64 *at = bytes ? read_rows(&buffers, offsets, 8, &bounds) : NULL;
    if (at && !bounds)
        PyErr_SetString(PyExc_ValueError, "offsets must have a bound at least");
    u64 *written = at && bounds ? column(&buffers, keys, bounds - 1) : NULL;
    if (written)
        left = hashed(bytes, length, at, bounds - 1, seed, written);
    release(&buffers);
    return left;
}
