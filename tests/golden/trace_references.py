"""Every recorded trace with a reference answer, through the verb: interval unions to the nanosecond.

The traces were recorded by others and are not part of the project: they lie in $HEADROOM_SHARED/traces, or in
../shared/traces next to it. Without them this test says that it was skipped.
"""

import csv
import json
import os
import pathlib

from _harness import SOURCE, check, equal, finish, run, skip

SHARED = pathlib.Path(os.environ.get("HEADROOM_SHARED", SOURCE.parent / "shared")) / "traces"

# Ours (seconds) beside the reference's (nanoseconds).
FIELDS = {
    "wall_seconds": "window_ns",
    "compute_seconds": "comp_ns",
    "communication_seconds": "comm_ns",
    "exposed_communication_seconds": "comm_exposed_vs_comp_ns",
    "overlapped_communication_seconds": "comm_overlap_comp_ns",
    "idle_seconds": "idle_ns",
}


def nanoseconds(seconds):
    return round(seconds * 1e9)


def compare(where, ours, reference):
    for key, name in FIELDS.items():
        check(nanoseconds(ours[key]) == reference[name],
              f"{where}: {key} is {ours[key]}, the events say {reference[name]} ns")
    # What neither computation nor communication covers, from the reference's own unions.
    memory = reference["busy_ns"] - reference["comp_ns"] - reference["comm_exposed_vs_comp_ns"]
    check(nanoseconds(ours["memory_seconds"]) == memory,
          f"{where}: memory_seconds is {ours['memory_seconds']}, the events say {memory} ns")
    parts = [ours[key] for key in ("compute_seconds", "exposed_communication_seconds", "memory_seconds",
                                   "idle_seconds")]
    check(nanoseconds(sum(parts)) == nanoseconds(ours["wall_seconds"]), f"{where}: the parts do not sum to the wall")


def compare_steps(where, ours, reference):
    """Steps by number; of a number that the trace has twice the reference kept one."""
    for number, step in reference.items():
        begin = step["start_ns"]
        mine = [row for row in ours if str(row["step"]) == number and nanoseconds(row["wall_seconds"]) == step["dur_ns"]]
        check(mine, f"{where}: step {number} of {step['dur_ns']} ns from {begin} is missing")
        if mine and step["gpu"] is None:  # the device did nothing in it
            check(mine[0]["idle_seconds"] == mine[0]["wall_seconds"], f"{where}: step {number} is not idle")
        elif mine:
            compare(f"{where}, step {number}", mine[0], step["gpu"])


def compare_set(path):
    reference = json.loads(path.read_text())
    by_rank = reference["ranks"]
    files = [SHARED / rank["file"] for rank in by_rank.values()]
    done = run("trace", *files, "--format", "json")
    check(done.code == 0, f"{path.name}: {done}")
    if done.code != 0:
        return 0
    ours = json.loads(done.out)["ranks"]
    check(len(ours) == len(files), f"{path.name}: {len(ours)} ranks instead of {len(files)}")
    by_file = {pathlib.Path(rank["source"]).name: rank for rank in ours}
    for number, rank in by_rank.items():
        name = pathlib.Path(rank["file"]).name
        check(name in by_file, f"{path.name}: no rank comes from {name}")
        if name in by_file:
            mine = by_file[name]
            if len(by_rank) > 1:
                check(str(mine["rank"]) == number, f"{name} is rank {mine['rank']} instead of {number}")
            if rank["whole_file"] is None:  # no device: threads of the host stand in, and the reference has nothing
                check(mine["on_host"], f"{name} has no device work and is not told on the host")
                continue
            compare(name, mine, rank["whole_file"])
            compare_steps(name, mine["steps_detail"], rank["steps_cpu_window"])
    return len(by_rank)


def compare_skew(path):
    """The k-th collective on all ranks: the last rank, and the time in which nobody waits any more."""
    folder = path.parent.parent
    done = run("trace", *sorted(folder.glob("*.json.gz")), "--format", "json")
    check(done.code == 0, f"{folder.name}: {done}")
    answer = json.loads(done.out)
    summary = json.loads(path.with_name(path.name.replace("__skew.csv", "__skew_summary.json")).read_text())
    equal(answer["skew"]["matched"], summary["collectives"], f"{folder.name}: collectives on all ranks")
    with path.open() as lines:
        rows = list(csv.DictReader(lines))
    check(len(rows) == summary["collectives"], f"{folder.name}: the reference has {len(rows)} rows")
    last = {str(rank["rank"]): rank["last"] for rank in answer["waiting"] if rank["last"]}
    equal(last, summary["last_arriver_counts"], f"{folder.name}: who arrives last, how often")
    waited = {str(rank["rank"]): nanoseconds(rank["waited_seconds"]) for rank in answer["waiting"]}
    equal(waited, {rank: round(value * 1000) for rank, value in summary["total_wait_us_per_rank"].items()},
          f"{folder.name}: nanoseconds that each rank waited")
    for ours, theirs in (("start_seconds", "start_skew_us"), ("end_seconds", "end_skew_us")):
        for mine, name in (("p50", "median"), ("p95", "p95"), ("max", "max")):
            value = answer["skew"][ours][mine] * 1e6
            check(abs(value - summary[theirs][name]) < 1e-3,
                  f"{folder.name}: {ours} {mine} is {value} us, not {summary[theirs][name]}")


def compare_damaged():
    """Made by hand from reports: 150 us of computation, 60 of communication, half of it hidden."""
    good = {"wall": 200, "compute": 150, "communication": 60, "overlapped_communication": 30,
            "exposed_communication": 30, "idle": 20}
    cut = {"compute": 50, "communication": 60, "overlapped_communication": 30}
    for path in sorted((SHARED / "damaged").glob("*.json")):
        done = run("trace", path, "--format", "json")
        if path.name.startswith("05") and done.code == 4:
            check("byte" in done.err, f"{path.name}: no place in {done.err!r}")
            continue
        check(done.code == 0, f"{path.name}: {done}")
        if done.code != 0:
            continue
        answer = json.loads(done.out)
        rank = answer["ranks"][0]
        for name, microseconds in (cut if path.name.startswith("07") else good).items():
            value = nanoseconds(rank[f"{name}_seconds"])
            if path.name.startswith("05") and value != microseconds * 1000:
                check(answer["issues"], f"{path.name}: {name} is {value} ns and no issue says why")
                continue
            check(value == microseconds * 1000, f"{path.name}: {name} is {value} ns, not {microseconds} us")
        clean = path.name[:2] in ("00", "09", "11", "12")
        check(clean or answer["issues"], f"{path.name}: the damage is not told")
        if path.name.startswith("12"):
            check(rank["rank"] == 3, f"{path.name}: rank {rank['rank']} instead of 3")


# Of HTA's critical paths those of ranges that lie in no other one: file, the range that is the step, and which one it is.
PATHS = {
    "alexnet_forward_0": "[param|pytorch.model.alex_net|0|0|0|measure|forward]",
    "event_sync": None,
}


def compare_paths():
    """HTA's path has no time where the program does nothing; the rest is the same but for waits of the host, which it lacks."""
    reference = json.loads((SHARED / "hta/hta_reference/golden_critical_path.json").read_text())
    for name, steps in PATHS.items():
        theirs = reference[name]
        done = run("trace", SHARED / theirs["file"], "--format", "json", *(["--step-name", steps] if steps else []))
        path = json.loads(done.out)["critical_path"]
        kinds, delays = path["by_kind"], path["delays"]
        device = (kinds["compute"] + kinds["memory"]) * 1e6
        check(abs(device - theirs["bound_by_us"]["gpu_compute_bound"]) <= 2, f"{name}: {device} us of the device")
        stream = delays["stream"] * 1e6
        check(abs(stream - theirs["bound_by_us"].get("gpu_kernel_kernel_overhead", 0)) <= 1, f"{name}: {stream} us in line")
        host = (kinds["launch"] + kinds["host"] + delays["launch"]) * 1e6
        reached = theirs["bound_by_us"]["cpu_bound"] + theirs["bound_by_us"]["gpu_kernel_launch_overhead"]
        check(abs(host - reached) <= 5, f"{name}: {host} us of the host, not {reached}")
        busy = (path["depth_seconds"] - delays["program"] - kinds["synchronization"]) * 1e6
        check(abs(busy - theirs["depth_us"]) <= 5, f"{name}: {busy} us, not {theirs['depth_us']}")


if not SHARED.is_dir():
    skip(f"no recorded traces at {SHARED}")
else:
    ranks = 0
    for path in sorted(SHARED.glob("*/exact_reference/*.json")):
        if "__skew" not in path.name:
            ranks += compare_set(path)
    for path in sorted(SHARED.glob("*/exact_reference/*__skew.csv")):
        compare_skew(path)
    compare_damaged()
    compare_paths()
    print(f"{ranks} ranks compared")
finish()
