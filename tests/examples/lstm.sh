#!/usr/bin/env bash
# Learns a text that does not change for a short while. usage: lstm.sh PROGRAM
set -euo pipefail
program=$(realpath "$1")
called=$program called_name=lstm
# shellcheck source=tests/support/expect.sh
. "$(dirname "$0")/../support/expect.sh"

cp "$(dirname "$0")"/../../LICENSE "$work/text"
loss() { sed -nE "s/^step $1  loss ([0-9.]+).*/\1/p" "$work/out"; }
expect 0 'step 100  loss' "$work/text" --steps 100 --hidden 64 --batch 8 --characters 50
# How often each character comes is learned first, at 3.07; below that it is what came before.
awk -v a="$(loss 1)" -v b="$(loss 100)" 'BEGIN { exit !(a > 3.5 && b < 2.5) }' ||
  say_failed "the loss goes from $(loss 1) to $(loss 100)"
[ "$(sed '1,/^step 100 /d' "$work/out" | wc -c)" -ge 40 ] || say_failed "nothing is written"

expect 1 'the text nothing cannot be opened' nothing
expect 1 'a text of 12 characters is too short for 16 rows of 32' <(printf 'short enough')
[ "$failures" -eq 0 ] || { echo "$failures failed" >&2; exit 1; }
