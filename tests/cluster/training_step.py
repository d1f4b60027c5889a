#!/usr/bin/python3
"""A training step predicted from one worker and from probes of the network, against the step measured on emulated hosts.

training_step.py PROGRAMS FOLDER: 2 workers compute; 4 and 8 sleep as long as one worker computed, since two cores cannot
compute for eight, and move real gradients. Fails where a prediction misses its bar. `make test-cluster`.
"""

import json
import math
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import time

from emulation import DELAY_US, SEND_ONLY, Emulation
from forms import fit

PROGRAMS, FOLDER = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve() / "step"
EMULATION, STEP = Emulation(PROGRAMS, FOLDER), PROGRAMS / "headroom-step"
PROBES = FOLDER.parent / "mpi_collectives"

RATE = 250e6  # bits a second: the line takes the time, not the cores that emulate it
BATCH = 64
TRAIN = f"--batch {BATCH} --steps 10 --warm-up 2"  # of the model that headroom-step has by default
SMALL = "--layers 5 --hidden 64 --sequence 16 --batch 12 --steps 4 --warm-up 0 --bucket 20KB"
BARS = {2: 0.10, 4: 0.15, 8: 0.15}
ROUNDS = 3  # of one worker and two in turn, of which the quietest counts: other work on the machine only adds time
BUCKET = 1 << 20  # what headroom-step adds up at a time: the load of sending is measured with messages up to this size
IN_A_ROW = 3  # exchanges of a sample of the probe, see mpi_collectives.cpp
EAGER = 64 << 10  # bytes from which on OpenMPI asks the receiver first: a bucket's messages are larger


def step(arguments, result):
    """The JSON of a run of headroom-step by one process."""
    subprocess.run([STEP, *arguments.split(), "--json", result], check=True, stdout=subprocess.DEVNULL, timeout=300)
    return json.loads(result.read_text())


def among(workers, arguments, seconds=300):
    """Training step of so many workers on a host each."""
    result = FOLDER / f"run_{workers}.json"
    EMULATION.output(workers, RATE, EMULATION.mpirun(workers, SEND_ONLY) + f'"{STEP}" {arguments} --json "{result}"', seconds)
    answer = json.loads(result.read_text())
    if answer["workers"] != workers:
        sys.exit(f"cluster: {STEP} ran as {answer['workers']} of {workers} workers: was it built without MPI?")
    return answer


def link():
    """Latency and seconds a byte of messages that go both ways at once, of the sizes that buckets are sent in: the least
    times of all rounds, since other work on the machine only adds time."""
    script = EMULATION.mpirun(2, SEND_ONLY) + f'"{PROBES}" {4 << 20} 0.8 12 both_ways'
    least = {}
    for _ in range(ROUNDS):
        for line in EMULATION.output(2, RATE, script, 120).splitlines():
            row = line.split(",")
            if row[0] == "both_ways" and int(row[2]) >= EAGER:
                least[int(row[2])] = min(least.get(int(row[2]), math.inf), float(row[4]) * 1e-6)
    return fit(sorted(least.items()))


def processors_taken():
    """Processors that two hosts which send both ways, and the line between them, keep busy meanwhile: a long run less a
    short one, so that starting counts for nothing."""
    def run(repeats):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        script = EMULATION.mpirun(2, SEND_ONLY) + f'"{PROBES}" {BUCKET} 0.001 {repeats} both_ways'
        rows = [line.split(",") for line in EMULATION.output(2, RATE, script, 120).splitlines() if line.startswith("both_ways,")]
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        sending = sum(float(row[5]) * 1e-6 * int(row[3]) * IN_A_ROW for row in rows)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, sending
    (short, little), (long, much) = run(4), run(24)
    return (long - short) / (much - little)


def load_of(workers, taken):
    """Share of a worker's processor that the exchange takes where all workers compute on the processors of one machine."""
    # A worker starved beyond nine tenths is no step that anybody predicts; the bars then say so.
    return min(0.9, max(0.0, (taken + workers - os.cpu_count()) / workers))


def predicted(profile, workers, alpha, beta, options, load=0.0):
    options += f" --exchange-load {load:.4f}"
    answer = step(f"--predict {workers} --compute replay:{profile} --batch {BATCH} --all-reduce ring "
                  f"--latency {alpha * 1e6:.6f}us --bandwidth {1 / beta / 1e6:.6f}MB/s {options}", FOLDER / "predicted.json")
    return answer["rows"][0]


def neighbours(number):
    """Two workers that do not exchange, at once: (JSON, profile) of the slower. Two that compute share a memory and what
    the processor's cores share, so that each is slower than alone."""
    profiles = [FOLDER / f"neighbour_{number}_{worker}.json" for worker in range(2)]
    running = [subprocess.Popen([STEP, *TRAIN.split(), "--profile", profile, "--json", profile.with_suffix(".step")],
                                stdout=subprocess.DEVNULL) for profile in profiles]
    if any([one.wait(timeout=300) for one in running]):
        sys.exit(f"cluster: {STEP} {TRAIN} failed")
    return max(((json.loads(one.with_suffix(".step").read_text()), one) for one in profiles), key=lambda pair: pair[0]["step_seconds"])


def quietest(options):
    """One worker, two that do not exchange, and two that do, measured in turn: (profile and JSON of one, profile of a
    neighbour, JSON of two)."""
    ones, pairs, twos = [], [], []
    for number in range(ROUNDS):
        profile = FOLDER / f"profile_{number}.json"
        ones.append((step(f"{TRAIN} --profile {profile}", FOLDER / "one.json"), profile))
        pairs.append(neighbours(number))
        twos.append(among(2, f"{TRAIN} --all-reduce ring {options}"))
    (one, profile), (pair, neighbour) = (min(all_of, key=lambda pair: pair[0]["step_seconds"]) for all_of in (ones, pairs))
    print(f"    a step of one worker takes {one['step_seconds'] * 1e3:.1f} ms alone, {pair['step_seconds'] * 1e3:.1f} ms while another computes")
    return profile, one, neighbour, min(twos, key=lambda two: two["step_seconds"])


def ceiling(measured, workers):
    """Amdahl's, from measured phases: the speedup if what does not divide on so many workers stayed."""
    phases = measured["phases"]
    stays = phases["exposed_all_reduce_seconds"] + phases["optimizer_seconds"]
    return 1 + workers * (phases["forward_seconds"] + phases["backward_seconds"]) / stays


class Comparison:
    """Rows of predicted against measured, and what missed its bar."""

    def __init__(self):
        self.missed = []
        self.table = open(FOLDER / "training_step.tsv", "w")
        self.table.write("workers\tcomputing\toverlap\tpredicted_s\tmeasured_s\tmedian_s\n")

    def title(self, text):
        print(f"\n{text}\n  {'workers':<16}{'step':>21}{'':>7}{'gamma':>15}{'s':>15}{'speedup':>15}{'ceiling':>15}")

    def row(self, workers, computing, overlap, told, found, alone):
        # Replayed computing is the same in every step and the probes are minima, so the least step is what to compare with;
        # real computing varies, and the profile has medians.
        seconds = found["step_seconds" if computing == "computing" else "least_step_seconds"]
        ratio = told["step_seconds"] / seconds
        over = abs(ratio - 1) > BARS[workers]
        parts = [(told["gamma"], found["gamma"]), (told["serial_share"], found["serial_share"]),
                 (told["speedup"], alone / seconds), (told["ceiling"], ceiling(found, workers))]
        print(f"  {workers} {computing:<14}{told['step_seconds'] * 1e3:>8.1f} / {seconds * 1e3:>6.1f} ms"
              f"{ratio:>7.3f}{'!' if over else ' '}" + "".join(f"{one:>7.3f} /{two:>6.3f}" for one, two in parts))
        self.table.write(f"{workers}\t{computing}\t{overlap}\t{told['step_seconds']:.6f}\t{seconds:.6f}\t{found['step_seconds']:.6f}\n")
        if computing == "computing":
            passes = [one["forward_seconds"] + one["backward_seconds"] for one in (found["phases"], told)]
            print(f"    its passes took {passes[0] / passes[1]:.2f} of what a neighbour says")
        if over:
            self.missed.append(f"{workers} workers, {computing}, overlap {overlap}: predicted / measured {ratio:.3f}, bar {BARS[workers]:.0%}")


def compare(comparison, title, options, alpha, beta, taken):
    comparison.title(f"{title}: predicted / measured")
    profile, one, neighbour, two = quietest(options)
    overlap = "on" if options else "off"
    told = predicted(neighbour, 2, alpha, beta, options, load_of(2, taken) if options else 0.0)
    comparison.row(2, "computing", overlap, told, two, one["step_seconds"])
    for workers in (2, 4, 8):
        found = among(workers, f"{TRAIN} --compute replay:{profile} --all-reduce ring {options}")
        comparison.row(workers, "replayed", overlap, predicted(profile, workers, alpha, beta, options), found, one["step_seconds"])


def main():
    started = time.monotonic()
    shutil.rmtree(FOLDER, ignore_errors=True)
    (FOLDER / "tmp").mkdir(parents=True)
    EMULATION.output(2, 1e9, "true", 20)  # says so where it is not possible
    print(f"\n== A training step on emulated hosts, {RATE / 1e6:g} Mbit/s, {DELAY_US} us; "
          f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    for ranks in (2, 3, 4):
        script = EMULATION.mpirun(ranks, SEND_ONLY) + f'"{STEP}" {SMALL} --all-reduce ring --overlap --check'
        print("  " + ": ".join(EMULATION.output(ranks, RATE, script, 120).splitlines()[:2]))
    alpha, beta = link()
    print(f"  probes both ways at once from {EAGER >> 10} KB: alpha {alpha * 1e6:.1f} us, beta {beta * 1e9:.3f} ns/B")
    taken = processors_taken()
    print(f"  sending both ways keeps {taken:.2f} of {os.cpu_count()} processors busy: where 2 workers compute meanwhile, "
          f"it takes {load_of(2, taken):.0%} of theirs")
    comparison = Comparison()
    compare(comparison, "All-reduce after the backward pass", "", alpha, beta, taken)
    compare(comparison, "All-reduce overlapping with the backward pass", "--overlap", alpha, beta, taken)
    shutil.rmtree(FOLDER / "tmp", ignore_errors=True)
    print(f"\ncluster: training step: {len(comparison.missed)} beyond the bars ({BARS[2]:.0%} with 2 workers, {BARS[8]:.0%} with 4 and 8), "
          f"{time.monotonic() - started:.0f} s, load average {os.getloadavg()[0]:.1f}, table in {FOLDER}")
    for line in comparison.missed:
        print(f"  {line}")
    return 1 if comparison.missed else 0


sys.exit(main())
