#!/usr/bin/python3
"""Collectives in SimGrid's SMPI and in Headroom, on a network that both model plainly; fails where they differ.

run.py PROGRAMS FOLDER: `make test-simgrid`.
"""

import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cluster"))
from forms import Network, Prices  # noqa: E402

PROGRAMS, FOLDER = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
RANKS = [4, 6, 8, 16]
LARGEST = 16 << 20
NETWORK = Network(200e-6, 8e-9)  # platform.xml; adding costs nothing, since computation is not simulated
BAR = 0.002      # of each time
LARGE = 1 << 20  # bytes from which on the bar of large sizes holds
LARGE_BAR = 0.0005
MICROSECOND = 1e-6  # starts are agreed on to that: no bar is finer

# SMPI as it comes multiplies latency and bandwidth by factors calibrated on one cluster; all of that is switched off. It
# also lets a rank go on at once from a send of less than 64 KB: a root's sends to its children then share its line and
# the first child, on which the tree waits, comes in late (a broadcast of 32 KB among 16: 46 % off). Here and in the
# closed forms a send ends with its message.
PLAIN = ["smpi/send-is-detached-thresh:0", "smpi/simulate-computation:no", "smpi/bw-factor:0:1", "smpi/lat-factor:0:1", "smpi/os:0:0:0:0:0", "smpi/or:0:0:0:0:0",
         "smpi/ois:0:0:0:0:0", "network/weight-S:0", "network/TCP-gamma:0", "network/crosstraffic:0"]
# operation of the program, SMPI's name of the algorithm, Headroom's
ALGORITHMS = [
    ("all_reduce", "allreduce:lr", "ring"),
    ("all_reduce", "allreduce:rdb", "recursive_doubling"),
    ("all_reduce", "allreduce:rab_rdb", "rabenseifner"),
    ("all_gather", "allgather:ring", "ring"),
    ("all_gather", "allgather:rdb", "recursive_doubling"),
    ("all_gather", "allgather:bruck", "bruck"),
    ("all_to_all", "alltoall:ring", "pairwise"),
    ("all_to_all", "alltoall:bruck", "bruck"),
    ("broadcast", "bcast:binomial_tree", "binomial"),
    ("broadcast", "bcast:scatter_LR_allgather", "scatter_ring"),
    ("broadcast", "bcast:scatter_rdb_allgather", "van_de_geijn"),
    ("reduce", "reduce:binomial", "binomial"),
    ("reduce_scatter", "reduce_scatter:ompi_ring", "ring"),
    ("reduce_scatter", "reduce_scatter:mpich_pair", "pairwise"),
    ("reduce_scatter", "reduce_scatter:ompi_basic_recursivehalving", "recursive_halving"),
]


def simulated(operation, selector, ranks):
    """SimGrid's seconds by bytes."""
    command = ["smpirun", "-np", str(ranks), "-platform", HERE / "platform.xml", "-hostfile", FOLDER / "hosts",
               *(f"--cfg={setting}" for setting in [*PLAIN, f"smpi/{selector}"]), "--log=root.thresh:error",
               FOLDER / "mpi_collectives", str(LARGEST), "0", "1", operation]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=FOLDER)
    if done.returncode != 0:
        sys.exit(f"simgrid: {selector} on {ranks} ranks: exit {done.returncode}: {done.stderr[-800:]}")
    return {int(row[2]): float(row[4]) * 1e-6 for row in (line.split(",") for line in done.stdout.splitlines()) if len(row) == 7
            and comparable(selector, ranks, int(row[2]))}


# These are other algorithms where the number of ranks is no power of two: the ring leaves what does not divide evenly to
# another all-reduce, the doubled gathers send within subtrees where Headroom's rows fold the ranks that are over.
POWERS_ONLY = {"allreduce:lr", "allgather:rdb", "bcast:scatter_rdb_allgather"}


def comparable(selector, ranks, size):
    """Sums and scattered vectors of fewer floats than ranks are handled by other algorithms, or not at all."""
    return not selector.startswith(("allreduce", "reduce_scatter", "bcast:scatter")) or size >= 4 * ranks


def short(size):
    return f"{size >> 20} MB" if size >= 1 << 20 else f"{size >> 10} KB" if size >= 1 << 10 else f"{size} B"


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "hosts").write_text("".join(f"host{i}\n" for i in range(max(RANKS))))
    times = {(*algorithm, ranks): simulated(*algorithm[:2], ranks) for algorithm in ALGORITHMS for ranks in RANKS
             if ranks & (ranks - 1) == 0 or algorithm[1] not in POWERS_ONLY}
    prices = Prices(PROGRAMS / "collective_times")
    for (operation, _, name, ranks), row in times.items():
        for size in row:
            prices.ask(operation, name, ranks, size, NETWORK)
    prices.fetch()
    sizes = sorted({size for row in times.values() for size in row})
    print("Headroom's closed form over SimGrid's simulated time, less one, in %")
    print(f"{'':<50}" + "".join(f"{short(size):>8}" for size in sizes))
    missed = 0
    with open(FOLDER / "simgrid.tsv", "w") as table:
        table.write("collective\talgorithm\tsmpi\tranks\tbytes\tsimgrid_us\tclosed_form_us\tsimulated_schedule_us\n")
        for (operation, selector, name, ranks), row in times.items():
            cells = ""
            for size in sizes:
                price = prices.seconds(operation, name, ranks, size, NETWORK) if size in row else None
                if price is None:
                    cells += f"{'':>8}"
                    continue
                closed, schedule = price
                table.write(f"{operation}\t{name}\t{selector}\t{ranks}\t{size}\t{row[size] * 1e6:.3f}\t{closed * 1e6:.3f}\t{schedule * 1e6:.3f}\n")
                bar = max((LARGE_BAR if size >= LARGE else BAR) * row[size], MICROSECOND)
                over = max(abs(closed - row[size]), abs(schedule - row[size])) > bar
                missed += over
                cells += f"{(closed / row[size] - 1) * 100:>7.2f}{'!' if over else ' '}"
            print(f"{operation:<15}{name:<20}{ranks:>3} {selector.split(':')[1][:11]:<11}" + cells)
    for part in sorted(prices.not_in_table):
        print(f"{part[0]} {part[1]} is not in the table of collectives: priced by the closed form of forms.py")
    print(f"simgrid: {missed} differences beyond {BAR:.1%} ({LARGE_BAR:.2%} from {short(LARGE)}), table in {FOLDER / 'simgrid.tsv'}")
    return 1 if missed else 0


sys.exit(main())
