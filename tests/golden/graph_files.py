#!/usr/bin/python3
"""One graph in every format gives one answer, and traces of others hold what a second decoder finds."""

import gzip
import io
import json
import os
import pathlib
import random
import tarfile

from _harness import SCRATCH, SOURCE, check, close, equal, finish, run, skip, succeed


# ---- protobuf, both ways ---------------------------------------------------------------------------------------------

def varint(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def whole(tag, number):
    return varint(tag << 3) + varint(number)


def data(tag, content):
    content = content.encode() if isinstance(content, str) else content
    return varint(tag << 3 | 2) + varint(len(content)) + content


def take_varint(content, at):
    number = shift = 0
    while True:
        byte = content[at]
        at += 1
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return number, at


def fields(content):
    """(tag, number or bytes) of every field of a message."""
    at = 0
    while at < len(content):
        key, at = take_varint(content, at)
        value, width = None, {1: 8, 5: 4}.get(key & 7, 0)
        if key & 7 == 0:
            value, at = take_varint(content, at)
        else:
            if key & 7 == 2:
                width, at = take_varint(content, at)
            value, at = content[at:at + width], at + width
        yield key >> 3, value


def numbers(value):
    """A repeated number, packed or not."""
    if isinstance(value, int):
        return [value]
    found, at = [], 0
    while at < len(value):
        number, at = take_varint(value, at)
        found.append(number)
    return found


# ---- work and depth without the program ------------------------------------------------------------------------------

def work_and_depth(costs, edges):
    """costs {task: cost}, edges [(from, to)]: the sum of all costs and the longest chain of them."""
    after, waits = {task: [] for task in costs}, dict.fromkeys(costs, 0)
    for before, task in edges:
        after[before].append(task)
        waits[task] += 1
    end = dict.fromkeys(costs, 0)
    ready = [task for task in costs if waits[task] == 0]
    while ready:
        task = ready.pop()
        end[task] += costs[task]
        for next_task in after[task]:
            end[next_task] = max(end[next_task], end[task])
            waits[next_task] -= 1
            if waits[next_task] == 0:
                ready.append(next_task)
    return sum(costs.values()), max(end.values())


def answer(path):
    found = succeed("graph", path, "--format", "json").json() or {}
    return {key: found.get(key) for key in ("tasks", "edges", "work", "depth", "unit")}


def expect(path, costs, edges, scale, unit):
    found, (work, depth) = answer(path), work_and_depth(costs, edges)
    equal((found["tasks"], found["edges"], found["unit"]), (len(costs), len(edges), unit), f"size of {path.name}")
    close(found["work"], work * scale, f"work of {path.name}", 1e-14)
    close(found["depth"], depth * scale, f"depth of {path.name}", 1e-14)


# ---- the same random graphs in three formats --------------------------------------------------------------------------

def chakra(costs, edges):
    waits = {task: [] for task in costs}
    for before, task in edges:
        waits[task].append(before)
    content = data(1, "0.0.4")
    out = varint(len(content)) + content
    for task, cost in costs.items():
        node = whole(1, task) + data(2, f"n{task}") + whole(3, 4) + whole(7, cost)
        node += data(5, b"".join(map(varint, waits[task])))
        out += varint(len(node)) + node
    return out


for seed in range(8):
    draw = random.Random(seed)
    tasks = draw.sample(range(1000), 60)  # numbers in no order: the order of the file is none of the graph's
    costs = {task: draw.randrange(1, 500) for task in tasks}
    pairs = [(a, b) for i, a in enumerate(tasks) for b in tasks[i + 1:]]
    edges = draw.sample(pairs, 150)
    shuffled = draw.sample(tasks, len(tasks))
    as_json = {"unit": "us", "edges": edges, "tasks": [{"id": task, "cost": costs[task]} for task in shuffled]}
    as_dot = "digraph { unit=us " + " ".join(f"{task} [cost={costs[task]}]" for task in shuffled)
    as_dot += "; ".join(f"{a} -> {b}" for a, b in edges) + " }"
    for name, content in (("json", json.dumps(as_json).encode()), ("dot", as_dot.encode()), ("et", chakra(costs, edges))):
        path = SCRATCH / f"seed{seed}.{name}"
        path.write_bytes(content)
        expect(path, costs, edges, 1e-6, "seconds")


# ---- a model, whose operations follow from its sizes ------------------------------------------------------------------

def onnx_value(name, sizes):
    shape = b"".join(data(1, whole(1, size)) for size in sizes)
    return data(1, name) + data(2, data(1, whole(1, 1) + data(2, shape)))


def onnx_node(operator, inputs, output):
    return data(1, b"".join(data(1, name) for name in inputs) + data(2, output) + data(3, output) + data(4, operator))


batch, width, layers = 16, 64, 5
graph = data(2, "tower") + data(11, onnx_value("x0", [batch, width]))
for layer in range(layers):
    graph += data(5, whole(1, width) + whole(1, width) + whole(2, 1) + data(8, f"w{layer}"))
    graph += onnx_node("MatMul", [f"x{layer}", f"w{layer}"], f"p{layer}")
    graph += onnx_node("Relu", [f"p{layer}"], f"x{layer + 1}")
path = SCRATCH / "tower.onnx"
path.write_bytes(whole(1, 8) + data(7, graph) + data(8, whole(2, 17)))
operations = layers * (2 * batch * width * width + batch * width)
equal(answer(path), {"tasks": 2 * layers, "edges": 2 * layers - 1, "work": operations, "depth": operations, "unit": "FLOPs"},
      "a tower of layers")


# ---- what is refused --------------------------------------------------------------------------------------------------

whole_trace = (SCRATCH / "seed0.et").read_bytes()
for name, content, said in (
        ("cycle.json", b'[[0, 1],\n[1, 2],\n[2, 0]]', "cycle.json:3: edge '2' -> '0' closes a cycle ('0' -> '1' -> '2' -> '0')"),
        ("self.dot", b"digraph {\n a -> a }", "self.dot:2: task 'a' waits for itself"),
        ("unknown.json", b'{"tasks": ["load", "save"],\n"edges": [["load", "saev"]]}', "did you mean 'save'?"),
        ("negative.dot", b"digraph { a [cost=-1] }", "negative.dot:1: negative cost -1"),
        ("cut.et", whole_trace[:-3], "a node is cut short"),
        ("cut.onnx", path.read_bytes()[:200], "cut.onnx: byte "),
        ("packed.et", b"\x1f\x8b\x08\x00", "a gzip file"),
        ("empty.json", b"", "an empty file"),
        ("noise.bin", bytes(range(256)), "no known format of graphs")):
    (SCRATCH / name).write_bytes(content)
    done = run("graph", name)
    equal(done.code, 4, f"exit of {name}")
    check(said in done.err and done.err.count("\n") == 1 and not done.out, f"{name}: {done.err!r} does not say {said!r}")

# Profilers pack their traces: packed or not, it is the same graph.
events = [{"ph": "X", "cat": "cpu_op", "name": f"op{i}", "pid": 1, "tid": 1, "ts": 10 * i, "dur": 5 + i} for i in range(4)]
text = json.dumps({"schemaVersion": 1, "traceEvents": events}).encode()
(SCRATCH / "packed.json").write_bytes(text)
plain = run("graph", "packed.json", "--format", "json").out
(SCRATCH / "packed.json").write_bytes(gzip.compress(text))
equal(run("graph", "packed.json", "--format", "json").out, plain, "a packed trace")
check(len(plain) > 100, "a graph of a trace")

# A profiler's trace is a graph as well: one without events is of a known format and holds nothing to schedule.
(SCRATCH / "trace.json").write_bytes(b'{"traceEvents": []}')
done = run("graph", "trace.json")
equal(done.code, 5, "exit of a trace without events")
check("no event in this trace" in done.err and done.err.count("\n") == 1 and not done.out, f"a trace without events: {done.err!r}")


# ---- traces of others ---------------------------------------------------------------------------------------------------

def decoded(content):
    """Costs in microseconds and data dependencies of a trace."""
    costs, edges, at, first = {}, [], 0, True
    while at < len(content):
        length, at = take_varint(content, at)
        node, at = content[at:at + length], at + length
        if first:
            first = False
            continue
        number, micros, before = 0, 0, []
        for tag, value in fields(node):
            number = value if tag == 1 else number
            micros = value if tag == 7 else micros
            before += numbers(value) if tag == 5 else []
        costs[number] = micros
        edges += [(one, number) for one in before]
    return costs, edges


traces = pathlib.Path(os.environ.get("HEADROOM_SHARED", SOURCE.parent / "shared")) / "traces" / "chakra_et"
files = {path.name: path.read_bytes() for path in sorted(traces.rglob("*.et"))}
for archive in sorted(traces.rglob("*.tar.gz")):
    with tarfile.open(fileobj=io.BytesIO(archive.read_bytes())) as content:
        for member in content.getmembers():
            if member.name.endswith(".et"):
                files[archive.name.split("_")[0] + ".et"] = content.extractfile(member).read()
for name, content in files.items():
    path = SCRATCH / name
    path.write_bytes(content)
    costs, edges = decoded(content)
    if any(costs.values()):
        expect(path, costs, edges, 1e-6, "seconds")
    else:
        expect(path, dict.fromkeys(costs, 1), edges, 1, "tasks")
if not files:
    skip(f"no traces of others in {traces}")

finish()
