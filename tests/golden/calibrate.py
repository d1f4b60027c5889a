"""`calibrate` on traces whose links, waits and steps are known: the constants come out although every duration holds
waiting for late ranks; what is saved changes predictions; evidence of all kinds is joined; refusals are plain."""

import json
import random

from _harness import SCRATCH, SOURCE, answer, check, close, equal, finish, run, schema_errors, succeed

RANKS, STEPS = 4, 6
ALPHA, BETA = {"allreduce": 24e-6, "_allgather_base": 12e-6}, {"allreduce": 2.0e-11, "_allgather_base": 1.0e-11}
SIZES = [2**i for i in range(14, 28, 2)]  # total bytes
KERNEL = {"allreduce": "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", "_allgather_base": "ncclDevKernel_AllGather_RING_LL"}
COMPUTE = 4000.0  # us a step, on each rank


def collective(word, size):
    elements = size // 2
    return {"Collective name": word, "In msg nelems": elements // RANKS if word == "_allgather_base" else elements,
            "Out msg nelems": elements, "dtype": "BFloat16", "Group size": RANKS, "Process Group Name": "0",
            "Process Group Ranks": "[0, 1, 2, 3]"}


def events_of_ranks(noise=0.005, seed=7):
    """Each collective: every rank is late by up to 3 ms, the last one waits for nobody, all end at once."""
    source = random.Random(seed)
    events = [[] for _ in range(RANKS)]
    clock, number, step_begin = 1000.0, 1, []
    for step in range(STEPS):
        begin = clock
        for rank in range(RANKS):
            events[rank].append({"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": clock + 50, "dur": COMPUTE,
                                 "args": {"stream": 7, "device": 0, "correlation": 100000 + step}})
        clock += COMPUTE + 100
        for word in ALPHA:
            for size in SIZES:
                late = [source.uniform(0, 3000.0) for _ in range(RANKS)]
                took = (ALPHA[word] + size * BETA[word]) * 1e6 * (1 + source.gauss(0, noise))
                end = clock + max(late) + took
                for rank in range(RANKS):
                    start = round(clock + late[rank], 3)
                    events[rank].append({"ph": "X", "cat": "kernel", "name": KERNEL[word], "pid": 0, "tid": 20, "ts": start,
                                         "dur": round(end - start, 3), "args": {"stream": 20, "device": 0, "correlation": number} | collective(word, size)})
                number += 1
                clock = end + 100
        step_begin.append((begin, clock))
        clock += 10
    for rank in range(RANKS):
        for number, (begin, end) in enumerate(step_begin):
            events[rank].append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{number}", "pid": 4711, "tid": 1, "ts": begin,
                                 "dur": round(end - begin, 3), "args": {}})
    return events, step_begin


def write_traces(name, events, ranks=RANKS):
    folder = SCRATCH / name
    folder.mkdir()
    for rank in range(ranks):
        text = {"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": RANKS},
                "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 1 << 34}],
                "baseTimeNanoseconds": 1700000000000000000, "traceEvents": events[rank]}
        (folder / f"rank{rank}.json").write_text(json.dumps(text))
    return folder


def calibrate(*arguments, code=0):
    value = answer("calibrate", *arguments, code=code)
    if value is not None:
        for error in schema_errors(value):
            check(False, f"calibrate {arguments}: {error}")
    return value


EVENTS, STEP = events_of_ranks()
TRACES = write_traces("known", EVENTS)
SAVED = SCRATCH / "machine.toml"

# ---- alpha and beta come out, whatever the waiting ------------------------------------------------------------------

value = calibrate(TRACES, "--out", SAVED)
if value:
    fits = {one["collective"]: one for one in value["fits"]}
    equal(sorted(fits), ["all_gather", "all_reduce"], "a fit for each collective")
    for word, name in (("allreduce", "all_reduce"), ("_allgather_base", "all_gather")):
        one = fits.get(name)
        if one is None:
            continue
        equal((one["ranks"], one["nodes"], one["rows"]), (4, 1, STEPS * len(SIZES)), f"{name}: ranks, nodes, rows")
        for key, truth in (("alpha_seconds", ALPHA[word]), ("beta_seconds_per_byte", BETA[word])):
            low, high = one[key]["low"], one[key]["high"]
            check(low <= truth <= high, f"{name}: {key} {truth} is not in its interval, {low} to {high}")
            close(one[key]["value"], truth, f"{name}: {key}", 0.03)
        check(one["median_relative_error"] < 0.02, f"{name}: residuals of {one['median_relative_error']}")
    equal(value["saved"], str(SAVED), "the file that was written")
    equal(value["traces"]["collectives_used"], STEPS * 2 * len(SIZES), "collectives")
    close(value["traces"]["step_seconds"], sorted(end - begin for begin, end in STEP)[STEPS // 2] * 1e-6, "median step", 0.05)
    equal(value["traces"]["hidden_communication"]["value"], 0.0, "nothing runs beside computation")
    check(value["scale_up"] is not None, "two collectives tell the link")

# A fit of durations as they are would be nowhere near: the test means something.
longest = max(event["dur"] for event in EVENTS[0] if event["name"] == KERNEL["allreduce"] and event["args"]["Out msg nelems"] == SIZES[0] // 2)
check(longest * 1e-6 > 10 * ALPHA["allreduce"], "durations hold waiting")

# ---- predictions use it ---------------------------------------------------------------------------------------------

QUESTION = ["llama-3-8b", "--cluster", "dgx-h100", "--workers", "8", "--tp", "2", "--dp", "4", "--zero", "1", "--global-batch", "64"]
before, after = answer("predict", *QUESTION), answer("predict", *QUESTION, "--calibration", SAVED)
if before and after:
    check(before["step_seconds"] != after["step_seconds"], "measured links move the step")
    low, high = after["interval_seconds"]
    check(low <= after["step_seconds"] <= high, "with an interval")

# ---- the step of the traces, described like a call of predict --------------------------------------------------------

WITH_STEP = SCRATCH / "step.toml"
kept = calibrate(TRACES, "--model", *QUESTION, "--out", WITH_STEP)
if kept:
    equal(kept["measured_steps"], 1, "a measured step")
    check("[[measured]]" in WITH_STEP.read_text(), "which the file has")
    warm = answer("predict", *QUESTION, "--calibration", WITH_STEP)
    check(warm and warm["measured"], "the prediction leans on it")

# ---- evidence of other kinds joins ----------------------------------------------------------------------------------

log = SCRATCH / "bench.csv"
log.write_text("system,collective,ranks,nodes,bytes,time_us\n" +
               "".join(f"NVIDIA H100 80GB HBM3,broadcast,4,1,{size},{5 + size * 1e-5}\n" for size in SIZES))
joined = calibrate(TRACES, log, "--out", SCRATCH / "joined.toml")
if joined:
    equal(sorted(one["collective"] for one in joined["fits"]), ["all_gather", "all_reduce", "broadcast"], "traces and a log")
    equal([one["kind"] for one in joined["evidence"]], ["benchmark log", "traces"], "kinds of evidence")
merged = calibrate(log, WITH_STEP, "--out", SCRATCH / "merged.toml")
if merged:
    equal(merged["measured_steps"], 1, "measured steps of a calibration file stay")
    equal(merged["curves"], 3, "its curves beside those of the log")
again = calibrate(SCRATCH / "merged.toml", "--out", SCRATCH / "again.toml")
if again:
    equal((again["curves"], again["measured_steps"]), (3, 1), "what was written is read again")
same = calibrate(TRACES, "--out", SCRATCH / "same.toml")
if same:
    equal((SCRATCH / "same.toml").read_text(), SAVED.read_text(), "the same evidence makes the same file")

# ---- clocks that differ do not matter -------------------------------------------------------------------------------

shifted = [[dict(event, ts=round(event["ts"] + 5000.0 * rank, 3)) for event in EVENTS[rank]] for rank in range(RANKS)]
moved = calibrate(write_traces("shifted", shifted))
if value and moved:
    equal(moved["fits"], value["fits"], "clocks 5 ms apart change no fit")

# ---- what communication costs the kernels beside it -------------------------------------------------------------------


def overlapped_events(slower=1.25, layers=24, seed=11):
    """Layers of a norm and a product; an all-reduce covers the product of every other layer, which then takes longer."""
    source = random.Random(seed)
    events, clock = [], 1000.0
    for layer in range(layers):
        for name, took in (("norm", 50.0), ("gemm", 400.0 * (slower if layer % 2 else 1.0))):
            took = round(took * (1 + source.gauss(0, 0.01)), 3)
            events.append({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": round(clock, 3), "dur": took,
                           "args": {"stream": 7, "device": 0, "correlation": 1000 + len(events)}})
            if name == "gemm" and layer % 2:
                events.append({"ph": "X", "cat": "kernel", "name": KERNEL["allreduce"], "pid": 0, "tid": 20, "ts": round(clock, 3), "dur": took,
                               "args": {"stream": 20, "device": 0, "correlation": 1000 + len(events)} | collective("allreduce", 2**24)})
            clock += took + 5
    return events + [{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#0", "pid": 4711, "tid": 1, "ts": 1000.0, "dur": clock - 1000.0, "args": {}}]


OVERLAPPED = write_traces("overlapped", [overlapped_events() for _ in range(RANKS)])
DATA_PARALLEL = ["llama-3-8b", "--cluster", "dgx-h100", "--workers", "4", "--dp", "4", "--global-batch", "64"]
slowed = calibrate(OVERLAPPED, "--model", *DATA_PARALLEL, "--zero", "1", "--out", SCRATCH / "slowed.toml")
if slowed:
    beside = slowed["traces"]["slowdown_beside_communication"]
    check(beside["ratio"]["low"] <= 1.25 <= beside["ratio"]["high"], f"the slowdown of 1.25: {beside['ratio']}")
    close(beside["ratio"]["value"], 1.25, "slowdown", 0.01)
    close(beside["lost_rate"]["value"], 0.2, "share of its rate", 0.05)
    # of four ranks; the last product has no kernel after it, so it stands at another place than the others
    equal((beside["runs_alone"], beside["runs_beside"]), (48, 44), "runs on each side")
    equal([one["name"] for one in slowed["constants"]], ["gradients_exposed"], "a constant of data parallelism")
sharded = calibrate(OVERLAPPED, "--model", *DATA_PARALLEL, "--zero", "3")
if sharded:
    equal([one["name"] for one in sharded["constants"]], ["shard_overlap_loss"], "of sharded weights")
several = calibrate(OVERLAPPED, "--model", *QUESTION)
if several:
    equal(several["constants"], [], "with tensor parallelism it is reported only")
    check(any("slowdown" in text for text in several["notes"]), "and a note says why")
check(value and value["traces"]["slowdown_beside_communication"] is None, "nothing ran both ways in the other traces")

# ---- refusals -------------------------------------------------------------------------------------------------------

alone = run("calibrate", write_traces("alone", EVENTS, ranks=1), "--out", SCRATCH / "alone.toml")
equal(alone.code, 5, "one rank of four says nothing of links")
check(not (SCRATCH / "alone.toml").exists(), "and nothing is written")
equal(run("calibrate").code, 2, "no evidence")
equal(run("calibrate", SCRATCH / "missing").code, 4, "evidence that is not there")
equal(run("calibrate", TRACES, "--dp", "4").code, 2, "a plan without --model")
succeed("calibrate", TRACES, "--out", "-", code=2)

RUNS = SCRATCH / "runs"
RUNS.mkdir()
for name in ("first", "second"):
    write_traces(f"runs/{name}", EVENTS)
    if name == "second":  # another run: one duration differs
        trace = RUNS / name / "rank0.json"
        trace.write_text(trace.read_text().replace('"dur": 4000.0', '"dur": 4001.0', 1))
refused = run("calibrate", RUNS, "--out", SCRATCH / "runs.toml")
equal(refused.code, 2, "traces of two runs")
check("traces of 2 runs" in refused.err, refused.err)

# ---- content that was not used is counted ---------------------------------------------------------------------------

damaged = SCRATCH / "damaged.csv"
damaged.write_text(log.read_text().replace(",broadcast,4,1,16384,", ",broadcast,4,1,none at all,") + "Test GPU,sum,4,1,1024,5\n")
value = calibrate(TRACES, damaged)
if value:
    kinds = {one["kind"]: (one["count"], one["file"]) for one in value["issues"]}
    equal(len(kinds), 2, f"two rows of a log were not used: {kinds}")
    equal({file for _, file in kinds.values()}, {str(damaged)}, "with their file")

# ---- traces of another accelerator than the one that is asked for ---------------------------------------------------

ELSEWHERE = write_traces("elsewhere", EVENTS)
for path in ELSEWHERE.iterdir():
    path.write_text(path.read_text().replace("NVIDIA H100 80GB HBM3", "NVIDIA A100-SXM4-80GB"))
done = succeed("calibrate", ELSEWHERE, "--cluster", "dgx-h100", "--out", SCRATCH / "elsewhere.toml", code=5)
check("A100-SXM4-80GB" in done.err and "not used" in done.err, f"traces of an A100 are no evidence of an H100: {done.err}")
for system in ("dgx-a100", "a100-sxm-80gb"):
    value = calibrate(ELSEWHERE, "--cluster", system, "--out", SCRATCH / "elsewhere.toml")
    check(value and not any("and not of" in note for note in value["notes"]), f"traces of an A100 are evidence of {system}")
done = run("calibrate", ELSEWHERE, "--model", *DATA_PARALLEL, "--out", SCRATCH / "elsewhere.toml")
equal(done.code, 2, "a step of another accelerator")
check("another machine than the one that was traced" in done.err, done.err)

finish()
