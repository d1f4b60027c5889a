"""Ctrl-C in every verb: exit code 130 and a line that says so, while it reads what never comes and while it computes."""

import os
import signal
import sqlite3

from _harness import PATIENCE, PROGRAM, SCRATCH, check, equal, finish, listens, processor_seconds, start, wait_until


# Reads a pipe that somebody holds open, who has written its first bytes and writes no more.
FITTING = ["predict", "llama-3-8b", "--cluster", "dgx-h100", "--workers", "8"]
MESSAGES = ["comm", "--collective", "all_reduce", "--size", "1MB", "--ranks", "8", "--link", "10GB/s,1us"]
for before, name, after in [
    (["plan"], "pipe.json", ["--cluster", "dgx-h100"]),
    (["plan", "llama-3-8b", "--cluster"], "pipe.toml", []),
    (["predict"], "pipe.json", ["--cluster", "dgx-h100"]),
    ([*FITTING, "--calibration"], "pipe.toml", []),
    (["inference"], "pipe.json", ["--cluster", "dgx-h100"]),
    (["laws", "--fit"], "pipe.csv", []),
    (["graph"], "pipe.json", []),
    (["roofline", "--machine"], "pipe.toml", []),
    (["roofline", "--machine", "a100", "--kernel-file"], "pipe.csv", []),
    ([*MESSAGES, "--measured"], "pipe.txt", []),
    (["queue", "--arrivals", "900/s", "--service-samples"], "pipe.csv", []),
    (["tail"], "pipe.csv", []),
    (["trace"], "pipe.json", []),
    (["validate", "--runs"], "pipe.csv", []),
    (["calibrate"], "pipe.json", []),
]:
    pipe = SCRATCH / name
    os.mkfifo(pipe)
    arguments = [*before, pipe, *after]
    process = start([PROGRAM, *arguments])
    writers = []

    def opened():
        try:
            writers.append(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
        except OSError: # nobody reads yet
            return False
        return True

    if check(wait_until(opened, process), f"{arguments} opens the pipe: exit {process.poll()}"):
        os.write(writers[0], b"{\n")
        process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    for writer in writers:
        os.close(writer)
    pipe.unlink()
    equal(process.returncode, 130, f"exit of {arguments}; said {err!r}")
    check(err and "interrupted" in err.splitlines()[-1], f"{arguments} says that it was interrupted: {err!r}")

# Waits for the store, which somebody else holds.
STORE = SCRATCH / "held.sqlite"
held = sqlite3.connect(STORE, isolation_level=None)
held.execute("CREATE TABLE other (a)")
held.execute("BEGIN EXCLUSIVE")
process = start([PROGRAM, "history", "list", "--store", STORE])
if check(wait_until(lambda: listens(process), process), f"history waits for its store: exit {process.poll()}"):
    process.send_signal(signal.SIGINT)
out, err = process.communicate(timeout=PATIENCE)
equal((process.returncode, err), (130, "headroom: interrupted (nothing was finished)\n"), "history")
held.close()

# Computes for long.
TABLE = SCRATCH / "table.csv"
TABLE.write_text("workers,seconds\n" + "".join(f"{count},{100 / count + count % 7}\n" for count in range(1, 60)))
for arguments in [
    ["laws", "--fit", TABLE, "--intervals", "bootstrap", "--resamples", "20000"],
    ["graph", "scan-blelloch:8000000"],
]:
    process = start([PROGRAM, *arguments])
    if check(wait_until(lambda: processor_seconds(process) > 0.2, process), f"{arguments} takes long: exit {process.poll()}"):
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
        equal(process.returncode, 130, f"exit of {arguments}")
        check("interrupted" in err, f"{arguments} says that it was interrupted: {err!r}")

finish()
