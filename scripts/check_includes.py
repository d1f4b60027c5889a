#!/usr/bin/python3
"""Checks the direction of dependencies and the purity of the core. Prints file:line for each breach.

    core <- fit, core <- io, core <- probe; the faces stand on these; fit, io and probe do not know each other.
    core reads no file, clock or environment, prints nothing, keeps no mutable global, draws no unseeded number.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# What each library may include, besides the standard library and its own private headers.
OWN = {
    "core": r"headroom/[^/]+\.hpp",
    "fit": r"headroom/(fit/)?[^/]+\.hpp",
    "io": r"headroom/(io/)?[^/]+\.hpp",
    "probe": r"headroom/(probe/)?[^/]+\.hpp",
}
THIRD_PARTY = {
    "core": (),
    "fit": ("Eigen/Dense",),
    "io": ("toml++/", "nlohmann/", "fmt/", "protozero/", "isa-l/", "zstd.h", "zstd_errors.h", "sqlite3.h", "immintrin.h", "re2/", "simdjson.h"),
    "probe": ("nlohmann/json.hpp", "CLI/CLI.hpp", "hwloc.h", "cpuid.h", "immintrin.h", "hwy/", "mpi.h", "cblas.h", "cuda", "cublas", "nccl.h"),
}

# Headers of the probe that a program may copy: they know nothing of Headroom, not even the core.
COPYABLE = {"clock", "costs", "executor", "fork_join", "meter", "record", "report", "scope", "study", "tbb_task_group"}

# Headers with a dot or a slash are not standard ones; these are, or belong to the operating system (io only).
STANDARD = re.compile(r"[a-z_0-9]+$")
POSIX = {
    "dlfcn.h", "fcntl.h", "poll.h", "sched.h", "spawn.h", "unistd.h", "zlib.h", "sys/mman.h", "sys/prctl.h", "sys/resource.h",
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
    if re.fullmatch(OWN[library], header):
        return None
    if header.startswith("headroom/"):
        return f"{library} may not know '{header}'"
    if bracket == '"':
        folder = ROOT / library / "src"
        if (path.parent / header).is_file() or (folder / header).is_file():
            return None
        return f"'{header}' is neither in headroom/ nor beside the sources of {library}"
    if STANDARD.fullmatch(header) or header.startswith(THIRD_PARTY[library]):
        return None
    if library in ("io", "probe") and header in POSIX:
        return None
    if header.startswith(TBB) and "tbb" in path.stem:
        return None
    return f"{library} may not include <{header}>"


def breaches(library, path):
    text = path.read_text(encoding="utf-8", errors="replace")
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        problem = include_breach(library, path, *match.groups())
        if not problem and library == "core" and match.group(2) in IMPURE_HEADERS:
            problem = f"the core is pure and may not include <{match.group(2)}>"
        if problem:
            yield number, problem
    if library != "core":
        return
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
