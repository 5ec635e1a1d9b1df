#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# fuzz.sh BUILD_DIR - runs each target of tests/fuzz for FUZZ_SECONDS; fails if one found a fault.
#
# New inputs go to BUILD_DIR/corpus, so the committed corpus grows only on purpose; what broke a
# target is kept in BUILD_DIR/findings.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:?give the build directory}
seconds=${FUZZ_SECONDS:-60}
mkdir -p "$build/findings"
bad=0 good=0
for source in tests/fuzz/*.c; do
    name=$(basename "$source" .c)
    target=$build/tests/fuzz/fuzz_$name
    if [ ! -x "$target" ]; then
        echo "fuzz $name: not built: name it in tests/fuzz/meson.build" >&2
        bad=$((bad + 1))
        continue
    fi
    new=$build/corpus/$name log=$build/findings/$name.log
    mkdir -p "$new"
    seeds=()
    [ ! -d "tests/fuzz/corpus/$name" ] || seeds=("tests/fuzz/corpus/$name")
    if "$target" -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=10 -max_len=65536 \
        -print_final_stats=1 -artifact_prefix="$build/findings/$name-" \
        "$new" ${seeds[@]+"${seeds[@]}"} >"$log" 2>&1; then
        good=$((good + 1))
        runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
        echo "fuzz $name: no fault in $runs runs, $seconds s"
    else
        bad=$((bad + 1))
        echo "fuzz $name: FAULT; the input is in $build/findings, the end of the log:" >&2
        tail -n 40 "$log" >&2
    fi
done
echo "$good targets passed, $bad failed"
[ "$bad" -eq 0 ] && [ "$good" -gt 0 ]
