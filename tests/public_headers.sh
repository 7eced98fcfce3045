#!/usr/bin/env bash
# Each public header compiles alone, with all warnings, and includes no library that is internal to Sinter, and none of
# the standard headers that take long to compile.
# usage: public_headers.sh INCLUDE_DIR COMPILER...
set -u
include=$1; shift
flags=(-std=c++20 -Wall -Wextra -Wpedantic -Werror -I "$include" -x c++)
slow_headers='algorithm|atomic|chrono|filesystem|fstream|functional|iostream|iterator|map|memory|mutex|ostream|random|ranges'
slow_headers+='|regex|sstream|streambuf|thread|unordered_map|variant'
list=$(mktemp)
trap 'rm -f "$list"' EXIT
failed=0 count=0
while IFS= read -r header; do
  name=${header#"$include/"}
  count=$((count + 1))
  if ! echo "#include <$name>" | "$@" "${flags[@]}" -fsyntax-only -MD -MF "$list" -; then
    echo "FAILED: $name does not compile alone"
    failed=1
    continue
  fi
  inside=$(tr ' ' '\n' <"$list" |
    grep -E '/(absl|hwy|vulkan|shaderc|nlohmann)/|/xxhash\.h$|/(src|jit|kernels)/' | head -3)
  if [ -n "$inside" ]; then
    echo "FAILED: $name includes something that is not public: $inside"
    failed=1
  fi
  slow=$(tr ' ' '\n' <"$list" | grep -E "/($slow_headers)\$" | head -3)
  if [ -n "$slow" ]; then
    echo "FAILED: $name includes a header that takes long to compile: $slow"
    failed=1
  fi
done < <(find "$include/sinter" -name '*.h' | sort)
echo "$count public headers"
[ "$count" -gt 0 ] && exit "$failed"
echo "FAILED: no header under $include/sinter"
exit 1
