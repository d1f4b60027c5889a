#!/usr/bin/python3
"""allocations.py PROGRAM [MOST]: every allocation of the main verbs fails once, alone and with all that follow.

The program ends with exit code 1 and one constant line, leaves no file, and prints nothing of an answer; or the allocation did not
matter, and the answer is the same to the byte. Where no thread is to be had the answer is the same, too. Of a verb with more than MOST allocations (default 400) evenly spaced ones are tried.
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
MOST = int(sys.argv[2]) if len(sys.argv) > 2 else 400
SCRATCH = pathlib.Path(tempfile.mkdtemp(prefix="headroom-allocations-"))
SHIM = SCRATCH / "fail_allocation.so"
subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", SHIM, pathlib.Path(__file__).with_name("fail_allocation.c")], check=True)
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
    out = SCRATCH / "answer"
    out.unlink(missing_ok=True)
    environment = dict(os.environ, LD_PRELOAD=str(SHIM), HEADROOM_FAIL_AT=str(number), HEADROOM_FAIL_ON=str(int(on)),
                       HEADROOM_ALLOCATIONS=str(SCRATCH / "count") if number == 0 else "", LC_ALL="C.UTF-8", **more)
    done = subprocess.run([PROGRAM, *call, "--out", out], env=environment, capture_output=True, cwd=SCRATCH)
    return done.returncode, out.read_bytes() if out.exists() else None, done.stderr


wrong = tried = total = 0
for call in CALLS:
    expected = run(call, 0, False)
    count = int((SCRATCH / "count").read_text())
    files = sorted(SCRATCH.iterdir())
    step = max(1, count // MOST)
    alone = run(call, 0, False, HEADROOM_NO_THREADS="1")
    if alone != expected:
        wrong += 1
        print(f"{' '.join(map(str, call))}: without threads: exit {alone[0]}, {alone[2][:200]!r}")
    for on in (False, True):
        for number in range(1, count + 1, step):
            code, answer, errors = found = run(call, number, on)
            tried += 1
            ended = code == 1 and answer is None and errors.endswith(LINE)
            if not ended and found != expected:
                wrong += 1
                print(f"{' '.join(map(str, call))}: allocation {number} of {count}{' and all after' * on}: exit {code}, {errors[:200]!r}")
            left = sorted(set(SCRATCH.iterdir()) - set(files) - {SCRATCH / "answer"})
            if left:
                wrong += 1
                print(f"{' '.join(map(str, call))}: allocation {number}: left {[one.name for one in left]}")
                for one in left:
                    one.unlink()
    total += count
    print(f"{count:7} allocations, exit {expected[0]}: {' '.join(map(str, call))}", flush=True)
print(f"{len(CALLS)} calls, {total} allocations, {tried} failures tried, {wrong} wrong")
sys.exit(wrong > 0)
