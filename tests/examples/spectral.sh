#!/usr/bin/env bash
# The distance is found, never exceeded, and the state comes back. usage: spectral.sh PROGRAM
set -euo pipefail
program=$(realpath "$1")
called=$program called_name=spectral
# shellcheck source=tests/support/expect.sh
. "$(dirname "$0")/../support/expect.sh"

seen() { sed -nE 's/^seen (-?[0-9.]+) of.*/\1/p' "$work/out"; }
expect 0 'the state came back' --steps 150
grep -q 'buffer u (32, 1)' "$work/out" || say_failed "the state does not show"
awk -v s="$(seen)" 'BEGIN { exit !(s > 2.7 && s < 3.1) }' || say_failed "seen: $(seen) of 3"
expect 0 'of a distance of 3.000' --steps 0
awk -v s="$(seen)" 'BEGIN { exit !(s < 1.5) }' || say_failed "without training it sees $(seen)"
[ "$failures" -eq 0 ] || { echo "$failures failed" >&2; exit 1; }
