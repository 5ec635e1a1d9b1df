#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# demo.sh [DIR] - the main job on built-in puzzles with a simulated model: score the base prompt,
# improve it, score the better one. No key, no network. Files go to DIR [runs/demo].
#
# Given twice it asks nothing twice: every reply is in the store. Remove DIR to start afresh.
set -euo pipefail
cd "$(dirname "$0")/.."
rookery=${ROOKERY:-build/src/cli/rookery}
out=${1:-runs/demo}
common=(--model sim/responsive --test builtin:test --limit 120 --seed 42 --store "$out/rookery.db")
mkdir -p "$out"

echo "== 1 of 2: the base prompt on held-out puzzles (sim/responsive is simulated: no real model)"
"$rookery" eval "${common[@]}" --out "$out/baseline"
echo
echo "== 2 of 2: demonstrations found by bootstrap_few_shot on the training puzzles"
"$rookery" optimize --method bootstrap_few_shot --train builtin:train "${common[@]}" \
    --out "$out/bootstrap_few_shot"
echo
echo "== both, on the same positions"
"$rookery" runs diff 1 2 --store "$out/rookery.db"
echo
echo "Files:"
find "$out" -type f ! -name '*.db-*' | sort | sed 's/^/  /'
echo
echo "All of this came from a simulated model. The same on a real endpoint (--dry-run shows the cost):"
echo "  OPENAI_API_KEY=... $rookery optimize --model openai/gpt-4o-mini --limit 120 --max-cost 0.50"
