#!/usr/bin/env python3
"""Share of repeated figures of `headroom measure roofline` in the interval of the run before: 9 of 10 is the bar.

    bench/measure_agreement.py PROGRAM [REPEATS] [BUDGET]

Every figure of every pair of runs in a row counts. What the figures are of decides how far they can be trusted, so shares are
printed by kind. Wants a quiet machine: the load is printed before each run.
"""

import collections
import itertools
import json
import os
import subprocess
import sys


def measured(program, budget, seed):
    print(f"run {seed}: load {os.getloadavg()[0]:.1f}", file=sys.stderr)
    done = subprocess.run([program, "measure", "roofline", "--store", "none", "--quiet", "--format", "json", "--time", budget,
                           "--seed", str(seed)], capture_output=True, check=True)
    return {figure["label"]: figure for figure in json.loads(done.stdout)["figures"]}


def kind_of(label):
    return label.split()[0] + (", 1 core" if label.endswith("1 core") else ", more cores")


def main():
    program = sys.argv[1]
    repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    budget = sys.argv[3] if len(sys.argv) > 3 else "60s"
    runs = [measured(program, budget, seed + 1) for seed in range(repeats)]
    inside, count, far = collections.Counter(), collections.Counter(), []
    for first, second in itertools.pairwise(runs):
        for label in first.keys() & second.keys():
            stated, found = first[label], second[label]["median"]
            count[kind_of(label)] += 1
            if stated["low"] <= found <= stated["high"]:
                inside[kind_of(label)] += 1
            else:
                far.append((abs(found / stated["median"] - 1), label))
    for kind in sorted(count):
        print(f"{kind:<28}{inside[kind]:>5} of {count[kind]:<5}{inside[kind] / count[kind]:>6.0%}")
    share = sum(inside.values()) / sum(count.values())
    print(f"{'all':<28}{sum(inside.values()):>5} of {sum(count.values()):<5}{share:>6.0%}, bar 90%")
    for off, label in sorted(far, reverse=True)[:5]:
        print(f"  off by {off:.0%}: {label}")
    return 0 if share >= 0.9 else 1


if __name__ == "__main__":
    sys.exit(main())
