#!/usr/bin/env bash
# `sinter tune` as a user would call it, on a device with nothing to choose. usage: tool.sh SINTER
set -euo pipefail
sinter=$(realpath "$1")
called=$sinter called_name=sinter
# shellcheck source=tests/support/expect.sh
. "$(dirname "$0")/../support/expect.sh"
cd "$work"
export SINTER_CACHE_DIR=$work/cache

expect 106 'subcommand is required' tune
expect 0 'SIZES' tune run --help
expect 0 "^$work/cache/tuning/choices\$" tune show
expect 0 '^0 choices removed$' tune clear
expect 0 '^64x32x48 of bf16: there is nothing to choose on this device' tune run 64x32x48 --device host
expect 0 '^4x2x8x3 of f16: there is nothing to choose' tune run 4x2x8x3 --dtype f16 --device host
expect 105 'dtype' tune run 64x32x48 --dtype f64
for sizes in 64 64x32 64x32x x64x32x1 64x0x32 -1x2x3 64x32x48x1x1 99999999999999999999x1x1 64x32x48y; do
  expect 2 "\"$sizes\" names no product; it takes ROWSxCOLUMNSxDEPTH" tune run --device host -- "$sizes"
done
expect 1 'no choice has "nothing" in it' tune show nothing

# What a damaged file has is not shown, and one line of the log says why.
mkdir -p cache && mkdir -m 0700 cache/tuning && (umask 077 && echo "sinter-tuning 1 0123" >cache/tuning/choices)
export SINTER_LOG=tune
expect 0 "^sinter tune: $work/cache/tuning/choices is not used: its content is damaged\$" tune list
unset SINTER_LOG
expect 0 '^0 choices removed$' tune clear
SINTER_CACHE=0 expect 0 '^nothing is kept on disk$' tune show

# Values of variables that mean nothing are told by every command.
SINTER_AUTOTUNE=fast expect 1 'SINTER_AUTOTUNE is "fast"; it takes off, cached, quick or full' env
SINTER_TUNE_SOFTMAX=rows=4 expect 1 'SINTER_TUNE_SOFTMAX is set, and there is no such family' devices
expect 0 '^SINTER_AUTOTUNE=cached ' env

[ "$failures" -eq 0 ] || { echo "$failures failures" >&2; exit 1; }
