"""An example prints what it should, and its page shows the program and all that it prints.

usage: example.py ROOT NAME PAGE PROGRAM     SINTER_UPDATE_GOLDEN=1: writes the output anew, here and on the page

The program is examples/NAME/main.cpp. Its functions, but for helpers in an anonymous namespace, are in the ```cpp blocks
of the page, line by line and in that order, without regard to indentation. The ``` blocks without a language are its
output, in that order and nothing left out.
"""
import difflib
import os
import pathlib
import re
import subprocess
import sys

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def shown_part(source):
    """The lines of a program that its page has to show."""
    helpers = source.rfind("}  // namespace\n") + 1
    first = re.compile(r"^(?:void|int) \w+\(", re.MULTILINE).search(source, helpers).start()
    return [line.strip() for line in source[first:].splitlines() if line.strip()]


def blocks(page, language):
    return [match.group(2) for match in FENCE.finditer(page) if match.group(1) == language]


def missing_line(wanted, page):
    """The first line of a program that the page does not show where it should, or None."""
    shown = iter(line.strip() for block in blocks(page, "cpp") for line in block.splitlines())
    return next((line for line in wanted if line not in shown), None)


def renew(page, new):
    """The page with the new output, cut into blocks at the lines that they begin with."""
    lines = new.splitlines(keepends=True)
    starts = [0]
    for block in blocks(page, "")[1:]:
        first = block.splitlines(keepends=True)[0]
        if first not in lines[starts[-1]:]:
            sys.exit(f"the output no longer has the line {first!r}, with which a block of the page begins: "
                     "write the page's blocks anew by hand")
        starts.append(lines.index(first, starts[-1]))
    pieces = iter("".join(lines[a:b]) for a, b in zip(starts, starts[1:] + [None]))
    return FENCE.sub(lambda match: match.group(0) if match.group(1) else f"```\n{next(pieces)}```", page)


def main():
    root, name, page_name, program = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]
    page_file, expected_file = root / page_name, root / "examples" / name / "expected.txt"
    output = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    page, expected = page_file.read_text(encoding="utf-8"), expected_file.read_text(encoding="utf-8")
    if output != expected and os.environ.get("SINTER_UPDATE_GOLDEN"):
        page_file.write_text(renew(page, output), encoding="utf-8")
        expected_file.write_text(output, encoding="utf-8")
        page, expected = page_file.read_text(encoding="utf-8"), output
    if output != expected:
        sys.exit("".join(difflib.unified_diff(expected.splitlines(True), output.splitlines(True), "expected", "printed"))
                 + f"examples/{name} prints something else; scripts/update-golden writes it anew")
    if "".join(blocks(page, "")) != expected:
        sys.exit(f"the blocks of {page_name} without a language are not what examples/{name} prints:\n"
                 + "".join(difflib.unified_diff("".join(blocks(page, "")).splitlines(True), expected.splitlines(True),
                                                page_name, "printed")))
    line = missing_line(shown_part((root / "examples" / name / "main.cpp").read_text(encoding="utf-8")), page)
    if line is not None:
        sys.exit(f"{page_name} does not show this line of examples/{name}/main.cpp, or not in its place:\n{line}")


main()
