"""Ctrl-C in long work says that it stops, keeps what is finished, and writes it whole; a second one ends the program."""

import signal

from _harness import PROGRAM, SCRATCH, check, equal, finish, interrupted, listens, processor_seconds, start, wait_until

# a batch with very many divisors and thousands of sizes: seconds of search on one thread
LONG = [PROGRAM, "plan", "llama-3-405b", "--cluster", "gb200-nvl72", "--workers", "240..983040:240", "--global-batch", "735134400",
        "--threads", "1", "--against", "gb200-nvl72", "--format", "json"]
if found := interrupted(LONG, lambda value: value["curve"]):
    value, err = found
    check(not value["complete"] or len(value["comparison"]["rows"]) < 4096, "an interrupted plan is not complete")
    equal(len(err.splitlines()), 2, f"lines on standard error: {err!r}")
    check("stopping" in err.splitlines()[0], f"says that it stops: {err!r}")
    check("interrupted" in err and "finished" in err, f"says that it was interrupted: {err!r}")

# shared links: a network on which some hundred thousand messages contend
SHARED = [PROGRAM, "comm", "--collective", "all_to_all", "--size", "1GB", "--ranks", "8,900,901,902,903,904,905,906,907", "--link", "10GB/s,1us", "--topology",
          "dragonfly", "--format", "json"]
if found := interrupted(SHARED, lambda value: value["rows"]):
    value, err = found
    check(value["complete"] is False, "an interrupted comm is not complete")
    check("interrupted" in err, f"says that it was interrupted: {err!r}")

# a simulation of 10^9 requests beside formulas that are finished before it begins
QUEUE = [PROGRAM, "queue", "--arrivals", "900/s", "--service", "1ms", "--replicas", "2", "--simulate", "300h", "--format", "json"]
if found := interrupted(QUEUE, lambda value: value["rows"]):
    value, err = found
    check(value["complete"] is False and value["simulation"] is None, "an interrupted queue has its formulas and no simulation")
    check("stopping" in err and "interrupted" in err, f"queue says that it was interrupted: {err!r}")

FIT = [PROGRAM, "validate", "--leave-one-source-out", "--format", "json"]
if found := interrupted(FIT, lambda value: value["rows"]):
    value, err = found
    check(value["complete"] is False, "an interrupted validate is not complete")
    check("stopping" in err and "interrupted" in err, f"validate says that it was interrupted: {err!r}")

SERVE = [PROGRAM, "inference", "llama-3-70b", "--cluster", "dgx-h100", "--tp", "4,8", "--arrivals", "100/s", "--replicas", "8,16,32,64", "--duration", "1h",
         "--format", "json"]
if found := interrupted(SERVE, lambda value: value["choices"]):
    value, err = found
    check(value["complete"] is False, "an interrupted inference is not complete")
    check("stopping" in err and "interrupted" in err, f"inference says that it was interrupted: {err!r}")

# samples enough for seconds, eight times: a file that is named twice is refused
SAMPLES = SCRATCH / "samples.csv"
with SAMPLES.open("w") as file:
    for part in range(400):
        file.write("".join(f"{1 + (7 * line + part) % 1000}.5,0\n" for line in range(25_000)))
COPIES = [SCRATCH / f"samples{copy}.csv" for copy in range(8)]
for copy in COPIES:
    copy.hardlink_to(SAMPLES)
TAIL = [PROGRAM, "tail", *COPIES, "--column", "1", "--unit", "ms", "--format", "json"]
if found := interrupted(TAIL, lambda value: value["samples"]["count"]):
    value, err = found
    check(value["complete"] is False, "an interrupted tail is not complete")
    check("stopping" in err and "interrupted" in err, f"tail says that it was interrupted: {err!r}")
for file in (SAMPLES, *COPIES):
    file.unlink()

# The handler is gone once the first Ctrl-C has come: the second ends the program, unless it is through by then. Before the work
# begins, the first ends it.
for attempt in range(50):
    process = start(QUEUE)
    if wait_until(lambda: processor_seconds(process) >= 0.02 * attempt, process):
        process.send_signal(signal.SIGINT)
        wait_until(lambda: not listens(process), process)
        process.send_signal(signal.SIGINT)
    process.communicate()
    if process.returncode == -signal.SIGINT:
        break
equal(process.returncode, -signal.SIGINT, "a second Ctrl-C ends the program")

finish()
