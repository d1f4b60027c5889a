"""Queues: formulas by hand, simulation against them over a grid, what doubling and faster machines change, refusals."""

import json
import math
import re

from _harness import SCRATCH, answer, check, close, equal, finish, run, schema_errors, succeed

EIGHT = ["--arrivals", "500/s", "--service", "12ms", "--replicas", 8]


def queue(*arguments, code=0):
    what = "queue " + " ".join(map(str, arguments))
    value = answer("queue", *arguments, code=code)
    if value is None:
        raise SystemExit(f"no answer to {what}")
    for error in schema_errors(value):
        check(False, f"{what}: {error}")
    for row in [value["answer"], *value["rows"], *value["curve"], *value["pooling"]]:
        little(row, value["load"]["service_seconds"], what)
    return value


def little(row, service, what):
    """Checks that hold for any queue: Little's law, twice, and the order of percentiles."""
    if not row["stable"]:
        return
    near = 0.02 if row["method"] == "simulation" else 1e-9
    close(row["present"], row["throughput_per_second"] * row["latency_seconds"], f"{what}: Little's law, present", near)
    close(row["waiting"], row["throughput_per_second"] * row["wait_seconds"], f"{what}: Little's law, waiting", near)
    close(row["throughput_per_second"], row["arrivals_per_second"] * (1 - row["blocked"]), f"{what}: throughput", near)
    times = [row[key] for key in ("p50_seconds", "p90_seconds", "p99_seconds", "p999_seconds")]
    check(times == sorted(times), f"{what}: percentiles out of order: {times}")
    check(0 <= row["wait_probability"] <= 1 and row["latency_seconds"] >= row["wait_seconds"], f"{what}: {row}")


def erlang_c(offered, servers):
    term = total = 1.0
    for k in range(1, servers):
        term *= offered / k
        total += term
    term *= offered / servers
    return term * servers / (servers - offered) / (total + term * servers / (servers - offered))


def exponential_tail(waits, wait, service, time):
    """P(T > time) of an exponential service after a wait that is 0 or exponential of mean `wait`."""
    if abs(wait - service) < 1e-12 * service:
        waited = (1 + time / service) * math.exp(-time / service)
    else:
        waited = (wait * math.exp(-time / wait) - service * math.exp(-time / service)) / (wait - service)
    return (1 - waits) * math.exp(-time / service) + waits * waited


# ---- M/M/c: by hand -------------------------------------------------------------------------------------------------
for servers, offered, expected, digits in ((4, 3.2, 0.5964, 4), (8, 6.8, 0.5726, 4)):  # published to so many digits
    row = queue("--arrivals", f"{offered}/s", "--service", "1s", "--replicas", servers)["answer"]
    check(abs(row["wait_probability"] - expected) < 0.5 * 10**-digits, f"Erlang C of {servers}: {row['wait_probability']}")
    close(row["wait_probability"], erlang_c(offered, servers), f"Erlang C of {servers}")
    close(row["wait_seconds"], erlang_c(offered, servers) / (servers - offered), f"wait of {servers}")
    conditional = 1 / (servers - offered)
    for key, q in (("p50_seconds", 0.5), ("p90_seconds", 0.9), ("p99_seconds", 0.99), ("p999_seconds", 0.999)):
        tail = exponential_tail(row["wait_probability"], conditional, 1.0, row[key])
        close(tail, 1 - q, f"{key} of {servers}", 1e-6)

value = queue("--arrivals", "30k/min", "--service", "12ms", "--replicas", 8)
equal(value["load"]["arrivals_per_second"], 500.0, "30k/min are 500/s")
equal(value["answer"]["method"], "exact", "exponential times are exact")
equal(value, queue(*EIGHT), "the same question in another unit")
close(value["answer"]["utilization"], 0.75, "500/s of 12 ms on 8")
close(value["answer"]["capacity_per_second"], 8 / 0.012, "capacity")

# M/M/1: half of capacity is the knee; p99 of an exponential of rate mu - lambda
one = queue("--arrivals", "50/s", "--service", "10ms", "--replicas", 1)
close(one["knee"]["arrivals_per_second"], 50.0, "knee of M/M/1", 1e-3)
close(one["answer"]["p99_seconds"], math.log(100) / 50, "p99 of M/M/1", 1e-9)
for row in one["curve"]:
    close(row["latency_seconds"], 1 / (100 - row["arrivals_per_second"]), f"M/M/1 at {row['arrivals_per_second']}")

# M/G/1: Pollaczek and Khinchine; G/G/c: Allen and Cunneen
for variation in (0, 0.25, 4):
    row = queue("--arrivals", "80/s", "--service", "10ms", "--replicas", 1, "--service-variation", variation)["answer"]
    close(row["wait_seconds"], 0.8 / 0.2 * (1 + variation) / 2 * 0.01, f"M/G/1, variation {variation}")
    row = queue(*EIGHT, "--service-variation", variation, "--arrival-variation", 2)["answer"]
    close(row["wait_seconds"], erlang_c(6, 8) / (8 - 6) * 0.012 * (2 + variation) / 2, f"G/G/8, variation {variation}")
    equal(row["method"], "allen_cunneen", "and is called an approximation")

# M/M/c/K from the chain, and its tail state by state: with K = c nobody waits
value = queue("--arrivals", "900/s", "--service", "12ms", "--replicas", 8, "--places", 40)["answer"]
offered, states = 10.8, [1.0]
for n in range(1, 41):
    states.append(states[-1] * offered / min(n, 8))
total = sum(states)
close(value["blocked"], states[-1] / total, "turned away of 40 places")
close(value["waiting"], sum((n - 8) * p for n, p in enumerate(states) if n > 8) / total, "in the line of 40 places")
lost = queue("--arrivals", "900/s", "--service", "12ms", "--replicas", 8, "--places", 8)["answer"]
close(lost["p99_seconds"], 0.012 * math.log(100), "without room to wait only the service is left", 1e-6)
equal((lost["wait_probability"], lost["wait_seconds"]), (0, 0), "and nobody waits")

# ---- a line for each replica ----------------------------------------------------------------------------------------
random = queue(*EIGHT, "--dispatch", "random")["answer"]
close(random["latency_seconds"], 1 / (1 / 0.012 - 500 / 8), "random lines are M/M/1")
close(random["p99_seconds"], math.log(100) / (1 / 0.012 - 500 / 8), "and so is their tail")
turns = queue(*EIGHT, "--dispatch", "round-robin")["answer"]
close(turns["wait_seconds"], random["wait_seconds"] * (1 / 8 + 1) / 2, "in turn, gaps vary an eighth")
order = [queue(*EIGHT, "--dispatch", how)["answer"]["latency_seconds"]
         for how in ("shared-line", "shortest-line", "two-choices", "round-robin", "random")]
check(order == sorted(order), f"the more a dispatch knows, the less requests wait: {order}")

# ---- how many -------------------------------------------------------------------------------------------------------
value = queue("--arrivals", "500/s", "--service", "12ms", "--objective", "p99<=60ms", "--price", "2.5 $/h")
fewest = value["replicas_for_objective"]
equal(fewest, value["answer"]["replicas"], "the answer is about the fewest that keep it")
by_count = {row["replicas"]: row for row in queue("--arrivals", "500/s", "--service", "12ms", "--replicas", "1..20:1")["rows"]}
equal(fewest, min(n for n, row in by_count.items() if row["stable"] and row["p99_seconds"] <= 0.06), "fewest against a scan")
equal([n for n, row in by_count.items() if not row["stable"]], [1, 2, 3, 4, 5, 6], "6 are busy all the time: never stable")
close(value["answer"]["cost_dollars_per_hour"], 2.5 * fewest, "cost")
close(value["answer"]["dollars_per_million_requests"], 2.5 * fewest / 3600 / 500 * 1e6, "cost of a million")
check(all(row["keeps_objective"] == (row["p99_seconds"] <= 0.06) for row in value["rows"]), "rows that keep it")
random = queue("--arrivals", "500/s", "--service", "12ms", "--objective", "p99<=60ms", "--dispatch", "random")
rows = queue("--arrivals", "500/s", "--service", "12ms", "--replicas", "1..400:1", "--dispatch", "random")["rows"]
equal(random["replicas_for_objective"], min(r["replicas"] for r in rows if r["stable"] and r["p99_seconds"] <= 0.06), "random, against a scan")
done = succeed("queue", "--arrivals", "500/s", "--service", "12ms", "--objective", "p99<=50ms", code=3)
check("No number of replicas keeps p99 <= 50 ms" in done.out and "no number of replicas" in done.err, f"never kept: {done.err}")
equal(queue("--arrivals", "500/s", "--service", "12ms", "--objective", "p99<=50ms", code=3)["replicas_for_objective"], None, "null")
value = queue("--arrivals", "500/s", "--service", "12ms", "--replicas", 4, code=3)
equal((value["answer"]["stable"], value["answer"]["latency_seconds"]), (False, None), "four cannot keep up")

# ---- doubling -------------------------------------------------------------------------------------------------------
value = queue("--arrivals", "500/s", "--service", "12ms", "--replicas", 10)
double = value["doubling"]
close(double["throughput_ratio"], 1, "no more arrives")
check(0.99 < double["p99_ratio"] <= 1, f"p99 does not move: {double['p99_ratio']}")
close(double["service_p99_seconds"], 0.012 * math.log(100), "what is left is the service")
check("would not move it" in value["verdict"], f"and the first sentence says so: {value['verdict']}")
full = queue("--arrivals", "56/s", "--service", "100ms", "--arrival-variation", 4, "--replicas", 8, "--places", 8)
check("turned away. Twice as many would not move p99" in full["verdict"], f"behind another figure p99 is named: {full['verdict']}")
rows = {row["replicas"]: row for row in queue("--arrivals", "500/s", "--service", "12ms", "--replicas", "10,20")["rows"]}
equal(double["same_traffic"], rows[20], "twice as many are the row of 20")
close(double["twice_traffic"]["utilization"], value["answer"]["utilization"], "twice the traffic on twice as many")
check(double["two_lines"]["latency_seconds"] > double["same_traffic"]["latency_seconds"], "two lines wait more than one")
waits = [row["wait_seconds"] for row in value["pooling"]]
check(waits == sorted(waits, reverse=True), f"larger pools wait less: {waits}")

# ---- up or out ------------------------------------------------------------------------------------------------------
value = queue("--arrivals", "60/s", "--service", "12ms", "--replicas", 1, "--scale-up", "2x")
now, up, shared, own = value["scale_up_or_out"]
mu, rate = 1 / 0.012, 60
close(up["latency_seconds"], 1 / (2 * mu - rate), "one of twice the speed")
close(shared["latency_seconds"], 4 * mu / (4 * mu * mu - rate * rate), "two behind one line")
close(own["latency_seconds"], 1 / (mu - rate / 2), "two with a line each")
close(up["p99_seconds"], math.log(100) / (2 * mu - rate), "p99 of the fast one")
check("the faster one gives the better mean" in value["scale_verdict"], value["scale_verdict"])
turn = value["more_win_above_variation"]
for variation, wins in ((turn * 0.99, "faster"), (turn * 1.01, "more")):
    _, up, shared, _ = queue("--arrivals", "60/s", "--service", "12ms", "--replicas", 1, "--scale-up", "2x",
                             "--service-variation", variation)["scale_up_or_out"]
    equal("faster" if up["latency_seconds"] < shared["latency_seconds"] else "more", wins, f"at c_s^2 {variation}")

# ---- what no number of replicas keeps, in the words of what was asked; a share of nothing is nothing -----------------
lone = run("queue", "--arrivals", "403.753/s", "--service", "0.8596s", "--objective", "p50<=1us", "--simulate")
equal(lone.code, 3, f"{lone}: exit")
check("the service alone has a p50 of 596 ms" in " ".join(lone.out.split()), f"its median: {lone.out[:300]}")
check("0000000" not in lone.out and max(map(len, lone.out.splitlines())) <= 80, "a probability of 1e-61 takes no 60 zeros")
few = run("queue", "--arrivals", "100/s", "--service", "10ms", "--places", 1, "--objective", "p99<=10s,blocked<=0.1%")
check("at most 0.100 % turned away: there are too few places" in " ".join(few.out.split()), f"places: {few.out[:300]}")
check("at most 0.100 % turned away" in few.err, f"stderr names both limits: {few.err}")
bursts = queue("--arrivals", "56/s", "--service", "100ms", "--arrival-variation", 4, "--service-variation", 2, "--replicas", 8, "--places", 12, "--simulate")
equal(bursts["answer"]["method"], "simulation", "losses of bursts of other services have no formula")
loss = queue("--arrivals", "100/s", "--service", "10ms", "--places", 1, "--replicas", 1)["answer"]
close(loss["blocked"], 0.5, "one server, one place, a load of one: Erlang's B is a half")
close(loss["p99_seconds"], 0.01 * math.log(100), "and nobody waits")

# ---- simulated against formulas, over a grid ------------------------------------------------------------------------
checked = missed = 0
for replicas in (1, 3, 16):
    for busy in (0.3, 0.7, 0.9):
        rate = busy * replicas / 0.01
        for more in ([], ["--places", 2 * replicas]):
            value = queue("--arrivals", f"{rate}/s", "--service", "10ms", "--replicas", replicas, *more,
                          "--simulate", f"{300000 / rate}s", "--seed", 7)
            simulated = value["simulation"]
            check(simulated["agrees"], f"{replicas} at {busy} {more}: {simulated['verdict']}")
            close(simulated["p99_seconds"], value["answer"]["p99_seconds"], f"p99 of {replicas} at {busy} {more}",
                  0.05 if busy < 0.9 else 0.1)  # near capacity a run remembers how it began
            for row in simulated["compared"]:
                checked += 1
                missed += not row["within_interval"] and abs(row["closed_form"] - row["simulated"]) > 1e-9
            for row in simulated["percentile_intervals"]:
                name = row["percentile"].replace(".", "") + "_seconds"
                low, high = row["low_seconds"] or 0, row["high_seconds"] or math.inf
                check(low <= simulated[name] <= high < 2 * simulated[name] or high == math.inf, f"interval of {row}")
                if value["answer"]["method"] == "exact" and row["percentile"] != "p99.9":
                    checked += 1
                    missed += not low <= value["answer"][name] <= high
check(missed <= 0.12 * checked, f"intervals of 95 %: {missed} of {checked} miss")
value = queue("--arrivals", "80/s", "--service", "10ms", "--replicas", 1, "--service-variation", 0, "--simulate")
check(value["simulation"]["agrees"], f"M/D/1: {value['simulation']['verdict']}")
value = queue("--arrivals", "30/s", "--service", "16ms", "--service-variation", 0.7, "--replicas", 8)
check(value["answer"]["wait_probability"] > 0 and value["simulation"]["agrees"], f"waits too rare for a million requests: {value['simulation']['verdict']}")
equal(queue(*EIGHT, "--simulate")["simulation"], queue(*EIGHT, "--simulate")["simulation"], "the same seed, the same bits")
check(queue(*EIGHT, "--simulate")["simulation"]["p50_seconds"] != queue(*EIGHT, "--simulate", "--seed", 2)["simulation"]["p50_seconds"], "another seed")
refused = run("queue", *EIGHT, "--seed", 2)
check(refused.code == 2 and "belongs to a simulation" in refused.err, f"a seed where nothing is drawn: {refused.err}")
succeed("queue", *EIGHT, "--dispatch", "two-choices", "--seed", 2)

value = queue(*EIGHT, "--dispatch", "random", "--hedge", "40ms")["hedging"]
check(0 < value["copies_per_request"] < 1 and value["with"]["p99_seconds"] < value["without"]["p99_seconds"], f"hedging: {value['verdict']}")
check(value["with"]["utilization"]["value"] > value["without"]["utilization"]["value"], "and its load")

# ---- measured services ----------------------------------------------------------------------------------------------
times = [10.0] * 980 + [200.0] * 20  # two in a hundred take twenty times as long
(SCRATCH / "served.csv").write_text("ms\n" + "\n".join(map(str, times)) + "\n")
value = queue("--arrivals", "100/s", "--service-samples", "served.csv", "--column", "ms", "--unit", "ms", "--replicas", 40)
mean = sum(times) / 1000 / 1000
close(value["load"]["service_seconds"], mean, "mean of the samples", 1e-3)
close(value["load"]["service_variation"], sum((t / 1000 - mean) ** 2 for t in times) / 999 / mean**2, "their variation", 2e-3)
close(value["answer"]["p99_seconds"], 0.2, "the tail of the samples is the tail of the answer", 2e-3)
close(value["answer"]["p50_seconds"], 0.01, "and so is their middle", 2e-3)
smooth = queue("--arrivals", "100/s", "--service", f"{mean}s", "--service-variation", value["load"]["service_variation"], "--replicas", 40)
check(abs(smooth["answer"]["p99_seconds"] - 0.2) > 0.02, "which mean and variation alone do not give")
value = queue("--arrivals", "100/s", "--service-samples", "served.csv", "--unit", "ms", "--replicas", 3, "--simulate")
close(value["simulation"]["p99_seconds"], value["answer"]["p99_seconds"], "measured services, simulated", 0.05)

# ---- batches --------------------------------------------------------------------------------------------------------
full = queue("--arrivals", "900/s", "--service", "12ms", "--replicas", 2, "--batch", 16, "--batch-growth", 0.1)
close(full["answer"]["capacity_per_second"], 2 * 16 / (0.012 * 2.5), "capacity of full batches")
check(1 < full["answer"]["batch"] <= 16, f"mean batch: {full['answer']['batch']}")
check(full["answer"]["method"] == "simulation", "the approximation of mean batches is told as an answer")
busy = 900 * 0.012 / full["answer"]["batch"] * (1 + 0.1 * (full["answer"]["batch"] - 1)) / 2
close(busy, full["answer"]["utilization"], "work of the batches")
even = queue("--arrivals", "1200/s", "--service", "20ms", "--service-variation", 0, "--replicas", 4, "--batch", 8)
# with servers nearly always at work one becomes free every 5 ms, takes all that wait, and 20 ms later they are served
check(0.024 < even["answer"]["p99_seconds"] < 0.032, f"p99 of even batches: {even['answer']['p99_seconds']}")
bursty = queue("--arrivals", "500/s", "--service", "12ms", "--service-variation", 4, "--replicas", 8)
check(bursty["simulation"] is not None, "an approximation without what it should be")

# ---- what people see ------------------------------------------------------------------------------------------------
for arguments in (EIGHT, [*EIGHT, "--simulate", "--price", "2.5", "--objective", "p99<=80ms", "--scale-up", "2x"],
                  [*EIGHT, "--dispatch", "random", "--hedge", "30ms"], ["--arrivals", "900/s", "--service", "12ms", "--places", 40],
                  ["--arrivals", "1e9/s", "--service", "999.9us", "--price", "1e6", "--objective", "p99<=1h"]):
    text = succeed("queue", *arguments).out
    wide = [line for line in text.splitlines() if len(line) > 80]
    equal(wide, [], f"queue {arguments}: at most 80 columns")
    check(re.search(r"\d+ replicas? serves? ", " ".join(text.splitlines()[:3])), f"the verdict comes first: {text[:200]}")
    check("nan" not in text and "inf" not in text, f"queue {arguments}: no nan, no inf")
page = SCRATCH / "queue.html"
succeed("queue", *EIGHT, "--html", page)
equal(page.read_text().count("<figure>"), 2, "a page with two figures")
table = succeed("queue", *EIGHT, "--format", "csv").out.splitlines()
equal(len(table), 1 + len(queue(*EIGHT)["rows"]), "a line of CSV for each row")

# ---- gaps of the question that were filled --------------------------------------------------------------------------
filled = [one["field"] for one in queue("--arrivals", "500/s", "--service", "12ms", "--replicas", 8)["assumptions"]]
equal(filled, ["service_variation", "arrival_variation", "replicas"], "each default is listed")

# ---- gates ----------------------------------------------------------------------------------------------------------
succeed("queue", *EIGHT, "--require", "p99<=60ms,utilization<=80%,throughput>=500/s,replicas<=8")
done = succeed("queue", *EIGHT, "--require", "p99<=50ms", code=99)
check("'p99<=50ms' does not hold (it is 58.9" in done.err, f"gate: {done.err}")

# ---- refusals -------------------------------------------------------------------------------------------------------
TABLE = [
    ([], "--arrivals (500/s) and --service (12ms) are missing"),
    (["--service", "1ms"], "--arrivals: missing"),
    (["--arrivals", "500/s"], "--service: missing"),
    (["--arrivals", "500", "--service", "12ms"], "'500' has no unit"),
    (["--arrivals", "0/s", "--service", "12ms"], "out of range"),
    (["--arrivals", "nan/s", "--service", "12ms"], "not a finite number"),
    (["--arrivals", "1e308/s", "--service", "12ms"], "out of range"),
    (["--arrivals", "1e14/s", "--service", "12ms"], "more than 1000000 replicas"),
    (["--arrivals", "-1/s", "--service", "12ms"], "negative"),
    (["--arrivals", "500/s", "--service", "0ms"], "--service: '0ms' is out of range"),
    (["--arrivals", "500/s", "--service", "12"], "has no unit"),
    (["--arrivals", "500/s", "--service", "12ms", "--replicas", "1000000000"], "counts end at 1000000"),
    (["--arrivals", "500/s", "--service", "12ms", "--replicas", "0"], "not positive"),
    ([*EIGHT, "--service-variation", "-1"], "--service-variation"),
    ([*EIGHT, "--arrival-variation", "nan"], "--arrival-variation"),
    ([*EIGHT, "--places", "4"], "4 are fewer than 8 replicas"),
    ([*EIGHT, "--places", "2000000000"], "places end at 10^9"),
    ([*EIGHT, "--places", "40", "--batch", "4"], "batch"),
    ([*EIGHT, "--batch-growth", "0.1"], "belongs to --batch"),
    ([*EIGHT, "--objective", "p99>=60ms"], "cannot read"),
    ([*EIGHT, "--objective", "p99<=60"], "has no unit"),
    ([*EIGHT, "--objective", "p101<=60ms"], "no percentile"),
    ([*EIGHT, "--objective", "p50<=6ms,p99<=60ms"], "two percentiles"),
    ([*EIGHT, "--objective", "p99<=60ms,blocked<=1%"], "without --places"),
    ([*EIGHT, "--hedge", "30ms"], "needs lines of their own"),
    ([*EIGHT, "--dispatch", "randm"], "did you mean 'random'?"),
    ([*EIGHT, "--scale-up", "1.3x"], "10.4 of them"),
    ([*EIGHT, "--scale-up", "1x"], "no faster"),
    ([*EIGHT, "--simulate", "1ns"], "fewer than 1000"),
    ([*EIGHT, "--simulate", "1e8h"], "at most 10^9"),
    ([*EIGHT, "--require", "p98<=50ms"], "unknown quantity 'p98'"),
    ([*EIGHT, "--unit", "ms"], "belongs to --service-samples"),
    ([*EIGHT, "--service-samples", "served.csv"], "given with --service-samples"),
]
for arguments, words in TABLE:
    done = run("queue", *arguments)
    equal(done.code, 2, f"{done}: {done.err.strip()}")
    check(words in done.err and done.err.count("\n") == 1 and not done.out, f"{done}: {done.err.strip()}, expected {words}")

spoken = " ".join(succeed("queue", "--arrivals", "500/s", "--service", "12ms", "--replicas", "8").out.split())
check("p99 is 58.9 ms (55.3 ms for the service alone). 16 would bring it to" in spoken, f"which time is whose: {spoken[:300]}")

finish()
