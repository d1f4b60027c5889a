"""Data movement: known results through the program, numbers that agree with each other, and plain refusals."""

import json
import math

from _harness import SCRATCH, SOURCE, answer, check, close, equal, finish, run, schema_errors, succeed

BOOK = json.loads((SOURCE / "tests" / "data" / "textbook.json").read_text())
FACTOR = {"all_reduce": lambda p: 2 * (p - 1) / p, "parameter_server": lambda p: 2 * (p - 1) / p,
          "all_gather": lambda p: (p - 1) / p, "reduce_scatter": lambda p: (p - 1) / p, "all_to_all": lambda p: (p - 1) / p,
          "scatter": lambda p: (p - 1) / p, "gather": lambda p: (p - 1) / p,
          "broadcast": lambda p: 1, "reduce": lambda p: 1, "point_to_point": lambda p: 1}
REDUCING = ("all_reduce", "reduce_scatter", "reduce")


def comm(*arguments):
    what = "comm " + " ".join(map(str, arguments))
    value = answer("comm", *arguments)
    if value is None:
        return None
    for error in schema_errors(value):
        check(False, f"{what}: {error}")
    best, seen = {}, set()
    for row in value["rows"]:
        parts = row["latency_seconds"] + row["bandwidth_seconds"] + (row["reduction_seconds"] or 0)
        close(row["seconds"], parts, f"{what}: parts of {row}")
        name = row["algorithm"], row["priced_by"], row["ranks"], row["size_bytes"]
        check(name not in seen, f"{what}: two rows of {name}")
        seen.add(name)
        check(row["lower_bound_seconds"] <= row["seconds"] * (1 + 1e-9), f"{what}: below its bound: {row}")
        if row["bus_bandwidth_bytes_per_second"] is not None:
            close(row["bus_bandwidth_bytes_per_second"],
                  FACTOR[row["collective"]](row["ranks"]) * row["size_bytes"] / row["seconds"], f"{what}: bus bandwidth of {row}")
        key = row["ranks"], row["size_bytes"]
        best[key] = min(best.get(key, math.inf), row["seconds"])
    equal(len(value["fastest"]), len(best), f"{what}: one fastest for each pair of ranks and size")
    for row in value["fastest"]:
        close(row["seconds"], best[row["ranks"], row["size_bytes"]], f"{what}: the fastest is the least")
    return value


def first_sentence(*arguments):
    return " ".join(succeed("comm", *arguments).out.split("\n\n")[0].split())


def algorithm(value, name):
    found = [row for row in value["rows"] if row["algorithm"] == name] if value else []
    return found[0] if check(len(found) == 1, f"one row of {name}: {found}") else {"seconds": None, "latency_seconds": None}


# known results
book = BOOK["ring_all_reduce_70b"]
size = book["parameters"] * book["bytes_per_gradient"]
ring = comm("--collective", "all_reduce", "--size", f"{size} B", "--ranks", book["gpus"],
            "--link", f"{book['bandwidth_each_way_bytes_per_s']} B/s,0us")
equal(round(algorithm(ring, "ring")["seconds"], book["digits"]), book["seconds"], "ring all-reduce of 70B gradients")
close(algorithm(ring, "ring")["seconds"], book["bytes_per_device"] / book["bandwidth_each_way_bytes_per_s"], "bytes over rate")
check({"ring", "recursive_doubling", "rabenseifner", "double_binary_tree", "chain", "flat"} <= {row["algorithm"] for row in ring["rows"]},
      f"one level lists the flat algorithms: {[row['algorithm'] for row in ring['rows']]}")
equal({row["priced_by"] for row in ring["rows"]}, {"closed_form"}, "one level needs no simulation")
close(algorithm(comm("--collective", "all_reduce", "--size", "140GB", "--ranks", 8, "--link", "450GB/s,1us"), "ring")["seconds"],
      14e-6 + 1.75 * 140e9 / 450e9, "ring with latency")

book = BOOK["communication_to_computation_ratio"]
size = book["parameters"] * book["bytes_per_parameter"]
for row in book["rows"]:
    link = f"{book['bytes_per_s']} B/s,0us"
    found = algorithm(comm("--size", f"{size} B", "--ranks", row["k"], "--link", link), "ring")
    equal(round(found["seconds"] * 1e3, 2), row["all_reduce_ms"], f"all-reduce of 7B gradients over {row['k']}")
for row in book["model_size_sweep"]["rows"]:
    found = algorithm(comm("--size", f"{row['p'] * book['bytes_per_parameter']} B", "--ranks", book["model_size_sweep"]["k"],
                           "--link", link), "ring")
    equal(round(found["seconds"] * 1e3, 2), row["all_reduce_ms"], f"all-reduce of {row['p']} gradients")
found = algorithm(comm("--size", "14GB", "--ranks", 1024, "--link", "600GB/s,5us"), "ring")
equal(round(found["latency_seconds"] * 1e3, 2), book["latency_floor"]["latency_ms"], "latency floor over 1024 ranks")

# where the ring's latency is its bandwidth term
book = BOOK["latency_sweep"]
for workers, parameters in zip(book["workers"], book["parameters"]):
    found = algorithm(comm("--size", f"{2 * parameters} B", "--ranks", workers, "--link", "600GB/s,5us", "--algorithm", "ring"), "ring")
    close(found["latency_seconds"], found["bandwidth_seconds"], f"latency is bandwidth at {parameters} gradients over {workers}")

book = BOOK["parameter_server_against_ring"]
question = ["--size", f"{book['n_bytes']} B", "--ranks", book["k"], "--link", f"{book['bandwidth_bytes_per_s']} B/s,0us"]
for servers in (["--collective", "all_reduce", "--servers", 1], ["--collective", "parameter_server"]):
    both = comm(*servers, *question)
    close(algorithm(both, "parameter server")["seconds"], book["server_seconds"], "parameter server")
    close(algorithm(both, "ring")["seconds"], book["ring_seconds"], "ring")
sharded = comm(*question, "--servers", "all")
close(algorithm(sharded, "sharded server")["seconds"], book["ring_seconds"], "a shard on every rank is a ring")

# 3 a + 3 n/B = 14 a + 7/4 n/B at n = 44/5 a B
found = comm("--size", "140GB", "--ranks", "8", "--link", "450GB/s,1us", "--algorithm", "ring,recursive-doubling")["crossovers"]
equal([(one["below"], one["above"]) for one in found], [("recursive_doubling", "ring")], "doubling for short vectors, a ring for long ones")
close(found[0]["size_bytes"], 8.8 * 1e-6 * 450e9, "the crossover", 1e-6)

# adding, by hand: 7/8 n at 100 GB/s
found = algorithm(comm("--size", "8GB", "--ranks", 8, "--link", "450GB/s,1us", "--reduction", "100GB/s"), "ring")
close(found["reduction_seconds"], 0.07, "a ring adds (p-1)/p n")
found = comm("--size", "8GB", "--ranks", 64, "--cluster", "dgx-h100", "--reduction", "100GB/s")
check(all(row["reduction_seconds"] == 0 for row in found["rows"] if row["priced_by"] == "channels"), "libraries add while they copy")

# every collective, ranks and sizes, on one level and on two
for name in FACTOR:
    comm("--collective", name, "--size", "64MB", "--ranks", "1,2,7,8..64", "--cluster", "dgx-h100", "--sweep")
    comm("--collective", name, "--size", "3MB", "--ranks", "1..13:1", "--link", "25GB/s,2us", "--stats")
    if name in REDUCING:
        comm("--collective", name, "--size", "3MB", "--ranks", "1..33:1", "--link", "25GB/s,2us", "--reduction", "40GB/s", "--in-network")
for network in (["--link", "25GB/s,2us", "--ranks", "1,2,9,64"], ["--cluster", "dgx-h100", "--ranks", "3,8,16,20"]):
    for row in comm("--collective", "barrier", *network)["rows"]:
        equal((row["size_bytes"], row["bus_bandwidth_bytes_per_second"]), (0, None), "a barrier moves nothing")
swept = comm("--size", "1MiB", "--ranks", "8", "--link", "450GB/s,1us", "--sweep")
equal(sorted({row["size_bytes"] for row in swept["rows"]}), [1024.0 * 2**i for i in range(11)], "sizes of a sweep")
check("hierarchical_ring" in {row["algorithm"] for row in comm("--size", "1GB", "--ranks", "64", "--cluster", "dgx-h100")["rows"]},
      "two levels list the hierarchical algorithms")
# One root, several ports: 7/8 of the vector twice inside at most, and about an eighth of it across by each of eight ports,
# where one tree of all ranks sends the whole by one. Half of its time is a wide margin.
for one_root, tree in (("broadcast", "double_binary_tree"), ("reduce", "double_binary_tree"), ("scatter", "binomial"), ("gather", "binomial")):
    rows = comm("--collective", one_root, "--size", "1GB", "--ranks", "64", "--cluster", "dgx-h100", "--all")
    check(2 * algorithm(rows, f"hierarchical_{tree}")["seconds"] < algorithm(rows, tree)["seconds"], f"{one_root} by every port of a domain")

# what is simulated is what the formula says, to a picosecond a message of the longest chain
for name in (*FACTOR, "barrier"):
    if name == "parameter_server":
        continue
    size = [] if name == "barrier" else ["--size", "3MB"]
    for network in (["--link", "25GB/s,2us", "--ranks", "2,6,16,31"], ["--cluster", "dgx-h100", "--ranks", "24"],
                    ["--cluster", "dgx-a100", "--ranks", "64", "--pod", "16", "--pod-link", "3GB/s,20us"]):
        for row in comm("--collective", name, *size, *network, "--simulate")["rows"]:
            if row["priced_by"] == "closed_form":
                near = abs(row["simulated"]["seconds"] - row["seconds"]) <= 1e-9 * row["seconds"] + 1e-12 * row["simulated"]["critical_messages"]
                check(near, f"{row['algorithm']} of {name}: {row['simulated']} against {row['seconds']}")

# a flat ring over two levels: each round lasts as long as its slowest message
flat = [row for row in comm("--size", "64MB", "--ranks", "16", "--cluster", "dgx-h100", "--algorithm", "ring")["rows"]]
equal([row["priced_by"] for row in flat], ["simulated", "channels"], "the flat ring is simulated, that of libraries has a formula")
network = comm("--size", "64MB", "--ranks", "16", "--cluster", "dgx-h100")["network"]["scale_out"]
close(flat[0]["seconds"], 30 * (network["latency_seconds"] + 4e6 / network["bandwidth_bytes_per_second"]), "the flat ring by hand", 1e-6)

# three levels, a torus, switches that add, skew
deep = comm("--size", "64MB", "--ranks", "128", "--cluster", "dgx-h100", "--pod", "32", "--pod-link", "10GB/s,20us")
check(any(row["algorithm"] == "hierarchical_ring" and row["priced_by"] == "closed_form" for row in deep["rows"]), "three levels have a formula")
check(all(row["priced_by"] != "channels" for row in deep["rows"]), "libraries' formulas know two levels")
torus = comm("--size", "1GB", "--torus", "8x8x4", "--link", "90GB/s,1us")
equal(({row["ranks"] for row in torus["rows"]}, torus["network"]["torus"]), ({256}, [8, 8, 4]), "the ranks of a torus")
close(algorithm(torus, "torus_ring")["seconds"], 34e-6 + 2 * (1 - 1 / 256) * 1e9 / 90e9, "a ring along each side")
asked = ["--size", "1GB", "--ranks", "8", "--link", "450GB/s,1us"]
check(all(row["algorithm"] != "in_network" for row in comm(*asked)["rows"]), "switches that add are asked for")
check(algorithm(comm(*asked, "--in-network"), "in_network")["seconds"] < algorithm(comm(*asked), "ring")["seconds"], "and beat the ring")
even, skewed = (comm("--collective", "all_to_all", "--size", "64MB", "--ranks", "32", "--link", "50GB/s,5us", *more) for more in ([], ["--skew", "4"]))
check(all(algorithm(skewed, row["algorithm"])["seconds"] > row["seconds"] for row in even["rows"]), "a busy receiver costs time")

# the messages of one algorithm
messages = SCRATCH / "messages.json"
value = comm("--size", "1MB", "--ranks", "8", "--link", "10GB/s,5us", "--algorithm", "ring", "--simulate", "--schedule", messages)
events = [event for event in json.loads(messages.read_text())["traceEvents"] if event["ph"] == "X"]
row = algorithm(value, "ring")
equal(len(events), row["simulated"]["messages"], "one event a message")
close(sum(event["args"]["bytes"] for event in events), 8 * 1.75e6, "bytes of all messages")
close(max(event["ts"] + event["dur"] for event in events), 1e6 * row["seconds"], "the last ends with the collective", 1e-6)
busy = {}
for event in events:
    for port in ("out", event["args"]["from"]), ("in", event["args"]["to"]):
        busy.setdefault(port, []).append((event["ts"], event["ts"] + event["dur"]))
for port, times in busy.items():
    times.sort()
    check(all(b[0] >= a[1] - 1e-6 for a, b in zip(times, times[1:])), f"{port} does one thing at a time")

# what NCCL would take
nccl = comm("--size", "1GB", "--ranks", "8,64", "--cluster", "dgx-h100", "--sweep")["nccl"]
equal(len(nccl), 2 * 21, "a choice for each count and size")
for one in nccl:
    close(one["seconds"], min(each["seconds"] for each in one["candidates"]), "NCCL takes its fastest")
equal(comm("--size", "1GB", "--ranks", "64", "--link", "10GB/s,1us")["nccl"], None, "a link is no cluster")
equal(comm("--collective", "all_to_all", "--size", "1GB", "--ranks", "64", "--cluster", "dgx-h100")["nccl"], None, "NCCL has no choice for it")

# groups that share links: two rings over one uplink have half of it each
shared = ["--size", "64MB", "--ranks", "4", "--link", "25GB/s,2us", "--algorithm", "ring", "--topology", "leaf-spine:leaf=4,spines=1,oversubscription=4"]
one, four = (comm(*shared, "--groups", groups)["contention"][0] for groups in (1, 4))
close(one["alone_seconds"], one["together_seconds"], "one group is alone")
check(four["slowdown"] > 1.5 and four["together_seconds"] > four["alone_seconds"], f"four share the uplinks: {four}")
check(0 < four["busiest"][0]["utilisation"] <= 1 + 1e-9, f"the busiest link: {four['busiest'][0]}")

# levers: sums by hand
link = ["--size", "1GB", "--ranks", "8", "--link", "25GB/s,2us", "--algorithm", "ring"]
levers = {one["lever"]: one for one in comm(*link, "--buckets", "100MB", "--overlap-with", "60ms", "--local-steps", "20", "--gradient-compression", "quantised")["levers"]}
equal(sorted(levers), ["buckets", "compressed", "local steps", "plain"], "a row a lever")
each = 28e-6 + 1.75 * 1e8 / 25e9
close(levers["buckets"]["seconds"], 10 * each, "ten buckets, each with its latency")
close(levers["buckets"]["exposed_seconds"], max(each, 10 * each - 0.06 * 0.9), "what the backward pass does not hide")
close(levers["local steps"]["seconds"], levers["plain"]["seconds"] / 20, "one exchange in twenty steps")
close(levers["compressed"]["bytes_per_step"], 0.5e9, "half the bits")

# measured times beside predictions
log = SCRATCH / "measured.csv"
log.write_text("collective,bytes,time_us,ranks\n" + "".join(f"all_reduce,{size},{28 + 1.75 * size / 25e3},8\n" for size in (1e6, 1e7, 1e8)) + "all_gather,1000,5,8\nall_reduce,1000,N/A,8\n")
value = comm(*link, "--measured", log)
equal(len(value["measured"]), 3, "rows of the same collective and ranks")
for one in value["measured"]:
    close(one["predicted_over_measured"], 1, f"the log was made from the formula: {one}")
both = succeed("comm", *link, "--sweep", "--measured", log, "--html", SCRATCH / "measured.html")
check("measured" in both.out and "pred/meas" in both.out, "dots and ratios")
equal(run("comm", *link, "--measured", log, "--collective", "broadcast").code, 2, "a ring broadcasts nothing")
equal(run("comm", "--size", "1GB", "--ranks", "9", "--link", "25GB/s,2us", "--measured", log).code, 5, "no row of nine ranks")
equal(run("comm", *link, "--measured", SCRATCH / "none.csv").code, 4, "no such log")
log.write_text("bytes,time_us\n" + "".join(f"{size},{28 + 1.75 * size / 25e3}\n" for size in (1e6, 1e7)))
value = comm("--collective", "all_reduce", *link, "--measured", log)
equal([one["ranks"] for one in value["measured"]], [8, 8], "a log that names neither collective nor ranks is of those asked about")
equal(run("comm", *link, "--measured", log).code, 5, "nobody named the collective")

# a few picoseconds on a shared link: what it carries is still no more than it can
for one in comm("--size", "1B", "--ranks", 24, "--link", "10GB/s,0us", "--topology", "dragonfly", "--groups", 1)["contention"]:
    check(all(busy["utilisation"] <= 1 for busy in one["busiest"]), f"busy for longer than there is time: {one['busiest'][0]}")
for extra in (["--schedule", "messages.json"], ["--topology", "star"]):
    told = run("comm", "--size", "1e24B", "--ranks", 2, "--link", "1B/s,1s", *extra)
    check(told.code == 2 and "too long" in told.err, f"{told}: {told.err}")

# 64 copies of 2 GB and 64 batches of 50 MB through one port of 25 GB/s
acting = comm("--collective", "actor_learner", "--size", "2GB", "--experience", "50MB", "--actors", "64", "--link", "25GB/s,0us")
close(algorithm(acting, "direct")["seconds"], 64 * 2.05 / 25, "direct copies and experience")
close(algorithm(acting, "direct")["parts"]["asynchronous_seconds"], 64 * 2 / 25, "both directions at once")
close(algorithm(acting, "binomial")["parts"]["broadcast_seconds"], 7 * 2 / 25, "seven rounds reach 65")

# compressed gradients: ratios by hand
for kind, ratio in (("none", 1), ("one_bit", 0.15 + 0.85 / 16), ("one_bit:0.5", 0.5 + 0.5 / 16), ("quantised", 0.5), ("quantized:4", 0.25),
                    ("top_k", 8 * 0.01 * 6 / 4), ("top_k:0.1%", 8 * 0.001 * 6 / 4)):
    packed = comm("--size", "2GB", "--ranks", "8", "--link", "25GB/s,2us", "--gradient-compression", kind)["compression"]
    close(packed["rows"][0]["byte_ratio"], ratio, f"byte ratio of {kind}", 1e-6)
    close(packed["rows"][0]["seconds"], sum(part["seconds"] * part["share_of_steps"] for part in packed["rows"][0]["sent"]), f"time of {kind}")
thin = comm("--size", "2GB", "--ranks", "8", "--link", "25GB/s,2us", "--gradient-compression", "low_rank:4", "--matrix", "4096x16384")
close(thin["compression"]["rows"][0]["byte_ratio"], 1 / 819.2, "byte ratio of rank 4")

# for people, for tables, for pages
for arguments in (["--size", "1GB", "--ranks", "8..4096", "--cluster", "dgx-h100", "--servers", "all"],
                  ["--collective", "actor_learner", "--size", "2GB", "--experience", "50MB", "--ranks", "64,1024", "--cluster", "dgx-a100"],
                  ["--size", "14GB", "--ranks", "64,512", "--cluster", "dgx-a100", "--gradient-compression", "one_bit"],
                  ["--size", "64MB", "--ranks", "12", "--cluster", "dgx-h100", "--all", "--simulate"],
                  ["--collective", "barrier", "--ranks", "8..64", "--link", "10GB/s,5us"],
                  [*shared, "--groups", "4"],
                  ["--size", "1GB", "--ranks", "64", "--cluster", "dgx-a100", "--buckets", "25MB", "--overlap-with", "180ms", "--local-steps", "50"],
                  ["--size", "14GB", "--ranks", "64", "--cluster", "gb200-nvl72", "--gradient-compression", "low_rank", "--sweep"]):
    done = succeed("comm", *arguments)
    for line in done.out.splitlines():
        check(len(line) <= 80, f"{done}: a line of {len(line)} columns: {line}")
    equal(run("comm", *arguments).out, done.out, f"{done}: again")
    check("nan" not in done.out and "inf" not in done.out, f"{done}: no number in {done.out}")
csv = succeed("comm", *question, "--format", "csv").out.splitlines()
equal(len(csv), 1 + len(comm(*question)["rows"]), "CSV: a header and a row an algorithm")
check(csv[0].startswith("collective,algorithm,ranks,size_bytes,seconds"), f"CSV header: {csv[0]}")
check("| ring |" in succeed("comm", *question, "--format", "markdown").out, "Markdown has a table")
succeed("comm", *question, "--html", SCRATCH / "comm.html", "--quiet")
check("parameter" in succeed("comm", *question, "--servers", 2).out and "<table" in (SCRATCH / "comm.html").read_text(), "a page")

# options from a file
options = SCRATCH / "comm.toml"
options.write_text('[comm]\nlink = "450GB/s,1us"\nranks = 8\nsize = "1GB"\nsweep = true\n')
equal(run("comm", "--config", options).out, run("comm", "--link", "450GB/s,1us", "--ranks", 8, "--size", "1GB", "--sweep").out, "options from a file")

# refusals: arguments, what the line must contain
LINK = ["--link", "450GB/s,1us"]
GOOD = ["--size", "1GB", "--ranks", "8"]
for arguments, contains in [
    (["--ranks", "8", *LINK], "--size: missing"),
    (["--size", "140", "--ranks", "8", *LINK], "'140' has no unit"),
    (["--size", "140 GB/s", "--ranks", "8", *LINK], "--size"),
    (["--size", "0 GB", "--ranks", "8", *LINK], "not above zero"),
    (["--size", "1e40 GB", "--ranks", "8", *LINK], "too large"),
    (["--size", "1GB", "--ranks", "0", *LINK], "--ranks"),
    (["--size", "1GB", *LINK], "--ranks: missing"),
    (["--size", "1GB", "--ranks", "2B", *LINK], "--ranks"),
    (["--size", "1GB", "--ranks", "1..4096:1", *LINK, "--sweep"], "at most 16384"),
    (GOOD, "--cluster: missing"),
    ([*GOOD, *LINK, "--cluster", "dgx-h100"], "keep one"),
    ([*GOOD, "--cluster", "dgx-h10"], "did you mean 'dgx-h100'?"),
    ([*GOOD, "--link", "450GB/s"], "450GB/s,1us"),
    ([*GOOD, "--link", "1us,450GB/s"], "'latency'"),
    ([*GOOD, "--link", "450,1us"], "has no unit"),
    ([*GOOD, "--link", "0GB/s,1us"], "not above zero"),
    ([*GOOD, *LINK, "--collective", "all_reduc"], "did you mean 'all_reduce'?"),
    ([*GOOD, *LINK, "--collective", "broadcast", "--servers", "2"], "belongs to"),
    ([*GOOD, *LINK, "--servers", "0"], "--servers"),
    ([*GOOD, *LINK, "--experience", "1MB"], "belongs to actor_learner"),
    ([*GOOD, *LINK, "--collective", "actor_learner"], "--experience: missing"),
    (["--size", "1GB", *LINK, "--collective", "actor_learner", "--experience", "1MB"], "--actors: missing"),
    ([*GOOD, *LINK, "--gradient-compression", "low_rnk"], "did you mean 'low-rank'?"),
    ([*GOOD, *LINK, "--gradient-compression", "top_k:2"], "'2'"),
    ([*GOOD, *LINK, "--gradient-compression", "low_rank:"], "colon"),
    ([*GOOD, *LINK, "--gradient-compression", "none:1"], "no parameter"),
    ([*GOOD, *LINK, "--matrix", "4x4"], "belongs to"),
    ([*GOOD, *LINK, "--calibration", "mine.toml"], "belongs to"),
    ([*GOOD, *LINK, "--algorithm", "rign"], "did you mean 'ring'?"),
    ([*GOOD, *LINK, "--algorithm", "in_network"], "--in-network"),
    ([*GOOD, *LINK, "--algorithm", "torus_ring"], "--torus"),
    (["--size", "1GB", "--ranks", "7", *LINK, "--collective", "reduce_scatter", "--algorithm", "recursive_doubling"], "a power of two"),
    ([*GOOD, *LINK, "--skew", "2"], "belongs to all_to_all"),
    ([*GOOD, *LINK, "--collective", "all_to_all", "--skew", "9"], "--skew"),
    ([*GOOD, *LINK, "--collective", "all_to_all", "--skew", "0.5"], "--skew"),
    ([*GOOD, *LINK, "--collective", "broadcast", "--reduction", "1GB/s"], "belongs to"),
    ([*GOOD, *LINK, "--reduction", "0GB/s"], "not above zero"),
    ([*GOOD, *LINK, "--collective", "barrier"], "--size: belongs to"),
    (["--ranks", "8", *LINK, "--collective", "barrier", "--sweep"], "--sweep: belongs to"),
    ([*GOOD, "--cluster", "dgx-h100", "--torus", "4x2"], "belongs to --link"),
    ([*GOOD, *LINK, "--torus", "4x4"], "16 ranks"),
    (["--size", "1GB", *LINK, "--torus", "4x1"], "two ranks or more"),
    (["--size", "1GB", *LINK, "--torus", "2x2x2x2"], "up to three sides"),
    (["--size", "1GB", *LINK, "--torus", "4x4", "--collective", "barrier"], "--size"),
    (["--size", "1GB", *LINK, "--torus", "4x4", "--collective", "gather"], "no algorithm of a torus"),
    ([*GOOD, *LINK, "--pod", "16"], "belongs to --cluster"),
    ([*GOOD, "--cluster", "dgx-h100", "--pod", "12"], "whole domains"),
    ([*GOOD, "--cluster", "dgx-h100", "--pod-link", "1GB/s,1us"], "belongs to --pod"),
    ([*GOOD, *LINK, "--buckets", "25MB"], "--overlap-with: missing"),
    ([*GOOD, *LINK, "--overlap-with", "1s"], "belongs to --buckets"),
    ([*GOOD, *LINK, "--local-steps", "0"], "--local-steps"),
    ([*GOOD, *LINK, "--collective", "gather", "--local-steps", "2"], "belongs to all_reduce"),
    ([*GOOD, *LINK, "--groups", "2"], "belongs to --topology"),
    ([*GOOD, *LINK, "--topology", "leaf-spin", "--groups", "2"], "did you mean 'leaf-spine'?"),
    ([*GOOD, *LINK, "--topology", "star", "--groups", "4", "--stride", "3"], "--stride"),
    (["--size", "1GB", "--ranks", "4096", *LINK, "--algorithm", "ring", "--topology", "star"], "too many"),
    (["--size", "1GB", "--ranks", "8,16", *LINK, "--schedule", "x.json"], "several calls"),
    (["--size", "1GB", "--ranks", "2048", *LINK, "--algorithm", "ring", "--schedule", "x.json"], "up to a million"),
    ([*GOOD, *LINK, "--rank", "8"], "did you mean '--ranks'?"),
]:
    done = run("comm", *arguments)
    equal(done.code, 2, f"{done}: exit")
    check(len(done.err.splitlines()) == 1 and done.out == "", f"{done}: one line on standard error and no result: {done.err}")
    check(contains in done.err, f"{done}: {contains!r} is not in {done.err.strip()!r}")

# a sweep's first sentence: the fastest at the largest, and how often which one is
sweep = ["--collective", "all_reduce", "--size", "8GB", "--ranks", "64", "--cluster", "dgx-h100", "--sweep"]
value, said = comm(*sweep), first_sentence(*sweep)
winners = [row["algorithm"] + ("" if row["priced_by"] == "closed_form" else f" ({row['priced_by']})") for row in value["fastest"]]
check(said.startswith(winners[-1] + ": ") and "of 8 GB over 64 ranks" in said, f"the sweep's verdict: {said}")
for name in set(winners):
    check(f"{name} in {winners.count(name)}" in said or f"{name} is the fastest in {winners.count(name)}" in said, f"{name} of {winners}: {said}")

finish()
