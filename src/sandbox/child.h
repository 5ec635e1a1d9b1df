// SPDX-License-Identifier: GPL-3.0-or-later
// child.h - what the two files that hold Python share.
#pragma once
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "sandbox/internal.h"

// Keeps what calls need of run.py's globals. False: a Python exception is set.
bool python_prepare_calls(PyObject *globals);
