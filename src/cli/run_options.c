// SPDX-License-Identifier: GPL-3.0-or-later
// run_options.c - the options that eval and optimize share.
#include "cli/run.h"

const struct opt opts_model[] = {
    { "model", OPT_TEXT, "NAME", "task model, provider/model: openai/gpt-4o-mini, sim/responsive",
      0, 0 },
    { "base-url", OPT_TEXT, "URL", "endpoint of the task model (any OpenAI-compatible)", 0, 0 },
    { "temperature", OPT_REAL, "T", "sampling temperature [0]", 0, 100 },
    { "max-tokens", OPT_INT, "N", "most tokens of an answer [1024]", 1, 10000000 },
    { "retries", OPT_INT, "N", "attempts after the first [3]", 0, 100 },
    { "timeout", OPT_REAL, "S", "seconds an attempt may take [120]", 0.001, 86400 },
    { "extra", OPT_TEXT, "JSON", "members added to each request: '{\"reasoning_effort\":\"low\"}'",
      0, 0 },
    { "format", OPT_TEXT, "MODE", "none, json_object or schema [json_object]", 0, 0 },
    { "allow-http", OPT_FLAG, NULL, "send a key over plain http to another host", 0, 0 },
    { 0 },
};

const struct opt opts_puzzles[] = {
    { "test", OPT_TEXT, "FILE", "held-out puzzles: CSV, .zst, JSONL or builtin:test", 0, 0 },
    { "limit", OPT_INT, "N", "only the first N test positions of the shuffled file [all]", 0,
      1e15 },
    { "theme", OPT_TEXT, "NAME", "only test puzzles with this theme", 0, 0 },
    { "min-rating", OPT_INT, "N", "only test puzzles rated N or more", 0, 10000 },
    { "max-rating", OPT_INT, "N", "only test puzzles rated N or less", 0, 10000 },
    { "solver-moves", OPT_INT, "N", "only test puzzles with exactly N solver moves", 0, 100 },
    { "strict", OPT_FLAG, NULL, "a bad puzzle row ends the run instead of being skipped", 0, 0 },
    { 0 },
};

const struct opt opts_run[] = {
    { "program", OPT_TEXT, "FILE", "program to start from: compiled.json or a plain text", 0, 0 },
    { "seed", OPT_INT, "N", "decides every draw [42]", 0, 9e18 },
    { "concurrency", OPT_TEXT, "N|auto", "calls in flight; auto: what the endpoint bears, up to 64",
      0, 0 },
    { "rpm", OPT_INT, "N", "at most N requests a minute to each endpoint", 1, 1e9 },
    { "tpm", OPT_INT, "N", "at most N tokens a minute, in and out, to each endpoint", 1, 1e12 },
    { "max-cost", OPT_REAL, "USD", "most this run may ever spend [no cap]", 1e-6, 1e6 },
    { "prices", OPT_TEXT, "FILE", "dollars per million tokens, before the built-in ones", 0, 0 },
    { "max-cost-per-day", OPT_REAL, "USD",
      "most that runs in the store may spend in a day, UTC [no cap]", 1e-6, 1e6 },
    { "preset", OPT_TEXT, "NAME", "paper or improved [paper]", 0, 0 },
    { "store", OPT_TEXT, "FILE", "where every reply is kept [rookery.db]", 0, 0 },
    { "out", OPT_TEXT, "DIR", "run directory [runs/...]", 0, 0 },
    { "run-name", OPT_TEXT, "NAME", "tells apart runs that are otherwise the same", 0, 0 },
    { "repeat", OPT_INT, "N", "the Nth repetition of this run, begun or gone on with", 1, 1000000 },
    { "again", OPT_FLAG, NULL, "start a new run even if this one is finished", 0, 0 },
    { "reuse", OPT_FLAG, NULL, "take good replies that other runs got", 0, 0 },
    { "continue-on-error", OPT_FLAG, NULL, "record calls that never succeed as failed", 0, 0 },
    { "deterministic", OPT_FLAG, NULL, "write no times into the result files", 0, 0 },
    { "dry-run", OPT_FLAG, NULL, "show the plan and its cost, call nothing", 0, 0 },
    { "json", OPT_FLAG, NULL, "print summary.json instead of the report", 0, 0 },
    { 0 },
};
