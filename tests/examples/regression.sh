#!/usr/bin/env bash
# A table that is made, and one from a file. usage: regression.sh PROGRAM
set -euo pipefail
program=$(realpath "$1")
called=$program called_name=regression
# shellcheck source=tests/support/expect.sh
. "$(dirname "$0")/../support/expect.sh"

# How much of the variance of unseen rows is explained.
explained() { sed -nE 's/.*explains (-?[0-9.]+) of.*/\1/p' "$work/out"; }

# A plane through Friedman's function explains three quarters.
expect 0 'unseen rows: off by' --epochs 30
awk -v r="$(explained)" 'BEGIN { exit !(r > 0.88) }' || say_failed "30 epochs explain $(explained)"

# c = a b, with names, an empty line and the line ends of Windows.
awk 'BEGIN { srand(3); printf "a,b,c\r\n\r\n"
  for (i = 0; i < 300; ++i) { a = rand() * 4 - 2; b = rand() * 4 - 2; printf "%f,%f,%f\r\n", a, b, a * b } }' >"$work/table.csv"
expect 0 'unseen rows: off by' "$work/table.csv" --epochs 40 --batch 20
awk -v r="$(explained)" 'BEGIN { exit !(r > 0.9) }' || say_failed "a product: explained $(explained)"

expect 1 'nothing.csv cannot be opened' "$work/nothing.csv"
printf '1,2\n3\n' >"$work/short.csv"
expect 1 'short.csv:2: expected 2 numbers, not "3"' "$work/short.csv"
printf '1,2\n3,x\n' >"$work/word.csv"
expect 1 'word.csv:2: expected 2 numbers, not "3,x"' "$work/word.csv"
printf '1,2\n3,4\n' >"$work/few.csv"
expect 1 'few.csv has fewer than 10 rows' "$work/few.csv"
[ "$failures" -eq 0 ] || { echo "$failures failed" >&2; exit 1; }
