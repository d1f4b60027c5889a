"""Latencies: percentiles against sorted samples, the slowest of K and second copies against brute force, omission put
back, two runs, replicas against a queue that is simulated here, and plain refusals."""

import bisect
import heapq
import json
import math
import random
import statistics

from _harness import SCRATCH, SOURCE, answer, check, close, equal, finish, run, schema_errors, succeed

ERROR = 0.5 / 1024  # of a value read out of the histogram
BOOK = json.loads((SOURCE / "tests" / "data" / "textbook.json").read_text())


def tail(*arguments, code=0):
    value = answer("tail", *arguments, code=code)
    if value is not None:
        for error in schema_errors(value):
            check(False, f"tail {arguments}: {error}")
    return value


def table(name, columns, rows):
    path = SCRATCH / name
    path.write_text(",".join(columns) + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    return path


def served(seed, rate, servers, count):
    """Arrivals and latencies of a queue: 2 % of requests take long, whatever the queue does."""
    numbers, free, now, rows = random.Random(seed), [0.0] * servers, 0.0, []
    for _ in range(count):
        now += numbers.expovariate(rate)
        service = numbers.lognormvariate(math.log(0.012), 0.35)
        if numbers.random() < 0.02:
            service += numbers.lognormvariate(math.log(0.16), 0.15)
        start = max(now, heapq.heappop(free))
        heapq.heappush(free, start + service)
        rows.append((now, start + service - now))
    return rows


def ranked(ordered, q):
    if q == 0.5:
        return statistics.median(ordered)
    return ordered[max(1, math.ceil(q * len(ordered) - 1e-9)) - 1]


# ---- percentiles, exactly known ----
ten = served(1, 400, 10, 20000)
twenty = served(2, 400, 20, 20000)
columns = ["sent_s", "latency_ms"]
before = table("ten.csv", columns, [(f"{at:.6f}", repr(1e3 * taken)) for at, taken in ten])
after = table("twenty.csv", columns, [(f"{at:.6f}", repr(1e3 * taken)) for at, taken in twenty])
value = tail(after)
ordered = sorted(taken for _, taken in twenty)
equal((value["unit"], value["samples"]["count"]), ("seconds", 20000), "what was read")
equal(list(value["percentiles"]), ["p50", "p75", "p90", "p95", "p99", "p99.9", "p99.99", "max"], "percentiles in order")
for name, row in value["percentiles"].items():
    q = 1 if name == "max" else float(name[1:]) / 100
    close(row["value_seconds"], ranked(ordered, q), name, ERROR * 1.01)
    if name not in ("max", "p99.99"):
        check(row["low_seconds"] <= row["value_seconds"] <= row["high_seconds"], f"{name} lies in its interval: {row}")
        check(0.95 <= row["coverage"] < 1, f"coverage of {name}: {row}")
equal(value["percentiles"]["p99.99"]["high_seconds"], None, "20,000 samples have no upper end for p99.99")
equal(value["percentiles"]["p99.99"]["samples_needed"], math.ceil(math.log(0.025) / math.log(0.9999)), "samples that p99.99 takes")
close(value["samples"]["mean_seconds"], sum(ordered) / len(ordered), "mean", ERROR)
close(value["samples"]["arrivals_per_second"], 19999 / (twenty[-1][0] - twenty[0][0]), "arrivals", 1e-4)
check(not value["sources"][0]["omission"]["suspected"], "an open loop leaves nothing out")

# ---- merged exactly, in any order, and apart ----
both = tail(before, after, "--each")
swapped = tail(after, before)
equal(swapped["percentiles"], both["percentiles"], "merging knows no order")
every = sorted(taken for _, taken in ten + twenty)
close(both["percentiles"]["p99"]["value_seconds"], ranked(every, 0.99), "p99 of both", ERROR * 1.01)
equal(both["samples"]["count"], 40000, "samples of both")
equal(both["each"][1]["percentiles"]["p99"]["value_seconds"], value["percentiles"]["p99"]["value_seconds"], "each apart is as alone")
for key in ("independent_share", "independent_tail_share"):  # variances of means add up, not counts
    shares = [source[key] for source in both["sources"]]
    check(shares[0] < 0.8 * shares[1] or key == "independent_tail_share", f"ten replicas wait, twenty do not: {shares}")
    close(both["samples"][key], 2 / (1 / shares[0] + 1 / shares[1]), f"{key} of both")

# ---- the slowest of K ----
coarse = table("coarse.csv", ["latency_ms"], [(10 + i % 7 if i % 100 else 100,) for i in range(10000)])
value = tail(coarse, "--fan-out", "1,10,100,4096", "--slow", "50ms", "--backups", "1,3")
values = sorted(0.01 + i % 7 * 1e-3 if i % 100 else 0.1 for i in range(10000))
for row in value["fan_out"]:
    workers = row["workers"]
    close(row["probability_slow"], 1 - 0.99**workers, f"any of {workers} slow")
    for key, q in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99)):
        close(row[key], ranked(values, q ** (1 / workers)), f"{key} of the slowest of {workers}", ERROR * 1.01)
    shares = {one: bisect.bisect_right(values, one) / len(values) for one in sorted(set(values))}
    mean, last = 0.0, 0.0
    for one, share in shares.items():
        mean += one * (share**workers - last**workers)
        last = share
    close(row["mean"], mean, f"mean of the slowest of {workers}", ERROR * 1.01)
    for backup in row["backups"]:
        check(backup["p99_seconds"] <= row["p99"] * (1 + 1e-12), f"backups of {workers} do not slow down: {backup}")
equal(round(value["fan_out"][2]["probability_slow"], 3), BOOK["tail"]["one_percent_slow_at_100"], "one per cent slow at 100")

# ---- second copies, pair by pair ----
few = [0.001 * (1 + (i * i) % 97) for i in range(400)]
hedged = tail(table("few.csv", ["latency_s"], [(repr(one),) for one in few]), "--hedge", "40ms")["hedging"]["delays"][0]
pairs = sorted(min(first, 0.04 + second) for first in few for second in few)
for key, q in (("p50_seconds", 0.5), ("p99_seconds", 0.99), ("p99.9_seconds", 0.999)):
    close(hedged[key], ranked(pairs, q), f"hedged {key}", 3 * ERROR)
close(hedged["mean_seconds"], sum(pairs) / len(pairs), "hedged mean", 3 * ERROR)
close(hedged["extra_load"], sum(one > 0.04 for one in few) / len(few), "sent twice", 0.02)

# ---- what a waiting load generator leaves out ----
stalls = [0.001] * 999 + [1.0]
closed = table("closed.csv", ["latency_s"], [(one,) for one in stalls])
value = tail(closed, "--interval", "10ms")
put_back = sorted(stalls + [1.0 - 0.01 * i for i in range(1, 100)])
for name in ("p50", "p90", "p95", "p99"):
    row = value["percentiles"][name]
    close(row["value_seconds"], 0.001, f"{name} as measured", ERROR)
    close(row["corrected_seconds"], ranked(put_back, float(name[1:]) / 100), f"{name} corrected", 3 * ERROR)
shown = succeed("tail", closed, "--interval", "10ms").out
check("measured" in shown and "corrected" in shown, "measured and corrected stand side by side")
check("put back" in " ".join(shown.split())[:300], "and the verdict says both")
equal(tail(closed)["percentiles"]["p99"]["corrected_seconds"], None, "nothing is corrected silently")
now, rows = 0.0, []
numbers = random.Random(5)
for i in range(5000):
    taken = 0.5 if i % 500 == 250 else numbers.uniform(0.001, 0.002)
    rows.append((f"{now:.6f}", taken))
    now = max(now + 0.01, now + taken)
value = tail(table("late.csv", ["sent_s", "latency_s"], rows))
check(value["sources"][0]["omission"]["suspected"], f"late requests are seen from their times: {value['sources'][0]['omission']}")
check(value["percentiles"]["p99"]["corrected_seconds"] > 10 * value["percentiles"]["p99"]["value_seconds"], "and put back beside")

# ---- two runs, and a run that changes ----
numbers = random.Random(6)
slow = table("slow.csv", ["latency_ms"], [(repr(20 * numbers.lognormvariate(0, 0.5) * (1.3 if i % 20 == 0 else 1)),) for i in range(20000)])
fast = table("fast.csv", ["latency_ms"], [(repr(20 * numbers.lognormvariate(0, 0.5)),) for _ in range(20000)])
double = table("double.csv", ["latency_ms"], [(repr(40 * numbers.lognormvariate(0, 0.5)),) for _ in range(20000)])
changes = {one["percentile"]: one for one in tail(double, "--baseline", fast)["comparison"]["percentiles"]}
for name in ("p50", "p90", "p99"):
    one = changes[name]
    check(one["moved"] and one["low"] <= 2 <= one["high"], f"twice as slow at {name}: {one}")
check("p99 got worse by" in tail(double, "--baseline", fast)["comparison"]["verdict"], "in words")
same = tail(fast, "--baseline", fast)["comparison"]
check(not any(one["moved"] for one in same["percentiles"]), f"a run against itself: {same}")
check("did not move" in same["verdict"], "in words")
stepped = table("stepped.csv", ["latency_ms"], [(repr((10 if i < 6000 else 15) + numbers.random()),) for i in range(10000)])
found = tail(stepped)["sources"][0]["changes"]
check(len(found) == 1 and 5700 <= found[0]["at_sample"] <= 6300, f"the level changes at sample 6000: {found}")
mixed = [(10 if i < 6000 else 15) + (90 if i % 10 == 0 else 0) + numbers.random() for i in range(10000)]  # means 19.5 and 24.5, medians 10.5 and 15.5
mixed = table("mixed.csv", ["latency_ms"], [(repr(one),) for one in mixed])
found = tail(mixed)
changes = found["sources"][0]["changes"]
equal(len(changes), 1, f"a level whose mean is not its median: {changes}")
close(changes[0]["mean_before_seconds"], 0.0195, "mean before the change", 0.02)
close(changes[0]["mean_after_seconds"], 0.0245, "mean after it", 0.02)
check(any("the mean goes from 19.5 ms to 24.5 ms" in one for one in found["warnings"]), f"and is called so: {found['warnings']}")

# ---- doubled replicas whose p99 did not move ----
doubled = tail(after, "--baseline", before, "--objective", "p99<=150ms", "--replicas", 20, code=3)
slo = doubled["replicas_for_slo"]
equal((slo["replicas"], slo["arrivals_from"], slo["service_from"]), (None, "times", "rebuilt"), "no number of replicas keeps it")
check(slo["floor_seconds"] > 0.15 and slo["hedge"]["p99_seconds"] < 0.15, f"service alone is too slow, a second copy is not: {slo}")
close(slo["now"]["p99_seconds"], slo["measured_seconds"], "the simulated present is the measured one", 0.1)
close(slo["doubled"]["p99_seconds"], slo["now"]["p99_seconds"], "doubling moves nothing", 0.05)
check(not next(one for one in doubled["comparison"]["percentiles"] if one["percentile"] == "p99")["moved"], "nor did it")

# service behind waiting: of ten replicas, two thirds busy; of five, nearly full
mean = 0.012 * math.exp(0.35**2 / 2) + 0.02 * 0.16 * math.exp(0.15**2 / 2)
crowded = served(3, 270, 5, 40000)
crowd = table("five.csv", columns, [(f"{at:.6f}", repr(1e3 * taken)) for at, taken in crowded])
for path, rate, replicas in ((before, 400, 10), (crowd, 270, 5)):
    slo = tail(path, "--objective", "p99<=400ms", "--replicas", replicas)["replicas_for_slo"]
    equal(slo["service_from"], "rebuilt", "request by request")
    close(slo["service_seconds"], mean, f"service behind the latencies of {replicas} replicas", 0.03)
    close(slo["utilization"], rate * mean / replicas, f"utilization of {replicas} replicas", 0.06)
    check(slo["replicas"] * slo["service_seconds"] > 0 and slo["replicas"] > rate * mean, f"more replicas than busy ones: {slo['replicas']}")
    check(slo["chosen"]["at_objective_seconds"] <= 0.4, "those chosen keep it")
deduced = tail(crowd, "--objective", "p99<=400ms", "--replicas", 5, "--time-column", "none", "--arrivals", "270/s")
check("Careful: the service was deduced" in deduced["replicas_for_slo"]["verdict"], f"without send times: {deduced['replicas_for_slo']['verdict']}")
# pure service times: M/M/c has a closed form
numbers = random.Random(7)
service = table("service.csv", ["service_ms"], [(repr(10 * numbers.expovariate(1)),) for _ in range(50000)])
slo = tail(service, "--objective", "p99<=60ms", "--arrivals", "700/s", "--service", "--unit", "ms")["replicas_for_slo"]
check(abs(slo["replicas"] - slo["by_formula"]) <= 1, f"simulation and formula of exponential services: {slo['replicas']}, {slo['by_formula']}")
missing = tail(coarse, "--objective", "p99<=60ms", code=5)["replicas_for_slo"]["missing"]
check(len(missing) == 2 and "--arrivals" in missing[0] and "--service" in missing[1], f"what is missing is said: {missing}")

# ---- fitted distributions ----
fits = tail(fast, "--fit", "--fan-out", "1,1000000")
best = min((one for one in fits["fits"] if one["threshold"] is None), key=lambda one: one["aicc"])
equal(best["family"], "lognormal", "lognormal samples")
close(best["a"], math.log(0.02), "its mean of logarithms", 0.005)
close(best["b"], 0.5, "its deviation of logarithms", 0.02)
row = fits["fan_out"][1]
check(row["p99_beyond_samples"] and row["fitted"]["p99_seconds"] > row["p99"], f"beyond the samples the fit goes on: {row}")

# ---- steps of traces: rank 3 is always late ----
folder = SCRATCH / "ranks"
folder.mkdir()
numbers = random.Random(8)
for rank in range(4):
    events, at = [], 0
    for step in range(30):
        length = int((1300 if rank == 3 else 1000) * (1 + 0.02 * numbers.random()))
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1, "tid": 1, "ts": at, "dur": length})
        events.append({"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": at + 5, "dur": length - 10, "args": {"stream": 7}})
        at += length
    (folder / f"rank{rank}.json").write_text(json.dumps({"schemaVersion": 1, "distributedInfo": {"rank": rank, "world_size": 4}, "traceEvents": events}))
steps = tail(folder)["sources"][0]["steps"]
equal((steps["ranks"], steps["steps"]), (4, 30), "steps of ranks")
close(steps["slowdown"], 1.3 / 1.075, "waiting for the slowest", 0.02)
equal([one["rank"] for one in steps["stragglers"]], [3], "the one that is always last")
check("rank 3 is the slowest in 30 of 30" in " ".join(succeed("tail", folder).out.split()), "and is named")

# ---- a stored measurement, and reports without samples ----
store = ["--store", SCRATCH / "store.sqlite"]
run("measure", "scaling", "--workers", "1,2,3", "--repeats", "8", *store, "--", "true", "{workers}")
stored = tail("store:last", "--column", "2 workers", *store)
equal((stored["samples"]["count"], stored["sources"][0]["format"]), (8, "store"), "a stored measurement")
check("which of its points?" in succeed("tail", "store:last", *store, code=2).err, "several points: which one")
REPORTS = SOURCE / "tests" / "fuzz" / "corpus" / "latency_samples"
for name in ("wrk.txt", "k6_summary.txt", "vegeta_report.txt"):
    value = tail(REPORTS / name)
    shown = [row for row in value["percentiles"].values() if row["value_seconds"] is not None]
    check(shown and all(row["stated"] and row["low_seconds"] is None for row in shown), f"{name}: quantiles as stated: {shown}")
    check("interval" not in succeed("tail", REPORTS / name).out.split("Careful")[0], f"{name}: no column of intervals")
    equal((value["fan_out"], value["hedging"], value["slow"]), ([], None, None), f"{name}: no more than that")
    said = succeed("tail", REPORTS / name, "--fan-out", "8", code=5)
    check("it takes samples" in said.err and not said.out, f"{name}: {said.err}")

# ---- what a person sees, and the same twice ----
for arguments in ([after], [coarse, "--backups"], [after, "--baseline", before, "--fit", "--objective", "p99<=400ms", "--replicas", "20"], [before, after, "--each"]):
    for form in ("table", "json", "csv", "markdown"):
        one, other = (succeed("tail", *arguments, "--format", form).out for _ in range(2))
        check(one == other and one, f"tail {arguments} --format {form}: the same bytes twice")
        check(form != "table" or all(len(line) <= 80 for line in one.splitlines()), f"tail {arguments} fits 80 columns")
page = SCRATCH / "tail.html"
succeed("tail", after, "--html", page)
for title in ("How slow the slowest are", "How many are faster", "Waiting for the slowest of K", "What second copies buy"):
    check(title in page.read_text(), f"the page draws '{title}'")
timed = tail(after, "--stats")
check(timed["stats"]["wall_seconds"] > 0, "stats have a wall time")
succeed("tail", after, "--require", "p50<=1s,samples>=100")
succeed("tail", after, "--require", "p99<=1ms", code=99)
succeed("tail", after, "--baseline", after, "--require", "p99-change<=5%")
succeed("tail", table("short.csv", ["latency_ms"], [(i,) for i in range(1, 9)]), "--require", "p99<=1s", code=99)

# ---- bad input: an answer, or the missing input ----
equal(tail(table("same.csv", ["latency_ms"], [(5,)] * 100))["percentiles"]["p90"]["value_seconds"], 0.005, "all equal")
check("All 100 samples" in succeed("tail", SCRATCH / "same.csv").out, "all equal, in words")
dirty = tail(table("dirty.csv", ["latency_ms"], [(1,), (-2,), ("nan",)] + [(i,) for i in range(3, 30)]))
check(sum(one["count"] for one in dirty["sources"][0]["left_out"]) == 2, f"negative and NaN are left out and said: {dirty['sources']}")
backwards = tail(table("back.csv", columns, [(at if at != 500 else 3, 1 + at % 5) for at in range(1000)]))["sources"][0]
equal((backwards["times_backwards"], backwards["first_backwards"]), (1, 500), "a clock that goes backwards")
small = tail(table("small.csv", ["latency_ms"], [(i,) for i in range(1, 11)]))
equal(small["percentiles"]["p99"]["value_seconds"], None, "ten samples have no p99")
equal(small["percentiles"]["p99"]["samples_needed"], 368, "and say what it takes")


def refused(code, words, *arguments):
    done = run("tail", *arguments, "--format", "json")
    what = f"{done}: exit {done.code}, said {done.err!r}"
    check(done.code == code and words in done.err and done.err.count("\n") == 1 and not done.out, f"{what}; expected {code}, {words!r}")


# ---- reports of load generators ----
REPORTS = SOURCE / "tests/data/latencies"
for report, name, p99 in (("oha.txt", "oha", 0.005), ("ghz.txt", "ghz", 0.0665), ("ab.txt", "ab", 0.03), ("bombardier.txt", "bombardier", 0.01091),
                          ("drill.txt", "drill", 0.491), ("locust_stats.csv", "locust", 0.095), ("autocannon.json", "autocannon", 0.003),
                          ("jmeter_statistics.json", "jmeter", 0.7), ("vegeta_old.txt", "vegeta", 1.5)):
    read = tail(REPORTS / report)
    if read:
        equal((read["sources"][0]["format"], read["percentiles"]["p99"]["value_seconds"]), (name, p99), report)
check("p99 is 1.5 s; the median is not known." in succeed("tail", REPORTS / "vegeta_old.txt").out, "a tail without a median is said")
check("neither a median nor a tail percentile" in " ".join(succeed("tail", REPORTS / "siege.txt").out.split()), "a mean and a maximum are said")
issues = tail(REPORTS / "locust_stats.csv", "--quiet")["issues"]
equal([(one["kind"], one["count"]) for one in issues], [("row of percentiles apart from the one that is read", 2), ("column not used", 5)], "issues of a table")
check(all(one["first_at"].startswith(str(REPORTS)) for one in issues), f"issues have a place: {issues}")
check("column not used" in succeed("tail", REPORTS / "locust_stats.csv", "--quiet", "--full").out, "issues are in the table with --quiet, too")
(SCRATCH / "two.txt").write_text((REPORTS / "wrk.txt").read_text() + (REPORTS / "wrk.txt").read_text().replace("635.91us", "735.91us"))
refused(4, "a second report in this file", SCRATCH / "two.txt")

(SCRATCH / "nothing.csv").write_text("")
refused(2, "SAMPLES")
refused(5, "sample", SCRATCH / "nothing.csv")
refused(5, "one sample determines no tail", table("one.csv", ["latency_ms"], [(1,)]))
refused(4, "missing.csv", SCRATCH / "missing.csv")
refused(2, "cannot read 'p99'", after, "--objective", "p99")
refused(2, "--slow", after, "--slow", "200")
refused(2, "has no effect without --objective", after, "--replicas", "8")
refused(2, "--arrivals", after, "--objective", "p99<=1s", "--arrivals", "500")
refused(2, "has no effect without --objective", after, "--arrivals", "500/s")
refused(2, "named twice", after, after)
refused(2, "belongs to traces", after, "--step-name", "step")
for words in (["--column", "p99"], ["--where", "status=200"], ["--time-column", "sent"]):
    refused(2, "a report of wrk has neither rows nor columns", REPORTS / "wrk.txt", *words)
refused(2, "did you mean 'p90'?", after, "--require", "p9<=1s")
refused(2, "--interval", after, "--interval", "10")
refused(2, "--where", after, "--where", "status")
refused(5, "nothing was measured yet", "store:1", "--store", SCRATCH / "no.sqlite")

# ---- options that would have no effect
for arguments, contains in [
    (["--store", SCRATCH / "none.db", before], "--store: has no effect without store:ID"),
    (["--time-unit", "ms", table("bare.csv", ["latency_ms"], [(i,) for i in range(1, 40)])], "--time-unit: has no effect"),
]:
    refused = run("tail", *arguments)
    equal((refused.code, refused.out, len(refused.err.splitlines())), (2, "", 1), f"{refused}: {refused.err}")
    check(contains in refused.err, f"{refused}: {refused.err}")
(SCRATCH / "store.toml").write_text('store = "none.db"\n')
equal(run("tail", "--config", SCRATCH / "store.toml", before).code, 0, "a store of the configuration is for other questions")

finish()
