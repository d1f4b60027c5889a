"""Whatever surrounds a call: closed descriptors, a full disk, other environments, a folder that is gone, files that change while they are read."""

import itertools
import json
import os
import shutil
import threading

from _harness import ENVIRONMENT, PATIENCE, PROGRAM, SCRATCH, SOURCE, check, equal, finish, start, succeed

PREDICT = ["predict", "llama-3-8b", "--cluster", "dgx-h100", "--workers", "8", "--format", "json"]
WHOLE = succeed(*PREDICT).out


def ended(arguments, **more):
    process = start([PROGRAM, *arguments], **more)
    out, err = process.communicate(timeout=PATIENCE)
    return process.returncode, out, err


# ---- closed descriptors: nothing of the program's ends in a file that got their number ----
OUT = SCRATCH / "answer.json"
for closed in (some for count in (1, 2, 3) for some in itertools.combinations((0, 1, 2), count)):
    def close_them():
        for number in closed:
            os.close(number)

    OUT.unlink(missing_ok=True)
    code, out, err = ended([*PREDICT, "--out", OUT], preexec_fn=close_them)
    equal((code, OUT.read_text() if OUT.exists() else None, out, err), (0, WHOLE, "", ""), f"a file, with {closed} closed")
    code, out, err = ended(PREDICT, preexec_fn=close_them)
    if 1 in closed:
        equal((code, out, err), (2, "", "" if 2 in closed else "standard output: cannot be written (Bad file descriptor)\n"), f"{closed} closed")
    else:
        equal((code, out), (0, WHOLE), f"{closed} closed")

# ---- a full disk ----
with open("/dev/full", "w") as full:
    equal(ended(PREDICT, stdout=full)[::2], (2, "standard output: cannot be written (No space left on device)\n"), "a full disk behind standard output")
equal(ended([*PREDICT, "--out", "/dev/full"])[::2], (2, "/dev/full: cannot be written (No space left on device)\n"), "a full disk behind --out")

# ---- environments: the same bytes ----
nowhere = str(SCRATCH / "nowhere")
for change in [
    {"LC_ALL": "de_DE.UTF-8"}, {"LC_ALL": "tr_TR.UTF-8"}, {"LC_ALL": "C"}, {"LC_ALL": "no such"}, {"LC_ALL": None}, {"LANG": "ja_JP.eucJP", "LC_ALL": None},
    {"LC_NUMERIC": "fr_FR.UTF-8", "LC_ALL": None}, {"TZ": "Pacific/Kiritimati"}, {"TZ": "no such"}, {"TERM": None}, {"TERM": "dumb"}, {"TERM": ""},
    {"COLUMNS": "1"}, {"COLUMNS": "-1"}, {"COLUMNS": "99999999999999999999"}, {"COLUMNS": "wide"}, {"HOME": None}, {"HOME": ""}, {"HOME": nowhere},
    {"PATH": None}, {"PATH": ""}, {"TMPDIR": nowhere}, {"XDG_DATA_HOME": nowhere}, {"NO_COLOR": ""}, {"POSIXLY_CORRECT": "1"}, {"MALLOC_PERTURB_": "165"},
    {"MALLOC_ARENA_MAX": "1"}, {"OMP_NUM_THREADS": "0"}, {"A" * 10_000: "B" * 100_000},
]:
    environment = {name: value for name, value in (ENVIRONMENT | change).items() if value is not None}
    equal(ended(PREDICT, env=environment), (0, WHOLE, ""), f"environment {str(change)[:60]}")

# ---- a working folder that is gone ----
gone = SCRATCH / "gone"
gone.mkdir()
equal(ended(PREDICT, preexec_fn=lambda: (os.chdir(gone), gone.rmdir())), (0, WHOLE, ""), "an answer from a folder that is gone")
gone.mkdir()
code, out, err = ended([*PREDICT, "--out", "answer"], preexec_fn=lambda: (os.chdir(gone), gone.rmdir()))
equal((code, out, err.count("\n")), (2, "", 1), f"a file in a folder that is gone: {err!r}")

# ---- files that shrink, grow, are replaced and vanish while they are read ----
BYTES = (SOURCE / "tests" / "data" / "traces" / "key_averages_cuda.txt").read_bytes()
EVENTS = [{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 30 * i, "dur": 18, "args": {"stream": 7, "device": 0}} for i in range(20_000)]
TRACE = json.dumps({"traceEvents": EVENTS}).encode()
SETS = SCRATCH / "sets"


def change_until(over):
    for turn in itertools.count():
        if over.is_set():
            return
        SETS.mkdir(exist_ok=True)
        path = SETS / f"rank{turn % 3}.json"
        match turn % 5:
            case 0: path.write_bytes(TRACE)
            case 1: path.write_bytes(TRACE[: len(TRACE) * (turn % 7) // 7])
            case 2: path.open("ab").write(TRACE)
            case 3:
                (SETS / "new").write_bytes(BYTES)
                (SETS / "new").replace(path)
            case 4: shutil.rmtree(SETS, ignore_errors=True)


over = threading.Event()
changing = threading.Thread(target=change_until, args=(over,))
changing.start()
try:
    for turn in range(40):
        code, out, err = ended(["trace", SETS, "--format", "json"])
        check(code in (0, 2, 4, 5), f"a folder that changes: exit {code}, said {err[:300]!r}")
        check(not out or json.loads(out)["complete"] == (code == 0), f"a folder that changes: exit {code}, complete {out[:200]!r}")
finally:
    over.set()
    changing.join()

finish()
