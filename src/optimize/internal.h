// SPDX-License-Identifier: GPL-3.0-or-later
// internal.h - the optimizers by name.
#pragma once
#include "optimize/optimize.h"

extern const struct optimizer optimizer_bootstrap_few_shot;
