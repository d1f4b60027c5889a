"""Task graphs: what the books say comes out of the verb, its numbers agree with each other, and refusals are plain."""

import json
import math
import re

from _harness import SCRATCH, SOURCE, answer, check, close, equal, finish, run, schema_errors, succeed

BOOK = json.loads((SOURCE / "tests" / "data" / "textbook.json").read_text())


def graph(*arguments):
    what = "graph " + " ".join(map(str, arguments))
    value = answer("graph", *arguments)
    if value is None:
        return None
    for error in schema_errors(value):
        check(False, f"{what}: {error}")
    agrees(value, what)
    return value


def agrees(value, what):
    """Every number of an answer against others of the same answer, by the definitions."""
    work, depth = value["work"], value["depth"]
    check(depth <= work * (1 + 1e-9), f"{what}: depth {depth} of work {work}")
    if depth > 0:
        close(value["parallelism"], work / depth, f"{what}: parallelism")
        k = value["crossover_workers"]
        check(k * depth > work >= (k - 1) * depth, f"{what}: crossover {k} of {work} and {depth}")
        k = value["crossover_power_of_two"]
        check(k * depth > work and (k == 1 or work >= k // 2 * depth) and k & (k - 1) == 0, f"{what}: power of two {k}")
        share = value["efficient_workers"]["efficiency"]
        sure, perhaps = (value["efficient_workers"][key] for key in ("guaranteed_up_to_workers", "impossible_past_workers"))
        equal(sure, math.floor(1 + work / depth * (1 - share) / share + 1e-9), f"{what}: sure of {share}")
        equal(perhaps, math.floor(work / (share * depth) + 1e-9), f"{what}: {share} no longer possible")
        efficient = [row["workers"] for row in value["schedules"]
                     if work >= share * row["workers"] * (row["graham_bound"] if row["greedy_time"] is None else row["greedy_time"])]
        equal(value["efficient_workers"]["last_listed_workers"], max(efficient, default=None), f"{what}: the last efficient count")
        check(all(k <= perhaps for k in efficient), f"{what}: none is efficient past {perhaps}: {efficient}")
    else:
        for key in ("parallelism", "crossover_workers", "crossover_power_of_two"):
            equal(value[key], None, f"{what}: {key} without depth")
    for row in value["schedules"]:
        k = row["workers"]
        close(row["lower_bound"], max(work / k, depth), f"{what}: lower bound on {k}")
        close(row["brent_bound"], work / k + depth, f"{what}: Brent's bound on {k}")
        close(row["graham_bound"], work / k + (1 - 1 / k) * depth, f"{what}: Graham's bound on {k}")
        close(row["ideal_time"], work / k, f"{what}: ideal time on {k}")
        if row["greedy_time"] is None:
            continue
        if work > 0:
            close(row["ratio"], row["greedy_time"] * k / work, f"{what}: ratio on {k}")
        hours = k * row["greedy_time"] / 3600 if value["unit"] == "seconds" else None
        check(row["worker_hours"] is None if hours is None else abs(row["worker_hours"] - hours) <= 1e-9 * hours, f"{what}: worker-hours on {k}")
        check(row["lower_bound"] <= row["greedy_time"] * (1 + 1e-9) and row["greedy_time"] <= row["graham_bound"] * (1 + 1e-9),
              f"{what}: greedy time outside its bounds: {row}")
        if row["greedy_time"] > 0:
            close(row["speedup"], work / row["greedy_time"], f"{what}: speedup on {k}")
            close(row["utilization"], row["speedup"] / k, f"{what}: utilization on {k}")
    path, kinds, bins = value["critical_path"], value["by_kind"].values(), value["levels"]["profile"]
    if not value["critical_path_truncated"]:
        equal(len(path), value["critical_path_tasks"], f"{what}: length of the path")
        close(sum(task["cost"] for task in path), depth, f"{what}: costs of the path")
    if kinds:
        close(sum(kind["work"] for kind in kinds), work, f"{what}: work of all kinds")
        close(sum(kind["critical_path_work"] for kind in kinds), depth, f"{what}: path of all kinds")
        equal(sum(kind["tasks"] for kind in kinds), value["tasks"], f"{what}: tasks of all kinds")
        equal(sum(kind["critical_path_tasks"] for kind in kinds), value["critical_path_tasks"], f"{what}: tasks on the path by kind")
    equal(sum(bin["tasks"] for bin in bins), value["tasks"], f"{what}: tasks of all levels")
    close(sum(bin["work"] for bin in bins), work, f"{what}: work of all levels")
    equal(max([bin["widest_tasks"] for bin in bins], default=0), value["levels"]["widest_tasks"], f"{what}: fullest level")
    equal(sum(bin["last_level"] - bin["first_level"] + 1 for bin in bins), value["levels"]["count"], f"{what}: levels")
    placed = value["resource_schedule"]
    if placed and placed["greedy_time"] is not None:
        check(placed["lower_bound"] * (1 - 1e-9) <= placed["greedy_time"] <= placed["upper_bound"] * (1 + 1e-9),
              f"{what}: schedule on resources outside its bounds: {placed}")


def rounded(found, expected, digits, message):
    """Equal as printed, and not merely because digits were cut to nothing."""
    equal(round(found, digits), round(expected, digits), message)


# ---- the books ------------------------------------------------------------------------------------------------------

# sums: loop and tree, Brent's bound
for row in BOOK["parallel_sum"]["rows"]:
    n, digits = row["n"], row["digits"]
    equal(row["sum"], n * (n + 1) // 2, f"the book's own sum of {n} numbers")
    workers = sorted(map(int, row["brent_tree"]))
    for builder, key in (("sum-chain", "loop"), ("sum-tree", "tree")):
        found = graph(f"{builder}:{n}", "--workers", ",".join(map(str, workers)))
        equal(found["work"], row[key]["work"], f"work of {builder}:{n}")
        equal(found["depth"], row[key]["depth"], f"depth of {builder}:{n}")
        rounded(found["parallelism"], row[key]["parallelism"], digits["parallelism"], f"parallelism of {builder}:{n}")
    equal([line["workers"] for line in found["schedules"]], workers, f"worker counts of {n}")
    for line in found["schedules"]:
        check(line["greedy_time"] is not None, f"counts that are named are simulated: {line}")
        rounded(line["brent_bound"], row["brent_tree"][str(line["workers"])], digits["brent"], f"Brent's bound of {n} on {line['workers']}")

# where depth takes over, on the sweep of powers of two that nobody named
book = BOOK["brent_crossover"]
found = graph(f"sum-tree:{book['n']}")
equal(found["crossover_power_of_two"], book["first_power_of_two_where_depth_is_over_half_the_bound"], "crossover of a million")
rounded(found["parallelism"], book["available_parallelism"], 2, "parallelism of a million")
first = next(row["workers"] for row in found["schedules"] if row["brent_bound"] < 2 * found["depth"])
equal(first, book["first_power_of_two_where_depth_is_over_half_the_bound"], "the same, read off the sweep")
swept = graph(f"sum-tree:{book['n']}", "--workers", f"1..{2**20}")
equal([row["workers"] for row in swept["schedules"]], [2**k for k in range(21)], "the book's sweep")
first = next(row["workers"] for row in swept["schedules"] if found["depth"] > row["brent_bound"] / 2)
equal(first, book["first_power_of_two_where_depth_is_over_half_the_bound"], "the same, on the book's sweep")

# primitives: every formula of the book, evaluated at several sizes
book = BOOK["work_depth_of_primitives"]
known = {"about", "naive_prefix_sum", "blelloch_scan", "dot_product", "newton_fixed_iterations", "chain_all_reduce"}
equal(set(book), known, "the book's primitives, all of them checked here")


def formula(text, n):
    """The book's way of writing, such as 2(N-1), 2N-1 and 1+ceil(log2 N), evaluated."""
    text = re.sub(r"(?<!log)(\d) ?(?=[(Nl])", r"\1*", text.replace("log2 N", "log2(N)"))
    return eval(text, {"__builtins__": {}}, {"N": n, "log2": math.log2, "ceil": math.ceil})


for text, n, value in (("2(N-1)", 8, 14), ("2 log2 N", 8, 6), ("2N-1", 8, 15), ("1+ceil(log2 N)", 9, 5), ("N-1", 3, 2)):
    equal(formula(text, n), value, f"{text} is read right")

for n in (2, 16, 1000, 1024, 65536):
    found = graph(f"scan-naive:{n}")
    equal(found["work"], formula(book["naive_prefix_sum"]["work"], n), f"work of the naive scan of {n}")
    equal(found["depth"], formula(book["naive_prefix_sum"]["depth"], n), f"depth of the naive scan of {n}")
    found = graph(f"dot:{n}")
    equal(found["work"], formula(book["dot_product"]["work"], n), f"work of the dot product of {n}")
    equal(found["depth"], formula(book["dot_product"]["depth"], n), f"depth of the dot product of {n}")
    if n & (n - 1) == 0:
        scan, inclusive = graph(f"scan-blelloch:{n}"), graph(f"scan-blelloch-inclusive:{n}")
        exclusive = book["blelloch_scan"]["exclusive, N a power of two"]
        equal(scan["work"], formula(exclusive["work"], n), f"work of Blelloch's scan of {n}")
        equal(scan["depth"], formula(exclusive["depth"], n), f"depth of Blelloch's scan of {n}")
        equal(book["blelloch_scan"]["inclusive"], "adds N work and 1 depth", "what the next two lines check")
        equal(inclusive["work"] - scan["work"], n, f"work that an inclusive scan of {n} adds")
        equal(inclusive["depth"] - scan["depth"], 1, f"depth that an inclusive scan of {n} adds")
found = graph("scan-blelloch:1024")
equal({key: found[key] for key in ("work", "depth")}, book["blelloch_scan"]["n_1024_exclusive"], "Blelloch's scan of 1024")

for points in (1, 5, 100):
    one = graph(f"newton:1:{points}")
    for iterations in (2, 10, 64):
        found = graph(f"newton:{iterations}:{points}")
        equal(found["depth"], iterations * one["depth"], f"depth of {iterations} iterations over {points} points")
        equal(found["work"], iterations * one["work"], f"work of {iterations} iterations over {points} points")
        close(found["parallelism"], one["work"] / one["depth"], f"parallelism of {iterations} iterations is that of one")
equal(graph("newton:7")["work"], graph("newton:7:1")["work"], "one point is what is meant without points")

book = book["chain_all_reduce"]
for ranks in (8, 256):
    for form, key in (("chain", ""), ("tree", "tree_")):
        for collective in ("all-reduce", "reduce"):
            equal(graph(f"{form}-{collective}:{ranks}")["depth"], book[f"{key}depth_at_{ranks}"], f"{form} {collective} of {ranks}")

# ---- other known results --------------------------------------------------------------------------------------------

for request, work, depth in [
    ("fft:1024", 5120, 10), ("merge-sort:1024", 10240, 2046), ("matmul:8", 512 + 64 * 7, 4), ("stencil:100:7", 700, 7),
    ("cholesky:8", 512, 62), ("cholesky:1", 1, 1), ("scan-hillis-steele:1024", 1024 * 10 - 1023, 10), ("ring-all-reduce:8", 56, 7),
    ("recursive-doubling:8", 24, 3), ("recursive-doubling:9", 25, 4), ("halving-doubling:8", 56, 7), ("reduce-scatter-ring:8", 56, 7),
    ("all-gather-ring:8", 0, 0), ("broadcast-tree:8", 0, 0), ("all-to-all:8", 0, 0), ("sum-tree:1", 0, 0), ("sum-tree:2", 1, 1),
]:
    found = graph(request, "--workers", "1..16", "--order", "longest-path")
    equal((found["work"], found["depth"]), (work, depth), f"work and depth of {request}")

# messages cost what they are given: chains of messages, and ports that send one at a time
for request, depth, placed in [
    ("chain-all-reduce:8", 7 + 14 * 3, None), ("tree-all-reduce:8", 3 + 6 * 3, None), ("ring-all-reduce:8", 7 + 14 * 3, 7 + 14 * 3),
    ("broadcast-chain:8", 7 * 3, 7 * 3), ("broadcast-tree:8", 3 * 3, 3 * 3), ("broadcast-tree:9", 3 * 3, 4 * 3),
    ("all-to-all:8", 3, 7 * 3), ("all-gather-ring:8", 7 * 3, 7 * 3),
]:
    found = graph(request, "--message", "3")
    equal(found["depth"], depth, f"depth of {request} with messages of 3")
    equal(found["message_cost"], 3, f"cost of a message of {request}")
    if placed is not None:
        equal(found["resource_schedule"]["greedy_time"], placed, f"{request} through one port a rank")
halved = graph("all-to-all:8", "--message", "3", "--resources", "port=2")
equal(halved["resource_schedule"]["greedy_time"], 4 * 3, "two messages at a time through each port")
equal({one["capacity"] for one in halved["resources"]}, {2}, "capacities of the ports")

# a burden lengthens every edge of the path
found = graph("sum-tree:16", "--burden", "5")
equal((found["depth"], found["burdened_depth"]), (4, 4 + 3 * 5), "four additions, three edges between them")
close(found["burdened_parallelism"], 15 / 19, "burdened parallelism")
equal(graph("sum-tree:16")["burdened_depth"], None, "no burden, no burdened depth")

# kinds of tasks as resources: one worker a kind never beats any four
kinds = graph("cholesky:8", "--resources", "POTRF=1,TRSM=1,SYRK=1,GEMM=1", "--workers", "4")
check(kinds["resource_schedule"]["greedy_time"] >= kinds["schedules"][0]["lower_bound"], "four kinds on a worker each")
equal(sum(one["work"] for one in kinds["resources"]), kinds["work"], "work of all resources")

# every builder of the list answers, and long lists are cut
listed = answer("graph", "--list")
for error in schema_errors(listed):
    check(False, f"graph --list: {error}")
for builder in listed["builders"]:
    size = {"N:STEPS": ":16:4", "N[:M]": ":4:4"}.get(builder["parameters"], ":16")
    graph(builder["name"] + size, "--stats")
    check(builder["name"] in succeed("graph", "--list").out, f"{builder['name']} is in the table")
long = graph("sum-chain:5000")
equal((long["critical_path_truncated"], len(long["critical_path"]), long["critical_path_tasks"]), (True, 1000, 4999), "a long path")
check(len(long["levels"]["profile"]) <= 240, "levels of a deep graph are put together")

# a million numbers: answered at once, with what was left out said
million = graph("sum-tree:1000000", "--stats")
check(million["stats"]["wall_seconds"] < 2.0, f"a million numbers took {million['stats']['wall_seconds']} s, and this is no slow test")
check(any("left out" in note for note in million["notes"]), f"what is not simulated is said: {million['notes']}")
equal([row["greedy_time"] for row in (million["schedules"][0],)], [999999], "one worker needs no simulation")
close(graph("sum-tree:1M")["work"], 999999, "1M is a million")

# ---- for people, for tables, for pages ------------------------------------------------------------------------------

for arguments in (["sum-tree:1000000"], ["cholesky:12", "--order", "longest-path"], ["ring-all-reduce:8", "--message", 5, "--burden", 2],
                  ["all-to-all:4"], ["sum-tree:1"], ["newton:10:1000"], ["merge-sort:100000", "--workers", "8..1024"], ["--list"],
                  ["stencil:100:500", "--workers", "7"]):
    done = succeed("graph", *arguments)
    for line in done.out.splitlines():
        check(len(line) <= 80, f"{done}: a line of {len(line)} columns: {line}")
    for form in ("table", "json", "csv", "markdown"):
        again = [run("graph", *arguments, "--format", form).out for _ in range(2)]
        equal(again[0], again[1], f"{done} as {form}: again")
    check("nan" not in done.out and "inf" not in done.out, f"{done}: no number in {done.out}")
    equal(done.err, "", f"{done}: nothing to say beside the answer")
verdict = graph("sum-tree:1024")["verdict"]
check("102.3" in verdict and "12 workers" in verdict and "113" in verdict and "103 workers" in verdict, f"verdict: {verdict}")
check(succeed("graph", "sum-tree:1024").out.replace("\n", " ").startswith(verdict), "the verdict comes first")
check("second worker does not help" in graph("sum-chain:100")["verdict"], "a chain is called one")
csv = succeed("graph", "sum-tree:16", "--workers", "1,8,64", "--format", "csv").out.splitlines()
equal(len(csv), 4, "CSV: a header and a row a worker count")
check(csv[0].startswith("workers,lower_bound,brent_bound"), f"CSV header: {csv[0]}")
check("| 8 |" in succeed("graph", "sum-tree:16", "--format", "markdown").out, "Markdown has a table")
page = SCRATCH / "graph.html"
succeed("graph", "cholesky:12", "--html", page, "--quiet")
for words in ("<table", "Time on equal workers", "Kinds of tasks", "Critical path"):
    check(words in page.read_text(), f"the page has {words!r}")

# ---- the timeline ---------------------------------------------------------------------------------------------------


def timeline(*arguments):
    file = SCRATCH / "timeline.json"
    file.unlink(missing_ok=True)
    value = graph(*arguments, "--timeline", file)
    events = json.loads(file.read_text())["traceEvents"]
    spans = [event for event in events if event["ph"] == "X"]
    equal(len(spans), value["tasks"], f"{arguments}: an event a task")
    equal(len({event["args"]["task"] for event in spans}), value["tasks"], f"{arguments}: each task once")
    equal(sum(event["dur"] for event in spans), value["work"], f"{arguments}: durations are the work")
    free = {}
    for event in sorted(spans, key=lambda one: (one["ts"], one["ts"] + one["dur"])):
        check(free.get(event["tid"], 0) <= event["ts"], f"{arguments}: two tasks at once in lane {event['tid']}")
        free[event["tid"]] = event["ts"] + event["dur"]
    named = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    check(set(free) <= set(named), f"{arguments}: every lane has a name")
    return value, max(free.values(), default=0), named


value, end, lanes = timeline("cholesky:8", "--workers", "4")
equal(end, value["schedules"][0]["greedy_time"], "the timeline ends when the schedule does")
equal(len(lanes), 4, "a lane a worker")
value, end, lanes = timeline("ring-all-reduce:6", "--message", "3")
equal(end, value["resource_schedule"]["greedy_time"], "the timeline of ports and ranks")
check({"port 0", "rank 5"} <= set(lanes.values()), f"lanes are named after resources: {lanes}")
value, end, lanes = timeline("sum-tree:1")
equal(end, 0, "an empty timeline is one")

# ---- files ----------------------------------------------------------------------------------------------------------

edges = SCRATCH / "edges.json"
edges.write_text('{"tasks": [{"cost": 2}, {"cost": 3}, {"cost": 4}], "edges": [[0, 2], [1, 2]]}')
found = graph(edges)
equal((found["work"], found["depth"], found["tasks"], found["edges"], found["source_kind"]), (9, 7, 3, 2, "file"), "a JSON edge list")
equal([task["task"] for task in found["critical_path"]], [1, 2], "its critical path")
equal((found["source"], found["by_kind"]), (str(edges), {}), "it names no kinds")
drawn = SCRATCH / "drawn.dot"
drawn.write_text('digraph drawn { a [label="load", cost=3]; b [cost=1.5]; c [cost=2]; d [cost=1]; a -> b -> d; a -> c -> d; }')
found = graph(drawn)
equal((found["work"], found["depth"]), (7.5, 6), "a DOT file with costs of half a unit")
equal([task["name"] for task in found["critical_path"]], ["load", "c", "d"], "names of a DOT file")

# a file of seconds on resources of its own: 2 ms, then 1 ms on the network beside 4 ms of computation
timed = SCRATCH / "timed.json"
timed.write_text(json.dumps({"unit": "seconds", "edges": [["fwd", "send"], ["fwd", "bwd"]], "tasks": [
    {"name": "fwd", "duration": 0.002, "kind": "compute", "resource": "gpu"},
    {"name": "send", "duration": 0.001, "kind": "comm", "resource": "nic"},
    {"name": "bwd", "duration": 0.004, "kind": "compute", "resource": "gpu"}]}))
found = graph(timed, "--burden", "10us")
for key, seconds in (("work", 0.007), ("depth", 0.006), ("burden", 1e-5), ("burdened_depth", 0.00601)):
    close(found[key], seconds, f"{key} of a file of seconds")
equal(found["unit"], "seconds", "the unit of a file of seconds")
check("worker-hours" in succeed("graph", timed, "--full").out, "worker-hours of a graph in seconds")
seventy = graph("sum-tree:1000", "--efficiency", "70%", "--workers", "1,8,64")
equal(seventy["efficient_workers"]["efficiency"], 0.7, "the efficiency that was asked")
check("at least 70 % efficient" in " ".join(succeed("graph", "sum-tree:1000", "--efficiency", "70%").out.split()), "and in words")
equal(run("graph", "sum-tree:1000", "--efficiency", "2").code, 2, "an efficiency above 1")
close(found["resource_schedule"]["greedy_time"], 0.006, "sending hides behind the backward pass")
check("7 ms" in succeed("graph", timed).out, "seconds are written for people")
file = SCRATCH / "timed.trace.json"
succeed("graph", timed, "--timeline", file)
spans = {event["name"]: (event["ts"], event["dur"]) for event in json.loads(file.read_text())["traceEvents"] if event["ph"] == "X"}
equal(spans, {"fwd": (0, 2000), "send": (2000, 1000), "bwd": (2000, 4000)}, "a timeline of seconds is in microseconds")
cyclic = SCRATCH / "cyclic.json"
cyclic.write_text('{"edges": [["a", "b"], ["b", "c"], ["c", "a"]]}')
hostile = SCRATCH / "hostile.dot"
hostile.write_bytes(b'digraph "\x1b[31m" { a [label="\x1b]0;x\x07<script>"]; a -> b }')
done = succeed("graph", hostile, "--html", SCRATCH / "hostile.html")
page = (SCRATCH / "hostile.html").read_text()
check("\x1b" not in done.out and "x <script>" not in page and "x &lt;script&gt;" in page, "names of a file steer neither terminal nor page")

# ---- refusals -------------------------------------------------------------------------------------------------------

for arguments, contains, code in [
    ([], "SOURCE: missing", 2),
    (["sum-tre:8"], "unknown builder 'sum-tre'. did you mean 'sum-tree'?", 2),
    (["frobnicate:8"], "headroom graph --list shows them", 2),
    (["sum-tre"], "did you mean 'sum-tree:N'?", 2),
    (["frobnicate"], "neither a builder nor a file: 'frobnicate'", 2),
    (["sum-tree"], "'sum-tree' without a size. write it like sum-tree:N", 2),
    (["sum-tree:"], "'' is not a count", 2),
    (["sum-tree:0"], "'0' is not positive", 2),
    (["sum-tree:-8"], "'-8' is negative", 2),
    (["sum-tree:2.5"], "'2.5' is not whole", 2),
    (["sum-tree:x"], "'x' is not a count", 2),
    (["sum-tree:100M"], "99999999 tasks are too many", 2),
    (["sum-tree:99999999999999999999"], "too large", 2),
    (["matmul:1e18"], "too many", 2),
    (["ring-all-reduce:10000"], "too many", 2),
    (["sum-tree:8:8"], "write it like sum-tree:N", 2),
    (["stencil:8"], "write it like stencil:N:STEPS", 2),
    (["fft:12"], "'12' is not a power of two (it is halved again and again). take 8 or 16", 2),
    (["halving-doubling:6"], "take 4 or 8", 2),
    (["missing.json"], "missing.json: no such file", 4),
    (["./sum-tree:8"], "./sum-tree:8: no such file", 4),
    ([SCRATCH], "it is a folder", 4),
    ([cyclic], "cycle", 4),
    ([timed, "--burden", "5"], "--burden: '5' has no unit", 2),
    ([timed, "--resources", "gpu=2,tpu=1"], "--resources: unknown resource 'tpu'", 2),
    (["sum-tree:8", "sum-tree:9"], "unexpected argument", 2),
    (["sum-tree:8", "--workers", "0"], "--workers", 2),
    (["sum-tree:8", "--order", "arival"], "did you mean 'arrival'?", 2),
    (["sum-tree:8", "--message", "1"], "has no messages", 2),
    (["ring-all-reduce:8", "--message", "-1"], "--message: '-1'", 2),
    (["ring-all-reduce:8", "--message", "0.5"], "finer than", 2),
    (["ring-all-reduce:4000", "--message", "1e15", "--workers", "1"], "--message: too large", 2),
    (["sum-tree:8", "--burden", "x"], "--burden: 'x'", 2),
    (["sum-tree:100000", "--burden", "1e15"], "--burden: '1e15' is too large", 2),
    (["ring-all-reduce:8", "--resources", "prt=2"], "did you mean 'port'?", 2),
    (["ring-all-reduce:8", "--resources", "port"], "port=2", 2),
    (["ring-all-reduce:8", "--resources", "port=0"], "--resources", 2),
    (["ring-all-reduce:8", "--resources", "port=2,port=3"], "twice", 2),
    (["cholesky:8", "--resources", "GEMM=2"], "no number for 'POTRF'", 2),
    (["sum-tree:2000000", "--timeline", SCRATCH / "none.json"], "too many to draw", 2),
    (["sum-tree:8", "--timeline", "-"], "where the result goes too", 2),
    (["sum-tree:8", "--timeline", SCRATCH / "no" / "where.json"], "where.json", 2),
    (["sum-tree:8", "--list"], "--list: given with a graph", 2),
    (["sum-tree:8", "--worker", "8"], "did you mean '--workers'?", 2),
]:
    done = run("graph", *arguments)
    equal(done.code, code, f"{done}: exit")
    check(len(done.err.splitlines()) == 1 and done.out == "", f"{done}: one line on standard error and no result: {done.err}")
    check(contains in done.err, f"{done}: {contains!r} is not in {done.err.strip()!r}")
check(not (SCRATCH / "none.json").exists(), "a refused timeline leaves no file")

finish()
