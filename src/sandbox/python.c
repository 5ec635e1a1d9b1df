// SPDX-License-Identifier: GPL-3.0-or-later
// python.c - CPython inside the template: no site, no environment, no signal handlers, hashes with
// a fixed seed. What it imports it imports here, once; children find the doors closed.
#include "sandbox/child.h"

static PyObject *handler; // of the process: handle() of run.py

static void configure(PyConfig *config, unsigned long hash_seed)
{
    PyConfig_InitIsolatedConfig(config);
    config->site_import = 0;
    config->install_signal_handlers = 0;
    config->write_bytecode = 0;
    config->use_hash_seed = 1;
    config->hash_seed = hash_seed;
    config->parse_argv = 0;
    config->configure_c_stdio = 0;
    config->pathconfig_warnings = 0;
}

static bool initialise(unsigned long hash_seed)
{
    PyPreConfig early;
    PyConfig config;
    PyPreConfig_InitIsolatedConfig(&early);
    early.utf8_mode = 1;
    if (PyStatus_Exception(Py_PreInitialize(&early)))
        return false;
    configure(&config, hash_seed);
    PyStatus status = PyConfig_SetBytesString(&config, &config.home, PYTHON_PREFIX);
    if (!PyStatus_Exception(status))
        status = Py_InitializeFromConfig(&config);
    PyConfig_Clear(&config);
    return !PyStatus_Exception(status);
}

static bool execute(PyObject *globals, const char *name, const unsigned char *data, size_t size)
{
    PyObject *text = PyUnicode_DecodeUTF8((const char *)data, (Py_ssize_t)size, NULL);
    const char *source = text ? PyUnicode_AsUTF8(text) : NULL;
    PyObject *code = source ? Py_CompileString(source, name, Py_file_input) : NULL;
    PyObject *done = code ? PyEval_EvalCode(code, globals, globals) : NULL;
    bool ok = done != NULL;
    Py_XDECREF(done);
    Py_XDECREF(code);
    Py_XDECREF(text);
    return ok;
}

static bool add_text(PyObject *globals, const char *name, const unsigned char *data, size_t size)
{
    PyObject *text = PyUnicode_DecodeUTF8((const char *)data, (Py_ssize_t)size, NULL);
    bool ok = text && PyDict_SetItemString(globals, name, text) == 0;
    Py_XDECREF(text);
    return ok;
}

static bool warm_up(bool raw)
{
    PyObject *globals = PyDict_New();
    if (!globals || !add_text(globals, "H0", sandbox_h0_data, sandbox_h0_size) ||
        PyDict_SetItemString(globals, "__builtins__", PyEval_GetBuiltins()) != 0 ||
        PyDict_SetItemString(globals, "RAW", raw ? Py_True : Py_False) != 0 ||
        !execute(globals, "<check>", sandbox_check_data, sandbox_check_size) ||
        !execute(globals, "<audit>", sandbox_audit_data, sandbox_audit_size) ||
        !execute(globals, "<run>", sandbox_run_data, sandbox_run_size))
        return false;
    handler = PyDict_GetItemString(globals, "handle");
    PyObject *close_doors = PyDict_GetItemString(globals, "close_doors");
    PyObject *done = close_doors ? PyObject_CallNoArgs(close_doors) : NULL;
    Py_XDECREF(done);
    return handler && done && python_prepare_calls(globals); // globals stay with the process
}

static void tell_exception(char *failure, size_t size)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *text = value ? PyObject_Str(value) : NULL;
    const char *utf8 = text ? PyUnicode_AsUTF8(text) : NULL;
    snprintf(failure, size, "Python could not be warmed up: %s", utf8 ? utf8 : "no reason given");
}

bool python_start(bool raw, unsigned long hash_seed, char *failure, size_t size)
{
    if (!initialise(hash_seed)) {
        snprintf(failure, size,
                 "Python could not be started: is libpython3.11-stdlib below " PYTHON_PREFIX "?");
        return false;
    }
    if (!warm_up(raw)) {
        tell_exception(failure, size);
        return false;
    }
    return true;
}

const char *python_version_text(void)
{
    return PY_VERSION;
}

pid_t python_fork(void)
{
    PyOS_BeforeFork();
    pid_t pid = fork();
    if (pid == 0)
        PyOS_AfterFork_Child();
    else
        PyOS_AfterFork_Parent();
    return pid;
}

bool python_handle(const char *request, size_t len, char **reply, size_t *reply_len)
{
    PyObject *bytes = PyBytes_FromStringAndSize(request, (Py_ssize_t)len);
    PyObject *out = bytes ? PyObject_CallOneArg(handler, bytes) : NULL;
    char *data = NULL;
    Py_ssize_t n = 0;
    bool ok = out && PyBytes_AsStringAndSize(out, &data, &n) == 0;
    *reply = ok ? malloc(FRAME_HEAD_BYTES + (size_t)n) : NULL;
    *reply_len = (size_t)n;
    if (*reply)
        memcpy(*reply + FRAME_HEAD_BYTES, data, (size_t)n);
    Py_XDECREF(out);
    Py_XDECREF(bytes);
    return *reply != NULL;
}
