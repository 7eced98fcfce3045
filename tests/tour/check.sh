#!/usr/bin/env bash
# The tour prints the expected output, and docs/tensors.md shows that program and that output. usage: check.sh
# PROGRAM PYTHON
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
diff "$root/examples/tour/expected.txt" <("$1")
"$2" - "$root" <<'PYTHON'
import sys
read = lambda name: open(f"{sys.argv[1]}/{name}", encoding="utf-8").read()
page, source = read("docs/tensors.md"), read("examples/tour/main.cpp")
for text in (source[source.index("int main"):], read("examples/tour/expected.txt")):
    assert text in page, "docs/tensors.md no longer shows examples/tour:\n" + text
PYTHON
