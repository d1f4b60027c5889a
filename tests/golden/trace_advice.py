"""Traces with one planted cause each: the first line of the verdict names it, with the gain that removing it has by construction.

A step is simulated twice, with the cause and without: a host that launches kernels in turn, a device that runs them in order, collectives that
begin when the last rank has come. The first run becomes the trace, both the gain.
"""

import json
import random

from _harness import SCRATCH, answer, check, finish, succeed

SEEDS = range(20)
STEPS = 3


SYNCHRONIZE = ("cudaDeviceSynchronize", "cuda_runtime", 2.0, None, True)


def simulate(ops, begin=0.0):
    """Host calls (name, category, host time, kernel or None, whether it waits for the device) to events and the end of the step.

    A kernel is (name, category, stream, time); all kernels of a rank run in order.
    """
    host, device, events, number = begin, begin, [], [int(begin * 7) % 100000 * 1000]
    for name, category, cost, kernel, waits in ops:
        start = host
        host += cost
        number[0] += 1
        if kernel:
            kernel_name, kernel_category, stream, time = kernel
            first = max(device, start + cost + 3.0)
            device = first + time
            events.append((kernel_category, kernel_name, 0, stream, first, time, number[0]))
        if waits:
            host = max(host, device + 1.0)
        events.append((category, name, 100, 100, start, host - start, number[0] if kernel else None))
        host += 1.0
    return events, max(host, device)


def trace_of(all_events, spans, rank, world):
    out = []
    for category, name, process, thread, start, time, number in all_events:
        arguments = {} if number is None else {"correlation": number}
        if process == 0:
            arguments |= {"stream": thread, "device": 0}
        out.append({"ph": "X", "cat": category, "name": name, "pid": process, "tid": thread, "ts": start, "dur": time, "args": arguments})
    for step, (begin, end) in enumerate(spans):
        out.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 100, "tid": 100, "ts": begin, "dur": end - begin})
    return {"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": world}, "traceEvents": out}


def launch(name, time, cost=6.0, category="kernel", stream=7):
    return ("cudaLaunchKernel", "cuda_runtime", cost, (name, category, stream, time), False)


def layers(draw, count=40):
    """A device-bound step."""
    return [launch(f"gemm_{i % 4}", draw.uniform(60.0, 90.0)) for i in range(count)]


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


def allocator(draw):
    ops = layers(draw)
    return ops, insert(draw, ops, [("cudaFree", "cuda_runtime", draw.uniform(2500, 4000), None, False),
                                   ("cudaMalloc", "cuda_runtime", draw.uniform(1500, 2500), None, False)])


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


def data_loading(draw):
    ops = layers(draw)
    return ops, [("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", "user_annotation", draw.uniform(1500, 4000), None, False)] + ops


def exposed_communication(draw):
    ops = layers(draw)
    return ops, ops + [launch("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", draw.uniform(1000, 2500))]


def copies(draw):
    ops = layers(draw)
    planted = [("cudaMemcpyAsync", "cuda_runtime", 6.0, ("Memcpy HtoD (Pinned -> Device)", "gpu_memcpy", 7, draw.uniform(300, 600)), False) for _ in range(4)]
    return ops, insert(draw, ops, planted)


def launches(draw):
    slow = [launch("elementwise", draw.uniform(2.0, 3.0), cost=draw.uniform(12.0, 16.0)) for _ in range(150)]
    return [(n, c, cost / 2 - 0.5, k, w) for n, c, cost, k, w in slow], slow


def kernel(draw):
    slow = []
    for _ in range(12):
        slow += [launch("gemm_large", draw.uniform(250.0, 300.0)), launch("norm", draw.uniform(10.0, 15.0))]
    return [(n, c, cost, (k[0], k[1], k[2], k[3] / 2) if k[0] == "gemm_large" else k, w) for n, c, cost, k, w in slow], slow


CAUSES = {cause.__name__: cause for cause in (allocator, blocking_calls, data_loading, exposed_communication, copies, launches, kernel)}
WORDS = {"allocator": "The memory allocator stops", "blocking_calls": "The host waits for the device", "data_loading": "Data loading holds",
         "exposed_communication": "Communication has", "copies": "Copies have", "launches": "The host has", "kernel": "Computation decides",
         "late_ranks": "Ranks wait for late ones"}


def advice_of(folder):
    """The first advice, and the first line that people see."""
    path = answer("trace", folder)["critical_path"]
    return path["advice"][0] if path["advice"] else {"rule": "none", "speedup": 1.0}, succeed("trace", folder).out


right = {name: 0 for name in [*CAUSES, "late_ranks"]}
wrong = []
for name, cause in CAUSES.items():
    for seed in SEEDS:
        draw = random.Random(f"{name} {seed}")
        free, slow = cause(draw)
        events, spans, at = [], [], 1000.0
        for _ in range(STEPS):
            more, end = simulate([*slow, SYNCHRONIZE], at)
            events += more
            spans.append((at, end))
            at = end + 5.0
        folder = SCRATCH / f"{name}{seed}"
        folder.mkdir()
        (folder / "rank0.json").write_text(json.dumps(trace_of(events, spans, 0, 1)))
        gain = simulate([*slow, SYNCHRONIZE])[1] / simulate([*free, SYNCHRONIZE])[1]
        first, text = advice_of(folder)
        if first["rule"] == name and text.startswith(WORDS[name]) and abs(first["speedup"] / gain - 1.0) <= 0.1:
            right[name] += 1
        else:
            wrong.append((name, seed, first["rule"], round(first["speedup"], 3), round(gain, 3)))

# A rank that computes longer before the collective of each step: the others wait for it.
for seed in SEEDS:
    draw = random.Random(f"late {seed}")
    factor, transfer = draw.uniform(1.4, 1.8), draw.uniform(80, 150)
    ops = layers(draw)
    both = [ops, [(n, c, cost, (k[0], k[1], k[2], k[3] * factor), w) for n, c, cost, k, w in ops]]
    events, spans, at, alone = [[], []], [], 1000.0, []
    for _ in range(STEPS):
        ends = []
        for rank in range(2):
            more, end = simulate(both[rank], at)
            events[rank] += more
            ends.append(end)
        meet = max(ends)
        for rank in range(2):
            number = int(at) * 10 + rank
            events[rank].append(("cuda_runtime", "cudaLaunchKernel", 100, 100, ends[rank] - 10.0, 5.0, number))
            events[rank].append(("kernel", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 0, 20, ends[rank] + 1.0, meet - ends[rank] + transfer, number))
            events[rank].append(("cuda_runtime", "cudaDeviceSynchronize", 100, 100, ends[rank] - 4.0, meet + transfer + 6.0 - ends[rank], None))
        spans.append((at, meet + transfer + 3.0))
        alone = [end - at + 3.0 + transfer for end in ends]
        at = meet + transfer + 10.0
    folder = SCRATCH / f"late{seed}"
    folder.mkdir()
    for rank in range(2):
        (folder / f"rank{rank}.json").write_text(json.dumps(trace_of(events[rank], spans, rank, 2)))
    gain = max(alone) / (sum(alone) / 2)
    first, text = advice_of(folder)
    if first["rule"] == "late_ranks" and text.startswith(WORDS["late_ranks"]) and abs(first["speedup"] / gain - 1.0) <= 0.1:
        right["late_ranks"] += 1
    else:
        wrong.append(("late_ranks", seed, first["rule"], round(first["speedup"], 3), round(gain, 3)))

# A host that is silent for as long as the device works: nothing alone would gain.
folder = SCRATCH / "chains"
folder.mkdir()
events, end = simulate(layers(random.Random(1)), 1000.0)
(folder / "rank0.json").write_text(json.dumps(trace_of(events, [(1000.0, end)], 0, 1)))
first, text = advice_of(folder)
check(first["rule"] == "two_chains" and text.startswith("Two chains are equally long"), f"two chains: {first}")
check("gap in which nothing was recorded" in text.replace("\n", " "), f"the gap is named: {text[:300]}")

for name, count in right.items():
    print(f"{name}: {count} of {len(SEEDS)}")
check(sum(right.values()) >= 0.95 * len(right) * len(SEEDS), f"named with the gain: {right}; {wrong[:12]}")
for name, count in right.items():
    check(count >= 0.8 * len(SEEDS), f"{name}: {count} of {len(SEEDS)}")

finish()
