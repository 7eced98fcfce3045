#!/usr/bin/env bash
# Small models of llama2.c's format: what they say, and files that are none. usage: llama.sh PROGRAM PYTHON
set -euo pipefail
program=$(realpath "$1") python=$2
called=$program called_name=llama
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/support/expect.sh
. "$here/../support/expect.sh"
cd "$work"

# Heads with keys of their own, heads that share them; the table of tokens as the output layer, or another one.
for heads in 4 2 1; do
  for own in no yes; do
    for prompt in '' 'abcdé x'; do
      "$python" "$here/llama.py" . "$heads" "$own" "$prompt" 30
      "$program" model.bin tokenizer.bin --prompt "$prompt" --tokens 30 >said 2>err || say_failed "$(cat err)"
      cmp -s said expected || say_failed "$heads heads of keys, '$prompt': it says '$(cat said)', not '$(cat expected)'"
    done
  done
done
"$program" model.bin tokenizer.bin --temperature 1 --seed 5 --tokens 20 >said 2>/dev/null
"$program" model.bin tokenizer.bin --temperature 1 --seed 5 --tokens 20 >again 2>/dev/null
cmp -s said again || say_failed "the same seed says something else"

size=$(stat -c %s model.bin)
for bytes in 0 10 28 1000 $((size - 1)); do
  head -c "$bytes" model.bin >short.bin
  expect 1 'short.bin ends too early' short.bin tokenizer.bin
done
# Two thousand million layers.
{ head -c 8 model.bin; printf '\377\377\377\177'; tail -c +13 model.bin; } >short.bin
expect 1 'short.bin ends too early' short.bin tokenizer.bin
cat model.bin tokenizer.bin >long.bin
expect 1 'bytes behind the model' long.bin tokenizer.bin
head -c 100 tokenizer.bin >short.bin
expect 1 'short.bin ends too early' model.bin short.bin
expect 1 'is no model of llama2.c' tokenizer.bin tokenizer.bin
expect 1 'nothing.bin cannot be opened' nothing.bin tokenizer.bin
expect 0 'Continues a text' --help
[ "$failures" -eq 0 ] || { echo "$failures failed" >&2; exit 1; }
