#!/usr/bin/env bash
# Runs the guide like a user: on a small data set made here, and with every kind of invalid argument. usage:
# run.sh PROGRAM PYTHON
set -euo pipefail
program=$(realpath "$1") python=$2
called=$program called_name=guide
# shellcheck source=tests/support/expect.sh
. "$(dirname "$0")/../support/expect.sh"

# Ten classes of images that differ in the position of a square.
"$python" - "$work/data/mnist" <<'PYTHON'
import os, struct, sys
folder = sys.argv[1]
os.makedirs(folder)
for name, count in (("train", 320), ("t10k", 60)):
    images = bytearray()
    for i in range(count):
        image = [[0] * 28 for _ in range(28)]
        for y in range(8):
            for x in range(4):
                image[4 + i % 10 // 5 * 10 + y][2 + i % 5 * 5 + x] = 150 + (7 * i + x * y) % 100
        for row in image:
            images += bytes(row)
    labels = bytes(i % 10 for i in range(count))
    with open(f"{folder}/{name}-images-idx3-ubyte", "wb") as file:
        file.write(struct.pack(">4I", 0x803, count, 28, 28) + images)
    with open(f"{folder}/{name}-labels-idx1-ubyte", "wb") as file:
        file.write(struct.pack(">2I", 0x801, count) + labels)
PYTHON

export SINTER_DATA=$work/data
weights=$work/data/guide.safetensors
small=(--epochs 2 --batch 16)

expect 0 'usage: guide' --help
expect 0 'test: loss [0-9.]+  accuracy (9[0-9]|100)' "${small[@]}" --lr 0.003
grep -q "saved $weights" "$work/out" || say_failed "it does not say where the weights are"
grep -Eq 'plans built +[0-9]+' "$work/out" || say_failed "no summary of the JIT"
grep -Eq '▀|▄|█' "$work/out" || say_failed "no digits are drawn"
# What the page says about a training step is what one is.
page=$(cd "$(dirname "$0")/../.." && pwd)/docs/guide.md
shown=$(grep -A2 '^a training step of the last epoch$' "$page")
[ "$(grep -A2 '^a training step of the last epoch$' "$work/out")" = "$shown" ] ||
  say_failed "docs/guide.md shows another training step: $shown"
expect 0 'plans built' --predict-only
if grep -q epoch "$work/out"; then say_failed "--predict-only trains"; fi
expect 0 'training on 48 images' --images 48 --epochs=1 --batch 16

expect 2 'no option "--epoch"; --help' --epoch 3
expect 2 '--epochs wants a number above 0, not "x"' --epochs x
expect 2 '--lr wants a number above 0, not "-1"' --lr -1
expect 2 '--seed wants a value' --seed
expect 2 'one batch of 64 needs more than 48 images' --images 48
expect 1 'guide: .*abacus' --device abacus
expect 1 'there is no folder ".*/nowhere".*scripts/fetch-data' --data "$work/nowhere"
expect 1 'nowhere/w.*cannot be written: No such file' "${small[@]}" --save "$work/nowhere/w"
expect 1 'none".*cannot be opened: No such file' --predict-only --save "$work/none"
[ -e "$weights.try" ] && say_failed "a probe of the weights' file stays behind"

cp "$weights" "$work/good"
printf 'x' | dd of="$weights" bs=1 seek=5000 conv=notrunc status=none
expect 1 'guide.safetensors.*checksum' --predict-only
head -c 100000 "$work/good" >"$weights"
expect 1 'guide.safetensors.*bytes' --predict-only

truncate -s -1 "$work/data/mnist/t10k-images-idx3-ubyte"
expect 1 't10k-images-idx3-ubyte.*\(60, 28, 28\) need 47040 bytes of elements, there are 47039.*scripts/fetch-data'
rm "$work/data/mnist/train-labels-idx1-ubyte"
expect 1 'there is no file train-labels-idx1-ubyte'

[ "$failures" -eq 0 ] || { echo "$failures failed" >&2; exit 1; }
