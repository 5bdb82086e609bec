/* The extension module `monitor.kernel.compiled`: its list of functions.

For readers of Python: each function is in the file that its line names, and does what the Python
code does that its docstring names. Read that first.

    scan.c       NDJSON and rows to columns (with scan.h, fields.h, records.h, groups.h, forms.h,
                 json.h, values.h, classes.h, bytes.h)
    lines.c      counting of lines
    keys.c       keys of columns of ids
    index.c      the index of the join (with index.h)
    predictions.c, labels.c
                 predictions and labels on the memory of the join (with words.h)
    panes.c      counting into panes (with panes.h)
    delays.c, scores.c, value_scores.c, windows.c
                 counting of label delays, of scores, of those by segment value, and of windows
                 (with tallies.h)
    times.c      times of models
    arrays.c     NumPy's arrays as memory */

#include "kernel.h"

#ifndef SOURCE_DIGEST
#error "SOURCE_DIGEST is not given: hatch_build.py compiles this file"
#endif

static PyMethodDef METHODS[] = {{"scan", scan_block, METH_VARARGS, scan_doc},
                                {"count_lines", count_lines, METH_O, lines_doc},
                                {"keys_of", keys_of, METH_VARARGS, keys_doc},
                                {"find", find, METH_VARARGS, find_doc},
                                {"enter", enter, METH_VARARGS, enter_doc},
                                {"remember", remember, METH_VARARGS, remember_doc},
                                {"meet", meet, METH_VARARGS, meet_doc},
                                {"count", count, METH_VARARGS, count_doc},
                                {"count_delays", count_delays, METH_VARARGS, delays_doc},
                                {"count_scores", count_scores, METH_VARARGS, scores_doc},
                                {"count_value_scores", count_value_scores, METH_VARARGS, value_scores_doc},
                                {"count_windows", count_windows, METH_VARARGS, windows_doc},
                                {"in_pace", in_pace, METH_VARARGS, pace_doc},
                                {NULL, NULL, 0, NULL}};

/* `FIELDS` names the fields in the order of their numbers. */
static int add_constants(PyObject *module)
{
    const char *fields = "type id ts prediction score model version segment label label_ts "
                         "sampling_probability audit source";
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
                                    "The hot path: scans lines into columns, joins these, and counts.",
                                    0, METHODS, SLOTS, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_compiled(void)
{
    return PyModuleDef_Init(&MODULE);
}
