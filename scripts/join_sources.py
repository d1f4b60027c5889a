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
import typing

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = [*ROOT.glob("*/include"), *ROOT.glob("*/src"), ROOT / "tests", ROOT / "probe"]
INCLUDED = re.compile(r'^#include "([^"]+)"', re.M)
NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\((?:.|\n)*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.S)
PARAMETERS = re.compile(r"<[^<>()]*>")
TYPE = re.compile(r"(?:struct|class|union|enum(?: class)?|concept) (\w+)(?! *;)|(?:using|namespace) (\w+) (?:=|\{)")
VARIABLE = re.compile(r"(?:constexpr|const|inline|static|thread_local)\b[^(=]*?\w+(?:\[[^]]*\])* *[={]")
FUNCTION = re.compile(r"(?!static_assert)(?:[^(]*\W)?(\w*[a-z]\w*)\(")
DECLARATOR = re.compile(r"(?<![:\w])(\w+)(?:\[[^]]*\])* *[={]")
MATCHER = re.compile(r"(?:MATCHER|ACTION)\w*\((\w+)")
SPECIALISED = re.compile(r"^(?:template *<>\s*)?struct (\w+<.*>) *\{", re.M)
CALLED = re.compile(r"(?<![\w.>:])(?!static_assert)(\w+)(?=[({])|^using [\w:]+::(\w+);", re.M)
OPENED = re.compile(r"^using namespace (?!headroom::\w+;)([\w:]+);", re.M)  # rooms share no name: any may be open
ENUMERATORS = re.compile(r"^using enum (\w+);", re.M)
MACRO = re.compile(r"^# *define (\w+)", re.M)
ALIAS = re.compile(r"(?:using|namespace) (\w+) = [\w: ]+;")
OURS = re.compile(r"\b[A-Z]\w*[a-z]\w*")  # a type of ours: no number, and no text, becomes one
SPACE = re.compile(r"namespace ([\w:]+) \{\s*$")


class Meaning(typing.NamedTuple):
    """Meaning of a name: a function by the types of ours that its parameters have, if all stand on its line and none may
    be left out; an alias by its line; else by nothing that can be compared."""

    function: bool = False
    text: str = ""

    def overloads(self, other):
        """Whether this function of a type of ours and what other stands for differ in their parameters."""
        return self.function and other.function and self.text not in ("", other.text)

    def repeats(self, other):
        return self.text != "" and not self.function and self == other


def declared(line, template):
    """The names that a line declares which begins in the first column, each with its meaning."""
    if ALIAS.match(line):
        return [(ALIAS.match(line)[1], Meaning(text=line.strip()))]
    known, whole = MATCHER.match(line) or TYPE.match(line), line
    while known is None and PARAMETERS.search(line):
        line = PARAMETERS.sub("", line)
    if known is None and VARIABLE.match(line):
        return [(name, Meaning()) for name in DECLARATOR.findall(line.partition("{")[0] + "{")]
    if known:
        return [(name, Meaning()) for name in known.groups() if name]
    known = FUNCTION.match(line)
    if known is None or line[:known.start(1)].endswith("::"):  # a member's definition
        return []
    name = known[1]
    parameters, closed, _ = whole.partition(name + "(")[2].partition(")")
    distinct = closed and not template and " = " not in parameters
    return [(name, Meaning(True, " ".join(OURS.findall(parameters)) if distinct else ""))]


def lines_of(text):
    """Lines that may declare, and whether they are in an unnamed namespace and belong to a template: what a namespace holds is
    not indented here."""
    unnamed = template = False
    for line in text.splitlines():
        if line.startswith("namespace {"):
            unnamed = True
        elif line.startswith("} "):  # the end of a namespace, whose comment is gone; "}" ends a function, "};" a type
            unnamed = False
        elif line[:1].isalpha() or line[:1] == "[":
            yield line, unnamed, template
            template = line.startswith("template")


def meanings(lines):
    """Names with all that they stand for."""
    found = collections.defaultdict(set)
    for line, template in lines:
        for name, meaning in declared(line, template):
            found[name].add(meaning)
    return found


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
def header_meanings(path):
    return meanings((line, template) for line, _, template in lines_of(words_of(path)))


def space_of(text):
    """The namespace that keeps a source's unnamed one; where it has none, the last that it opens."""
    opened, space = [], ""
    for line in text.splitlines():
        if line.startswith("namespace {"):
            break
        if SPACE.match(line):
            opened.append(SPACE.match(line)[1])
            space = "::".join(opened) + "::"
        elif line.startswith("} ") and opened:
            opened.pop()
    return space


class Source:
    """The names that a source keeps to itself, those that it calls, and those of its headers."""

    def __init__(self, path):
        self.path = path
        text = words_of(path)
        self.everywhere = set(MACRO.findall(text)) | set(SPECIALISED.findall(text))
        self.own = meanings((line, template) for line, unnamed, template in lines_of(text)
                            if unnamed or line.startswith("static "))
        for name in self.everywhere:
            self.own[name].add(Meaning())
        self.space = space_of(text)
        self.opened = frozenset(OPENED.findall(text))
        self.enumerators = frozenset(ENUMERATORS.findall(text))
        self.called = {name for found in CALLED.findall(text) for name in found} - self.own.keys()
        self.seen = collections.defaultdict(set)
        for header in headers_of(path):
            for name, all_of in header_meanings(header).items():
                self.seen[name] |= all_of

    def minds(self, other):
        """Whether names of its own mean something else to the other one: in its namespace, and in those within."""
        if self.enumerators - other.enumerators:
            return True
        if not other.space.startswith(self.space):
            return any(name in other.own or name in other.called or name in other.seen for name in self.everywhere)
        return any(self.minds_name(other, name, own) for name, own in self.own.items())

    def minds_name(self, other, name, own):
        met = set(other.own[name]) if name in other.own and self.space == other.space else set()
        if name in other.seen and name not in self.seen:
            met |= other.seen[name]
        if name in other.called and not all(one.overloads(Meaning(True)) for one in own):
            return True
        return not all(one.overloads(two) or two.overloads(one) and two in other.own.get(name, ()) or one.repeats(two)
                       for one in own for two in met)


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
