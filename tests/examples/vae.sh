#!/usr/bin/env bash
# A few steps on discs, and on a file of images. usage: vae.sh PROGRAM
set -euo pipefail
program=$(realpath "$1")
called=$program called_name=vae
# shellcheck source=tests/support/expect.sh
. "$(dirname "$0")/../support/expect.sh"

loss() { sed -nE "s/^step $1  loss ([0-9.]+).*/\1/p" "$work/out"; }
# Without names, by the mean image alone, discs cost some 47 nats.
expect 0 'images that never were' --steps 150
awk -v a="$(loss 1)" -v b="$(loss 150)" 'BEGIN { exit !(a > 150 && b < 40) }' ||
  say_failed "the loss goes from $(loss 1) to $(loss 150)"

# 64 images of 8 x 8: the left half, or the right one, is white.
{ printf '\0\0\10\3\0\0\0\100\0\0\0\10\0\0\0\10'
  for _ in {1..256}; do printf '\377\377\377\377\0\0\0\0'; done
  for _ in {1..256}; do printf '\0\0\0\0\377\377\377\377'; done; } >"$work/halves"
expect 0 'step 200  loss' "$work/halves" --steps 200 --latent 2
awk -v b="$(loss 200)" 'BEGIN { exit !(b < 10) }' || say_failed "two images cost $(loss 200)"

expect 1 'nothing": there is no such file' "$work/nothing"
printf '\0\0\10\1\0\0\0\2ab' >"$work/labels"
expect 1 'labels has no images, but \(2\)' "$work/labels"
[ "$failures" -eq 0 ] || { echo "$failures failed" >&2; exit 1; }
