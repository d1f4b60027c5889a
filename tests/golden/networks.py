"""Networks as people write them, in options and cluster files, and logs of collectives as they are found: marks lost, marks of
launchers inside rows, names of files that count hosts; fits that go back to the constants of the price; nameplates."""

import json
import os
import pathlib

from _harness import SCRATCH, SOURCE, answer, check, close, equal, finish, run, schema_errors


def network_of(text, *more):
    return answer("comm", "--size", "1GB", "--ranks", "16", "--cluster", "dgx-a100", "--network", text, *more)


# ---- options and cluster files ------------------------------------------------------------------------------------------

for text in ("4 * 100Gb RoCE", "4x 100Gb RoCE", "4X 100Gb RoCE", "4× 100Gb RoCE", "RoCE 100G x4", "four 100GbE RoCE NICs"):
    value = network_of(text)
    equal(value and value["network"]["name"], "dgx-a100, 4 NICs of 100 Gbit/s a node", text)
one, four = (network_of(text)["network"]["scale_out"]["bandwidth_bytes_per_second"] for text in ("1x 100Gb RoCE", "4 * 100Gb RoCE"))
close(four / one, 4, "four NICs carry four times the bytes of one")
value = network_of("800 Gbps InfiniBand")
check(value and "no count is stated" in value["network"]["name"], f"an ambiguous one says how it was taken: {value and value['network']}")
for text, words in (("4x 100Gb foo", "'foo' at 10"), ("InfiniBand", "states no rate"), ("4x 7", "not understood")):
    done = run("comm", "--size", "1GB", "--ranks", "16", "--cluster", "dgx-a100", "--network", text)
    equal(done.code, 2, f"{text}: exit")
    check(words in done.err and len(done.err.splitlines()) == 1, f"{text}: {done.err}")

predict = ("predict", "llama-3-8b", "--cluster", "dgx-a100", "--workers", "32", "--strategy", "fsdp")
fast, slow = (answer(*predict, "--network", text) for text in ("8x 200G HDR", "1x 25GbE"))
check(fast["step_seconds"] < slow["step_seconds"], "a slower network, a longer step")
taken = answer(*predict, "--network", "25GbE")
check(any(one["field"] == "network" and "one NIC a node" in one["value"] for one in taken["assumed"]), f"{taken['assumed']}")
file = SCRATCH / "own.toml"
for text, code in (("4x 100Gb RoCE", 0), ("8x NDR400", 0), ("800 Gbps InfiniBand", 2), ("4x 100Gb RoCE 17", 2)):
    file.write_text(f'node = "dgx-a100"\nscale_out = "{text}"\n')
    equal(run("comm", "--size", "1GB", "--ranks", "16", "--cluster", file).code, code, f"scale_out = {text}")

# ---- logs as they are found ---------------------------------------------------------------------------------------------

RANKS = 8
DEVICES = [f"#  Rank {rank} Group  0 Pid 77 on node-a device {rank} [0x0{rank}] NVIDIA A100-SXM4-80GB" for rank in range(RANKS)]
HEADER = ["#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong",
          "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)"]


def row(size, seconds, factor):
    rate = size / seconds / 1e9
    cells = f"{seconds * 1e6:.2f} {rate:.2f} {rate * factor:.2f} 0"
    return [f"{size} {size // 4} float sum -1", cells, cells]


def rows(seconds=lambda size: 2e-5 + size / 1.2e11, factor=2 * (RANKS - 1) / RANKS):
    return [row(1 << power, seconds(1 << power), factor) for power in range(15, 31, 2)]


def write(name, lines):
    path = SCRATCH / name
    path.write_text("\n".join(lines) + "\n")
    return path


def fit(*arguments):
    value = answer("comm", "--fit", *arguments)
    for error in schema_errors(value) if value else []:
        check(False, f"comm --fit {arguments}: {error}")
    return value


plain = [" ".join(pieces) for pieces in rows()]
whole = ["# nThread 1 nGpus 8 minBytes 8", *DEVICES, *HEADER, *plain]
right = fit(write("whole.log", whole), "--collective", "all_reduce")
marks = {"tag": "[1,0]<stdout>:", "tag of a host": "[node-1@1,0]<stdout>:", "host": "node1: ", "task": "0: ", "torchrun": "[default0]:"}
found = {"whole": whole, "no marks": [line.lstrip("#") for line in whole], "rows alone": ["results:", *plain]}
for name, mark in marks.items():
    found[name] = [mark + line for line in whole]
    found[name + " inside rows"] = [mark + line for line in [*whole[:-len(plain)], *((" " + mark).join(pieces) for pieces in rows())]]
for number, (name, lines) in enumerate(found.items()):
    value = fit(write(f"found_{number}.log", lines))
    if not value:
        continue
    equal([(one["collective"], one["ranks"]) for one in value["fits"]], [("all_reduce", RANKS)], name)
    equal(value["fits"][0]["alpha_seconds"], right["fits"][0]["alpha_seconds"], f"{name}: the same times")
    notes = " ".join(value["files"][0]["notes"])
    check("all-reduce" in notes, f"{name}: says where the collective came from: {notes}")
    equal("marks # of this log are lost" in notes, name == "no marks", f"{name}: {notes}")
    equal("marks of a launcher inside 8 rows" in notes, "inside" in name, f"{name}: {notes}")
    equal("from the ratio of the two bandwidths" in notes, name == "rows alone", f"{name}: says where the ranks came from: {notes}")

# a file's name counts hosts and instances as often as ranks
gather = [" ".join(pieces).replace("sum", "none") for pieces in rows(factor=0.5)]
for name in ("allgather.log", "n5_allgather.log", "p4d_allgather.log"):
    value = fit(write(name, [*HEADER, *gather]))
    equal(value and [(one["collective"], one["ranks"]) for one in value["fits"]], [("all_gather", 2)], f"{name}: two ranks by the bandwidths")
done = run("comm", "--fit", write("n5.log", [*HEADER, *gather]), "--collective", "all_gather", "--ranks", "5")
check(done.code == 5 and "bandwidths are of another count of ranks" in done.err, f"the true reason: {done.err}")
done = run("comm", "--fit", write("n5_osu.txt", ["# OSU MPI Allreduce Latency Test v7.3", "# Size       Avg Latency(us)", "8 1.00", "16 1.10", "32 1.20"]))
check(done.code == 5 and "--ranks" in done.err, f"nothing is guessed: {done.err}")
done = run("comm", "--fit", write("wrong.log", [line[:-1] + "7" if line[0].isdigit() else line for line in plain]), "--in-place")
check(done.code == 5 and "wrong results" in done.err, f"the true reason: {done.err}")

# ---- what comm writes is what it fits -----------------------------------------------------------------------------------

for algorithm in ("ring", "tree"):
    done = run("comm", "--size", "4GB", "--sweep", "--ranks", "8", "--link", "50GB/s,5us", "--algorithm", algorithm, "--format", "csv")
    if done.code == 2:
        continue  # of clusters alone
    level = fit(write("priced.csv", done.out.splitlines()))["levels"][0]
    close(level["latency_seconds"]["value"], 5e-6, f"{algorithm}: latency", 1e-3)
    close(level["bandwidth_bytes_per_second"]["value"], 5e10, f"{algorithm}: bandwidth", 1e-3)

cluster = ("--cluster", "dgx-a100")
lines, constants = ["system,collective,algorithm,priced_by,ranks,nodes,bytes,seconds"], None
for ranks in (8, 16, 32):
    value = answer("comm", "--size", "8GB", "--sweep", "--ranks", ranks, *cluster, "--algorithm", "ring")
    constants = value["network"]
    lines += [f"mine,all_reduce,ring,{one['priced_by']},{ranks},{ranks // 8},{one['size_bytes']},{one['seconds']}"
              for one in value["rows"] if ranks == 8 or one["priced_by"] == "channels"]
levels = {one["level"]: one for one in fit(write("levels.csv", lines))["levels"]}
for level in ("scale_up", "scale_out"):
    close(levels[level]["latency_seconds"]["value"], constants[level]["latency_seconds"], f"{level} latency", 0.01)
    close(levels[level]["bandwidth_bytes_per_second"]["value"], constants[level]["bandwidth_bytes_per_second"], f"{level} rate", 0.01)

# ---- nameplates, folders ------------------------------------------------------------------------------------------------

def log_of(name, ranks, nodes, seconds, system="8x H100 SXM"):
    table = ["system,collective,ranks,nodes,bytes,seconds"]
    table += [f"{system},all_reduce,{ranks},{nodes},{1 << power},{seconds(1 << power)}" for power in range(15, 33, 2)]
    return write(name, table)


folder = SCRATCH / "logs"
folder.mkdir()
inside = log_of("logs/one.csv", 8, 1, lambda size: 4e-5 + 1.75 * size / 3.6e11)
across = log_of("logs/two.csv", 16, 2, lambda size: 5e-5 + 1.875 * size / 3.8e11)
value = fit(inside, across)
equal([one["level"] for one in value["levels"]], ["scale_up"], "two nodes as fast as one say nothing of the network")
check(value["refused"] and "above the" in value["refused"][0]["reason"], f"and the reason is said: {value['refused']}")
saved = SCRATCH / "network.toml"
done = run("comm", "--fit", inside, across, "--save", saved)
check("not used:" in done.err and "scale_out" not in saved.read_text(), f"nor is it saved: {done.err}")
value = answer("calibrate", folder, "--system", "8x H100 SXM")
equal(sorted(pathlib.Path(one["name"]).name for one in value["evidence"]), ["one.csv", "two.csv"], "calibrate takes a folder of logs")
check(any("above the" in text for text in value["missing"]), f"and refuses the same rate: {value['missing']}")
(folder / "readme.txt").write_text("nothing\n")
value = answer("calibrate", folder, "--system", "8x H100 SXM")
check(any("readme.txt" in text for text in value["notes"]), f"a file that is no log is named: {value['notes']}")

# a log of two nodes alone: the link inside one is the catalog's
alone = log_of("alone.csv", 16, 2, lambda size: 5e-5 + 1.875 * size / 1.6e11)
level = fit(alone)["levels"][0]
check(level["level"] == "scale_out" and any("in the catalog" in text for text in level["notes"]), f"{level['notes']}")
links = answer("comm", "--size", "1GB", "--ranks", "16", "--cluster", "dgx-h100")["network"]
rest = 1.875 / 1.6e11 - 1.75 / links["scale_up"]["bandwidth_bytes_per_second"]  # of a byte, beyond the two halves inside
close(level["bandwidth_bytes_per_second"]["value"], 1 / (8 * rest), "an eighth of the bytes crosses", 0.01)

# ---- reports of others ---------------------------------------------------------------------------------------------------

shared = pathlib.Path(os.environ.get("HEADROOM_SHARED", SOURCE.parent / "shared")) / "cases"
if not shared.is_dir():
    print("skipped: logs of others are not beside the source tree (HEADROOM_SHARED)")
else:
    for name, collective, ranks, more in (
            ("comm-no-hash/no_hash.log", "all_reduce", 8, ()),
            ("comm-no-hash/rows_only.log", "all_reduce", 8, ()),
            ("comm-file-name-ranks/allgather.log", "all_gather", 2, ()),
            ("comm-file-name-ranks/n5_allgather.log", "all_gather", 2, ()),
            ("comm-read-right/allgather.log", "all_gather", 2, ("--collective", "all_gather", "--ranks", "2")),
            ("comm-read-right/broadcast.log", "broadcast", 2, ("--collective", "broadcast")),
            ("comm-read-right/ellipsis.log", "all_gather", 64, ("--collective", "all_gather", "--ranks", "64", "--nodes", "8")),
            ("comm-read-right/h100pcie.log", "all_reduce", 2, ("--collective", "all_reduce")),
            ("comm-read-right/imb_reduce.log", "reduce", 2, ()),
            ("comm-read-right/julia.csv", "reduce", 2, ("--collective", "reduce", "--ranks", "2")),
            ("comm-read-right/osu_reduce.log", "reduce", 192, ()),
            ("comm-read-right/rccl.log", "all_reduce", 8, ("--collective", "all_reduce"))):
        value = fit(shared / name, *more)
        equal(value and [(one["collective"], one["ranks"]) for one in value["fits"]], [(collective, ranks)], name)
        equal(value and value["refused"], [], f"{name}: no link above its nameplate")
    done = run("comm", "--fit", shared / "comm-read-right" / "two_rank0.log", "--collective", "all_reduce")
    equal(done.code, 5, "two processes that never met")

finish()
