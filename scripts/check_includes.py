#!/usr/bin/python3
"""Checks the direction of dependencies and the purity of the core. Prints file:line for each breach.

    core <- fit, core <- io, core <- probe; io <- document; the faces stand on these: cli, and serve on cli. fit, io and probe do not
    know each other. A folder PROGRAMS holds a program, which may know more than the library of the folder.
    The rooms of the core know each other in one order (ROOMS).
    core reads no file, clock or environment, prints nothing, keeps no mutable global, draws no unseeded number.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# The rooms of the core and those that each stands on. Every room stands on the base: headers in headroom/ itself, sources in
# core/src/base/. The others have headers in headroom/ROOM/, sources in core/src/ROOM/ and the namespace headroom::ROOM.
ROOMS = {
    "base": (),
    "laws": (),
    "network": (),
    "measure": ("laws",),
    "training": ("laws", "network"),
    "trace": ("laws", "network"),
    "serving": ("laws", "network", "training", "trace"),
}
# What several rooms need and none owns.
BASE = {
    "counter_random", "error", "executor", "family_errors", "fields", "interrupt", "issue", "machine", "order_statistics", "precision", "quantity", "ranks",
    "sample_statistics", "share", "term", "text", "timeline",
}
IN_ROOM = f"(?:(?:{'|'.join(ROOMS)})/)?"

# What each library may include, besides the standard library and its own private headers.
OWN = {
    "core": rf"headroom/{IN_ROOM}[^/]+\.hpp",
    "fit": rf"headroom/(fit/|{IN_ROOM})[^/]+\.hpp",
    "io": rf"headroom/(io/|{IN_ROOM})[^/]+\.hpp",
    "probe": rf"headroom/(probe/|{IN_ROOM})[^/]+\.hpp",
    "document": rf"headroom/(document/|io/|{IN_ROOM})[^/]+\.hpp",
    "cli": rf"headroom/(document/|io/|fit/|probe/|{IN_ROOM})[^/]+\.hpp",
    "serve": rf"headroom/(document/|io/|{IN_ROOM})[^/]+\.hpp",
}
# Faces whose private headers a face may include.
BELOW = {"serve": ("cli",)}
# Folders of programs, and the library whose headers they may include, too.
PROGRAMS = {"probe/step": "document", "fit/program": "io"}
THIRD_PARTY = {
    "core": (),
    "fit": ("Eigen/Dense",),
    "io": ("toml++/", "nlohmann/", "fmt/", "protozero/", "isa-l/", "zstd.h", "zstd_errors.h", "sqlite3.h", "immintrin.h", "re2/", "simdjson.h", "yaml.h"),
    "document": (),
    "cli": ("CLI/CLI.hpp", "mpi.h", "fmt/", "malloc.h"),
    "serve": ("httplib.h", "nlohmann/json.hpp"),
    "probe": ("nlohmann/json.hpp", "CLI/CLI.hpp", "hwloc.h", "cpuid.h", "immintrin.h", "hwy/", "mpi.h", "cblas.h", "cuda", "cublas", "nccl.h"),
}

# Headers of the probe that a program may copy: they know nothing of Headroom, not even the core.
COPYABLE = {"clock", "costs", "executor", "fork_join", "meter", "record", "report", "scope", "study", "tbb_task_group"}

# Headers with a dot or a slash are not standard ones; these are, or belong to the operating system (io only).
STANDARD = re.compile(r"[a-z_0-9]+$")
POSIX = {
    "dlfcn.h", "fcntl.h", "poll.h", "sched.h", "spawn.h", "unistd.h", "zlib.h", "sys/ioctl.h", "sys/mman.h", "sys/prctl.h", "sys/resource.h",
    "sys/socket.h", "sys/stat.h", "sys/syscall.h", "sys/types.h", "sys/utsname.h", "sys/wait.h",
}

# Only what says so in its name needs oneTBB.
TBB = ("oneapi/tbb/", "tbb/")

IMPURE_HEADERS = {
    "iostream", "fstream", "filesystem", "cstdio", "cstdlib", "ctime", "thread", "mutex", "shared_mutex",
    "condition_variable", "future", "print", "syncstream", "csignal",
}
IMPURE = [
    (re.compile(r"\bstd::(cout|cerr|clog|cin)\b"), "the core does not print or read"),
    (re.compile(r"(?<![\w.>])(?:std::)?(?:f|s|sn|v|vsn)?printf\s*\("), "the core does not print"),
    (re.compile(r"\b(?:std::)?(?:secure_)?getenv\s*\("), "the core does not read the environment"),
    (re.compile(r"\b(?:system_clock|steady_clock|high_resolution_clock|utc_clock)\b"), "the core reads no clock"),
    (re.compile(r"(?<![\w.>:])(?:std::)?(?:time|clock|gettimeofday|clock_gettime)\s*\(\s*(?:NULL|nullptr|0|&|\))"),
     "the core reads no clock"),
    (re.compile(r"(?<![\w.>])(?:std::)?s?rand\s*\("), "random numbers are counter-based and seeded"),
    (re.compile(r"\brandom_device\b|\bdefault_random_engine\b"), "random numbers are counter-based and seeded"),
    (re.compile(r"\bstd::(?:mt19937(?:_64)?|minstd_rand0?|ranlux\w+)\s+\w+\s*(?:;|\{\s*\})"),
     "a generator needs an explicit seed"),
    (re.compile(r"(?<![\w.>])(?:std::)?(?:abort|exit|_Exit|quick_exit)\s*\("), "the core does not end the process"),
    (re.compile(r"\bthread_local\b"), "no mutable globals in the core"),
    # a static variable that is not constant; functions are followed by '(' after their name
    (re.compile(r"^\s*(?:inline\s+)?static\s+(?!constexpr|const\b|consteval|constinit\s+const|_?assert)"
                r"(?![^;={(]*\bconst\b[^;={(]*[;={])[^;(){}=]*(?:=|;|\{)"), "no mutable globals in the core"),
    (re.compile(r"^inline\s+(?!constexpr|const\b|consteval|namespace|static)(?![^;={(]*\bconst\b)[^;(){}=]*(?:=|;)"),
     "no mutable globals in the core"),
]

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def without_comments(text):
    """The text with comments and string literals blanked, line structure kept."""

    def blank(match):
        token = match.group(0)
        if token.startswith(("//", "/*")):
            return re.sub(r"[^\n]", " ", token)
        return token[0] + re.sub(r"[^\n]", " ", token[1:-1]) + token[-1]

    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', blank, text, flags=re.S)


def include_breach(library, path, bracket, header):
    if library == "probe" and path.stem in COPYABLE and header.startswith("headroom/"):
        own = re.fullmatch(r"headroom/probe/([^/]+)\.hpp", header)
        return None if own and own.group(1) in COPYABLE else f"a header that may be copied may not know '{header}'"
    more = PROGRAMS.get(str(path.parent.relative_to(ROOT)))
    if re.fullmatch(OWN[more if more and header.startswith(f"headroom/{more}/") else library], header):
        return None
    if header.startswith("headroom/"):
        return f"{library} may not know '{header}'"
    if bracket == '"':
        folders = [path.parent, *(ROOT / one / "src" for one in (library, *BELOW.get(library, ())))]
        if any((folder / header).is_file() for folder in folders):
            return None
        return f"'{header}' is neither in headroom/ nor beside the sources of {library}"
    if STANDARD.fullmatch(header) or header.startswith(THIRD_PARTY[library] + (("fmt/",) if more else ())):
        return None
    if library not in ("core", "fit", "document") and header in POSIX:
        return None
    if header.startswith(TBB) and "tbb" in path.stem:
        return None
    return f"{library} may not include <{header}>"


def room_of(path):
    """The room of a file of the core."""
    kind, *folders = path.relative_to(ROOT / "core").parts[:-1]
    folders = folders[1:] if kind == "include" else folders
    return folders[0] if folders and folders[0] in ROOMS else "base"


def room_breach(path, header):
    own, folder = room_of(path), ROOT / "core" / ("include" if header.startswith("headroom/") else "src")
    target = path.parent / header
    other = room_of((target if target.is_file() else folder / header).resolve())
    return None if other in (own, "base", *ROOMS[own]) else f"the room '{own}' may not know '{other}': '{header}'"


def room_breaches(path, text):
    """Breaches of the order of rooms: headers, sources and namespaces."""
    own, parts = room_of(path), path.relative_to(ROOT / "core").parts
    if parts[0] == "include" and own == "base" and path.stem not in BASE:
        yield 1, "a header of one room belongs into its folder; one that several need, into BASE of this script"
    if parts[0] == "src" and (len(parts) < 3 or parts[1] not in ROOMS):
        yield 1, "a source belongs into the folder of its room"
    opened = re.findall(r"^namespace headroom\b(?:::(\w+))?", text, re.M)
    if own != "base" and opened and (own not in opened or not set(opened) <= {own, "", *ROOMS[own]}):
        yield 1, f"the names of this room are in the namespace headroom::{own}"


def breaches(library, path):
    text = path.read_text(encoding="utf-8", errors="replace")
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        problem = include_breach(library, path, *match.groups())
        if not problem and library == "core" and match.group(2) in IMPURE_HEADERS:
            problem = f"the core is pure and may not include <{match.group(2)}>"
        if not problem and library == "core" and match.group(1) == '"':
            problem = room_breach(path, match.group(2))
        if problem:
            yield number, problem
    if library != "core":
        return
    yield from room_breaches(path, text)
    for number, line in enumerate(without_comments(text).splitlines(), 1):
        if line.lstrip().startswith("#"):
            continue
        for pattern, problem in IMPURE:
            if pattern.search(line):
                yield number, problem


def main():
    found = 0
    for library in OWN:
        for path in sorted((ROOT / library).rglob("*.[hc]pp")):
            for number, problem in breaches(library, path):
                print(f"{path.relative_to(ROOT)}:{number}: {problem}")
                found += 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
