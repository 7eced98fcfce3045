#!/usr/bin/env bash
# Runs the GPT like a user: a short training on the licence, its resumption, its text. usage: run.sh PROGRAM
set -euo pipefail
program=$(realpath "$1")
called=$program called_name=gpt
# shellcheck source=tests/support/expect.sh
. "$(dirname "$0")/../support/expect.sh"

mkdir "$work/text"
root=$(cd "$(dirname "$0")/../.." && pwd)
cp "$root/LICENSE" "$work/text/license.txt"  # a text that never changes, so neither do the losses
cd "$work"
small=(text --steps 24 --batch 4 --warm-up 4 --report 12 --tokens 20)
loss() { sed -nE "s/^step $1  loss ([0-9.]+).*/\1/p" "$work/out"; }

expect 0 'Trains a GPT' --help
expect 0 'step 24  loss' "${small[@]}"
grep -Eq '^[0-9]+ parameters on host' out || say_failed "it does not say how many parameters there are"
grep -Eq '^validation loss [0-9.]+' out || say_failed "no validation loss"
first=$(loss 12) last=$(loss 24)
awk -v a="$first" -v b="$last" 'BEGIN { exit !(b < a && b < 4.5) }' || say_failed "the loss goes from $first to $last"

# What is stopped and resumed ends where the whole training ended.
expect 0 'step 12  loss' "${small[@]}" --until 12 --save half.safetensors
expect 0 'resumed at step 12' "${small[@]}" --resume --save half.safetensors
[ "$(loss 24)" = "$last" ] || say_failed "resumed, the loss is $(loss 24), not $last"

# The most likely text is the same each time, also from the file.
expect 0 'parameters' --generate --temperature 0 --tokens 20 --prompt 'The '
cp out once
expect 0 'parameters' --generate --temperature 0 --tokens 20 --prompt 'The '
cmp -s out once || say_failed "two texts of temperature 0 differ"
expect 0 'loss' text --steps 2 --batch 2 --bf16 --tokens 0 --report 1

expect 1 'gpt: the text nothing cannot be opened' nothing
expect 1 'gpt: which text'
expect 1 'there is no size "huge"' text --size huge
expect 1 'cannot be opened' --generate --save nothing.safetensors
[ "$failures" -eq 0 ] || { echo "$failures failed" >&2; exit 1; }
