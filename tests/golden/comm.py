"""Data movement: known results through the program, numbers that agree with each other, and plain refusals."""

import json
import math

from _harness import SCRATCH, SOURCE, answer, check, close, equal, finish, run, schema_errors, succeed

BOOK = json.loads((SOURCE / "tests" / "data" / "textbook.json").read_text())
FACTOR = {"all_reduce": lambda p: 2 * (p - 1) / p, "parameter_server": lambda p: 2 * (p - 1) / p,
          "all_gather": lambda p: (p - 1) / p, "reduce_scatter": lambda p: (p - 1) / p, "all_to_all": lambda p: (p - 1) / p,
          "broadcast": lambda p: 1, "point_to_point": lambda p: 1}


def comm(*arguments):
    what = "comm " + " ".join(map(str, arguments))
    value = answer("comm", *arguments)
    if value is None:
        return None
    for error in schema_errors(value):
        check(False, f"{what}: {error}")
    best = {}
    for row in value["rows"]:
        close(row["seconds"], row["latency_seconds"] + row["bandwidth_seconds"], f"{what}: parts of {row}")
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
equal({row["algorithm"] for row in ring["rows"]}, {"ring", "tree"}, "one level lists the flat algorithms")

book = BOOK["parameter_server_against_ring"]
question = ["--size", f"{book['n_bytes']} B", "--ranks", book["k"], "--link", f"{book['bandwidth_bytes_per_s']} B/s,0us"]
for servers in (["--collective", "all_reduce", "--servers", 1], ["--collective", "parameter_server"]):
    both = comm(*servers, *question)
    close(algorithm(both, "parameter server")["seconds"], book["server_seconds"], "parameter server")
    close(algorithm(both, "ring")["seconds"], book["ring_seconds"], "ring")
sharded = comm(*question, "--servers", "all")
close(algorithm(sharded, "sharded server")["seconds"], book["ring_seconds"], "a shard on every rank is a ring")

# 6 a + 2 n/B = 14 a + 7/4 n/B at n = 32 a B
found = comm("--size", "140GB", "--ranks", "8", "--link", "450GB/s,1us")["crossovers"]
equal([(one["below"], one["above"]) for one in found], [("tree", "ring")], "tree for short vectors, ring for long ones")
close(found[0]["size_bytes"], 32 * 1e-6 * 450e9, "the crossover", 1e-6)

# every collective, ranks and sizes, on one level and on two
for name in FACTOR:
    comm("--collective", name, "--size", "1GB", "--ranks", "1,2,7,8..64", "--cluster", "dgx-h100", "--sweep")
    comm("--collective", name, "--size", "3MB", "--ranks", "5", "--link", "25GB/s,2us", "--stats")
swept = comm("--size", "1MiB", "--ranks", "8", "--link", "450GB/s,1us", "--sweep")
equal(sorted({row["size_bytes"] for row in swept["rows"]}), [1024.0 * 2**i for i in range(11)], "sizes of a sweep")
check("hierarchical_ring" in {row["algorithm"] for row in comm("--size", "1GB", "--ranks", "64", "--cluster", "dgx-h100")["rows"]},
      "two levels list the hierarchical algorithms")

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
                  ["--size", "14GB", "--ranks", "64", "--cluster", "gb200-nvl72", "--gradient-compression", "low_rank", "--sweep"]):
    done = succeed("comm", *arguments)
    for line in done.out.splitlines():
        check(len(line) <= 80, f"{done}: a line of {len(line)} columns: {line}")
    equal(run("comm", *arguments).out, done.out, f"{done}: again")
    check("nan" not in done.out and "inf" not in done.out, f"{done}: no number in {done.out}")
csv = succeed("comm", *question, "--format", "csv").out.splitlines()
equal(len(csv), 3, "CSV: a header and a row an algorithm")
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
    ([*GOOD, *LINK, "--rank", "8"], "did you mean '--ranks'?"),
]:
    done = run("comm", *arguments)
    equal(done.code, 2, f"{done}: exit")
    check(len(done.err.splitlines()) == 1 and done.out == "", f"{done}: one line on standard error and no result: {done.err}")
    check(contains in done.err, f"{done}: {contains!r} is not in {done.err.strip()!r}")

# a sweep's first sentence: the fastest at the largest, and how often which one is
sweep = ["--collective", "all_reduce", "--size", "8GB", "--ranks", "64", "--cluster", "dgx-h100", "--sweep"]
value, said = comm(*sweep), first_sentence(*sweep)
winners = [row["algorithm"] for row in value["fastest"]]
check(said.startswith(winners[-1] + ": ") and "of 8 GB over 64 ranks" in said, f"the sweep's verdict: {said}")
for name in set(winners):
    check(f"{name} in {winners.count(name)}" in said or f"{name} is the fastest in {winners.count(name)}" in said, f"{name} of {winners}: {said}")

finish()
