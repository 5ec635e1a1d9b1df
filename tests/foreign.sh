#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# foreign.sh BUILD - passes the chess tests on processors that this machine does not have.
#
# First the tests of BUILD (meson's directory, built) on the oldest x86-64 that the emulator knows,
# without POPCNT and BMI: no faster instruction may be taken where the processor lacks it. Then the
# modules base and chess with their tests are built for arm64 and run. The arm64 libraries
# are unpacked into BUILD/arm64: nothing is installed but the compiler and the emulator
# (tools/deps.sh arm64). Needs the package server once.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "${1:?give the build directory}")
work=$build/arm64
export ROOKERY_SOURCE=$PWD ROOKERY_SHARED=${ROOKERY_SHARED:-$PWD/../shared}
# The compiler for this machine, which makes the tables, and that for arm64.
cc=${CC:-cc} cross=aarch64-linux-gnu-gcc
bad=0 good=0

run() { # NAME COMMAND...
    local name=$1 log=$work/${1// /-}.log
    shift
    if "$@" >"$log" 2>&1; then
        good=$((good + 1))
        skipped=$(grep -c '^\[  SKIPPED \] [a-z]' "$log" || true)
        echo "$name: $(sed -n 's/^\[  PASSED  \] *//p' "$log") passed, $((skipped / 2)) skipped"
    else
        bad=$((bad + 1))
        echo "$name: FAILED" >&2
        tail -n 30 "$log" >&2
    fi
}

mkdir -p "$work"
for test in "$build"/tests/chess_*_test; do
    run "old-x86-64 $(basename "$test")" qemu-x86_64 -cpu Conroe "$test"
done

# ---- the libraries, and the packages they need, into a root of their own ----

root=$work/root
if [ ! -e "$root/usr/include/cmocka.h" ]; then
    mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/debs" "$root"
    apt=(apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64
        -o Dir::State::lists="$work/lists" -o Dir::Cache="$work/cache" -o Dir::State::status=/dev/null
        -o APT::Sandbox::User=root)
    "${apt[@]}" update
    (cd "$work/debs" && "${apt[@]}" download libc6 libcmocka0 libcmocka-dev libjansson4 libjansson-dev \
        libssl3 libssl-dev)
    for deb in "$work"/debs/*.deb; do
        dpkg -x "$deb" "$root"
    done
fi

# ---- the modules and their tests ----

flags=(-std=c17 -O2 -g -Wall -Wextra -Wno-format-truncation -Werror -D_GNU_SOURCE -Isrc -Itests
    -isystem "$root/usr/include" -isystem "$root/usr/include/aarch64-linux-gnu")
libraries=(-L"$root/usr/lib/aarch64-linux-gnu" -Wl,-rpath-link,"$root/usr/lib/aarch64-linux-gnu"
    -lcmocka -ljansson -lcrypto -lm -pthread)
$cc -std=c17 -O2 -Isrc src/chess/tables_gen.c -o "$work/tables-gen"
"$work/tables-gen" >"$work/chess_tables.c"
objects=()
for source in src/base/*.c src/chess/*.c "$work/chess_tables.c"; do
    [ "$source" != src/chess/tables_gen.c ] || continue
    object=$work/$(basename "$source" .c).o
    "$cross" "${flags[@]}" -c "$source" -o "$object"
    objects+=("$object")
done
for test in tests/chess/*_test.c; do
    name=$(basename "$test" .c)
    "$cross" "${flags[@]}" "$test" "${objects[@]}" "${libraries[@]}" -o "$work/$name"
    run "arm64 $name" qemu-aarch64 -L "$root" "$work/$name"
done
echo "$good test programs passed, $bad failed"
[ "$bad" -eq 0 ] && [ "$good" -gt 0 ]
