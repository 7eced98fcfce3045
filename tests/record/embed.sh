#!/usr/bin/env bash
# `sinter embed` as a user would call it: what it writes is compiled and read as a record, without a copy.
# usage: embed.sh SINTER INCLUDE_FOLDER BUILD_FOLDER COMPILER...
set -euo pipefail
sinter=$(realpath "$1") include=$(realpath "$2") build=$(realpath "$3"); shift 3
called=$sinter called_name=sinter
# shellcheck source=tests/support/expect.sh
. "$(dirname "$0")/../support/expect.sh"
cd "$work"

cat >make.cpp <<'CPP'
#include <sinter/record/record.h>
int main(int, char** argv) {
  const float values[] = {1, 2, 3};
  sinter::record::Record record;
  record.add("x", {sinter::DType::f32, {3}, std::as_bytes(std::span(values))});
  record.write(argv[1]);
}
CPP
cat >use.cpp <<'CPP'
#include <cstdio>
#include <cstring>
#include <sinter/record/record.h>
#include "weights.h"
int main() {
  using namespace sinter::record;
  const Record record = Record::from_bytes(Bytes::view(weights()));
  const std::byte* data = record.find("x")->bytes.data();
  float values[3];
  std::memcpy(values, data, sizeof values);
  const bool inside = data > weights().data() && data < weights().data() + weights().size();
  std::printf("%g %g %g, %s\n", values[0], values[1], values[2], inside ? "not copied" : "copied");
}
CPP
flags=(-std=c++20 -I "$include" -L "$build" "-Wl,-rpath,$build")
"$@" "${flags[@]}" make.cpp -o make -lsinter
odd='a "file" of $weights\.safetensors'
./make "$odd"

expect 0 '^weights.h weights.cpp$' embed "$odd" --name weights
"$@" "${flags[@]}" use.cpp weights.cpp -o use -lsinter
[ "$(./use)" = "1 2 3, not copied" ] || say_failed "by the assembler: $(./use)"
expect 0 'weights.cpp$' embed "$odd" --name weights --array
"$@" "${flags[@]}" use.cpp weights.cpp -o use -lsinter
[ "$(./use)" = "1 2 3, not copied" ] || say_failed "as an array: $(./use)"

# Nothing at all is nothing.
: >empty
cat >none.cpp <<'CPP'
#include "none.h"
int main() { return static_cast<int>(none().size()); }
CPP
sed -i 's/none.h/sub.h/' none.cpp
for how in '' --array; do
  # shellcheck disable=SC2086
  expect 0 'sub.h' embed empty --name none --out sub $how
  "$@" -std=c++20 none.cpp sub.cpp -o none && ./none || say_failed "an empty file is not empty"
done

expect 1 'is not a regular file' embed nothing --name x
expect 1 'is not a regular file' embed . --name x
expect 1 'cannot be the name of a function' embed empty --name 1x
expect 1 'cannot be the name of a function' embed empty --name 'a-b'
expect 1 'cannot be written' embed empty --name x --out none/x
expect 106 'name is required' embed empty
[ "$failures" -eq 0 ] || { echo "$failures failures" >&2; exit 1; }
