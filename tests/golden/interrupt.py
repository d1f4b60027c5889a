"""Ctrl-C during a long plan keeps the sizes that are finished, writes them whole, and says so."""

import json
import signal
import subprocess
import time

from _harness import ENVIRONMENT, PROGRAM, check, equal, finish

# a batch with very many divisors and thousands of sizes: seconds of search on one thread
LONG = [PROGRAM, "plan", "llama-3-405b", "--cluster", "gb200-nvl72", "--workers", "720..2949120:720", "--global-batch", "735134400",
        "--threads", "1", "--against", "gb200-nvl72", "--format", "json"]


def interrupted_after(seconds, command=LONG):
    """The finished process and what it wrote, or None when the signal came too early or too late."""
    process = subprocess.Popen(command, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    return (out.decode(), err.decode()) if process.returncode == 130 else None


found = None
for delay in (0.3, 0.15, 0.6, 1.2, 0.08):
    found = found or interrupted_after(delay)
if check(found is not None, "no delay interrupted the search: exit 130 never seen"):
    out, err = found
    value = json.loads(out)
    check(not value["complete"] or len(value["comparison"]["rows"]) < 4096, "an interrupted plan is not complete")
    check(len(value["curve"]) > 0, "the sizes finished so far are kept")
    equal(len(err.splitlines()), 1, f"lines on standard error: {err!r}")
    check("interrupted" in err and "finished" in err, f"says that it was interrupted: {err!r}")

# shared links: a network on which some hundred thousand messages contend
SHARED = [PROGRAM, "comm", "--collective", "all_to_all", "--size", "1GB", "--ranks", "8,900", "--link", "10GB/s,1us", "--topology",
          "dragonfly", "--format", "json"]
found = None
for delay in (0.3, 0.6, 0.15, 1.2):
    found = found or interrupted_after(delay, SHARED)
if check(found is not None, "no delay interrupted the shared links: exit 130 never seen"):
    out, err = found
    value = json.loads(out)
    check(value["complete"] is False, "an interrupted comm is not complete")
    check(len(value["rows"]) > 0, "the ranks finished so far are kept")
    check("interrupted" in err, f"says that it was interrupted: {err!r}")

finish()
