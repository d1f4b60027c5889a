"""Ctrl-C during a long plan keeps the sizes that are finished, writes them whole, and says so."""

from _harness import PROGRAM, check, equal, finish, interrupted

# a batch with very many divisors and thousands of sizes: seconds of search on one thread
LONG = [PROGRAM, "plan", "llama-3-405b", "--cluster", "gb200-nvl72", "--workers", "720..2949120:720", "--global-batch", "735134400",
        "--threads", "1", "--against", "gb200-nvl72", "--format", "json"]
if found := interrupted(LONG, lambda value: value["curve"]):
    value, err = found
    check(not value["complete"] or len(value["comparison"]["rows"]) < 4096, "an interrupted plan is not complete")
    equal(len(err.splitlines()), 1, f"lines on standard error: {err!r}")
    check("interrupted" in err and "finished" in err, f"says that it was interrupted: {err!r}")

# shared links: a network on which some hundred thousand messages contend
SHARED = [PROGRAM, "comm", "--collective", "all_to_all", "--size", "1GB", "--ranks", "8,900,901,902,903,904,905,906,907", "--link", "10GB/s,1us", "--topology",
          "dragonfly", "--format", "json"]
if found := interrupted(SHARED, lambda value: value["rows"]):
    value, err = found
    check(value["complete"] is False, "an interrupted comm is not complete")
    check("interrupted" in err, f"says that it was interrupted: {err!r}")

finish()
