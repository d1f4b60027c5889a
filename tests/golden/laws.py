"""Laws: every result of the textbook through the program to its printed digits, numbers that agree with each other,
and plain refusals."""

import json
import math

from _harness import SCRATCH, SOURCE, answer, check, close, equal, finish, run, schema_errors, succeed

BOOK = json.loads((SOURCE / "tests" / "data" / "textbook.json").read_text())


def shown(found, expected, digits, message):
    """Equal to the decimals shown: within half of the last one."""
    near = found is not None and abs(found - expected) <= 0.5 * 10**-digits * (1 + 1e-9)
    check(near, f"{message}: {found!r}, expected {expected!r} to {digits} decimals")


def exact(found, expected, message):
    close(found, expected, message, 1e-6)


def laws(*arguments):
    what = "laws " + " ".join(map(str, arguments))
    value = answer("laws", *arguments)
    if value is None:
        raise SystemExit(f"no answer to {what}")
    for error in schema_errors(value):
        check(False, f"{what}: {error}")
    counts = [row["workers"] for row in value.get("rows", []) if "workers" in row]
    check(all(count >= 1 for count in counts), f"{what}: workers of the rows: {counts}")
    return value


def counts(numbers):
    return ",".join(str(number) for number in numbers)


def by_workers(rows):
    return {row["workers"]: row for row in rows}


def profile(compute, communication, at, *more):
    return laws("--compute", f"{compute} ms", "--communication", f"{communication} ms", "--at-workers", at, *more)


# ---- from a serial share --------------------------------------------------------------------------------------------
book = BOOK["speedup_laws"]
value = laws("--serial", counts(book["serial_fractions"]), "--workers", counts(book["workers"]))
equal(len(value["rows"]), len(book["workers"]) * len(book["serial_fractions"]), "a row for each pair")
for column, serial in enumerate(book["serial_fractions"]):
    rows = by_workers(row for row in value["rows"] if row["serial_fraction"] == serial)
    for line, count in enumerate(book["workers"]):
        row, what = rows[count], f"s = {serial}, K = {count}"
        shown(row["amdahl_speedup"], book["amdahl_speedup"][line][column], book["digits"], f"Amdahl, {what}")
        shown(row["gustafson_speedup"], book["gustafson_speedup"][line][column], book["digits"], f"Gustafson, {what}")
        close(row["amdahl_efficiency"], row["amdahl_speedup"] / count, f"efficiency, {what}")
        close(row["share_of_ceiling"], row["amdahl_speedup"] * serial, f"share of the ceiling, {what}")
        if line:
            before = book["workers"][line - 1]
            gain = (row["amdahl_speedup"] / rows[before]["amdahl_speedup"]) ** (1 / math.log2(count / before))
            close(row["marginal_speedup_per_doubling"], gain, f"gain of a doubling, {what}")
    ceiling = value["ceilings"][column]
    exact(ceiling["amdahl_ceiling"], book["amdahl_ceiling"][column], f"ceiling at {serial}")
    shown(100 * rows[1024]["share_of_ceiling"], book["percent_of_ceiling_at_1024"][column], 1, f"percent of the ceiling at {serial}")
equal([row["workers_for_90_percent"] for row in value["ceilings"]], [9, 81, 441], "workers for 90 % of the ceiling")

book = BOOK["five_percent_serial"]
value = laws("--serial", "5%", "--workers", "8,64")
for count, row in by_workers(value["rows"]).items():
    shown(row["amdahl_speedup"], book["speedup"][str(count)], 1, f"5 % serial, {count}")
    shown(100 * row["amdahl_efficiency"], book["efficiency_percent"][str(count)], 0, f"5 % serial, efficiency at {count}")
exact(value["ceilings"][0]["amdahl_ceiling"], book["ceiling"], "5 % serial, ceiling")

# memory-bounded: exponent 0 is Amdahl, 1 is Gustafson
for exponent, law in (("0", "amdahl_speedup"), ("1", "gustafson_speedup")):
    for row in laws("--serial", "0.5,0.1,0", "--memory-growth", exponent)["rows"]:
        close(row["sun_ni_speedup"], row[law], f"Sun-Ni with exponent {exponent}: {row}")
equal(laws("--serial", "0")["ceilings"][0]["amdahl_ceiling"], None, "nothing serial: no ceiling")
value = laws("--serial", "0.1", "--share", "50%")
equal((value["ceilings"][0]["workers_for_share"], value["ceilings"][0]["workers_for_90_percent"]), (9, 81), "half of the ceiling, and 90 %")

# ---- from a profile ---------------------------------------------------------------------------------------------------
book = BOOK["serial_fraction_from_profile"]
value = profile(book["compute_ms"], book["communication_ms"], book["at_workers"], "--workers", "16,1024")
exact(value["serial_fraction"]["value"], book["serial_fraction"], "serial fraction of a profile on one")
equal(value["serial_fraction"]["at_workers"], book["at_workers"], "the K it belongs to")
exact(value["ceiling_over_one_worker"], book["ceiling"], "ceiling of a profile on one")
rows = by_workers(value["speedup_over_k0"])
shown(rows[16]["speedup"], book["speedup_at_16"], 1, "16 nodes")
shown(rows[1024]["speedup"], book["speedup_at_1024"], 2, "1024 nodes")
# the profile on one worker is Amdahl's law
law = laws("--serial", book["serial_fraction"], "--workers", "16,1024")
for row, other in zip(value["rows"], law["rows"]):
    for key in ("amdahl_speedup", "amdahl_efficiency", "gustafson_speedup"):
        close(row[key], other[key], f"profile on one worker against the law: {key}")

book = BOOK["fixed_communication_shrinking_compute"]
value = profile(1800, 20, 1, "--workers", counts(book["workers"]))
for at, row in enumerate(value["rows"]):
    what = f"fixed communication, {row['workers']} workers"
    shown(row["communication_share"], book["serial_fraction"][at], book["digits"], what)
    exact(row["amdahl_of_s"], book["amdahl_of_s"][at], what)
    shown(1e3 * row["step_seconds"], book["step_ms"][at], book["digits"], what)
    shown(row["speedup"], book["speedup"][at], book["digits"], what)
shown(value["index_peaks_at_workers"], book["index_peaks_at_workers"], 4, "where the index peaks")
equal(value["index_peak_integer"], book["index_peak_integer"], "the whole K of its peak")
shown(value["index_at_integer_peak"], book["index_at_integer_peak"], 4, "the index there")
equal(value["first_worker_count_where_the_step_gets_slower"], book["first_worker_count_where_the_step_gets_slower"], "the step never gets slower")
equal(value["decides"], "step_seconds", "the step decides")
check("the step decides" in succeed("laws", "--compute", "1800ms", "--communication", "20ms", "--at-workers", 1, "--full").out, "and says so")

book = BOOK["profile_at_k0"]
value = profile(book["compute_ms"], book["communication_ms"], book["k0"], "--workers", counts(book["speedup_over_k0"]))
exact(value["share_at_k0"], book["share_at_k0"], "share at K0")
exact(value["ceiling_over_k0"], book["ceiling_over_k0"], "ceiling over K0")
for row in value["speedup_over_k0"]:
    exact(row["speedup"], book["speedup_over_k0"][str(row["workers"])], f"speedup over K0 at {row['workers']}")
equal(value["smallest_k_with_90_percent_of_ceiling"], book["smallest_k_with_90_percent_of_ceiling"], "a tie at 90 % counts")
equal(value["ceilings"][0]["workers_for_90_percent"], 288, "the same among the ceilings")
check(value["serial_fraction"]["at_workers"] == 1 and abs(value["serial_fraction"]["value"] - 60 / 1980) < 1e-12, "converted to one worker")

book = BOOK["profile_at_256"]
for given in (["--communication-share", "22%"], ["--compute", "78ms", "--communication", "22ms"]):
    value = laws(*given, "--at-workers", 256, "--workers", "8,256", "--measured-speedup", 3, "--from-workers", 8)
    shown(value["ceiling_over_one_worker"], book["ceiling_over_one_worker"], 1, "ceiling over one worker of 22 % at 256")
    rows = by_workers(value["rows"])
    shown(rows[8]["step_over_k0"] / rows[256]["step_over_k0"], book["step_8_over_step_256"], 2, "step on 8 over step on 256")
    shown(value["measured"]["profile_speedup"], book["step_8_over_step_256"], 2, "what the profile gives for the measured gain")
    check(value["measured"]["contradicts"] and not value["measured"]["super_linear"], f"3x contradicts: {value['measured']}")
    share = value["measured"]["share_at_k0_needed"]
    close(share + (1 - share) * 32, 3, "the share that would give 3x")
equal(rows[8]["step_seconds"] is None, False, "a profile in times has times")
equal(laws("--communication-share", "22%", "--at-workers", 256)["step_at_k0_seconds"], None, "a share has none")
check("both cannot hold" in " ".join(succeed("laws", "--communication-share", "22%", "--at-workers", 256, "--measured-speedup", 3, "--from-workers", 8).out.split()),
      "and the words say that both cannot hold")
check(not laws("--communication-share", "22%", "--at-workers", 256, "--measured-speedup", 24, "--from-workers", 8)["measured"]["contradicts"], "24x agrees")
check(laws("--communication-share", "22%", "--at-workers", 256, "--measured-speedup", 40, "--from-workers", 8)["measured"]["super_linear"], "40x from 8 to 256 is super-linear")

# communication that grows or hides: rows by hand, and the optimum against a scan of the program's own rows
GROWTH = {"fixed": lambda k: 1, "log": lambda k: math.log2(k) / 3, "linear": lambda k: (k - 1) / 7}
for growth, shape in GROWTH.items():
    for overlap in (0, 0.6, 1):
        what = f"{growth}, overlap {overlap}"
        value = profile(240, 60, 8, "--growth", growth, "--overlap", overlap, "--workers", "1..400:1")
        rows = by_workers(value["rows"])
        for count, row in rows.items():
            compute, all_of_it = 1.92 / count, 0.06 * shape(count)
            close(row["step_seconds"], compute + all_of_it - min(overlap * all_of_it, compute), f"{what}: step at {count}", 1e-9)
        steps = [rows[k]["step_seconds"] for k in range(1, 401)]
        slower = next((k for k in range(2, 401) if steps[k - 1] > steps[k - 2] * (1 + 1e-12)), None)
        equal(value["first_worker_count_where_the_step_gets_slower"], slower, f"{what}: first slower")
        if value["best_workers"] is not None:
            best = min(range(1, 401), key=lambda k: (round(steps[k - 1], 12), k))
            equal(value["best_workers"], best, f"{what}: best")
            close(value["ceiling_over_k0"], rows[8]["step_seconds"] / steps[best - 1], f"{what}: ceiling is there")
            check(abs(value["k_star"] - best) <= 1, f"{what}: K* {value['k_star']} beside {best}")
        if value["smallest_k_with_90_percent_of_ceiling"]:
            target = rows[8]["step_seconds"] / value["ceiling_over_k0"] / 0.9 * (1 + 1e-12)
            equal(value["smallest_k_with_90_percent_of_ceiling"], next(k for k in range(1, 401) if steps[k - 1] <= target), f"{what}: 90 %")
        check((value["serial_fraction"]["value"] is None) == (growth != "fixed" or overlap > 0), f"{what}: Amdahl's fraction is there where his law holds")

# ---- the best number of workers ---------------------------------------------------------------------------------------
book = BOOK["best_worker_count_tree_sync"]
value = laws("--work", book["work"], "--per-level", book["cost_per_level"], "--workers", "13860..13866:1")
shown(value["k_star"], book["k_star"], 3, "K* of a tree")
rows = by_workers(value["rows"])
equal(value["best_workers"], min(rows, key=lambda k: rows[k]["step_units"]), "the whole K by a scan")
equal(value["first_worker_count_where_the_step_gets_slower"], value["best_workers"] + 1, "the next is slower")
close(value["best_time"], 1e6 / 13863 + 50 * math.log2(13863), "time there")
exact(laws("--work", "1000000ms", "--per-level", "50ms")["k_star"], book["k_star"], "K* with times")
value = laws("--work", "10000", "--per-worker", "1")
equal((value["best_workers"], value["best_time"]), (100, 200.0), "sqrt(W/c) of a chain")
close(value["k_star"], 100, "K* of a chain")

# ---- universal scalability, Karp-Flatt, isoefficiency, pipeline ---------------------------------------------------------
book = BOOK["usl"]
value = laws("--alpha", book["alpha"], "--beta", book["beta"], "--gamma", "89.995", "--workers", "1,96,97,98")
shown(value["peak_workers"], book["peak_workers"], 1, "peak of the universal law")
rows = by_workers(value["rows"])
check(rows[96]["speedup"] < rows[97]["speedup"] > rows[98]["speedup"] and value["best_workers"] == 97, f"97 is the best: {rows}")
close(value["ceiling"], rows[97]["speedup"], "its ceiling")
close(rows[97]["throughput"], 89.995 * rows[97]["speedup"], "throughput")
value = laws("--alpha", "0.1", "--workers", "16,1024")
equal((value["ceiling"], value["peak_workers"], value["workers_for_90_percent"]), (10.0, None, 81), "without beta it is Amdahl's law")
shown(by_workers(value["rows"])[16]["speedup"], 6.4, 6, "without beta, 16 workers")
check(all(row["super_linear"] for row in laws("--alpha", "-0.01", "--workers", "2,50")["rows"]), "alpha below zero is super-linear, and said to be")

page = SCRATCH / "karp_flatt.html"
succeed("laws", "--speedup", "3,5", "--workers", "4,4", "--html", page, "--quiet")
check("<td>super-linear</td>" in page.read_text(), "a page says which rows are super-linear")
book = BOOK["karp_flatt"]
row = laws("--speedup", book["speedup"], "--workers", book["workers"])["karp_flatt"][0]
exact(row["serial_fraction"], book["serial_fraction"], "Karp-Flatt")
value = laws("--speedup", "3,1,5", "--workers", "4,1,4")
equal([(row["workers"], row["speedup"], row["super_linear"]) for row in value["karp_flatt"]], [(1, 1.0, False), (4, 3.0, False), (4, 5.0, True)],
      "pairs stay pairs, repeats stay")
check(value["karp_flatt"][0]["serial_fraction"] is None and value["karp_flatt"][2]["serial_fraction"] < 0, "nothing at one, negative above linear")
for speedups, trend in (("1.818181818,3.076923,6.4", "flat"), ("1.9,3.4,6", "rising"), ("1.5,3,13", "falling")):
    equal(laws("--speedup", speedups, "--workers", "2,4,16")["trend"], trend, f"trend of {speedups}")

value = laws("--efficiency", "0.8", "--overhead", "2 K log2(K)", "--workers", "2,64", "--work", "3072")
rows = by_workers(value["rows"])
close(rows[64]["work"], 4 * 2 * 64 * 6, "work for 80 % on a tree")
equal(value["largest_efficient_workers"], 64, "and back")
close(rows[64]["efficiency_of_given_work"], 0.8, "and its efficiency")
for row in laws("--efficiency", "0.9", "--overhead", "3*W^(1/2)*K + 2 K^1.5 + 7")["rows"]:
    overhead = 3 * math.sqrt(row["work"]) * row["workers"] + 2 * row["workers"] ** 1.5 + 7
    close(row["total_overhead"], overhead, f"overhead at {row['workers']}")
    close(row["work"] / (row["work"] + overhead), 0.9, f"efficiency at {row['workers']}")

book = BOOK["pipeline_bubble"]
row = laws("--stages", book["stages"], "--micro-batches", book["micro_batches"])["rows"][0]
exact(row["bubble_fraction"], book["bubble_fraction"], "pipeline bubble")
shown(row["speedup"], book["speedup"], book["digits"], "pipeline speedup")
close(laws("--stages", 8, "--micro-batches", 32, "--virtual-stages", 2)["rows"][0]["bubble_of_ideal"], 7 / 64, "interleaved")

# ---- data parallelism ---------------------------------------------------------------------------------------------------
book = BOOK["communication_to_computation_ratio"]
MACHINE = ["--rate", f"{book['flops_per_s']} FLOP/s", "--bandwidth", f"{book['bytes_per_s']} B/s", "--gradient-bytes", f"{book['bytes_per_parameter']}B"]
value = laws("--parameters", int(book["parameters"]), "--global-batch", book["global_batch"], *MACHINE, "--workers", counts(row["k"] for row in book["rows"]))
for row, expected in zip(value["rows"], book["rows"]):
    what = f"{expected['k']} workers"
    equal((row["workers"], row["local_batch"]), (expected["k"], expected["local_batch"]), what)
    shown(1e3 * row["compute_seconds"], expected["compute_ms"], 2, f"compute, {what}")
    shown(1e3 * row["all_reduce_seconds"], expected["all_reduce_ms"], 2, f"all-reduce, {what}")
    shown(row["gamma"], expected["gamma"], 3, f"gamma, {what}")
    equal(row["communication_bound"], expected["communication_bound"], f"bound, {what}")
exact(value["break_even_workers"], book["break_even_workers"], "break-even")
exact(value["break_even"][0]["workers"], book["break_even_workers"], "break-even without latency")

sweep = book["model_size_sweep"]
value = laws("--parameters", counts(int(row["p"]) for row in sweep["rows"]), "--local-batch", sweep["local_batch"], *MACHINE, "--workers", sweep["k"])
for row, expected in zip(value["rows"], sweep["rows"]):
    equal(row["parameters"], expected["p"], "models in order")
    shown(1e3 * row["compute_seconds"], expected["compute_ms"], 2, f"compute of {row['parameters']}")
    shown(1e3 * row["all_reduce_seconds"], expected["all_reduce_ms"], 2, f"all-reduce of {row['parameters']}")
    shown(row["gamma"], expected["gamma"], 2, f"gamma of {row['parameters']}")

row = laws("--parameters", "7B", "--global-batch", 2048, *MACHINE, "--latency", "5us", "--workers", 1024)["rows"][0]
shown(1e3 * row["latency_seconds"], book["latency_floor"]["latency_ms"], 2, "latency floor")
exact(row["latency_equals_bandwidth_at_parameters"], book["latency_floor"]["latency_equals_bandwidth_at_parameters"], "latency equals bandwidth")
story = book["story"]
rows = by_workers(laws("--parameters", "7B", "--global-batch", story["global_batch"], *MACHINE, "--workers", "16,64")["rows"])
shown(rows[16]["gamma"], story["gamma_at_16"], 2, "the story at 16")
shown(rows[64]["gamma"], story["gamma_at_64"], 2, "the story at 64")

book = BOOK["weak_scaling_gamma"]
value = laws("--parameters", "7B", "--local-batch", book["b"], *MACHINE, "--workers", 1000000000)
shown(value["weak_scaling"]["gamma_infinity"], book["gamma_infinity"], 3, "gamma of many workers")
shown(value["weak_scaling"]["local_batch_where_gamma_infinity_is_1"], book["b_where_gamma_infinity_is_1"], 2, "batch where it is 1")
close(value["rows"][0]["gamma"], value["weak_scaling"]["gamma_infinity"], "a limit is near", 1e-8)
equal(value["break_even_workers"], None, "no global batch, no break-even")

book = BOOK["latency_sweep"]
rows = by_workers(laws("--parameters", "7B", "--local-batch", 512, *MACHINE, "--latency", "5us", "--workers", counts(book["workers"]))["rows"])
for count, parameters in zip(book["workers"], book["parameters"]):
    exact(rows[count]["latency_equals_bandwidth_at_parameters"], parameters, f"latency sweep at {count}")
for size in (1e6, 7e9):  # at the break-even with latency both take as long
    found = laws("--parameters", int(size), "--global-batch", "1M", *MACHINE, "--latency", "5us")["break_even"][0]["workers"]
    seconds = 2 * (found - 1) * (5e-6 + 2 * size / 600e9 / found)
    close(seconds, 6 * size * 1e6 / found / 312e12, f"break-even of {size} with latency")

book = BOOK["ring_all_reduce_70b"]
row = laws("--parameters", "70B", "--local-batch", 512, "--rate", "312TFLOP/s", "--bandwidth", f"{book['bandwidth_each_way_bytes_per_s']} B/s",
           "--workers", book["gpus"])["rows"][0]
shown(row["all_reduce_seconds"], book["seconds"], book["digits"], "ring all-reduce of 70B gradients")
exact(row["bytes_per_worker"], book["bytes_per_device"], "bytes that each sends")

# ---- up or out ------------------------------------------------------------------------------------------------------------
PRICED = ["--faster", "2x", "--faster-price", "5 $/h", "--price", "2 $/h", "--workers", "1,2,3,4,16"]
for question in (["--serial", "5%"], ["--compute", "950ms", "--communication", "50ms", "--at-workers", 1], ["--alpha", "5%"]):
    up = laws(*question, *PRICED)["scale_up"]
    equal(up["matches"][0]["workers_to_match"], 3, f"{question}: three are as fast as one twice as fast")
    for row in up["rows"]:
        speedup = 1 / (0.05 + 0.95 / row["workers"])
        close(row["speedup"], speedup, f"{question}: speedup")
        equal(row["faster"], "up" if speedup < 2 else "out", f"{question}: faster at {row['workers']}")
        close(row["tie_price_dollars_per_hour"], 2 * 2 * row["workers"] / speedup, f"{question}: tie price at {row['workers']}")
        equal(row["cheaper"], "up" if 5 < row["tie_price_dollars_per_hour"] else "out", f"{question}: cheaper at {row['workers']}")
tie = laws("--serial", "5%", "--faster", "2", "--price", "2", "--faster-price", "4", "--workers", 1)["scale_up"]["rows"][0]
equal((tie["cheaper"], tie["tie_price_ratio"]), ("tie", 2.0), "twice the price for twice the speed is a tie")
# the first sentence answers what was asked, and turns where the rows do
for price, words in (("5 $/h", "costs no more with up to 4 workers, and less with the faster machine from 16 workers on"),
                     ("1 $/h", "the faster machine costs less at every listed count"), ("50 $/h", "cost no more for a result at any listed count")):
    said = " ".join(succeed("laws", "--serial", "5%", *PRICED[:2], "--faster-price", price, *PRICED[4:]).out.split("\n\n")[0].split())
    check(said.startswith("3 workers are as fast") and words in said, f"up or out at {price}: {said}")
equal(laws("--serial", "50%", "--faster", "2x")["scale_up"]["matches"][0]["workers_to_match"], None, "no number matches the ceiling")

# ---- for people, for tables, for pages ------------------------------------------------------------------------------------
PEOPLE = [
    ["--serial", "0.5,0.1,0.02,0", "--memory-growth", "1.5"],
    ["--serial", "1e-9", "--workers", "1..2000000000", "--faster", "3x", "--price", "2", "--faster-price", "70"],
    ["--compute", "240ms", "--communication", "60ms", "--at-workers", "8", "--growth", "log", "--overlap", "60%"],
    ["--compute", "3d", "--communication", "1us", "--at-workers", "100000", "--growth", "linear"],
    ["--communication-share", "22%", "--at-workers", "256", "--measured-speedup", "3", "--from-workers", "8"],
    ["--communication-share", "100%", "--at-workers", "8"], ["--communication-share", "0", "--at-workers", "8"],
    ["--work", "1000000", "--per-level", "50"], ["--work", "3h", "--per-worker", "2ns"],
    ["--alpha", "0.0277285", "--beta", "0.0001044", "--gamma", "89.995"], ["--alpha", "0"], ["--alpha", "-0.01"],
    ["--speedup", "1.9,3.4,6.4,90", "--workers", "2,4,16,32"], ["--speedup", "1", "--workers", "1"],
    ["--efficiency", "0.8", "--overhead", "2 K log2(K) + 5 W^0.5 K", "--work", "1e6"],
    ["--parameters", "100M,70B", "--global-batch", "100k", "--local-batch", "64", "--latency", "5us", *MACHINE],
    ["--stages", "1,8,64", "--micro-batches", "8..64"],
]
for arguments in PEOPLE:
    laws(*arguments)
    done = succeed("laws", *arguments)
    for line in done.out.splitlines():
        check(len(line) <= 80, f"{done}: a line of {len(line)} columns: {line}")
    equal(run("laws", *arguments).out, done.out, f"{done}: again")
    words = set(done.out.replace(",", " ").split())
    check(not words & {"nan", "inf", "-nan", "infx", "nanx"}, f"{done}: no number in {done.out}")
    sheet = succeed("laws", *arguments, "--format", "csv").out.splitlines()
    check(len(sheet) > 1 and len({line.count(",") for line in sheet}) == 1, f"{done}: CSV {sheet[:2]}")
    check("|" in succeed("laws", *arguments, "--format", "markdown").out, f"{done}: Markdown has a table")
succeed("laws", *PEOPLE[0], "--html", SCRATCH / "laws.html", "--quiet")
check("<table" in (SCRATCH / "laws.html").read_text(), "a page")
check(laws(*PEOPLE[0], "--stats")["stats"]["wall_seconds"] >= 0, "stats")

# ---- refusals: arguments, what the line must contain ------------------------------------------------------------------------
TIMES = ["--compute", "240ms", "--communication", "60ms"]
for arguments, contains in [
    ([], "nothing is asked"),
    (["--workers", "8"], "asks nothing alone"),
    (TIMES, "--at-workers: missing"),
    (TIMES, "not Amdahl's serial fraction"),
    (["--communication-share", "22%"], "--at-workers: missing"),
    ([*TIMES, "--at-workers", "0"], "--at-workers"),
    (["--compute", "240", "--communication", "60ms", "--at-workers", "8"], "'240' has no unit"),
    (["--compute", "240ms", "--at-workers", "8"], "--communication: missing"),
    (["--compute", "0ms", "--communication", "0ms", "--at-workers", "8"], "nothing was measured"),
    ([*TIMES, "--at-workers", "1", "--growth", "log"], "log2 1 = 0"),
    ([*TIMES, "--at-workers", "8", "--growth", "lin"], "did you mean 'linear'?"),
    ([*TIMES, "--at-workers", "8", "--overlap", "120%"], "'120%'"),
    ([*TIMES, "--at-workers", "8", "--communication-share", "3%"], "keep one"),
    (["--communication-share", "3%", "--at-workers", "8", "--overlap", "0.5"], "needs times"),
    ([*TIMES, "--at-workers", "8", "--from-workers", "2"], "belongs to --measured-speedup"),
    ([*TIMES, "--at-workers", "8", "--measured-speedup", "2"], "--from-workers: missing"),
    ([*TIMES, "--at-workers", "8", "--measured-speedup", "2", "--from-workers", "16"], "the smaller count"),
    (["--compute", "1e30s", "--communication", "1s", "--at-workers", "8"], "out of range"),
    (["--serial", "0.22", "--at-workers", "256"], "--communication-share in place of --serial"),
    (["--serial", "1.5"], "'1.5'"),
    (["--serial", "-0.5"], "'-0.5'"),
    (["--serial", "nan"], "'nan'"),
    (["--serial", "0.1,"], "''"),
    (["--serial", "0.1", "--workers", "8:"], "--workers"),
    (["--serial", "0.1", "--share", "100%"], "'100%'"),
    (["--serial", ",".join(["0.1"] * 100), "--workers", "1..4096:1"], "at most 16384"),
    (["--serial", "0.1", "--alpha", "0.1"], "two different questions"),
    (["--serial", "0.1", "--growth", "log"], "does not belong to --serial"),
    (["--serial", "0.1", "--price", "2"], "belongs to --faster"),
    (["--serial", "0.1", "--faster", "0"], "'0'"),
    (["--serial", "0.1", "--faster", "2x", "--price", "0"], "no price"),
    (["--work", "100"], "asks nothing alone"),
    (["--work", "100", "--per-level", "5ms"], "has a unit"),
    (["--work", "100s", "--per-level", "5"], "has no unit"),
    (["--work", "0", "--per-level", "5"], "not above zero"),
    (["--work", "10", "--per-level", "0"], "costs nothing"),
    (["--per-level", "5"], "--work: missing"),
    (["--alpha", "-0.1", "--workers", "11"], "no throughput at 11 workers"),
    (["--beta", "-1"], "'-1'"),
    (["--speedup", "3,4", "--workers", "8"], "they are pairs"),
    (["--speedup", "0", "--workers", "8"], "'0'"),
    (["--speedup", "3"], "--workers: missing"),
    (["--efficiency", "0.8"], "--efficiency: asks nothing alone"),
    (["--overhead", "K"], "--efficiency: missing"),
    (["--overhead", "K * W", "--efficiency", "0.8"], "no problem is ever large enough"),
    (["--overhead", "2 log(K)", "--efficiency", "0.8"], "at 'log(K)'"),
    (["--overhead", "2 K +", "--efficiency", "0.8"], "something is missing at the end"),
    (["--parameters", "7B", "--rate", "3TFLOP/s", "--bandwidth", "3GB/s"], "gamma depends on the batch"),
    (["--parameters", "7.5", "--rate", "3TFLOP/s", "--bandwidth", "3GB/s", "--local-batch", "8"], "not whole"),
    (["--parameters", "7B", "--rate", "3TFLOP", "--bandwidth", "3GB/s", "--local-batch", "8"], "did you mean '3TFLOP/s'?"),
    (["--parameters", "7B", "--rate", "0FLOP/s", "--bandwidth", "3GB/s", "--local-batch", "8"], "out of range"),
    (["--stages", "8", "--micro-batches", "12", "--virtual-stages", "2"], "no multiple of 8 stages"),
    (["--stages", "8"], "--micro-batches: missing"),
    (["--seral", "0.1"], "did you mean '--serial'?"),
]:
    done = run("laws", *arguments)
    equal(done.code, 2, f"{done}: exit")
    check(len(done.err.splitlines()) == 1 and done.out == "", f"{done}: one line on standard error and no result: {done.err}")
    check(contains in done.err, f"{done}: {contains!r} is not in {done.err.strip()!r}")

check(succeed("laws", "--stages", "1", "--micro-batches", "8").out.startswith("1 stage with 8 micro-batches never waits."), "one stage")
check(succeed("laws", "--stages", "2", "--micro-batches", "1").out.startswith("2 stages with 1 micro-batch wait"), "one micro-batch")

finish()
