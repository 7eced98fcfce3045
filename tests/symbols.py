#!/usr/bin/env python3
"""The library shows the public names and no others: none of its own insides, none of another library.

usage: symbols.py NM READELF LIBRARY SONAME INCLUDE_FOLDER
"""
import pathlib
import re
import subprocess
import sys

# What is called by inline functions of the public headers alone.
CALLED_BY_HEADERS = {
    "sinter::trace::retain(sinter::trace::Value*)",
    "sinter::trace::release(sinter::trace::Value*)",
    "sinter::autodiff::retain(sinter::autodiff::Node*)",
    "sinter::autodiff::release(sinter::autodiff::Node*)",
}
PUBLIC_NAMESPACES = {"config", "data", "detail", "nn", "optim", "record", "reflect"}


def is_public(name, words):
    """Whether a demangled name is one of a public namespace and stands in a public header."""
    name = re.sub(r"^(typeinfo|typeinfo name|vtable|VTT|guard variable) for ", "", name)
    if name in CALLED_BY_HEADERS:
        return True
    if not name.startswith("sinter::"):
        return False
    parts = re.split(r"[(<]", name)[0].split("::")[1:]
    while parts and parts[0] in PUBLIC_NAMESPACES:
        parts = parts[1:]
    return bool(parts) and parts[0].split("[")[0] in words


def main():
    nm, readelf, library, soname, include = sys.argv[1:]
    words = set()
    for header in pathlib.Path(include).rglob("*.h"):
        # Calls and declarations of an inner namespace say nothing of the root: "namespace trace {".
        words |= set(re.findall(r"(?<!namespace )\b\w+", header.read_text()))
    lines = subprocess.run([nm, "-DC", "--defined-only", library], check=True, capture_output=True,
                           text=True).stdout.splitlines()
    names = [line.split(maxsplit=2)[2] for line in lines]
    failed = False
    for name in names:
        if not is_public(name, words):
            print("FAILED: the library shows", name)
            failed = True
    if not any(name.startswith("sinter::AnyTensor::matmul(") for name in names):
        print("FAILED: the library does not show sinter::AnyTensor::matmul")
        failed = True
    dynamic = subprocess.run([readelf, "-d", library], check=True, capture_output=True, text=True).stdout
    if f"[{soname}]" not in dynamic:
        print(f"FAILED: the library's soname is not {soname}:\n{dynamic}")
        failed = True
    print(len(names), "names")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
