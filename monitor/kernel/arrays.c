/* NumPy's arrays as memory, checked before the first row is read or written. */

#include "kernel.h"

void release(Buffers *buffers)
{
    while (buffers->count > 0)
        PyBuffer_Release(&buffers->views[--buffers->count]);
}

/* An array of numbers of `size` bytes, 0 for any; NULL with an error set. `flags` say if it is
   written to. */
Py_buffer *view_of(Buffers *buffers, PyObject *array, Py_ssize_t size, int flags)
{
    if (buffers->count == MOST_BUFFERS) {
        PyErr_SetString(PyExc_ValueError, "too many arrays");
        return NULL;
    }
    Py_buffer *view = &buffers->views[buffers->count];
    if (PyObject_GetBuffer(array, view, flags) < 0)
        return NULL;
    buffers->count++;
    if (size && view->itemsize != size) {
        PyErr_Format(PyExc_ValueError, "an array must have numbers of %zd bytes, got %zd", size,
                     view->itemsize);
        return NULL;
    }
    return view;
}

/* The memory of an array of at least `most` numbers of 8 bytes; NULL with an error set. */
void *column(Buffers *buffers, PyObject *array, size_t most)
{
    Py_buffer *view = view_of(buffers, array, 8, PyBUF_CONTIG);
    if (view && (size_t)view->len / 8 < most) {
        PyErr_Format(PyExc_ValueError, "a column must have %zu rows or more", most);
        return NULL;
    }
    return view ? view->buf : NULL;
}

/* An array to be read, of numbers of `size` bytes, and how many there are; NULL with an error
   set. */
const void *read_rows(Buffers *buffers, PyObject *array, Py_ssize_t size, size_t *count)
{
    Py_buffer *view = view_of(buffers, array, size, PyBUF_CONTIG_RO);
    if (!view)
        return NULL;
    *count = (size_t)(view->len / size);
    return view->buf;
}

/* An array to be read, of as many numbers as the other ones; NULL with an error set. */
const void *read_column(Buffers *buffers, PyObject *array, Py_ssize_t size, size_t count)
{
    size_t found;
    const void *memory = read_rows(buffers, array, size, &found);
    if (memory && found != count) {
        PyErr_Format(PyExc_ValueError, "a column must have %zu rows, got %zu", count, found);
        return NULL;
    }
    return memory;
}
