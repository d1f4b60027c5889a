#!/usr/bin/python3
"""allocations.py PROGRAM [MOST]: every allocation of the main verbs fails once, alone and with all that follow.

The program ends with exit code 1 and one constant line, leaves no file, and prints nothing of an answer; or the allocation did not
matter, and the answer is the same to the byte. Where no thread is to be had the answer is the same, too. Without threads every
allocation fails, in a child forked at it; those after the first byte of the answer, and MOST evenly spaced ones of a run with threads
(default 100), in runs of their own.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data"
LINE = b"headroom: out of memory: no answer was made\n"
PROGRAM = pathlib.Path(sys.argv[1]).resolve()
MOST = int(sys.argv[2]) if len(sys.argv) > 2 else 100
SCRATCH = pathlib.Path(tempfile.mkdtemp(prefix="headroom-allocations-"))
WORK = SCRATCH / "work"  # where answers are written
WORK.mkdir()
SHIM = SCRATCH / "fail_allocation.so"
subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", SHIM, pathlib.Path(__file__).with_name("fail_allocation.c")], check=True)
(SCRATCH / "line").write_bytes(LINE)
(SCRATCH / "times.csv").write_text("cores,seconds\n1,100\n2,52\n4,28\n8,16\n16,10\n")
(SCRATCH / "graph.json").write_text('{"tasks": [{"id": "a", "cost": 2}, {"id": "b", "cost": 3}], "edges": [["a", "b"]]}')

CALLS = [
    ["predict", "llama-3-8b", "--cluster", "dgx-h100", "--workers", "8", "--format", "json"],
    ["predict", DATA / "configs" / "llama-3.2-1b" / "config.json", "--cluster", "dgx-h100", "--workers", "8", "--explain"],
    ["plan", "llama-3-8b", "--cluster", "dgx-h100", "--workers", "8,16"],
    ["inference", "llama-3-8b", "--cluster", "dgx-h100"],
    ["laws", "--fit", SCRATCH / "times.csv"],
    ["laws", "--serial", "0.05", "--workers", "1..64", "--format", "markdown"],
    ["graph", SCRATCH / "graph.json", "--format", "csv"],
    ["roofline", "--machine", "dgx-h100"],
    ["comm", "--size", "1GB", "--ranks", "8", "--link", "50GB/s,5us"],
    ["comm", "--fit", DATA / "logs" / "nccl_error_column.txt", "--quiet"],
    ["tail", DATA / "latencies" / "wrk2.txt"],
    ["tail", DATA / "latencies" / "k6_summary.json"],
    ["queue", "--arrivals", "10/s", "--service", "50ms"],
    ["trace", DATA / "traces" / "key_averages_cuda.txt"],
    ["catalog", "show", "dgx-h100"],
    ["history", "--store", SCRATCH / "none.sqlite"],
]


def run(call, number, on, **more):
    out = WORK / "answer"
    out.unlink(missing_ok=True)
    environment = dict(os.environ, LD_PRELOAD=str(SHIM), HEADROOM_FAIL_AT=str(number), HEADROOM_FAIL_ON=str(int(on)),
                       HEADROOM_ALLOCATIONS=str(SCRATCH / "count") if number == 0 else "", LC_ALL="C.UTF-8", **more)
    done = subprocess.run([PROGRAM, *call, "--out", "answer"], env=environment, capture_output=True, cwd=WORK)
    return done.returncode, out.read_bytes() if out.exists() else None, done.stderr


def count_of():
    return int((SCRATCH / "count").read_text())


def fork_at_each(call, expected):
    """The number of allocations that failed in a child, and the lines of those that did not end as they should."""
    report = SCRATCH / "report"
    report.unlink(missing_ok=True)
    (SCRATCH / "expected").unlink(missing_ok=True)
    if expected[1] is not None:
        (SCRATCH / "expected").write_bytes(expected[1])
    found = run(call, 0, False, HEADROOM_NO_THREADS="1", HEADROOM_FORK=str(SCRATCH), HEADROOM_EXIT=str(expected[0]))
    lines = report.read_text().splitlines() if report.exists() else ["no report"]
    if found != expected:
        lines.insert(0, f"the program itself ended otherwise: exit {found[0]}, {found[2][:200]!r}")
    return int(lines[-1].split()[1]) if lines[-1].startswith("tried ") else 0, lines[:-1]


def try_one(call, number, on, expected, **more):
    """A sentence on what is wrong where it is."""
    code, answer, errors = found = run(call, number, on, **more)
    left = [one for one in WORK.iterdir() if one.name != "answer"]
    for one in left:
        one.unlink()
    ended = code == 1 and answer is None and errors.endswith(LINE)
    if left:
        return f"allocation {number}: left {[one.name for one in left]}"
    return None if ended or found == expected else f"allocation {number}{' and all after' * on}: exit {code}, {errors[:200]!r}"


wrong = tried = total = 0
for call in CALLS:
    name = " ".join(map(str, call))
    expected = run(call, 0, False)
    threaded = count_of()
    alone = run(call, 0, False, HEADROOM_NO_THREADS="1")
    count = count_of()
    faults = [] if alone == expected else [f"without threads: exit {alone[0]}, {alone[2][:200]!r}"]
    forked, of_children = fork_at_each(call, expected)
    faults += of_children
    rest = [(number, {"HEADROOM_NO_THREADS": "1"}) for number in range(forked + 1, count + 1)]
    rest += [(number, {}) for number in range(1, threaded + 1, max(1, threaded // MOST))]
    for on in (False, True):
        faults += filter(None, (try_one(call, number, on, expected, **more) for number, more in rest))
    tried += 2 * (forked + len(rest))
    total += count
    wrong += len(faults)
    print(*(f"{name}: {fault}" for fault in faults), sep="\n", end="\n" if faults else "")
    print(f"{count:7} allocations, {forked} failed in children, {len(rest)} in runs, exit {expected[0]}: {name}", flush=True)
print(f"{len(CALLS)} calls, {total} allocations, {tried} failures tried, {wrong} wrong")
sys.exit(wrong > 0)
