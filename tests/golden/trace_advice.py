"""Traces with one planted cause each: the first line of the verdict names it, with the gain that removing it has by construction.

A step is simulated twice, with the cause and without: a host that launches kernels in turn, a device that runs them in order, collectives that
begin when the last rank has come. The first run becomes the trace, both the gain.
"""

import json
import random

from _harness import SCRATCH, answer, check, finish, succeed

SEEDS = range(20)
STEPS = 3
ALL_REDUCE, SEND = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", "ncclDevKernel_SendRecv"

SYNCHRONIZE = ("cudaDeviceSynchronize", "cuda_runtime", 2.0, None, True)


def simulate(ops, begin=0.0):
    """Host calls (name, category, host time, kernel or None, whether it waits for the device) to events and the end of the step.

    A kernel is (name, category, stream, time); all kernels of a rank run in order. A call without a category is not recorded.
    """
    host, device, events, number = begin, begin, [], int(begin * 7) % 100000 * 1000
    for name, category, cost, kernel, waits in ops:
        start = host
        host += cost
        number += 1
        if kernel:
            kernel_name, kernel_category, stream, time = kernel
            first = max(device, start + cost + 3.0)
            device = first + time
            events.append((kernel_category, kernel_name, 0, stream, first, time, {"correlation": number}))
        if waits:
            host = max(host, device + 1.0)
        if category:
            events.append((category, name, 100, 100, start, host - start, {"correlation": number} if kernel else {}))
        host += 1.0
    return events, max(host, device)


def trace_of(all_events, spans, rank, world):
    out = []
    for category, name, process, thread, start, time, arguments in all_events:
        if process == 0:
            arguments = arguments | {"stream": thread, "device": 0}
        out.append({"ph": "X", "cat": category, "name": name, "pid": process, "tid": thread, "ts": start, "dur": time, "args": arguments})
    for step, (begin, end) in enumerate(spans):
        out.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 100, "tid": 100, "ts": begin, "dur": end - begin})
    return {"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": world}, "traceEvents": out}


def launch(name, time, cost=6.0, category="kernel", stream=7):
    return ("cudaLaunchKernel", "cuda_runtime", cost, (name, category, stream, time), False)


def layers(draw, count=40):
    """A device-bound step."""
    return [launch(f"gemm_{i % 4}", draw.uniform(60.0, 90.0)) for i in range(count)]


def slow_launches(draw):
    """A host-bound step."""
    return [launch(f"elementwise_{i % 5}", draw.uniform(2.0, 3.0), cost=draw.uniform(12.0, 16.0)) for i in range(150)]


def scaled(op, factor, names=None):
    name, category, cost, kernel, waits = op
    if kernel and (names is None or kernel[0] in names):
        kernel = (*kernel[:3], kernel[3] * factor)
    return name, category, cost, kernel, waits


def insert(draw, ops, planted, after=0.3, before=0.7):
    """The planted calls, apart from each other."""
    places = sorted(draw.sample(range(int(len(ops) * after), int(len(ops) * before)), len(planted)))
    out, rest = [], list(planted)
    for i, op in enumerate(ops):
        if places and i == places[0]:
            places.pop(0)
            out.append(rest.pop(0))
        out.append(op)
    return out


# ---- one rank: steps without the cause, and with it --------------------------------------------------------------------


def allocator(draw):
    ops = layers(draw)
    return ops, insert(draw, ops, [("cudaFree", "cuda_runtime", draw.uniform(2500, 4000), None, False),
                                   ("cudaMalloc", "cuda_runtime", draw.uniform(1500, 2500), None, False)])


def allocator_of_slow_host(draw):
    """Half of all host work, the allocator's included, would be worth more than the allocator alone."""
    ops = slow_launches(draw)
    return ops, insert(draw, ops, [("cudaFree", "cuda_runtime", draw.uniform(1600, 2000), None, False)])


def blocking_calls(draw):
    # a small kernel behind each blocking call: what the host launches after it comes too late
    ops = [launch("elementwise", draw.uniform(14.0, 18.0), cost=8.0) for _ in range(160)]
    slow = []
    for i, op in enumerate(ops):
        slow.append(op)
        if i % 4 == 3:
            slow.append(("cudaStreamSynchronize", "cuda_runtime", 30.0, None, True))
    free = [(n, c, cost, k, False) for n, c, cost, k, _ in slow]
    return free, slow


def loader(time):
    return ("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", "user_annotation", time, None, False)


def data_loading(draw):
    ops = layers(draw)
    return ops, [loader(draw.uniform(1500, 4000)), *ops]


def data_loading_of_slow_host(draw):
    ops = slow_launches(draw)
    return ops, [loader(draw.uniform(1600, 2000)), *ops]


def exposed_communication(draw):
    ops = layers(draw)
    return ops, [*ops, launch(ALL_REDUCE, draw.uniform(1000, 2500))]


def copies_of(draw, name):
    ops = layers(draw)
    planted = [("cudaMemcpyAsync", "cuda_runtime", 6.0, (name, "gpu_memcpy", 7, draw.uniform(300, 600)), False) for _ in range(4)]
    return ops, insert(draw, ops, planted)


def copies(draw):
    return copies_of(draw, "Memcpy HtoD (Pinned -> Device)")


def pageable_copies(draw):
    return copies_of(draw, "Memcpy HtoD (Pageable -> Device)")


def device_copies(draw):
    return copies_of(draw, "Memcpy DtoD (Device -> Device)")


def small_kernels(draw):
    first, time = layers(draw), draw.uniform(3.0, 5.0)
    many = [launch("multi_add", time) for _ in range(draw.randint(200, 400))]
    return [*first, many[0]], [*first, *many]


def launches(draw):
    slow = slow_launches(draw)
    return [(n, c, cost / 2 - 0.5, k, w) for n, c, cost, k, w in slow], slow


def kernel(draw):
    slow = []
    for _ in range(12):
        slow += [launch("gemm_large", draw.uniform(250.0, 300.0)), launch("norm", draw.uniform(10.0, 15.0))]
    return [scaled(op, 0.5, ["gemm_large"]) for op in slow], slow


def idle_start(draw):
    ops = [launch(f"gemm_{draw.randrange(9)}", draw.uniform(60.0, 90.0)) for _ in range(40)] # nothing repeats: no steps are detected
    return ops, [("cudaStreamCreate", "cuda_runtime", draw.uniform(1500, 6000), None, False), *ops]


def unrecorded(draw):
    ops = [launch("gemm", 40.0) for _ in range(4)]
    gap = (None, None, draw.uniform(4000, 8000), None, False)
    return ops, [ops[0], gap, *ops[1:]]


ONE_RANK = {cause.__name__: cause for cause in (
    allocator, allocator_of_slow_host, blocking_calls, data_loading, data_loading_of_slow_host, exposed_communication, copies, pageable_copies,
    device_copies, small_kernels, launches, kernel, idle_start, unrecorded)}
NO_STEPS = ["idle_start"]
WORDS = {"allocator": "The memory allocator stops", "blocking_calls": "The host waits for the device", "data_loading": "Data loading holds",
         "exposed_communication": "Communication has", "copies": "Copies that could overlap", "pageable_copies": "Copies have",
         "device_copies": "Copies have", "launches": "The host has", "kernel": "Computation decides",
         "small_kernels": "Short kernels of one name", "unrecorded": "Nothing was recorded", "slowing_kernels": "The same kernels take longer",
         "uneven_steps": "Steps are uneven", "slow_rank": "Ranks wait for rank 1, whose kernels all take longer",
         "more_work": "Ranks wait for rank 1, which computes", "late_host": "Ranks wait for rank 1, whose CPU is late",
         "experts": "Work between all-to-all exchanges is unequal", "pipeline_bubble": "Stages of the pipeline wait", "operators": "Computation on the CPU decides",
         "below_roof": "gemm_large", "unexplained_delays": "Device work begins later than the trace explains",
         "unseen_device": "The trace holds calls of a device's runtime", "late_ranks": "Ranks wait for late ones"}

right, wrong = {}, []


def write(name, traces):
    folder = SCRATCH / name
    folder.mkdir()
    for rank, trace in enumerate(traces):
        (folder / f"rank{rank}.json").write_text(json.dumps(trace))
    return folder


def judge(cause, seed, folder, gain, rule=None, more=()):
    """The first advice, and the verdict, which people see first."""
    rule = rule or cause
    value = answer("trace", folder, *more)
    path = value["critical_path"]
    first = path["advice"][0] if path["advice"] else {"rule": "none", "speedup": 1.0}
    text = " ".join(" ".join(value["verdict"]).split())
    if cause not in right:
        shown = " ".join(succeed("trace", folder, *more).out.split())
        check(shown.startswith(text), f"{folder.name}: the verdict comes first: {text[:200]}; {shown[:200]}")
    right.setdefault(cause, 0)
    if first["rule"] == rule and text.startswith(WORDS.get(rule, "")) and abs(first["speedup"] / gain - 1.0) <= 0.1:
        right[cause] += 1
    else:
        wrong.append((cause, seed, first["rule"], round(first["speedup"], 3), round(gain, 3), text[:60]))


def run_of(steps, begin=1000.0):
    """Steps one after the other: events, spans."""
    events, spans, at = [], [], begin
    for ops in steps:
        more, end = simulate([*ops, SYNCHRONIZE], at)
        events += more
        spans.append((at, end))
        at = end + 5.0
    return events, spans


def length(ops):
    return simulate([*ops, SYNCHRONIZE])[1]


for name, cause in ONE_RANK.items():
    for seed in SEEDS:
        free, slow = cause(random.Random(f"{name} {seed}"))
        events, spans = run_of([slow] * (1 if name in NO_STEPS else STEPS))
        folder = write(f"{name}{seed}", [trace_of(events, [] if name in NO_STEPS else spans, 0, 1)])
        judge(name, seed, folder, length(slow) / length(free), name.removesuffix("_of_slow_host"))

# ---- many steps: one of them is long, or all become slower ---------------------------------------------------------------

for seed in SEEDS:
    draw = random.Random(f"uneven {seed}")
    ops = layers(draw)
    long = [*ops, ("save_checkpoint", "user_annotation", draw.uniform(4000, 9000), None, False)]
    at = draw.randint(5, 7)
    events, spans = run_of([long if step == at else ops for step in range(8)])
    judge("uneven_steps", seed, write(f"uneven{seed}", [trace_of(events, spans, 0, 1)]), (6 + length(long) / length(ops)) / 7)

for seed in SEEDS:
    draw = random.Random(f"slowing {seed}")
    ops, rise = layers(draw), draw.uniform(0.3, 0.6)
    steps = [[scaled(op, 1.0 + rise * step / 11) for op in ops] for step in range(12)]
    events, spans = run_of(steps)
    gain = sum(map(length, steps)) / 12 / (sum(map(length, steps[:4])) / 4)
    judge("slowing_kernels", seed, write(f"slowing{seed}", [trace_of(events, spans, 0, 1)]), gain)

# ---- two ranks that meet in one collective a step ------------------------------------------------------------------------


def two_ranks(both, transfer, collective=ALL_REDUCE, arguments=None, shared=False):
    """Traces of ranks that compute, then meet; and the gain where both are as fast as the first, or have the same work."""
    events, spans, at, alone = [[], []], [], 1000.0, []
    for _ in range(STEPS):
        ends = []
        for rank in range(2):
            more, end = simulate(both[rank], at)
            events[rank] += more
            ends.append(end)
        meet = max(ends)
        for rank in range(2):
            number = {"correlation": int(at) * 10 + rank}
            events[rank].append(("cuda_runtime", "cudaLaunchKernel", 100, 100, ends[rank] - 10.0, 5.0, number))
            events[rank].append(("kernel", collective, 0, 20, ends[rank] + 1.0, meet - ends[rank] + transfer, number | (arguments or {})))
            events[rank].append(("cuda_runtime", "cudaDeviceSynchronize", 100, 100, ends[rank] - 4.0, meet + transfer + 6.0 - ends[rank], {}))
        spans.append((at, meet + transfer + 3.0))
        alone = [end - at + 3.0 + transfer for end in ends]
        at = meet + transfer + 10.0
    return [trace_of(events[rank], spans, rank, 2) for rank in range(2)], max(alone) / (sum(alone) / 2 if shared else alone[0])


def slow_rank(ops, draw):
    factor = draw.uniform(1.4, 1.8)
    return [scaled(op, factor) for op in ops]


def more_work(ops, draw):
    factor = draw.uniform(2.5, 4.0)
    return [scaled(op, factor, ["gemm_2"]) for op in ops]


def late_host(ops, draw):
    return [("aten::index", "cpu_op", draw.uniform(1500, 3000), None, False), *ops]


GROUP = {"Process Group Name": "7", "Process Group Ranks": "[0, 1]", "Group size": 2}
for name, slow, collective, arguments in (("slow_rank", slow_rank, ALL_REDUCE, None), ("late_host", late_host, ALL_REDUCE, None),
                                          ("more_work", more_work, ALL_REDUCE, None),
                                          ("experts", more_work, SEND, GROUP | {"Collective name": "all_to_allv"}),
                                          ("pipeline_bubble", more_work, SEND, GROUP | {"Collective name": "send"})):
    for seed in SEEDS:
        draw = random.Random(f"{name} {seed}")
        ops = layers(draw)
        traces, gain = two_ranks([ops, slow(ops, draw)], draw.uniform(80, 150), collective, arguments, slow is more_work)
        judge(name, seed, write(f"{name}{seed}", traces), gain)

# ---- a kernel below the roofline, operators of a CPU ----------------------------------------------------------------------

PEAK = 312e12  # of the A100 in 16-bit formats
for seed in SEEDS:
    draw = random.Random(f"roof {seed}")
    n, share, other = 4096, draw.uniform(0.2, 0.4), draw.uniform(400.0, 600.0)
    least = 2.0 * n**3 / PEAK * 1e6
    slow = [launch("gemm_large", least / share), launch("norm", other)] * 4
    free = [launch("gemm_large", least), launch("norm", other)] * 4
    events, spans = run_of([slow] * STEPS)
    shapes = {"Input Dims": [[n, n], [n, n]], "Input type": ["c10::BFloat16", "c10::BFloat16"]}
    number = {(e[6]["correlation"]) for e in events if e[1] == "gemm_large"}
    events += [("cpu_op", "aten::mm", 100, 100, e[4] - 0.5, e[5] + 1.0, shapes) for e in events
               if e[1] == "cudaLaunchKernel" and e[6]["correlation"] in number]
    judge("below_roof", seed, write(f"roof{seed}", [trace_of(events, spans, 0, 1)]), length(slow) / length(free), more=["--machine", "a100-sxm-80gb"])

for seed in SEEDS:
    draw = random.Random(f"operators {seed}")
    slow = [("aten::addmm" if i % 2 else f"aten::relu_{i % 6}", "cpu_op", draw.uniform(200, 300) if i % 2 else 20.0, None, False) for i in range(40)]
    free = [(n, c, cost / 2 if n == "aten::addmm" else cost, k, w) for n, c, cost, k, w in slow]
    events, spans, at = [], [], 1000.0
    for _ in range(STEPS):
        more, end = simulate(slow, at)
        events += more
        spans.append((at, end))
        at = end + 5.0
    judge("operators", seed, write(f"operators{seed}", [trace_of(events, spans, 0, 1)]), simulate(slow)[1] / simulate(free)[1])

# ---- delays that nothing explains, a device that was not recorded, ranks on CPUs ------------------------------------------

for seed in SEEDS:
    draw = random.Random(f"unexplained {seed}")
    time, gap, events, at, host = draw.uniform(20, 40), draw.uniform(60, 90), [], 1000.0, 1000.0
    for number in range(1, 41):  # all launched at once; each kernel comes late on a stream that is free
        events.append(("cuda_runtime", "cudaLaunchKernel", 100, 100, host, 2.0, {"correlation": number}))
        at = host + 9.0 if number == 1 else at + time + gap
        events.append(("kernel", f"gemm_{number % 4}", 0, 7, at, time, {"correlation": number}))
        host += 2.5
    events.append(("cuda_runtime", "cudaDeviceSynchronize", 100, 100, host, at + time + 1.0 - host, {}))
    end = at + time + 1.0
    judge("unexplained_delays", seed, write(f"unexplained{seed}", [trace_of(events, [(1000.0, end)], 0, 1)]),
          (end - 1000.0) / (end - 1000.0 - 39 * gap))

for seed in SEEDS:
    draw = random.Random(f"unseen {seed}")
    ops = [("aten::copy_" if i % 2 else "cudaStreamSynchronize", "cpu_op" if i % 2 else "cuda_runtime", draw.uniform(90, 200), None, False)
           for i in range(40)]
    events, end = simulate(ops, 1000.0)
    judge("unseen_device", seed, write(f"unseen{seed}", [trace_of(events, [(1000.0, end)], 0, 1)]), 1.0)

for seed in SEEDS:
    draw = random.Random(f"late {seed}")
    ops = [(f"aten::op_{i}", "cpu_op", draw.uniform(200, 300), None, False) for i in range(40)]
    slow = [(name, category, cost * draw.uniform(2.4, 2.6), None, False) for name, category, cost, _, _ in ops]
    traces, spans, alone, transfer = [[], []], [], [], 150.0
    ends = [simulate(one, 1000.0)[1] for one in (ops, slow)]
    for rank, one in enumerate((ops, slow)):
        events = simulate(one, 1000.0)[0]
        events.append(("user_annotation", "gloo:all_reduce", 100, 200, ends[rank], max(ends) + transfer - ends[rank], {}))
        traces[rank] = trace_of(events, [(1000.0, max(ends) + transfer)], rank, 2)
        alone.append(ends[rank] - 1000.0 + transfer)
    judge("late_ranks", seed, write(f"late{seed}", traces), 2 * max(alone) / sum(alone))

# Experts on CPUs: all operators of rank 1 take longer between exchanges.
exchanging = [dict(trace, traceEvents=[event | {"name": event["name"].replace("all_reduce", "all_to_all")} for event in trace["traceEvents"]])
              for trace in traces]
folder = write("experts_on_cpus", exchanging)
first, text = answer("trace", folder)["critical_path"]["advice"][0], " ".join(succeed("trace", folder).out.split())
check(first["rule"] == "experts" and "ranks wait for rank 1, which computes" in text, f"experts on CPUs: {first}; {text[:200]}")

# A host that is silent for as long as the device works: nothing alone would gain.
events, end = simulate(layers(random.Random(1)), 1000.0)
folder = write("chains", [trace_of(events, [(1000.0, end)], 0, 1)])
first, text = answer("trace", folder)["critical_path"]["advice"][0], succeed("trace", folder).out
check(first["rule"] == "two_chains" and text.startswith("Two chains are equally long"), f"two chains: {first}")
check("gap in which nothing was recorded" in text.replace("\n", " "), f"the gap is named: {text[:300]}")

for name, count in right.items():
    print(f"{name}: {count} of {len(SEEDS)}")
check(sum(right.values()) >= 0.95 * len(right) * len(SEEDS), f"named with the gain: {right}; {wrong[:12]}")
for name, count in right.items():
    check(count >= 0.8 * len(SEEDS), f"{name}: {count} of {len(SEEDS)}; {[one for one in wrong if one[0] == name][:3]}")

finish()
