#!/usr/bin/python3
"""Predicted against measured on an emulated cluster: fits probes, predicts collectives, fails where a bar is missed.

run.py PROGRAMS FOLDER [HOSTS...]: PROGRAMS has what cluster_programs builds; tables go to FOLDER. `make test-cluster`.
"""

import csv
import json
import os
import pathlib
import shutil
import sys
import time

from emulation import DELAY_US, SEND_ONLY, Emulation
from forms import FORMS, Network, Prices, fit

PROGRAMS, FOLDER = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
POSSIBLE_HOSTS = (2, 4, 8, 16)  # algorithms over sockets are those of powers of two


def hosts_of(words):
    """Numbers of hosts, or the end of the program with what is wrong."""
    for word in words:
        if not word.isdecimal() or int(word) not in POSSIBLE_HOSTS:
            print(f"cluster: {word!r} is no number of hosts ({', '.join(map(str, POSSIBLE_HOSTS))})", file=sys.stderr)
            sys.exit(2)
    return [int(word) for word in words] or [4, 8]


HOSTS = hosts_of(sys.argv[3:])
EMULATION, EMULATED = Emulation(PROGRAMS, FOLDER), PROGRAMS / "emulated_cluster"
FROM = 256 << 10  # bytes from which on the bars hold
LARGEST = 16 << 20
LARGEST_AGAIN = 4 << 20  # of the runs after the first: the longest times are the steadiest
# Seconds and least repeats of a size through OpenMPI: of the first run, which has the largest, and of those after it. Ranks
# fall in and out of step, and times have two modes: a dozen repeats find the lower one.
FIRST_RUN, LATER_RUNS = "0.15 2", "0.8 12"

# Rates at which the line, not two shared cores, is what takes time.
MPI_RATE = 250e6
EAGER = 64 << 10  # bytes from which on OpenMPI asks the receiver first (btl_tcp_eager_limit): another alpha
SOCKET_BAR, MPI_BAR = 0.10, 0.20
MEASURED_BAR = 0.10  # median error of `headroom measure comm`, whose models have its own probes alone
MEASURED_SIZES = "8B,512B,4KiB,16KiB,32KiB,64KiB,128KiB,256KiB,512KiB,1MiB,2MiB,4MiB"
MEASURED_SECONDS = os.environ.get("HEADROOM_CLUSTER_SECONDS", "150")
MEASURED_BUFFERS = "cold"  # messages that cross a network come from memory as often as not; the line takes the time
# collective, algorithm, and the number by which OpenMPI's "tuned" component is told to take it
FORCED = [("all_reduce", "recursive_doubling", "allreduce", 3), ("all_reduce", "ring", "allreduce", 4),
          ("all_reduce", "rabenseifner", "allreduce", 6), ("all_gather", "ring", "allgather", 4),
          ("all_gather", "recursive_doubling", "allgather", 3), ("all_to_all", "pairwise", "alltoall", 2)]
PROBES = {"one_way", "both_ways", "shifted", "all_at_once"}


def socket_rate(hosts):
    return 1e9 if hosts <= 4 else MPI_RATE


def load():
    return os.getloadavg()[0]


def emulated(hosts, rate, script, seconds):
    """The rows that a shell script writes below emulated hosts."""
    return [line.split(",") for line in EMULATION.output(hosts, rate, script, seconds).splitlines() if line.count(",") >= 6]


class Measured:
    """The least and the middle time of each collective, algorithm and size, over several short runs."""

    def __init__(self):
        self.rows = {}

    def add(self, collective, algorithm, size, least, middle):
        row = self.rows.setdefault((collective, algorithm), {}).setdefault(size, [least, []])
        row[0] = min(row[0], least)
        row[1].append(middle)

    def least(self, collective, algorithm):
        return {size: row[0] for size, row in self.rows.get((collective, algorithm), {}).items()}

    def middle(self, collective, algorithm):
        return {size: sorted(row[1])[len(row[1]) // 2] for size, row in self.rows.get((collective, algorithm), {}).items()}


def sockets(hosts, rate, repeats):
    """Every operation over blocking sockets; gamma, too."""
    program = PROGRAMS / "socket_collectives"
    measured, gamma = Measured(), float("inf")
    for run in range(repeats):
        largest = LARGEST_AGAIN if run > 0 and hosts > 4 else LARGEST
        script = (f'pids=(); for host in $(seq 2 {hosts}); do "{EMULATED}" on $host "{program}" $((host - 1)) {hosts} {largest} 0.15 & '
                  f'pids+=($!); done; "{EMULATED}" on 1 "{program}" 0 {hosts} {largest} 0.15 || exit 1; '
                  'for pid in "${pids[@]}"; do wait $pid || exit 1; done')
        for collective, algorithm, _, _, size, _, least, middle, _ in emulated(hosts, rate, script, 300):
            if collective == "add":
                gamma = min(gamma, float(least) * 1e-6 / int(size))
            else:
                measured.add(collective, algorithm, int(size), float(least) * 1e-6, float(middle) * 1e-6)
    return measured, gamma


def open_mpi(hosts, rate, flags, repeats, largest=LARGEST):
    """Probes and forced algorithms through OpenMPI."""
    common = EMULATION.mpirun(hosts, flags)
    measured = Measured()

    def note(collective, algorithm, row):
        measured.add(collective, algorithm, int(row[2]), float(row[4]) * 1e-6, float(row[5]) * 1e-6)

    for run in range(repeats):
        effort = f"{min(largest, LARGEST_AGAIN)} {LATER_RUNS}" if run > 0 else f"{largest} {FIRST_RUN}"
        program = f'"{FOLDER}/mpi_collectives" {effort} '
        script = "set -e; " + common + program + "one_way both_ways shifted\n"
        for collective, algorithm, name, number in FORCED:
            script += (f"echo {collective},{algorithm},,,,,,\n" + common + "--mca coll_tuned_use_dynamic_rules 1 "
                       f"--mca coll_tuned_{name}_algorithm {number} " + program + collective + "\n")
        forced = None
        for row in emulated(hosts, rate, script, 400):
            if row[2] == "":
                forced = row[:2]
            elif row[0] in PROBES:
                note("point_to_point", row[0], row)
            else:
                note(*forced, row)
    return measured


def record(name, hosts, measured):
    """The table for people, and the same as input of `headroom comm --fit`."""
    with open(FOLDER / f"{name}.tsv", "w") as table, open(FOLDER / f"{name}.csv", "w") as log:
        table.write("collective\talgorithm\tranks\tbytes\tminimum_us\tmedian_us\n")
        log.write("collective,algorithm,ranks,nodes,bytes,time_us\n")
        for (collective, algorithm), rows in measured.rows.items():
            middle = measured.middle(collective, algorithm)
            ranks = 2 if algorithm in ("one_way", "both_ways") else hosts
            for size in sorted(rows):
                table.write(f"{collective}\t{algorithm}\t{ranks}\t{size}\t{rows[size][0] * 1e6:.2f}\t{middle[size] * 1e6:.2f}\n")
                log.write(f"{collective},{algorithm},{ranks},{ranks},{size},{rows[size][0] * 1e6:.2f}\n")


def short(size):
    return f"{size >> 20} MB" if size >= 1 << 20 else f"{size >> 10} KB" if size >= 1 << 10 else f"{size} B"


class Line:
    """alpha + n beta of one probe, by protocol: pairs of (least bytes of a message, network), smallest first."""

    def __init__(self, points, gamma, limits):
        self.pieces = []
        for low, high in zip([0, *limits], [*limits, sys.maxsize]):
            piece = [(size, seconds) for size, seconds in sorted(points.items()) if low <= size < high]
            self.pieces.append((low, Network(*fit(piece), gamma), piece))

    def network(self, message):
        return [network for low, network, _ in self.pieces if low <= message][-1]

    def show(self, what):
        for low, network, piece in self.pieces:
            worst = max(abs((network.alpha + size * network.beta) / seconds - 1) for size, seconds in piece)
            print(f"  {what:<9} from {short(low):>5}: alpha {network.alpha * 1e6:6.1f} us  beta {network.beta * 1e9:6.3f} ns/B"
                  f"  (residuals up to {worst:.0%})")


def ratios(one, both):
    return ", ".join(f"{short(size)} {both[size] / one[size]:.2f}" for size in sorted(both) if size >= FROM)


def priced(hosts, times, lines):
    """Headroom's seconds for each (collective, algorithm) and size, and what its table does not have."""
    prices, networks = Prices(PROGRAMS / "collective_times"), {}
    for name, sizes in times.items():
        messages, sent, _ = FORMS[name](hosts)
        for size in sizes:
            networks[name, size] = lines[name].network(sent * size / messages)
            prices.ask(*name, hosts, size, networks[name, size])
    prices.fetch()
    return {(name, size): prices.seconds(*name, hosts, size, network)[0] for (name, size), network in networks.items()}, prices.not_in_table


def compare(title, hosts, measured, gamma, statistic, bar=None, probe="both_ways", limits=()):
    """Prints predicted / measured, algorithm by size; the rows beyond the bar. Trees use one direction at a time: the
    one-way probe prices them; all others send and receive at once and are priced by `probe`."""
    pick = measured.least if statistic == "minima" else measured.middle
    print(f"\n{title}, {statistic}, predicted / measured")
    probes = {name: Line(pick("point_to_point", name), gamma, limits) for name in ("one_way", "both_ways")}
    for name, line in probes.items():
        line.show(name)
    print("  both ways at once over one way: " + ratios(pick("point_to_point", "one_way"), pick("point_to_point", "both_ways")))
    times = {name: pick(*name) for name in measured.rows if name[0] != "point_to_point" and name[1] not in PROBES}
    lines = {name: probes["one_way" if name[1] == "binomial" else probe] for name in times}
    predicted, not_in_table = priced(hosts, times, lines)
    sizes = sorted({size for row in times.values() for size in row})
    print(f"  {'':<31}" + "".join(f"{short(size):>8}" for size in sizes))
    missed, errors = [], []
    for name, row in times.items():
        cells = ""
        for size in sizes:
            share = predicted[name, size] / row[size] if size in row else None
            over = share is not None and bar is not None and size >= FROM and abs(share - 1) > bar
            cells += f"{'':>8}" if share is None else f"{share:>7.2f}{'!' if over else ' '}"
            if share is not None and size >= FROM:
                errors.append(abs(share - 1))
            if over:
                missed.append(f"{title}, {statistic}: {name[0]} {name[1]} of {short(size)}: predicted / measured {share:.2f}")
        print(f"  {name[0]:<11}{name[1]:<20}" + cells)
    print(f"  from {short(FROM)}: mean error {sum(errors) / len(errors):.1%}, worst {max(errors):.1%}, "
          + (f"bar {bar:.0%}" if bar is not None else "no bar"))
    for part in sorted(not_in_table):
        print(f"  {part[0]} {part[1]} is not in the table of collectives: priced by the closed form of forms.py")
    return missed


def by_headroom(hosts, rate, flags, name):
    """What `headroom measure comm` says of these hosts; its models of collectives know its probes of messages alone."""
    result = FOLDER / f"measure_comm_{name}_{hosts}.json"
    result.unlink(missing_ok=True)
    collectives, algorithms = ({row[place] for row in FORCED} for place in (0, 1))
    script = (EMULATION.mpirun(hosts, flags) + f'"{PROGRAMS}/headroom-mpi" measure comm --store none --parts messages,collectives '
              f'--collectives {",".join(sorted(collectives))} --algorithms {",".join(sorted(algorithms))} --sizes {MEASURED_SIZES} --buffers {MEASURED_BUFFERS} '
              f'--time {MEASURED_SECONDS}s --patience 120s --quiet --format json --out "{result}" --save "{result.with_suffix(".csv")}"')
    emulated(hosts, rate, script, 900)
    return json.loads(result.read_text())


def compare_own(title, value, bar=None):
    """Prints predicted / measured of least times, algorithm by size; what misses the bar on the median error."""
    points = {point["label"]: point["parameters"] for point in value["points"]}
    rows = {}
    for one in value["predictions"]:
        parameters = points[one["point"]]
        rows.setdefault((parameters["collective"], parameters["algorithm"]), {})[int(parameters["bytes"])] = one["least_ratio"]
    sizes = sorted({size for row in rows.values() for size in row})
    print(f"\n{title}, minima, predicted / measured")
    print("  both ways at once over one way: " + ", ".join(
        f"{short(one['bytes'])} {one['both_ways_ratio']:.2f}" for one in value["ratios"] if one["bytes"] >= FROM and one["both_ways_ratio"]))
    print(f"  {'':<31}" + "".join(f"{short(size):>8}" for size in sizes))
    for name, row in rows.items():
        print(f"  {name[0]:<11}{name[1]:<20}" + "".join(f"{row[size]:>8.2f}" if size in row else f"{'':>8}" for size in sizes))
    error = value["median_prediction_error"]
    print(f"  from {short(FROM)}: median error {error:.1%}, " + (f"bar {bar:.0%}" if bar is not None else "no bar"))
    return [f"{title}: median error {error:.1%}"] if bar is not None and error > bar else []


def run(hosts):
    missed = []
    print(f"\n== {hosts} hosts, {DELAY_US} us; load average {load():.1f} on {os.cpu_count()} cores")
    rate = socket_rate(hosts)
    measured, gamma = sockets(hosts, rate, 3 if hosts <= 4 else 2)
    record(f"sockets_{hosts}", hosts, measured)
    title = f"Blocking sockets, {hosts} hosts at {rate / 1e6:g} Mbit/s"
    missed += compare(title, hosts, measured, gamma, "minima", SOCKET_BAR)
    compare(title, hosts, measured, gamma, "medians")
    print(f"  gamma {gamma * 1e9:.3f} ns/B, load average {load():.1f}")

    rate = MPI_RATE
    measured = open_mpi(hosts, rate, SEND_ONLY, 3)
    record(f"openmpi_send_{hosts}", hosts, measured)
    title = f"OpenMPI, btl_tcp_flags 1, {hosts} hosts at {rate / 1e6:g} Mbit/s"
    missed += compare(title, hosts, measured, gamma, "minima", MPI_BAR, limits=[EAGER])
    compare(title, hosts, measured, gamma, "medians", limits=[EAGER])

    title = f"headroom measure comm, btl_tcp_flags 1, {hosts} hosts at {rate / 1e6:g} Mbit/s"
    if hosts == 4:
        missed += compare_own(title, by_headroom(hosts, rate, SEND_ONLY, "send"), MEASURED_BAR)
        value = by_headroom(hosts, rate, "", "default")
        compare_own(title.replace("btl_tcp_flags 1", "OpenMPI as it comes"), value)
        if not any("btl_tcp_flags" in note for note in value["notes"]):
            missed.append("headroom measure comm, OpenMPI as it comes: does not tell that both ways at once are slow")

    measured = open_mpi(hosts, rate, "", 1, LARGEST if hosts <= 4 else LARGEST // 4)
    record(f"openmpi_default_{hosts}", hosts, measured)
    title = f"OpenMPI as it comes, {hosts} hosts at {rate / 1e6:g} Mbit/s"
    compare(title + ", priced by one way", hosts, measured, gamma, "medians", probe="one_way", limits=[EAGER])
    compare(title + ", priced by both ways", hosts, measured, gamma, "medians", limits=[EAGER])
    print("  no bar: its control messages queue behind bulk data that goes the same way, so a line that is busy in both\n"
          f"  directions is slower than the probe in one says; the probe in both shows it. Load average {load():.1f}")
    return missed


def main():
    started = time.monotonic()
    FOLDER.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(FOLDER / "tmp", ignore_errors=True)
    (FOLDER / "tmp").mkdir()
    emulated(2, 1e9, "true", 20)  # says so where it is not possible
    missed = []
    try:
        for hosts in HOSTS:
            missed += run(hosts)
    finally:
        shutil.rmtree(FOLDER / "tmp", ignore_errors=True)
    print(f"\ncluster: {len(missed)} beyond the bars, {time.monotonic() - started:.0f} s, tables in {FOLDER}")
    for line in missed:
        print(f"  {line}")
    return 1 if missed else 0


sys.exit(main())
