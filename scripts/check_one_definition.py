#!/usr/bin/python3
"""Checks that no two files define types of one name in one namespace: the linker would take either for both.

The rooms of the core count as one namespace. Types inside unnamed namespaces and inside other types are apart.
Prints each name with its files.
"""

import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROOMS = "|".join(one.name for one in (ROOT / "core/include/headroom").iterdir() if one.is_dir())
ROOM = re.compile(rf"^headroom::(?:{ROOMS})(?=::)")
COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|R"\((?:.|\n)*?\)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.S)
PIECE = re.compile(r"namespace\s*([\w:]*)\s*\{|(?:struct|class|union|enum(?:\s+class)?)\s+([\w:]+)\s*(?:final\s*)?"
                   r"(?::[^;{}()]*)?\{|\{|\}")


def types_of(text):
    """Names with their namespaces, of types that have external linkage."""
    around = []  # namespaces as text; None for any other brace
    for piece in PIECE.finditer(COMMENT.sub(" ", text)):
        if piece[0] == "}":
            if around:
                around.pop()
        elif piece[0].startswith("namespace"):
            around.append(piece[1])
        else:
            name = piece[2]
            if name and None not in around and "" not in around:
                yield "::".join([*around, name])
            around.append(None)


def main():
    files = collections.defaultdict(set)
    for library in ("core", "fit", "io", "probe", "document", "cli", "serve"):
        for path in sorted((ROOT / library).rglob("*.[ch]pp")):
            for name in types_of(path.read_text()):
                name = ROOM.sub("headroom", name) if library == "core" else name  # sources open several rooms
                files[name].add(str(path.relative_to(ROOT)))
    twice = {name: where for name, where in files.items() if len(where) > 1}
    for name, where in sorted(twice.items()):
        print(f"{name} is defined in {' and in '.join(sorted(where))}")
    return 1 if twice or not files else 0


sys.exit(main())
