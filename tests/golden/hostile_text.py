"""Text from files steers no terminal: escape sequences, controls, changes of direction and forged lines, in all formats."""

import json
import random
import re

from _harness import CONFIGS, SCRATCH, SOURCE, check, equal, finish, run

HOSTILE = "\x1b[31mred\x1b]0;title\x07\u009b31m\u202eturned\u2066\u200f\u2028next\rover\nforged: all is well\x7f"
STEERS = re.compile("[\x00-\x09\x0b-\x1f\x7f\u0080-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
FORMATS = ("table", "markdown", "csv", "json")
DATA = SOURCE / "tests" / "data"
draw = random.Random(20261125)


def clean(done, what):
    for name, text in (("output", done.out), ("errors", done.err)):
        found = STEERS.search(text)
        check(found is None, f"{what}: {name} of {done} hold {found and found[0]!r}")
        forged = [line for line in text.splitlines() if line.lstrip(" *-|\"'").startswith("forged: all")]
        # wrapped text may begin a line with any word: only errors are lines of one statement each
        check(name == "output" or not forged, f"{what}: a forged line on errors of {done}: {forged}")
    check(done.code in (0, 2, 3, 4, 5), f"{what}: exit {done.code} of {done}")


def strings(value, path=()):
    """The paths of all strings and of all keys of a JSON value."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield (*path, key), True
            yield from strings(inner, (*path, key))
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from strings(inner, (*path, at))
    elif isinstance(value, str):
        yield path, False


def with_hostile(value, path, key):
    copy = json.loads(json.dumps(value))
    inner = copy
    for step in path[:-1]:
        inner = inner[step]
    if key:
        inner[path[-1] + HOSTILE] = inner.pop(path[-1])
    else:
        inner[path[-1]] += HOSTILE
    return json.dumps(copy, ensure_ascii=False)


def variants(text, count):
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if isinstance(value, dict):
        places = list(strings(value))
        return [with_hostile(value, *place) for place in draw.sample(places, min(count, len(places)))]
    words = [match.end() for match in re.finditer(r"[A-Za-z_]{3,}", text[:4000])] or [0]
    return [text[:at] + HOSTILE + text[at:] for at in draw.sample(words, min(count, len(words)))]


def try_all(file, call, count=5):
    for number, text in enumerate(variants(file.read_text(errors="replace"), count)):
        path = SCRATCH / f"{number}_{file.name}"
        path.write_bytes(text.encode())
        for form in FORMATS if number == 0 else ("table",):
            clean(run(*call(path), "--format", form), f"{file.name}, variant {number}")
        path.unlink()


for config in sorted(CONFIGS.rglob("config.json"))[:6]:
    try_all(config, lambda path: ["predict", path, "--cluster", "dgx-h100", "--workers", 8], 8)
for folder, call in {
    "latencies": lambda path: ["tail", path, "--servers", 8],
    "logs": lambda path: ["comm", "--fit", path],
    "scaling": lambda path: ["laws", "--fit", path],
    "traces": lambda path: ["trace", path],
}.items():
    files = [one for one in sorted((DATA / folder).iterdir()) if one.is_file() and one.suffix not in (".gz", ".zst", ".md", ".sql")]
    for file in files:
        try_all(file, call)

graph = SCRATCH / "graph.json"
graph.write_text(json.dumps({"name": HOSTILE, "unit": HOSTILE, "tasks": [{"name": HOSTILE, "cost": 3}, {"name": "b", "cost": 2}], "edges": []}))
for form in FORMATS:
    clean(run("graph", graph, "--format", form), "a graph")
named = SCRATCH / f"x{HOSTILE.replace('/', '')}.csv"
named.write_text("workers,time\n1,10\n2,6\n4,4\n8,3\n")
page = SCRATCH / "page.html"
for form in FORMATS:
    clean(run("laws", "--fit", named, "--format", form, "--html", page), "the name of a file")
equal(STEERS.search(page.read_text()), None, "a page")

# cells that a spreadsheet would run
table = SCRATCH / "formula.csv"
table.write_text('{"name": "=cmd|calc", "unit": "+1+1", "tasks": [{"name": "@sum", "cost": 3}], "edges": []}')
done = run("graph", table, "--format", "csv")
cells = [cell for line in done.out.splitlines() for cell in line.split(",")]
check(not any(re.match(r"[=+@]|-[^0-9.]", cell) for cell in cells if len(cell) > 1), f"cells that begin a formula: {done.out}")
finish()
