#!/usr/bin/env bash
# Part of the eight modes is found soon. usage: wgan.sh PROGRAM
set -euo pipefail
program=$(realpath "$1")
called=$program called_name=wgan
# shellcheck source=tests/support/expect.sh
. "$(dirname "$0")/../support/expect.sh"

expect 0 'step 400  distance' --steps 400
last=$(grep '^step 400 ' "$work/out")
read -r distance modes near < <(sed -E 's/.*distance (-?[0-9.]+)  modes ([0-9]+) .*: ([0-9.]+)/\1 \2 \3/' <<<"$last")
# One point in eight is near a mode at first; without the penalty the distance has no limit.
awk -v d="$distance" -v m="$modes" -v n="$near" 'BEGIN { exit !(d > 0 && d < 1 && m >= 5 && n > 0.25) }' ||
  say_failed "after 400 steps: $last"
[ "$failures" -eq 0 ] || { echo "$failures failed" >&2; exit 1; }
