/* Counting of lines. */

#include "kernel.h"

const char lines_doc[] = PyDoc_STR(
"count_lines(block, /)\n"
"--\n\n"
"Count the newlines of a block, as `monitor.feeds.decode.lines.count_lines` does.\n\n"
"Args:\n"
"    block: bytes.");

PyObject *count_lines(PyObject *Py_UNUSED(module), PyObject *block)
{
    Py_buffer view;
    if (PyObject_GetBuffer(block, &view, PyBUF_CONTIG_RO) < 0)
        return NULL;
    const u8 *at = view.buf, *end = at + view.len;
    Py_ssize_t lines = 0;
    while (at < end) {
        const u8 *stop = end - at < 255 ? end : at + 255;
        u8 few = 0; /* at most 255 of them: bytes are added many at once */
        for (; at < stop; at++)
            few += *at == '\n';
        lines += few;
    }
    PyBuffer_Release(&view);
    return PyLong_FromSsize_t(lines);
}
