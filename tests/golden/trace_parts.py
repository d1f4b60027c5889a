"""Parts of a trace (--steps, --from, --to), steps by the names that frameworks give, phases of inference, baselines and larger sizes."""

import json

from _harness import SCRATCH, answer, check, close, equal, finish, run, succeed

GAP = 10.0


def trace_of(steps, rank=0, world=1, exposed=0.0, late=0.0):
    """Steps (name, microseconds of computation): a launch, a kernel, exposed communication, and `late` microseconds in which the host launches nothing."""
    events, at = [], 100.0
    for number, (name, compute) in enumerate(steps):
        begin = at
        at += late
        for kernel, time in (("gemm", compute), ("ncclDevKernel_AllReduce_Sum_f32_RING_LL", exposed)):
            if time == 0.0:
                continue
            correlation = 2 * number + (kernel != "gemm") + 1
            events.append(("cuda_runtime", "cudaLaunchKernel", 9, 9, at, 2.0, {"correlation": correlation}))
            events.append(("kernel", kernel, 0, 7, at + 5.0, time, {"correlation": correlation, "device": 0, "stream": 7}))
            at += 5.0 + time
        events.append(("user_annotation", name, 9, 9, begin, at - begin, {}))
        at += GAP
    rows = [{"ph": "X", "cat": c, "name": n, "pid": p, "tid": t, "ts": ts, "dur": d, "args": a} for c, n, p, t, ts, d, a in events]
    return {"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": world}, "traceEvents": rows}


def write(name, *traces):
    folder = SCRATCH / name
    folder.mkdir()
    for rank, trace in enumerate(traces):
        (folder / f"rank{rank}.json").write_text(json.dumps(trace))
    return folder


def steps_of(value):
    return [(one["step"], round(one["compute_seconds"] * 1e6, 3)) for one in value["ranks"][0]["steps_detail"]]


# ---- a part of the trace -------------------------------------------------------------------------------------------------

TIMES = [100.0, 110.0, 120.0, 130.0, 140.0, 150.0]
WHOLE = write("whole", trace_of([(f"ProfilerStep#{i}", time) for i, time in enumerate(TIMES)]))
equal(steps_of(answer("trace", WHOLE)), list(enumerate(TIMES)), "the whole trace")

part = answer("trace", WHOLE, "--steps", "2..4")
equal(steps_of(part), [(2, 120.0), (3, 130.0), (4, 140.0)], "three steps alone")
close(part["ranks"][0]["compute_seconds"], 390e-6, "their computation is all of it")
close(part["ranks"][0]["wall_seconds"], (390.0 + 2 * (GAP + 5.0)) * 1e-6, "from the first kernel of them to the last")
equal(steps_of(answer("trace", WHOLE, "--steps", "5")), [(5, 150.0)], "one step")

# From the first event on: steps take 5 us more than their computation, and 10 us pass between them.
part = answer("trace", WHOLE, "--from", "115us", "--to", "370us")
equal(steps_of(part), [(1, 110.0), (2, 120.0)], "steps that lie inside of the window")
close(part["ranks"][0]["compute_seconds"], 230e-6, "between two times")
part = answer("trace", WHOLE, "--from", "150us", "--to", "200us")
close(part["ranks"][0]["compute_seconds"], 50e-6, "a kernel is cut at both ends")
equal(part["ranks"][0]["without_launch"], 0, "its launch is known, though it was before")

refused = run("trace", WHOLE, "--steps", "7..9")
check(refused.code == 5 and "no step from 7 to 9" in refused.err, f"steps that are not there: {refused.code} {refused.err}")
refused = run("trace", WHOLE, "--from", "2s")
check(refused.code == 5 and "nothing runs" in refused.err, f"a window outside: {refused.code} {refused.err}")
for words in (["--steps", "4..2"], ["--steps", "x"], ["--from", "2s", "--to", "1s"], ["--from", "soon"]):
    check(run("trace", WHOLE, *words).code == 2, f"{words}: refused")

# ---- steps by the names of frameworks --------------------------------------------------------------------------------------

for name in ("iteration {}", "step_{}", "train_step:{}", "Train step {}", "train {}"):
    value = answer("trace", write(name.format("N").replace(" ", ""), trace_of([(name.format(i + 10), 100.0 + i) for i in range(4)])))
    equal(steps_of(value), [(i + 10, 100.0 + i) for i in range(4)], f"steps named {name}")
value = answer("trace", write("layers", trace_of([(f"layer {i}", 100.0 + i) for i in range(4)])))
check(not any(one[0] > 9 for one in steps_of(value)), "layers are no steps")

VLLM = [("execute_context_2(512)_generation_0(0)", 500.0)] + [("execute_context_0(0)_generation_4(4)", 100.0)] * 3 + \
       [("execute_context_1(256)_generation_4(4)", 300.0)]
value = answer("trace", write("vllm", trace_of(VLLM)))
phases = {one["phase"]: one for one in value["phases"]}
equal(sorted(phases), ["decode", "mixed", "prefill"], "phases of vLLM")
equal((phases["decode"]["steps"], phases["decode"]["requests"]), (3, 4), "three steps of four requests")
close(phases["decode"]["step_seconds"], 105e-6, "time of a token")
close(phases["decode"]["tokens_per_second"], 4 / 105e-6, "tokens of all requests")
close(phases["prefill"]["tokens_per_second"], 512 / 505e-6, "tokens of the prompt")
SGLANG = [("step[EXTEND bs=1 toks=107]", 400.0)] + [("step[DECODE bs=16]", 100.0)] * 2
phases = {one["phase"]: one for one in answer("trace", write("sglang", trace_of(SGLANG)))["phases"]}
close(phases["decode"]["tokens_per_second"], 16 / 105e-6, "SGLang decodes a token of each request")
words = " ".join(succeed("trace", SCRATCH / "sglang").out.split())
check("Decode: 2 steps of 105 us, the time of a token; 16 requests at once, 152000 tokens/s." in words, f"phases are printed: {words[:400]}")
equal(answer("trace", WHOLE)["phases"], [], "a training run has none")

# ---- a baseline: what changed, and why ---------------------------------------------------------------------------------------

STEPS = [(f"ProfilerStep#{i}", 200.0) for i in range(4)]


def pair(name, **more):
    return write(name, *[trace_of(more.pop("steps", STEPS) if rank else more.get("steps", STEPS), rank, 2, **{k: v for k, v in more.items() if k != "steps"})
                         for rank in range(2)])


BEFORE = pair("before", exposed=40.0)


def words_of(after):
    return " ".join(succeed("trace", after, "--baseline", BEFORE).out.split())


words = words_of(pair("kernels", steps=[(name, 300.0) for name, _ in STEPS], exposed=40.0))
check("x slower than the baseline" in words and "compute +100 us (gemm +100 us)" in words, f"a kernel: {words[:300]}")
words = words_of(pair("network", exposed=140.0))
check("exposed communication +100 us (all_reduce of 2 ranks +100 us)" in words, f"a collective: {words[:300]}")
words = words_of(pair("host", exposed=40.0, late=100.0))
check("idle +100 us (launch-bound +10" in words, f"the host: {words[:300]}")
check("As fast as the baseline" in words_of(BEFORE), "nothing changed")

compared = answer("trace", pair("fewer", steps=STEPS[1:3], exposed=40.0), "--baseline", BEFORE)["baseline"]
close(compared["speedup"], 1.0, "the same steps take as long")
alone = write("alone", trace_of(STEPS, 0, 1))
compared = answer("trace", alone, "--baseline", BEFORE)["baseline"]
equal((compared["speedup"], compared["ranks_before"], compared["ranks_after"]), (None, 2, 1), "other numbers of ranks are no speedup")
check("Not compared as a speedup" in words_of(alone), "which is said")

slower = SCRATCH / "kernels"
check(run("trace", slower, "--baseline", BEFORE, "--require", "step<=1.05*baseline").code == 99, "a gate on a slower step")
check(run("trace", slower, "--baseline", BEFORE, "--require", "step<=1.6*baseline,exposed<=baseline").code == 0, "a gate that holds")
check(run("trace", slower, "--require", "step<=baseline").code == 2, "no baseline")
check(run("trace", slower, "--baseline", BEFORE, "--require", "step<=x*baseline").code == 2, "no factor")
check(run("roofline", "a100-sxm-80gb", "--require", "step<=baseline").code == 2, "other verbs have none")

# ---- larger sizes --------------------------------------------------------------------------------------------------------------

LONG = write("long", *[trace_of([(f"ProfilerStep#{i}", 12e6) for i in range(3)], rank, 8, exposed=1e5) for rank in range(8)])
PLAN = ["--plan", "llama-3-8b", "--cluster", "dgx-h100", "--global-batch", "256", "--sequence-length", "8192"]
value = answer("trace", LONG, *PLAN)
equal([one["workers"] for one in value["larger"]], [16, 32, 64], "twice, four and eight times")
for one in value["larger"]:
    check(one["low_seconds"] < one["step_seconds"] < one["high_seconds"], f"an interval: {one}")
    close(one["speedup"] * one["step_seconds"], value["step_seconds"]["p50"], "speedup over the measured step")
before = [answer("predict", "llama-3-8b", "--cluster", "dgx-h100", "--global-batch", 256, "--sequence-length", 8192, "--workers", one["workers"])
          for one in value["larger"]]
check(all(one["step_seconds"] != plain["step_seconds"] for one, plain in zip(value["larger"], before)), "the traces calibrate the prediction")
check("Predicted at the same batch, calibrated by these traces: 16 workers" in value["verdict"][-1], value["verdict"])
check("measured step" in value["calibrated"], value["calibrated"])
check(run("trace", LONG, "--plan", "llama-3-8b").code == 2, "no machine")
check(run("trace", LONG, "--cluster", "dgx-h100").code == 2, "no model")
check(run("trace", write("stepless", trace_of([("a", 10.0)], 0, 8)), *PLAN).code == 2, "no steps")

# ---- late ranks: what they share -------------------------------------------------------------------------------------------


def meetings(rank, late_ranks, host, steps=6):
    """Ranks that meet in a collective a step: one of the late ones is 100 us late, in turns."""
    rows = []
    for step in range(steps):
        at = 1000.0 * step
        begin = at + (100.0 if late_ranks[step % len(late_ranks)] == rank else float(rank))
        for number, (kernel, start, end) in enumerate((("gemm", at, at + 50.0), ("ncclDevKernel_AllReduce_Sum_f32_RING_LL", begin + 60.0, at + 260.0))):
            correlation = 2 * step + number + 1
            rows.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": 9, "ts": start - 5.0, "dur": 2.0,
                         "args": {"correlation": correlation}})
            rows.append({"ph": "X", "cat": "kernel", "name": kernel, "pid": 0, "tid": 7, "ts": start, "dur": end - start,
                         "args": {"correlation": correlation, "device": 0, "stream": 7}})
    return {"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": 8}, "host_name": host, "traceEvents": rows}


for name, late, nodes, expected in (("node", [5, 7], "aaaabbbb", "Ranks 5 and 7 (all on node b) arrive last in 6 of 6 collectives"),
                                    ("rail", [1, 5], "aaaabbbb", "Ranks 1 and 5 (all local rank 1 of their nodes, one rail) arrive last"),
                                    ("none", [1, 6], "aaaabbbb", "Ranks 1 and 6 arrive last")):
    words = " ".join(succeed("trace", write(f"late_{name}", *[meetings(rank, late, nodes[rank]) for rank in range(8)])).out.split())
    check(expected in words, f"late ranks, {name}: {words[:700]}")

finish()
