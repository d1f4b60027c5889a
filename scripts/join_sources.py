#!/usr/bin/python3
"""join_sources.py COUNT SOURCE...: which sources are compiled as one: a line of names, parted by colons, for each unit.

Sources meet in a unit only where none of them keeps to itself (in an unnamed namespace) a name that another one keeps or
calls, or that a header declares which it knows alone. Neighbours of a folder come first; sources that their units have no room for
join the rest of other folders, if both open the same namespaces.
"""

import collections
import functools
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = [*ROOT.glob("*/include"), *ROOT.glob("*/src"), ROOT / "tests", ROOT / "probe"]
INCLUDED = re.compile(r'^#include "([^"]+)"', re.M)
NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\((?:.|\n)*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.S)
PARAMETERS = re.compile(r"<[^<>()]*>")
TYPE = re.compile(r"(?:struct|class|union|enum(?: class)?|concept) (\w+)(?! *;)|(?:using|namespace) (\w+) (?:=|\{)")
VARIABLE = re.compile(r"(?:constexpr|const|inline|static|thread_local)\b[^(=]*?\w+(?:\[[^]]*\])* *[={]")
FUNCTION = re.compile(r"(?:[^(]*\W)?(\w*[a-z]\w*)\(")
DECLARATOR = re.compile(r"(\w+)(?:\[[^]]*\])* *[={]")
MATCHER = re.compile(r"(?:MATCHER|ACTION)\w*\((\w+)")
SPECIALISED = re.compile(r"^(?:template *<>\s*)?struct (\w+<.*>) *\{", re.M)
CALLED = re.compile(r"(?<![\w.>:])(\w+)(?=[({])|^using [\w:]+::(\w+);", re.M)
OPENED = re.compile(r"^using namespace (?!headroom::\w+;)([\w:]+);", re.M)  # rooms share no name: any may be open
MACRO = re.compile(r"^# *define (\w+)", re.M)


def declared(line):
    """The names that a line declares which begins in the first column."""
    known = MATCHER.match(line) or TYPE.match(line)
    while known is None and PARAMETERS.search(line):
        line = PARAMETERS.sub("", line)
    if known is None and VARIABLE.match(line):
        return set(DECLARATOR.findall(line))
    known = known or FUNCTION.match(line)
    return {name for name in known.groups() if name} if known else set()


def lines_of(text):
    """Lines that may declare, and whether they are in an unnamed namespace: what a namespace holds is not indented here."""
    unnamed = False
    for line in text.splitlines():
        if line.startswith("namespace {"):
            unnamed = True
        elif line.startswith("} "):  # the end of a namespace, whose comment is gone; "}" ends a function, "};" a type
            unnamed = False
        elif line[:1].isalpha() or line[:1] == "[":
            yield line, unnamed


@functools.cache
def words_of(path):
    return NOISE.sub(" ", path.read_text())


@functools.cache
def headers_of(path):
    """Every header of ours that a file includes, in its headers, too."""
    found = set()
    for name in INCLUDED.findall(path.read_text()):
        header = next((folder / name for folder in (path.parent, *FOLDERS) if (folder / name).is_file()), None)
        if header and header not in found:
            found |= {header} | headers_of(header)
    return found


@functools.cache
def header_names(path):
    return {name for line, _ in lines_of(words_of(path)) for name in declared(line)}


class Source:
    """The names that a source keeps to itself, those that it calls, and those of its headers."""

    def __init__(self, path):
        self.path = path
        text = words_of(path)
        self.own = set(MACRO.findall(text)) | set(SPECIALISED.findall(text))
        for line, unnamed in lines_of(text):
            if unnamed or line.startswith("static "):
                self.own |= declared(line)
        self.opened = frozenset(OPENED.findall(text))
        self.called = {name for found in CALLED.findall(text) for name in found} - self.own
        self.seen = {name for header in headers_of(path) for name in header_names(header)}

    def minds(self, other):
        """Whether names of its own mean something else to the other one."""
        return not (self.own.isdisjoint(other.own) and self.own.isdisjoint(other.called)
                    and (self.own - self.seen).isdisjoint(other.seen))


def fill(sources, count):
    """Each source goes into the first unit that has room for it."""
    units = []
    for source in sources:
        for unit in units:
            if len(unit) < count and not any(source.minds(other) or other.minds(source) for other in unit):
                unit.append(source)
                break
        else:
            units.append([source])
    return units


def main():
    count = int(sys.argv[1])
    folders = collections.defaultdict(list)
    for path in sorted(map(pathlib.Path, sys.argv[2:])):
        folders[path.parent].append(Source(path))
    units, left = [], collections.defaultdict(list)
    for sources in folders.values():
        for unit in fill(sources, count):
            if 2 * len(unit) >= count:
                units.append(unit)
                continue
            for source in unit:
                left[source.opened].append(source)
    for sources in left.values():
        units += fill(sources, count)
    for unit in units:
        print(":".join(str(source.path) for source in unit))


if __name__ == "__main__":
    main()
