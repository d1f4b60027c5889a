#!/usr/bin/python3
"""Times of `headroom measure comm` with hot buffers, against a ping-pong and an all-reduce by hand, on this host.

hot_messages.py PROGRAMS FOLDER: two ranks through the memory of this host, the two programs in turn, least times of all
turns. Fails where they differ by more than the bar. `make test-cluster`.
"""

import json
import os
import pathlib
import subprocess
import sys

PROGRAMS, FOLDER = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
RANKS = 2
FEWEST_TURNS, MOST_TURNS = 3, 9
SETTLED, SETTLED_TURNS = 0.02, 2  # least times fell by no more than this in so many turns
LARGEST = 256 << 10
SIZES = ",".join(f"{8 ** power}B" for power in range(1, 7))  # 8 B to 256 KiB, as hot_messages.cpp goes through them
SECONDS_BY_HAND, SECONDS = 0.3, 15
BAR = 0.15
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


def launched(*words):
    command = ["mpirun", "-np", str(RANKS), "--bind-to", "core", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, timeout=300)
    if done.returncode != 0:
        sys.exit(f"cluster: {' '.join(map(str, words))}: exit {done.returncode}: {done.stderr.strip()[-2000:]}")
    return done.stdout


def by_hand():
    """{(operation, bytes): least seconds}"""
    rows = [line.split(",") for line in launched(FOLDER / "hot_messages", LARGEST, SECONDS_BY_HAND).splitlines()]
    return {(row[0], int(row[2])): float(row[4]) * 1e-6 for row in rows if len(row) == 6}


def by_headroom():
    result = FOLDER / "hot_messages.json"
    launched(PROGRAMS / "headroom-mpi", "measure", "comm", "--store", "none", "--buffers", "hot", "--parts", "messages,collectives",
             "--collectives", "all_reduce", "--sizes", SIZES, "--time", f"{SECONDS}s", "--quiet", "--format", "json", "--out", result)
    times = {}
    for point in json.loads(result.read_text())["points"]:
        parameters = point["parameters"]
        name = parameters.get("collective", parameters["pattern"])
        if name in ("one_way", "all_reduce"):
            times[name, int(parameters["bytes"])] = point["least_seconds"]
    return times


def main():
    if (os.cpu_count() or 1) < RANKS or len(os.sched_getaffinity(0)) < RANKS:
        print(f"cluster: hot messages are not compared: {RANKS} ranks need a core each")
        return 0
    least, turns, settled = {}, 0, 0
    while turns < FEWEST_TURNS or (settled < SETTLED_TURNS and turns < MOST_TURNS):
        settled += 1
        for who, measured in (("by hand", by_hand()), ("measure comm", by_headroom())):
            before = least.get(who, {})
            least[who] = {key: min(time, before.get(key, time)) for key, time in measured.items()}
            if any(least[who][key] < time * (1 - SETTLED) for key, time in before.items()):
                settled = 0
        turns += 1
    print(f"\n== hot buffers, {RANKS} ranks of this host, least of {turns} turns; load average {os.getloadavg()[0]:.1f}")
    print(f"  {'':<12}{'bytes':>9}{'by hand us':>12}{'comm us':>10}{'ratio':>7}")
    missed = []
    for key in sorted(least["by hand"]):
        hand, ours = least["by hand"][key], least["measure comm"][key]
        over = abs(ours / hand - 1) > BAR
        print(f"  {key[0]:<12}{key[1]:>9}{hand * 1e6:>12.3f}{ours * 1e6:>10.3f}{ours / hand:>7.2f}{'!' if over else ''}")
        if over:
            missed.append(f"{key[0]} of {key[1]} B: {ours / hand:.2f} of the time by hand")
    print(f"  bar {BAR:.0%}: {len(missed)} beyond it")
    return 1 if missed else 0


sys.exit(main())
