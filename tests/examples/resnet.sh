#!/usr/bin/env bash
# A narrow ResNet on images made here: training, its resumption, evaluation, errors. usage: resnet.sh PROGRAM PYTHON
set -euo pipefail
program=$(realpath "$1") python=$2
called=$program called_name=resnet
# shellcheck source=tests/support/expect.sh
. "$(dirname "$0")/../support/expect.sh"

# Three classes of images of 10 x 9: a bar in the left, the middle or the right third.
"$python" - "$work/images" <<'PYTHON'
import os, struct, sys
folder = sys.argv[1]
os.makedirs(folder)
for name, count in (("train", 100), ("t10k", 30)):
    images = bytearray()
    for i in range(count):
        for y in range(10):
            images += bytes((150 + (7 * i + x * y) % 100) if x // 3 == i % 3 else (i * y + x) % 40 for x in range(9))
    with open(f"{folder}/{name}-images-idx3-ubyte", "wb") as file:
        file.write(struct.pack(">4I", 0x803, count, 10, 9) + images)
    with open(f"{folder}/{name}-labels-idx1-ubyte", "wb") as file:
        file.write(struct.pack(">2I", 0x801, count) + bytes(i % 3 for i in range(count)))
PYTHON
cd "$work"
small=(images --width 4 --batch 16 --epochs 3 --report 3 --lr 0.05)
loss() { sed -nE "s/^epoch .*step $1\/18  loss ([0-9.]+).*/\1/p" "$work/out"; }

expect 0 'Trains ResNet-18' --help
expect 0 '^epoch 3/3  step 18/18  loss [0-9.]+  [0-9]+ images/s$' "${small[@]}"
grep -Eq '^100 images of 10 x 9 in 3 classes, [0-9]+ parameters on host$' out || say_failed "it does not say what it trains"
grep -Eq '^0\.0[0-9]+ \|.*█' out || say_failed "no plot of the learning rate"
[ "$(grep -c '^test: loss' out)" -eq 3 ] || say_failed "not one evaluation an epoch"
first=$(loss 3) last=$(loss 18) tested=$(grep '^test: loss' out | tail -1)
awk -v a="$first" -v b="$last" 'BEGIN { exit !(b < 0.5 * a) }' || say_failed "the loss goes from $first to $last"
[[ $tested =~ accuracy\ (9[0-9]|100) ]] || say_failed "the last test is $tested"

# The checkpoint knows what the model knew, in a process of its own.
expect 0 '^test: loss' images --width 4 --evaluate
[ "$(grep '^test: loss' out)" = "$tested" ] || say_failed "evaluated, it is $(grep '^test: loss' out), not $tested"

# What is stopped within an epoch and resumed ends where the whole training ended, also with images that are turned by
# random numbers.
for more in '' --flip; do
  expect 0 'step 18/18' "${small[@]}" $more --save whole.safetensors
  grep -E 'step 1[0-9]/18|^test' out | sed 's/  [0-9]* images.*//' | tail -5 >whole
  expect 0 'step 10/18' "${small[@]}" $more --until 10 --save half.safetensors
  if grep -q 'step 11' out; then say_failed "it does not stop at step 10"; fi
  expect 0 'resumed at step 10' "${small[@]}" $more --resume --save half.safetensors
  grep -E 'step 1[0-9]/18|^test' out | sed 's/  [0-9]* images.*//' | tail -5 >half
  cmp -s whole half || say_failed "resumed it is $(cat half), not $(cat whole)"
done
expect 0 'step 6/6  loss' images --width 4 --batch 16 --epochs 1 --bf16 --save mixed.safetensors

expect 1 'resnet: one batch of 101 needs more than 100 images' images --batch 101
expect 1 'nothing.*cannot be opened' images --width 4 --evaluate --save nothing.safetensors
expect 1 'conv1.weight.* is f32 \(4, 1, 3, 3\) but the module has' images --width 8 --evaluate --save half.safetensors
expect 1 'there is no folder' nowhere
expect 106 'folder is required'
truncate -s -1 images/t10k-images-idx3-ubyte
expect 1 't10k-images-idx3-ubyte' images
[ "$failures" -eq 0 ] || { echo "$failures failed" >&2; exit 1; }
