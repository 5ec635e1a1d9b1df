#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# fingerprint.sh - one hash over what deterministic simulated runs write, compared with
# tests/golden/fingerprint. UPDATE=1 writes that file; the commit that moves it says why.
set -euo pipefail
cd "$(dirname "$0")/.."
rookery=${ROOKERY:-build/src/cli/rookery}
golden=tests/golden/fingerprint
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# run NAME COMMAND...: one run, its files hashed under NAME; its output only when it fails.
run() {
    local name=$1
    shift
    "$rookery" "$@" --deterministic --store :memory: --out "$tmp/$name" >"$tmp/log" 2>&1 || {
        echo "fingerprint.sh: '$rookery $*' failed:" >&2
        cat "$tmp/log" >&2
        exit 1
    }
}
data=(--test builtin:test --limit 60 --seed 7)
for model in responsive stubborn sloppy; do
    run "eval-$model" eval --model "sim/$model" "${data[@]}"
done
run bootstrap optimize --method bootstrap_few_shot --model sim/responsive --train builtin:train \
    --train-limit 40 "${data[@]}"
run gepa optimize --method gepa --model sim/responsive --prompt-model sim/meta --train builtin:train \
    --train-limit 40 --validation 12 --set auto=light "${data[@]}"

(cd "$tmp" && find . \( -name results.json -o -name compiled.json -o -name predictions.jsonl \) |
    LC_ALL=C sort | while read -r file; do
    # Which build wrote a file is no part of what it says.
    echo "$(sed '/"commit":/d' "$file" | sha256sum | cut -d' ' -f1)  $file"
done) >"$tmp/sums"
[ "$(wc -l <"$tmp/sums")" -ge 4 ] || { echo "fingerprint.sh: the runs wrote no results" >&2; exit 1; }
now=$(sha256sum <"$tmp/sums" | cut -d' ' -f1)
echo "$now"
if [ "${UPDATE:-}" = 1 ]; then
    mkdir -p "$(dirname "$golden")"
    echo "$now" >"$golden"
elif [ "$now" != "$(cat "$golden" 2>/dev/null)" ]; then
    echo "fingerprint.sh: not the hash of $golden. Is the change meant? Then 'make fingerprint" \
        "UPDATE=1', and the commit says why. The files:" >&2
    cat "$tmp/sums" >&2
    exit 1
fi
