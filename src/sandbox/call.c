// SPDX-License-Identifier: GPL-3.0-or-later
// call.c - a call of a candidate's function, in the child: from shared memory to Python objects and
// back without a line of Python in between, as long as results are plain.
#include "sandbox/child.h"

enum { ARGS_MAX = 5 };
static struct {                    // of the process
    PyObject *globals, *candidate; // of run.py; of the loaded candidate
    PyObject *settle, *fail;
    PyObject *functions[HARNESS_PROPOSE + 1];
    PyObject *keywords; // of format_observation
    PyObject *call_seed, *seeded;
} py;

bool python_prepare_calls(PyObject *globals)
{
    py.globals = globals;
    py.candidate = PyDict_GetItemString(globals, "candidate");
    py.settle = PyDict_GetItemString(globals, "settle");
    py.fail = PyDict_GetItemString(globals, "fail");
    py.call_seed = PyUnicode_InternFromString("call_seed");
    py.seeded = PyUnicode_InternFromString("seeded");
    for (int f = HARNESS_FORMAT; f <= HARNESS_PROPOSE; f++) {
        str name = harness_function_name((enum harness_function)f);
        py.functions[f] = PyUnicode_FromStringAndSize(name.data, (Py_ssize_t)name.len);
        if (!py.functions[f])
            return false;
        PyUnicode_InternInPlace(&py.functions[f]);
    }
    py.keywords =
        Py_BuildValue("(ssss)", "turn_count", "side_to_move", "last_opponent_move", "max_turns");
    return py.candidate && py.settle && py.fail && py.call_seed && py.seeded && py.keywords;
}

// ---- arguments ----

struct arguments {
    PyObject *v[ARGS_MAX];
    Py_ssize_t n;
    PyObject *keywords; // NULL: none
};

static PyObject *text_new(str s)
{
    return PyUnicode_DecodeUTF8(s.data, (Py_ssize_t)s.len, "replace");
}

static bool make_arguments(const struct harness_call *call, enum harness_function f,
                           struct arguments *out)
{
    *out = (struct arguments){ .n = 1 };
    out->v[0] = text_new(f == HARNESS_LEGAL && call->judges ? call->board : call->text);
    if (f == HARNESS_LEGAL) {
        out->v[1] = text_new(call->action);
        out->n = 2;
    } else if (f == HARNESS_FORMAT) {
        out->v[1] = PyLong_FromLongLong(call->turn_count);
        out->v[2] = text_new(call->side_to_move);
        out->v[3] = call->last_reply.len > 0 ? text_new(call->last_reply) : Py_NewRef(Py_None);
        out->v[4] = PyLong_FromLongLong(call->max_turns);
        out->n = ARGS_MAX;
        out->keywords = py.keywords;
    }
    for (Py_ssize_t i = 0; i < out->n; i++)
        if (!out->v[i])
            return false;
    return true;
}

static void drop_arguments(struct arguments *args)
{
    for (Py_ssize_t i = 0; i < args->n; i++)
        Py_XDECREF(args->v[i]);
}

static bool set_seed(uint64_t seed)
{
    PyObject *number = PyLong_FromUnsignedLongLong(seed);
    bool ok = number && PyDict_SetItem(py.globals, py.call_seed, number) == 0 &&
              PyDict_SetItem(py.globals, py.seeded, Py_False) == 0;
    Py_XDECREF(number);
    return ok;
}

// ---- results ----

static bool say(struct call_area *area, size_t i, enum said_kind kind, str text)
{
    if (text.len > HARNESS_REPLY_MAX_BYTES)
        return false;
    if (text.len > 0)
        memcpy(area->reply[i], text.data, text.len);
    area->said[i].kind = kind;
    area->said[i].len = (uint32_t)text.len;
    atomic_store_explicit(&area->n_said, (uint32_t)i + 1, memory_order_release);
    return true;
}

// Takes over `bytes`, a reply of run.py; NULL: not even that could be made.
static bool say_json(struct call_area *area, size_t i, PyObject *bytes)
{
    char *data;
    Py_ssize_t n;
    bool ok = bytes && PyBytes_AsStringAndSize(bytes, &data, &n) == 0 &&
              say(area, i, SAID_JSON, (str){ data, (size_t)n });
    Py_XDECREF(bytes);
    return ok;
}

// The exception that is set. False: it is none that a candidate may survive.
static bool say_exception(struct call_area *area, size_t i)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    bool ok = value && PyErr_GivenExceptionMatches(type, PyExc_Exception);
    if (ok && trace)
        PyException_SetTraceback(value, trace);
    ok = ok && say_json(area, i, PyObject_CallOneArg(py.fail, value));
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return ok;
}

static bool is_plain(str text)
{
    return text.len <= HARNESS_VIEW_MAX_BYTES &&
           (text.len == 0 || !memchr(text.data, '\0', text.len));
}

static bool say_value(struct call_area *area, PyObject *value, const struct arguments *args,
                      bool as_text)
{
    if (PyUnicode_CheckExact(value)) {
        Py_ssize_t n;
        const char *data = PyUnicode_AsUTF8AndSize(value, &n);
        str text = { data, data ? (size_t)n : 0 };
        if (!data)
            PyErr_Clear(); // surrogates
        else if (is_plain(text))
            return value == args->v[0] ? say(area, 0, SAID_SAME, (str){ 0 })
                                       : say(area, 0, SAID_TEXT, text);
    }
    PyObject *flag = as_text ? Py_True : Py_False;
    return say_json(area, 0, PyObject_CallFunctionObjArgs(py.settle, value, flag, NULL));
}

static bool say_truth(struct call_area *area, size_t i, PyObject *value)
{
    int truth = PyObject_IsTrue(value);
    if (truth < 0)
        return say_exception(area, i);
    return say(area, i, truth ? SAID_TRUE : SAID_FALSE, (str){ 0 });
}

// ---- the calls ----

static PyObject *invoke(enum harness_function f, uint64_t seed, struct arguments *args)
{
    PyObject *function = PyDict_GetItemWithError(py.candidate, py.functions[f]);
    if (!function) {
        if (!PyErr_Occurred())
            PyErr_SetObject(PyExc_KeyError, py.functions[f]);
        return NULL;
    }
    if (!set_seed(seed))
        return NULL;
    Py_ssize_t n = args->keywords ? 1 : args->n;
    Py_INCREF(function); // it may take itself out of its globals
    PyObject *value = PyObject_Vectorcall(function, args->v, (size_t)n, args->keywords);
    Py_DECREF(function);
    return value;
}

static bool call_one(struct call_area *area, size_t i, const struct harness_call *call)
{
    enum harness_function f = i > 0 ? HARNESS_LEGAL : call->function;
    struct arguments args;
    bool ok;
    PyObject *value = make_arguments(call, f, &args)
                          ? invoke(f, i > 0 ? call->legal_seed : call->seed, &args)
                          : NULL;
    if (!value)
        ok = say_exception(area, i);
    else if (f == HARNESS_LEGAL)
        ok = say_truth(area, i, value);
    else
        ok = say_value(area, value, &args, call->as_text);
    Py_XDECREF(value);
    drop_arguments(&args);
    return ok;
}

bool python_call(struct call_area *area)
{
    static struct arena scratch; // of the process
    struct harness_call call;
    struct harness_result said;
    uint32_t len = area->request_len;
    if (len > HARNESS_REQUEST_MAX_BYTES || !call_read((str){ area->request, len }, &call) ||
        !call_one(area, 0, &call))
        return false;
    if (!call.judges)
        return true;
    // As the program will see it, so that both come to the same action.
    arena_reset(&scratch);
    if (!call_results_read(area, &call, false, &scratch, &said))
        return false;
    call.action = said.action;
    return !harness_goes_somewhere(call.action) || call_one(area, 1, &call);
}
