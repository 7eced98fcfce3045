#!/usr/bin/env bash
# The example prints the expected output, and docs/explain.md shows that program and that output;
# SINTER_UPDATE_GOLDEN=1 rewrites both. usage: check.sh PROGRAM PYTHON
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
"$2" - "$root" "$1" "${SINTER_UPDATE_GOLDEN:-0}" <<'PYTHON'
import difflib, pathlib, subprocess, sys
root, program, update = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3] == "1"
page, source, kept = root / "docs/explain.md", root / "examples/explain/main.cpp", root / "examples/explain/expected.txt"
output = subprocess.run([program], check=True, capture_output=True, text=True).stdout
expected = kept.read_text(encoding="utf-8")
if update and output != expected:
    page.write_text(page.read_text(encoding="utf-8").replace(expected, output), encoding="utf-8")
    kept.write_text(output, encoding="utf-8")
    expected = output
if output != expected:
    sys.exit("".join(difflib.unified_diff(expected.splitlines(True), output.splitlines(True), "expected", "printed")) +
             "examples/explain prints something else; scripts/update-golden writes it anew")
text, code = page.read_text(encoding="utf-8"), source.read_text(encoding="utf-8")
for part in (code[code.index("int main"):], expected):
    if part not in text:
        sys.exit("docs/explain.md no longer shows examples/explain:\n" + part)
PYTHON
