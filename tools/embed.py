#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes files as C arrays, for data that the program carries in itself.

usage: embed.py OUT.c HEADER NAME=FILE...

HEADER is the header to include, which declares NAME_data and NAME_size. Arrays of numbers, not
string literals: compilers need not take literals over 4095 characters.
"""
import sys

PER_LINE = 40


def array(name, path):
    with open(path, "rb") as f:
        data = f.read()
    yield f"const size_t {name}_size = {len(data)};\n"
    yield f"const unsigned char {name}_data[] = {{\n"
    for i in range(0, len(data), PER_LINE):
        yield ",".join(map(str, data[i:i + PER_LINE])) + ",\n"
    yield "};\n"


def main(out, header, *pairs):
    with open(out, "w", encoding="ascii") as f:
        f.write(f'// Made by tools/embed.py; not for editing.\n#include "{header}"\n')
        for pair in pairs:
            f.writelines(array(*pair.split("=", 1)))


main(*sys.argv[1:])
