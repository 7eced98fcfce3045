#!/usr/bin/env bash
# The program `sinter` as a user would call it. usage: tool.sh SINTER EXPLAIN_EXAMPLE TOUR PYTHON
set -euo pipefail
sinter=$(realpath "$1") example=$(realpath "$2") tour=$(realpath "$3") python=$4
called=$sinter called_name=sinter
# shellcheck source=tests/support/expect.sh
. "$(dirname "$0")/../support/expect.sh"
cd "$work"

expect 0 '^[0-9]+\.[0-9]+\.[0-9]+$' --version
expect 0 '^SINTER_EXPLAIN=' env
expect 0 '^host +.*\(taken unless asked otherwise\)$' devices
expect 0 'explain' --help
expect 106 'PROGRAM is required' explain
expect 105 'format' explain --format xml -- "$tour"

# The report follows the program's output and has the program's source lines.
expect 0 '^2 launches of 1 plan|^[0-9]+ launches of [0-9]+ different plans$' explain -- "$tour"
expect 0 'main.cpp:[0-9]+ +max sub exp' explain -- "$tour"
expect 0 '^host: [0-9]+ operations' explain -- "$tour"
expect 0 '^sum 21$' explain -- "$tour"
# Arguments that begin with - are the program's.
expect 0 'launch of 1:' explain --out with.txt -- "$example" --out.json
[ -s ./--out.json ] || say_failed "the program did not get its argument"

expect 0 '' explain --out "$work/report.svg" -- "$tour"
expect 0 '' explain --out "$work/report.json" -- "$tour"
expect 0 '' explain --out "$work/report" --format text -- "$tour"
expect 0 '' explain --out "$work/folder" -- "$tour"
"$python" - "$work" <<'PYTHON' || failures=$((failures + 1))
import json, pathlib, sys
import xml.etree.ElementTree as xml
work = pathlib.Path(sys.argv[1])
report = json.loads((work / "report.json").read_text(encoding="utf-8"))
assert report == json.loads((work / "folder/plan.json").read_text(encoding="utf-8")), "two runs of one program differ"
assert report["launches"] == sum(t["times"] * len(t["launches"]) for t in report["traces"]) > 0
launches = [launch for trace in report["traces"] for launch in trace["launches"]]
for trace in report["traces"]:
    assert trace["peak_bytes"] == trace["input_bytes"] + trace["output_bytes"] + trace["temporary_bytes"], trace
    assert trace["least_bytes"] <= trace["bytes_moved"], trace
    assert trace["bytes_moved"] == sum(l["bytes_read"] + l["bytes_written"] for l in trace["launches"]), trace
for launch in launches:
    assert launch["ops"] and launch["lines"], launch
    assert launch["bytes_read"] == sum(a["bytes_read"] for a in launch["accesses"]), launch
for name in ("report.svg", "folder/plan.svg"):
    root = xml.parse(work / name).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg", root.tag
    svg = "{http://www.w3.org/2000/svg}"
    boxes = [r for r in root.iter(svg + "rect") if r.get("class") in ("kernel", "library") and r.get("height") != "12"]
    assert len(boxes) == len(launches), (len(boxes), len(launches))
    assert sum(1 for _ in root.iter(svg + "title")) >= len(launches)
    assert not list(root.iter(svg + "script"))
text = (work / "report").read_text(encoding="utf-8")
assert text == (work / "folder/plan.txt").read_text(encoding="utf-8")
assert "stayed apart" in text or not any(t["cuts"] for t in report["traces"])
PYTHON

# The program's own exit code, and errors.
expect 7 'left no report' explain -- sh -c 'exit 7'
expect 1 'ended with code 0 and left no report' explain -- true
expect 137 'left no report' explain -- sh -c 'kill -9 $$'
expect 127 "cannot be run: No such file" explain -- "$work/nothing"
expect 127 "cannot be run: Permission denied" explain -- "$work"
expect 3 'launches of' explain -- sh -c '"$0"; exit 3' "$tour"
expect 1 'cannot be written|cannot be made' explain --out "$work/report.svg/inside.svg" -- "$tour"

# A path that cannot be written is a warning of the program itself, which otherwise ends normally.
SINTER_EXPLAIN="$work/report.svg/inside.svg" "$tour" >"$work/out" 2>"$work/err" || say_failed "the tour failed with SINTER_EXPLAIN"
grep -q 'sinter warning: \[explain\]' "$work/err" || say_failed "no warning about a report that cannot be written"

[ "$failures" -eq 0 ] || { echo "$failures failures" >&2; exit 1; }
