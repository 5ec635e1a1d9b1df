#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# peers.sh DIR - installs the mock servers of tests/peers into DIR, unless they are there; without
# npm or network it says so and succeeds: the tests then skip what is missing.
set -eu
dir=${1:?give the directory}
source=$(dirname "$0")/../tests/peers
mkdir -p "$dir"
cmp -s "$source/package-lock.json" "$dir/installed" && exit 0
command -v npm >/dev/null || { echo "peers.sh: no npm; the tests with its peers are skipped" >&2; exit 0; }
cp "$source/package.json" "$source/package-lock.json" "$source/.npmrc" "$dir"
if (cd "$dir" && timeout 300 npm ci --ignore-scripts >npm.log 2>&1); then
    cp "$source/package-lock.json" "$dir/installed"
else
    echo "peers.sh: npm cannot install the peers (see $dir/npm.log); their tests are skipped" >&2
fi
