#!/usr/bin/env bash
# Programs that must not compile. The first line of each is "// expect: REGEX", which an error or a note of the
# compiler must match, without the place that it names and the line that it quotes: these hold the file's own
# words. Compiled with -DSINTER_CONTROL, the same file holds the correct program and must compile, so that an
# unrelated mistake in it cannot pass a case. usage: run.sh INCLUDE_DIR COMPILER...
set -u
include=$1; shift
here=$(cd "$(dirname "$0")" && pwd)
flags=(-std=c++20 -fsyntax-only -I "$include")
failed=0 count=0

fail() { echo "FAILED: $1"; failed=1; }

for file in "$here"/*.cpp; do
  name=$(basename "$file")
  count=$((count + 1))
  expected=$(sed -n '1s|^// expect: ||p' "$file")
  [ -n "$expected" ] || { fail "$name does not begin with // expect: REGEX"; continue; }
  if ! grep -q SINTER_CONTROL "$file"; then
    fail "$name has no #ifdef SINTER_CONTROL with the program that compiles"
  elif ! message=$("$@" "${flags[@]}" -DSINTER_CONTROL "$file" 2>&1); then
    fail "$name does not compile with -DSINTER_CONTROL:"$'\n'"$message"
  fi
  if message=$("$@" "${flags[@]}" "$file" 2>&1); then
    fail "$name compiles, and must not"
  elif ! sed -nE 's/^.*(error|note): //p' <<<"$message" | grep -qE -- "$expected"; then
    fail "$name: no line of the compiler's message matches $expected:"$'\n'"$message"
  fi
done
echo "$count programs that must not compile"
[ "$count" -gt 0 ] || fail "no program in $here"
exit "$failed"
