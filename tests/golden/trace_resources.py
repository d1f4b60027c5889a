"""Few descriptors or little memory: every rank, or a result that says how many of how many it holds. Never a part as the whole."""

import json
import resource

from _harness import PATIENCE, PROGRAM, SCRATCH, answer, check, equal, finish, start

RANKS = 12
FOLDER = SCRATCH / "ranks"
FOLDER.mkdir()
for rank in range(RANKS):
    events = []
    for i in range(3000):
        events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": 1, "ts": 30 * i, "dur": 3, "args": {"correlation": i + 1}})
        events.append({"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 30 * i + 8, "dur": 18,
                       "args": {"correlation": i + 1, "stream": 7, "device": 0}})
    (FOLDER / f"rank{rank}.json").write_text(json.dumps({"distributedInfo": {"rank": rank, "world_size": RANKS}, "traceEvents": events}))
WHOLE = answer("trace", FOLDER)


def outcome(limit, value, threads):
    """Exit code and JSON of a call under a limit."""
    process = start([PROGRAM, "trace", FOLDER, "--threads", threads, "--format", "json"], preexec_fn=lambda: resource.setrlimit(limit, (value, value)))
    out, err = process.communicate(timeout=PATIENCE)
    found = json.loads(out) if out else None
    whole = process.returncode == 0 and found == WHOLE
    part = (process.returncode in (4, 5) and found is not None and found["complete"] is False and found["unread"]
            and found["verdict"][0].startswith(f"{len(found['ranks'])} of {len(found['ranks']) + len(found['unread'])} rank"))
    refused = process.returncode in (1, 4, 127) and found is None and err.count("\n") == 1 # 127: libraries could not be loaded
    check(whole or part or refused, f"limit {value}, {threads} threads: exit {process.returncode}, {len(out)} bytes of output, said {err[:300]!r}")
    return whole


# Three more than are open read one file, so twelve threads take them from each other.
equal([few for few in range(6, 17) if not outcome(resource.RLIMIT_NOFILE, few, 12)], [], "descriptors with which ranks are missing")
for few in (3, 4, 5): # three are open from the start
    outcome(resource.RLIMIT_NOFILE, few, 12)
# From none at all to enough for every file at once.
enough = [outcome(resource.RLIMIT_AS, megabytes << 20, threads) for megabytes in range(20, 400, 20) for threads in (1, 12)]
check(any(enough) and not all(enough), "the sweep of memory goes from too little to enough")

finish()
