"""Answers to a run's traces: exact times, late ranks, damage that is counted, parts that merge, and plain refusals."""

import gzip
import itertools
import json
import os
import pathlib
import re
import subprocess

from _harness import ENVIRONMENT, PROGRAM, SCRATCH, SOURCE, answer, check, close, equal, finish, interrupted, run, schema_errors, skip, succeed

TIMES = ["compute", "exposed_communication", "memory", "idle"]
FOLDER = SCRATCH / "traces"
FOLDER.mkdir()


# ---- traces of our own -------------------------------------------------------------------------------------------------

def event(name, category, begin, duration, thread, correlation=None, **more):
    arguments = {"correlation": correlation} if correlation else {}
    if category in ("kernel", "gpu_memcpy", "gpu_memset"):
        arguments |= {"stream": thread, "device": 0}
    return {"ph": "X", "cat": category, "name": name, "pid": 0 if "stream" in arguments else 4711, "tid": thread, "ts": begin, "dur": duration,
            "args": arguments | more}


def rank_events(rank, late=0.0, steps=2, size=1 << 20):
    """Two products a step on one stream, an all-reduce on another that overlaps with part of the second, a copy after both
    and a host that waits for it; `late` microseconds of delay before the all-reduce is reached."""
    events, number = [], 1
    for step in range(steps):
        start = 1000.0 * step
        events.append(event(f"ProfilerStep#{step}", "user_annotation", start, 1000.0, 1))
        plan = [("gemm_a", "kernel", 100, 200, 7, {}), ("gemm_b", "kernel", 300 + late, 200, 7, {}), ("Memcpy DtoD", "gpu_memcpy", 850, 50, 7, {"bytes": 4096})]
        begin, end = 400 + late, 848
        plan.append(("ncclDevKernel_AllReduce_Sum_f32_RING_LL", "kernel", begin, end - begin, 20,
                     {"Collective name": "allreduce", "In msg nelems": size // 4, "Out msg nelems": size // 4, "dtype": "Float", "Group size": 4,
                      "Process Group Name": "0", "Process Group Ranks": "[0, 1, 2, 3]"}))
        for name, category, at, long, stream, more in plan:
            called = 560 if category == "gpu_memcpy" else at - 20
            events.append(event("cudaLaunchKernel", "cuda_runtime", start + called, 5.0, 1, number))
            events.append(event(name, category, start + at, long, stream, number, **more))
            number += 1
        events.append(event("cudaDeviceSynchronize", "cuda_runtime", start + 700, 210.0, 1, number))
        number += 1
    return events


def write_rank(folder, rank, events, gz=False, name=None):
    folder.mkdir(exist_ok=True, parents=True)
    text = json.dumps({"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": 4},
                       "deviceProperties": [{"id": 0, "name": "Test GPU", "totalGlobalMem": 1 << 34}], "baseTimeNanoseconds": 1700000000000000000,
                       "traceEvents": events})
    path = folder / (name or f"rank{rank}.json{'.gz' if gz else ''}")
    path.write_bytes(gzip.compress(text.encode()) if gz else text.encode())
    return path


def covered(intervals):
    """Length of a union."""
    total, end = 0, None
    for begin, finish in sorted(intervals):
        if end is None or begin > end:
            total, end = total + finish - begin, finish
        elif finish > end:
            total, end = total + finish - end, finish
    return total


def expected_of(events, begin=None, end=None):
    """The definitions, the slow way: nanoseconds of a rank, from all of its device events."""
    spans = {"compute": [], "communication": [], "memory": []}
    for one in events:
        if "stream" not in one["args"]:
            continue
        kind = "communication" if one["name"].startswith("nccl") else "memory" if one["cat"] != "kernel" else "compute"
        first, last = round(one["ts"] * 1000), round((one["ts"] + one["dur"]) * 1000)
        if begin is not None:
            first, last = max(first, begin), min(last, end)
        if last > first:
            spans[kind].append((first, last))
    everything = list(itertools.chain(*spans.values()))
    window = end - begin if begin is not None else max(last for _, last in everything) - min(first for first, _ in everything)
    compute, both = covered(spans["compute"]), covered(spans["compute"] + spans["communication"])
    return {"wall_seconds": window, "compute_seconds": compute, "communication_seconds": covered(spans["communication"]),
            "exposed_communication_seconds": both - compute, "memory_seconds": covered(everything) - both,
            "overlapped_communication_seconds": covered(spans["communication"]) - (both - compute), "idle_seconds": window - covered(everything)}


def conforms(value, what):
    if value is None:
        return None
    for error in schema_errors(value):
        check(False, f"{what}: {error}")
    for rank in value["ranks"]:
        for one in [rank, *rank["steps_detail"]]:
            if one["wall_seconds"] is None:
                continue
            close(sum(one[f"{part}_seconds"] for part in TIMES), one["wall_seconds"], f"{what}: parts of rank {rank['rank']}")
            close(one["exposed_communication_seconds"] + one["overlapped_communication_seconds"], one["communication_seconds"],
                  f"{what}: communication of rank {rank['rank']}") if one["communication_seconds"] else None
            close(sum(one["idle"].values()), one["idle_seconds"], f"{what}: idle of rank {rank['rank']}") if one["idle_seconds"] else None
        equal(rank["steps"], len(rank["steps_detail"]), f"{what}: steps of rank {rank['rank']}")
    ranks = [rank["rank"] for rank in value["ranks"]]
    equal(ranks, sorted(set(ranks)), f"{what}: ranks in order, each once")
    path = value["critical_path"]
    if path:
        close(sum(path["by_kind"].values()), path["depth_seconds"], f"{what}: the path by kind")
        close(path["parallelism"], path["work_seconds"] / path["depth_seconds"], f"{what}: W/D") if path["depth_seconds"] else None
        check(path["depth_seconds"] <= path["step_seconds"] * (1 + 1e-9), f"{what}: D {path['depth_seconds']} above the step {path['step_seconds']}")
        check(path["piece_count"] >= len(path["pieces"]) > 0, f"{what}: pieces of the path")
        check(all(one["speedup"] >= 1 - 1e-9 for one in path["what_if"]), f"{what}: a lever that hurts: {path['what_if']}")
    return value


def trace(*arguments, code=0):
    return conforms(answer("trace", *arguments, code=code), "trace " + " ".join(map(str, arguments)))


LATE = [0.0, 0.0, 137.125, 12.5]
EVENTS = [rank_events(rank, late) for rank, late in enumerate(LATE)]
RUN = FOLDER / "run"
PATHS = [write_rank(RUN, rank, events, gz=rank % 2 == 1) for rank, events in enumerate(EVENTS)]

value = trace(RUN)
if value:
    equal([rank["rank"] for rank in value["ranks"]], [0, 1, 2, 3], "ranks of a folder")
    equal(value["workers"], 4, "workers")
    for rank, events in zip(value["ranks"], EVENTS):
        for key, ns in expected_of(events).items():
            equal(round(rank[key] * 1e9), ns, f"rank {rank['rank']}: {key}")
        equal(rank["steps"], 2, "steps of a rank")
        for step in rank["steps_detail"]:
            for key, ns in expected_of(events, 1000000 * step["step"], 1000000 * (step["step"] + 1)).items():
                equal(round(step[key] * 1e9), ns, f"rank {rank['rank']}, step {step['step']}: {key}")
        equal(rank["device"], "Test GPU", "device")
        check(rank["without_launch"] == 0, "every kernel has its launch")
    equal(value["serial_fraction"]["at_workers"], 4, "the serial fraction belongs to a count of workers")
    check(0 < value["overlap_fraction"] < 1 and value["gamma"] > 0, f"overlap {value['overlap_fraction']}, gamma {value['gamma']}")
    check(value["speedup_ceiling"] > 1, f"ceiling {value['speedup_ceiling']}")
    equal(len(value["collectives"]), 1, "one kind of collective")
    reduce = value["collectives"][0]
    equal((reduce["bytes"], reduce["ranks"], reduce["count"]), (1 << 20, 4, 2), "size, ranks and runs of the all-reduce")
    transfer = (448 - 137.125) * 1e-6
    close(reduce["transfer_seconds"], 2 * transfer, "from the last arrival on")
    close(reduce["transfer_bus_bandwidth_bytes_per_second"], 2 * 3 / 4 * (1 << 20) / transfer, "bus bandwidth without waiting")
    check(reduce["bus_bandwidth_bytes_per_second"] < reduce["transfer_bus_bandwidth_bytes_per_second"], "waiting makes a bus look slow")
    equal(value["skew"]["matched"], 2, "matched collectives")
    close(value["skew"]["start_seconds"]["p50"], 137.125e-6, "skew of arrivals")
    by_rank = {row["rank"]: row for row in value["waiting"]}
    equal(by_rank[2]["last"], 2, "rank 2 arrives last in both")
    close(by_rank[0]["waited_seconds"], 2 * 137.125e-6, "what rank 0 waited")
    equal(value["stragglers"][0]["rank"], 2, f"the straggler: {value['stragglers']}")
    check(any("2" in sentence and "last" in sentence for sentence in value["verdict"]), f"the verdict names it: {value['verdict']}")
    check(value["issues"] == [], f"a clean set has no issues: {value['issues']}")
    equal(value["bytes_read"], sum(path.stat().st_size for path in PATHS), "bytes read")
    check(value["critical_path"] is not None, "a critical path")
    for lever in value["critical_path"]["what_if"]:
        close(lever["speedup"], value["critical_path"]["depth_seconds"] / lever["step_seconds"], f"what if {lever['what']}", 1e-6)

# ---- the same whatever the order, the threads, the shape of the call --------------------------------------------------

whole = run("trace", RUN, "--format", "json").out
equal(run("trace", *reversed(PATHS), "--format", "json").out, whole, "files in another order")
for threads in (1, 2, 7):
    equal(run("trace", RUN, "--threads", threads, "--format", "json").out, whole, f"{threads} threads")
for count in (2, 3):
    parts = [SCRATCH / f"part{i}of{count}" for i in range(1, count + 1)]
    for i, part in enumerate(parts, 1):
        succeed("trace", RUN, "--shard", f"{i}/{count}", "--out", part)
    equal(run("trace", *parts, "--format", "json").out, whole, f"{count} parts together")
    equal(run("trace", *reversed(parts), "--format", "json").out, whole, f"{count} parts in another order")
    alone = run("trace", parts[0], "--format", "json")
    equal(alone.code, 4, f"one of {count} parts is not the run")
    check(alone.json()["verdict"][0].startswith("Parts of the run are missing"), alone.json()["verdict"][0])
timed = answer("trace", RUN, "--stats")
check(timed["stats"].pop("wall_seconds") > 0 and timed.pop("stats")["peak_memory_bytes"] > 0, "--stats adds its key")
equal(timed, json.loads(whole), "and changes nothing else")

through = subprocess.run([PROGRAM, "trace", "-", "--format", "json"], input=gzip.compress(json.dumps(rank_events(0)).encode()), env=ENVIRONMENT, capture_output=True)
check(through.returncode == 0 and json.loads(through.stdout or "{}").get("ranks"), "a trace from standard input")

# ---- for people, for tables, for pages ---------------------------------------------------------------------------------

CALLS = [[RUN], [PATHS[0]], [RUN, "--top", "3", "--step", "1"], [RUN, "--baseline", PATHS[0], "--baseline", PATHS[1]]]
for arguments in CALLS:
    done = succeed("trace", *arguments)
    for line in done.out.splitlines():
        check(len(line) <= 80, f"{done}: a line of {len(line)} columns: {line}")
    check(not re.search(r"\b(nan|inf)\b", done.out), f"{done}: no number in {done.out}")
    csv = succeed("trace", *arguments, "--format", "csv").out.splitlines()
    equal({line.count(",") for line in csv if '"' not in line}, {csv[0].count(",")}, f"{done}: CSV columns")
    check("|" in succeed("trace", *arguments, "--format", "markdown").out, f"{done}: Markdown has a table")
    succeed("trace", *arguments, "--html", SCRATCH / "trace.html", "--quiet")
    check("<table" in (SCRATCH / "trace.html").read_text(), f"{done}: a page")
text = run("trace", RUN, "--full").out
for words in ("Ranks, ms", "critical path", "Top kernels", "bus bandwidth", "% idle", "exposed"):
    check(words in text, f"{words!r} is not in {text}")
check(text.splitlines()[0][0].isupper() and "." in text.split("\n\n")[0], f"a verdict comes first: {text[:200]}")

# ---- the step as a Chrome trace ----------------------------------------------------------------------------------------

succeed("trace", RUN, "--timeline", SCRATCH / "step.json")
drawn = json.loads((SCRATCH / "step.json").read_text())["traceEvents"]
names = {one["args"]["name"] for one in drawn if one["ph"] == "M" and one["name"] == "process_name"}
equal(names, {"critical path"} | {f"rank {rank}" for rank in range(4)}, "processes of the timeline")
marked = [one for one in drawn if one["ph"] == "X" and one["pid"] == 0]
equal(len(marked), value["critical_path"]["piece_count"], "the critical path is a lane of its own")
slices = [one for one in drawn if one["ph"] == "X"]
arrows = [one for one in drawn if one["ph"] in "sf"]
check(len(arrows) >= 2 and len(arrows) % 2 == 0, f"{len(arrows)} ends of arrows")
for arrow in arrows:
    inside = any(one["pid"] == arrow["pid"] and one["tid"] == arrow["tid"] and one["ts"] <= arrow["ts"] + 1e-6 and arrow["ts"] <= one["ts"] + one["dur"] + 1e-6
                 for one in slices)
    check(inside, f"an arrow that ends nowhere: {arrow}")
kernels = [one for one in slices if one["pid"] > 0 and one["name"] == "gemm_a"]
equal([round(one["dur"], 6) for one in kernels], [200.0] * 4, "kernels of the step on every rank")

# ---- a baseline ----------------------------------------------------------------------------------------------------------

slow = FOLDER / "slow"
for rank in range(4):
    write_rank(slow, rank, rank_events(rank, 200.0))
compared = trace(RUN, "--baseline", slow)
check(compared["baseline"]["per_step"], "steps are compared")
parts = {one["name"]: one for one in compared["baseline"]["parts"]}
check(parts and any(one["before_seconds"] != one["after_seconds"] for one in parts.values()), f"something changed: {parts}")
same = trace(RUN, "--baseline", RUN)["baseline"]
check(all(one["before_seconds"] == one["after_seconds"] for one in same["parts"] + same["kernels"]), "a set does not differ from itself")

# ---- gates -------------------------------------------------------------------------------------------------------------

gated = succeed("trace", RUN, "--require", "exposed<=90%,step<=2ms,issues==0,idle<=95%,overlap>=1%", "--format", "json")
check(all(gate["passed"] for gate in gated.json()["gates"]), "gates that hold")
failed = succeed("trace", RUN, "--require", "exposed<=0.1%,step<=1ns", "--format", "json", code=99)
equal([gate["passed"] for gate in failed.json()["gates"]], [False, False], "gates that fail")
equal(len(failed.err.splitlines()), 2, f"a line for each: {failed.err}")
check("unknown" in succeed("trace", PATHS[0], "--require", "skew<=1us", code=99).err, "no skew of one rank")

# ---- totals, counts of work, and traces without times ----------------------------------------------------------------------

SAMPLES = SOURCE / "tests" / "data" / "traces"
totals = trace(SAMPLES / "key_averages_cuda.txt")
split = totals["ranks"][0]
close(totals["serial_fraction"]["value"], split["communication_seconds"] / (split["communication_seconds"] + split["compute_seconds"]), "s of totals")
close(totals["gamma"], split["communication_seconds"] / split["compute_seconds"], "gamma of totals")
for key in ("exposed_communication", "overlapped_communication", "idle", "wall", "memory", "busy"):
    equal(split[f"{key}_seconds"], None, f"totals do not tell {key}")
for key in ("critical_path", "speedup_ceiling", "overlap_fraction", "step_seconds"):
    equal(totals[key], None, f"totals do not tell {key}")
equal([kernel["count"] for kernel in totals["kernels"]], [8, 4, 3], "calls of a table are runs")
check("unknown" in succeed("trace", SAMPLES / "key_averages_cuda.txt", "--require", "ceiling>=2", code=99).err, "no gate on what totals do not tell")
for name in ("key_averages_cpu.txt", "key_averages_cuda.txt", "ncu_raw.csv", "ncu_details.csv"):
    said = succeed("trace", SAMPLES / name).out
    for words in ("critical path", "Step 0", "longer than the median", "More machines", "overlap 0", "Stragglers", "What if"):
        check(words not in said, f"{name} does not say when things ran, yet the answer has {words!r}")
counted = trace(SAMPLES / "ncu_raw.csv", "--machine", "a100")["shaped_kernels"]
gemm = next(one for one in counted if one["name"] == "gemm" and one["rank"] == 0)
equal((gemm["flops"], gemm["bytes"], gemm["shape"]), (1020000, 3500000, None), "work that a profiler counted")
close(gemm["flops_per_second"], 1020000 / gemm["seconds"], "rate")
close(gemm["bytes_per_second"], 3500000 / gemm["seconds"], "bandwidth")
close(gemm["intensity"], 1020000 / 3500000, "intensity")
check(0 < gemm["of_roofline"] < 1, f"share of the roofline {gemm['of_roofline']}")
check("% of roof" in succeed("trace", SAMPLES / "ncu_raw.csv", "--machine", "a100", "--full").out, "the roofline is told")
exchanged = {one["args"]["correlation"] for one in EVENTS[0] if "nccl" in one["name"]}
a100 = write_rank(FOLDER / "a100", 0, [one for one in EVENTS[0] if one["args"].get("correlation") not in exchanged])
a100.write_text(a100.read_text().replace("Test GPU", "NVIDIA A100-SXM4-80GB"))
other = trace(a100, "--machine", "dgx-h100")
check(any("its roofline is not used" in note for note in other["notes"]), f"a roofline of another accelerator: {other['notes']}")
check(not any("roofline" in note for note in trace(a100, "--machine", "dgx-a100")["notes"]), "its own roofline")
check("More machines" not in succeed("trace", a100).out, "a trace without communication says nothing of more machines")
on_path = {}
for library in ("gloo:all_reduce", "mpi:all_reduce", "ucc:allreduce"):
    for rank in (0, 1):  # rank 1 computes longer
        events = []
        for step in range(4):
            at = 2000 * step
            for name, begin, length, thread in (("aten::linear", 100, 600 + 300 * rank, 1), (library, 700 + 300 * rank, 800 - 300 * rank, 2),
                                                ("aten::add_", 1600, 200, 1), (f"step {step}", 0, 2000, 1)):
                events.append({"ph": "X", "cat": "cpu_op" if name.startswith("aten") else "user_annotation", "name": name, "pid": 4711, "tid": thread,
                               "ts": at + begin, "dur": length, "args": {}})
        write_rank(FOLDER / library.partition(":")[0], rank, events)
    on_path[library] = trace(FOLDER / library.partition(":")[0], "--workers", 2)["critical_path"]["by_kind"]
equal(len({json.dumps(kinds) for kinds in on_path.values()}), 1, f"transfers of every library of hosts are on the path: {on_path}")
plain = FOLDER / "plain.json"
plain.write_text(json.dumps([{"ph": "X", "name": name, "pid": 0, "tid": 0, "ts": 2000 * step + begin, "dur": length}
                             for step in range(4) for name, begin, length in ((f"step {step}", 0, 2000), ("forward", 100, 800))]))
check("decides: forward" in succeed("trace", plain).out, "a step's own time is that of no operator in it")
refused = succeed("trace", SAMPLES / "observer_1_1_0.json", code=5)
check("no times in this trace" in refused.err and refused.err.count("\n") == 1, f"a trace without times says so: {refused.err!r}")

# ---- damage: counted, with the place; the rest is read -----------------------------------------------------------------

good = json.dumps({"distributedInfo": {"rank": 1, "world_size": 4}, "traceEvents": EVENTS[1]})
cut = FOLDER / "cut.json"
cut.write_text(good[:-700])
damaged = trace(cut)
check(damaged["issues"] and all(one["count"] > 0 and one["first_at"] for one in damaged["issues"]), f"a cut file says so: {damaged['issues']}")
check(0 < damaged["events"] < len(EVENTS[1]) + 1, "what came before the cut is read")

mixed = FOLDER / "mixed"
write_rank(mixed, 0, EVENTS[0])
broken = mixed / "rank1.json"
broken.write_text('{"traceEvents": [')
done = succeed("trace", *sorted(mixed.iterdir()), "--format", "json", code=5)
value = conforms(done.json(), "one of two files")
check(value["complete"] is False and value["verdict"][0].startswith("1 of 2 ranks was read"), f"a part is not taken for the run: {value['verdict']}")
equal([rank["rank"] for rank in value["ranks"]], [0], "the file that could be read")
check(len(value["unread"]) == 1 and "rank1.json" in value["unread"][0], f"the other is named: {value['unread']}")
check(any(one["kind"] == "file that could not be read" for one in value["issues"]), f"and counted: {value['issues']}")
check("rank1.json" in done.err, f"and said: {done.err}")

# a second trace of one rank is told apart
twice = FOLDER / "twice"
write_rank(twice, 0, EVENTS[0], name="a.json")
write_rank(twice, 0, rank_events(0, 77), name="b.json")
value = trace(twice)
equal(len(value["ranks"]), 2, "two traces of one rank at one time are both kept")
check(any(one["kind"] == "rank stated twice" for one in value["issues"]), "and said to be of one")

# ... and the same content in two files is one
write_rank(twice, 0, EVENTS[0], name="copy.json", gz=True)
value = trace(twice)
equal(len(value["ranks"]), 2, "a copy is no rank")
check(any(one["kind"] == "same content in another file, left out" for one in value["issues"]), f"and counted: {value['issues']}")

# several runs are listed, and not taken for the ranks of one
for name in ["first", "second"]:
    for rank, events in enumerate(EVENTS[:2]):
        write_rank(FOLDER / "runs" / name, rank, [{**one, "ts": one["ts"] + (1e6 if name == "second" else 0)} for one in events])
refused = run("trace", FOLDER / "runs")
equal(refused.code, 2, "several runs")
check("2 runs" in refused.err and "first (ranks 0 to 1), second (ranks 0 to 1)" in refused.err, refused.err)
equal(len(trace(FOLDER / "runs" / "first")["ranks"]), 2, "one of them is read")

# how many workers there were is stated, or not known
alone = FOLDER / "alone.json"
alone.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [], "traceEvents": [event("gemm", "kernel", 0, 100, 7), event("ncclDevKernel_AllReduce", "kernel", 100, 100, 20)]}))
value = trace(alone)
equal([value["workers"], value["serial_fraction"]["at_workers"], value["speedup_ceiling_over_one_worker"]], [None, None, None], "workers that nobody states")
value = trace(alone, "--workers", 64)
equal([value["workers"], value["serial_fraction"]["at_workers"]], [64, 64], "workers that the user states")
equal(value["bytes_read"], alone.stat().st_size, "bytes of a plain file")

# ---- refusals ----------------------------------------------------------------------------------------------------------

empty, text_file, no_events, folder = FOLDER / "empty.json", FOLDER / "words.txt", FOLDER / "none.json", FOLDER / "nothing"
empty.write_bytes(b"")
text_file.write_text("This is a letter, not a trace.\n")
no_events.write_text('{"schemaVersion": 1, "traceEvents": []}')
folder.mkdir()
for arguments, code, contains in [
    ([], 2, "PATH: missing"),
    ([FOLDER / "nowhere.json"], 4, "nowhere.json"),
    ([text_file], 4, "words.txt"),
    ([no_events], 5, "none.json"),
    ([empty], 4, "empty.json"),
    ([folder], 5, "nothing"),
    ([RUN, "--step", "x"], 2, "--step"),
    ([RUN, "--top", "-1"], 2, "--top"),
    ([RUN, "--shard", "1"], 2, "--shard"),
    ([RUN, "--shard", "0/2"], 2, "parts count from 1"),
    ([RUN, "--shard", "3/2"], 2, "beyond the last part"),
    ([RUN, "--shard", "1/2", "--html", "x.html"], 2, "no answer of its own"),
    ([RUN, "--limit", "4"], 2, "--limit"),
    ([RUN, "--limit", "1B"], 2, "--limit"),
    ([RUN, "--require", "exposd<=1"], 2, "did you mean 'exposed'?"),
    ([RUN, "--require", "step<=1"], 2, "--require"),
    ([RUN, "--timeline", ""], 2, "--timeline"),
    ([RUN, "--baseline", FOLDER / "nowhere"], 4, "nowhere"),
]:
    done = run("trace", *arguments)
    equal(done.code, code, f"{done}: exit; said {done.err}")
    check(len(done.err.splitlines()) == 1 and done.out == "", f"{done}: one line on standard error and no result: {done.err}")
    check(contains in done.err, f"{done}: {contains!r} is not in {done.err.strip()!r}")

# a hostile name steers no terminal and no page
evil = rank_events(0)
evil[2]["name"] = "<script>alert(1)</script>\x1b[31m\u202e" + "k" * 5000
write_rank(FOLDER / "evil", 0, evil)
done = succeed("trace", FOLDER / "evil", "--html", SCRATCH / "evil.html", "--timeline", SCRATCH / "evil.json")
check("\x1b" not in done.out, "no escape sequence of a kernel's name reaches the terminal")
check("<script>alert" not in (SCRATCH / "evil.html").read_text(), "nor a tag the page")
json.loads((SCRATCH / "evil.json").read_text())

# ---- interruption keeps what is finished -------------------------------------------------------------------------------

many = FOLDER / "many"
long = rank_events(0, steps=2000)
for rank in range(24):
    write_rank(many, rank, long)
if found := interrupted([PROGRAM, "trace", many, "--threads", "1", "--format", "json"], lambda value: value["ranks"]):
    value, err = found
    check(value["complete"] is False and len(value["ranks"]) < 24, f"the ranks finished so far are kept: {len(value['ranks'])}")
    check("interrupted" in err and "finished" in err, f"says so: {err}")

# ---- recorded traces of others, where they are -------------------------------------------------------------------------

SHARED = pathlib.Path(os.environ.get("HEADROOM_SHARED", SOURCE.parent / "shared")) / "traces"
if not SHARED.is_dir():
    skip("recorded traces are not beside the source tree (HEADROOM_SHARED)")
    finish()

KEYS = {"window_ns": "wall_seconds", "comp_ns": "compute_seconds", "comm_ns": "communication_seconds", "idle_ns": "idle_seconds",
        "comm_exposed_vs_comp_ns": "exposed_communication_seconds", "comm_overlap_comp_ns": "overlapped_communication_seconds"}
REFERENCES = [(name, path) for name in ("astrasim_megatron_tp8", "param_dlrm") for path in sorted((SHARED / name / "exact_reference").glob("*.json"))
              if "ranks" in json.loads(path.read_text()) and "wide" not in path.name]
check(len(REFERENCES) >= 2, f"references of two sets: {REFERENCES}")
for name, reference in REFERENCES:
    exact = json.loads(reference.read_text())
    value = trace(*[SHARED / rank["file"] for rank in exact["ranks"].values()])
    for rank in value["ranks"]:
        told = exact["ranks"][str(rank["rank"])]
        for theirs, ours in KEYS.items():
            equal(round(rank[ours] * 1e9), told["whole_file"][theirs], f"{name}, rank {rank['rank']}: {ours}")
        for step in rank["steps_detail"]:
            window = told["steps_cpu_window"].get(str(step["step"]))
            for theirs, ours in KEYS.items() if window else ():
                equal(round(step[ours] * 1e9), window["gpu"][theirs], f"{name}, rank {rank['rank']}, step {step['step']}: {ours}")
        equal(rank["steps"], len(told["steps_cpu_window"]), f"{name}, rank {rank['rank']}: steps")
value = trace(SHARED / "astrasim_megatron_tp8")
if value:
    summary = json.loads((SHARED / "astrasim_megatron_tp8" / "exact_reference" / "megatron_tp8__skew_summary.json").read_text())
    last = {str(row["rank"]): row["last"] for row in value["waiting"] if row["last"]}
    equal(last, summary["last_arriver_counts"], "who arrives last")
    equal({row["rank"] for row in value["stragglers"][:2]}, {0, 6}, "stragglers of the eight ranks")
    done = succeed("trace", SHARED / "astrasim_megatron_tp8")
    check(all(len(line) <= 80 for line in done.out.splitlines()), "80 columns")

for path in sorted((SHARED / "damaged").glob("*.json")):
    value = trace(path)
    if value is None or path.name.startswith(("05", "07")):
        continue
    rank = value["ranks"][0]
    found = [round(rank[key] * 1e6) for key in ("compute_seconds", "communication_seconds", "overlapped_communication_seconds",
                                                "exposed_communication_seconds", "wall_seconds", "busy_seconds", "idle_seconds")]
    equal(found, [150, 60, 30, 30, 200, 180, 20], f"{path.name}")

finish()
