"""Writes a C++ header that defines a digest of files' contents as a string. usage: digest.py OUT.h NAME FILE..."""
import hashlib
import sys


def main():
    out, name, files = sys.argv[1], sys.argv[2], sys.argv[3:]
    digest = hashlib.sha256()
    for path in files:
        with open(path, "rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest() if hasattr(hashlib, "file_digest")
                          else hashlib.sha256(file.read()).digest())
    with open(out, "w", encoding="utf-8") as file:
        file.write("// Of the archives that the library is linked from.\n#pragma once\n\n")
        file.write(f'#define {name} "{digest.hexdigest()[:32] if files else ""}"\n')


main()
