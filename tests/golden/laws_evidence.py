"""`laws --fit` states nothing beyond its evidence: what a table holds is read whole, several series are named, a law that does not
describe the measurements gives no peak, no ceiling and nothing outside of the measured counts, and speedups keep their base.

The tables of the reports that went wrong are read from $HEADROOM_SHARED/cases, or from ../shared/cases, where they are; small
tables of each sort are always tried.
"""

import os
import pathlib

from _harness import SCRATCH, SOURCE, answer, check, close, equal, finish, run, schema_errors, succeed


def table(name, text):
    path = SCRATCH / name
    path.write_text(text)
    return path


def fit(path, *arguments):
    value = answer("laws", "--fit", path, "--quiet", *arguments)
    what = f"laws --fit {path} " + " ".join(map(str, arguments))
    if not check(value is not None, f"{what}: no answer"):
        return None
    for error in schema_errors(value):
        check(False, f"{what}: {error}")
    sound(value, what)
    return value


def sound(value, what):
    """Checks that hold for every answer."""
    counts = [point["workers"] for point in value["predictions"]]
    best = next(one for one in value["fits"] if one["law"] == value["best"])
    for one in value["fits"]:
        if one["smape"] >= 25:
            check(one["withheld"] is not None, f"{what}: {one['law']} misses by {one['smape']} and is not withheld")
        if one["withheld"] is not None:
            equal([one[key] for key in ("peak_workers", "ceiling", "ceiling_value", "limit", "limit_value")], [None] * 5, f"{what}: {one['law']} withheld")
    if best["withheld"] is not None:
        check(not any(row["beyond_measured"] for row in value["predictions"]), f"{what}: predictions at {counts}, {best['withheld']}")
        check(value["knee_workers"] is None, f"{what}: a knee of a law that is withheld")


def verdict(path, *arguments):
    return " ".join(succeed("laws", "--fit", path, *arguments).out.split("\n\n")[0].split())


def rows(header, *pairs):
    return header + "\n" + "".join(",".join(map(str, pair)) + "\n" for pair in pairs)


def best_of(value):
    return next(one for one in value["fits"] if one["law"] == value["best"])


# ---- speedups keep the base that they are stated over ------------------------------------------------------------------
# By hand: least squares of S = 1/(a + b/K) at 4, 8 and 16; the ceiling is 1/a, and no smaller than what was measured.
stated = table("stated.csv", rows("cores,speed-up", (4, "3.72x"), (8, "4.77x"), (16, "5.21x")))
value = fit(stated)
close(best_of(value)["ceiling"], 6.0679, "ceiling of stated speedups", 1e-3)
equal(value["speedup_over_workers"], 1, "stated speedups are over one worker")
equal([point["workers"] for point in value["karp_flatt"]], [4, 8, 16], "serial fractions of stated speedups")
asked = answer("laws", "--speedup", "3.72,4.77,5.21", "--workers", "4,8,16")
for ours, theirs in zip(value["karp_flatt"], asked["karp_flatt"]):
    close(ours["serial_fraction"], theirs["serial_fraction"], f"--fit and --speedup at {ours['workers']}")
equal(value["karp_flatt_verdict"]["trend"], asked["trend"], "--fit and --speedup: trend")
for speedups in ("1.9,3.4,6", "1.5,3,13", "1.818181818,3.076923,6.4", "1.7,3.9,7.1", "2.5,5,9"):
    pairs = list(zip((2, 4, 16), speedups.split(",")))
    asked = answer("laws", "--speedup", speedups, "--workers", "2,4,16")
    fitted = fit(table("asked.csv", rows("workers,speedup", *pairs)))
    equal(fitted["karp_flatt_verdict"]["trend"], asked["trend"], f"trend of {speedups} by both")
    close(fitted["karp_flatt"][-1]["serial_fraction"], asked["karp_flatt"][-1]["serial_fraction"], f"fraction of {speedups} by both")
relative = fit(table("relative.csv", rows("cores,speedup", (4, 1), (8, 1.28), (16, 1.4))))
equal(relative["speedup_over_workers"], 4, "a speedup of 1 at 4 workers is over 4 workers")
asked = answer("laws", "--speedup", "1,1.28,1.4", "--workers", "4,8,16")["karp_flatt"]
equal([row["over_workers"] for row in asked], [4, 4, 4], "and so it is for --speedup")
for ours, theirs in zip(relative["karp_flatt"], asked[1:]):
    close(ours["serial_fraction"], theirs["serial_fraction"], f"--fit and --speedup over 4 at {ours['workers']}")

# ---- the base of times is the smallest measured count, and is said --------------------------------------------------------
late = table("late.csv", rows("nodes,seconds", (4, 100), (8, 55), (16, 32.5), (32, 21.2)))
value = fit(late)
equal(value["speedup_over_workers"], 4, "base of times")
first = value["predictions"][0]
close(first["speedup"], 1, "the base itself")
close(first["efficiency"], 1, "its efficiency")
said = succeed("laws", "--fit", late).out
check("over 4 workers, the smallest count that was measured" in " ".join(said.split()), "the base is said")
check("one worker" not in said.split("\n\n")[0], f"no speedup over a count that was not measured: {said[:200]}")

# ---- for proposals ----------------------------------------------------------------------------------------------------------
exact = table("exact.csv", rows("nnodes,seconds", *((k, 100 * (0.03 + 0.97 / k)) for k in (1, 2, 4, 8, 16))))
value = fit(exact, "--efficiency", "70%")
equal(value["held_efficiency"]["workers"], 15, "E = 1/(0.03 K + 0.97) >= 0.7 to K = 15.29")
check("70 % holds to 15 nodes (efficiency over 1 node)" in " ".join(succeed("laws", "--fit", exact, "--efficiency", "0.7").out.split()), "in words")
plateau = table("plateau.csv", rows("threads,ops/s", *zip((1, 2, 4, 8, 16, 32, 64), (100, 195, 360, 600, 610, 605, 612))))
equal(fit(plateau, "--efficiency", "70%")["held_efficiency"]["workers"], 8, "75 % on 8 as measured, 38 % on 16")
row = value["predictions"][2]
close(row["ideal"], 25, "ideal time on 4")
close(row["ratio"], (3 + 97 / 4) / 25, "ratio to the ideal")
close(row["worker_hours"], 4 * (3 + 97 / 4) / 3600, "node-hours")
check("node-hours" in succeed("laws", "--fit", exact, "--full").out, "a column of node-hours")
equal(answer("laws", "--serial", "3%", "--efficiency", "70%")["ceilings"][0]["largest_efficient_workers"], 15, "the same of a serial share")
profile = answer("laws", "--compute", "97s", "--communication", "3s", "--at-workers", 1, "--efficiency", "70%")
equal(profile["largest_efficient_workers"], 15, "the same of a profile")
equal(answer("laws", "--alpha", "0.03", "--beta", 0, "--efficiency", "70%")["largest_efficient_workers"], 15, "the same of the universal law")
check("growing problem" in succeed("laws", "--serial", "5%", "--full").out, "Gustafson's curve is drawn with Amdahl's")
chain = answer("laws", "--compute", "1s", "--communication", "2ms", "--at-workers", 3, "--growth", "linear", "--workers", "1,3,10")
shown = {row["workers"]: row for row in chain["rows"]} if "rows" in chain else {row["workers"]: row for row in chain["speedup_over_k0"]}
close(shown[10]["exposed_communication_seconds"], 9e-3, "a chain of 10 has 9 links")
equal(shown[1]["exposed_communication_seconds"], 0, "one worker has none")
equal(run("laws", "--compute", "1s", "--communication", "2ms", "--at-workers", 1, "--growth", "linear").code, 2, "a chain of one tells no growth")

# ---- times that hardly change ask whether the work grows --------------------------------------------------------------------
for name, times in (("level", (10.0, 10.3, 10.1, 10.6, 11.0)), ("rising", (72.3, 114.9, 133.5, 146.6, 151.0)), ("falling", (10.0, 9.8, 9.9, 9.6, 9.7))):
    weak = table(f"{name}.csv", rows("ranks,seconds", *zip((1, 2, 4, 8, 16), times)))
    said = verdict(weak)
    check("--scaling weak" in said and "peak" not in said, f"{name} times: {said}")
    check(all(one["peak_workers"] is None for one in fit(weak)["fits"]), f"{name} times: no peak")
    check("--scaling weak" not in verdict(weak, "--scaling", "weak"), f"{name} times of growing work")
    check("--scaling" not in verdict(weak, "--scaling", "strong"), f"{name} times of fixed work")
check("1.00 workers" not in verdict(SCRATCH / "rising.csv", "--scaling", "strong"), "no peak at 1.00 workers")

# ---- a law that misses gives nothing beyond ------------------------------------------------------------------------------------
noise = table("noise.csv", rows("workers,seconds", *zip((1, 2, 4, 8, 16, 32), (9, 1, 30, 2, 40, 1))))
value = fit(noise, "--predict", "16,64,1024")
equal([row["workers"] for row in value["predictions"]], [16], "no time outside of the measured counts")
check("withheld" in [one["kind"] for one in value["findings"]], "and that is a finding")
said = verdict(noise)
check("no peak, ceiling or time outside of the measured counts" in said and "Measured: " in said, f"verdict of noise: {said}")

# ---- several series --------------------------------------------------------------------------------------------------------------
SERIES = {
    "whole": ("size,nprocs,time", [(s, k, s / 1e7 / k) for s in (100000000, 50000000) for k in (1, 2, 4)], "size=100000000"),
    "unit": ("mesh,nprocs,time", [(s, k, t / k) for s, t in (("512x512", 4), ("1024x1024", 16)) for k in (1, 2, 4)], "mesh=512x512"),
    "suffix": ("problem,nprocs,time", [(s, k, t / k) for s, t in (("100M", 8), ("50M", 4)) for k in (1, 2, 4)], "problem=100M"),
    "fraction": ("density,nprocs,time", [(s, k, 10 * s / k) for s in (0.5, 1.5) for k in (1, 2, 4)], "density=0.5"),
    "text": ("code,nprocs,time", [(s, k, t / k) for s, t in (("a", 8), ("b", 3)) for k in (1, 2, 4)], "code=a"),
}
for name, (header, lines, condition) in SERIES.items():
    path = table(f"series_{name}.csv", rows(header, *lines))
    value = fit(path)
    equal(value["table"]["series"], [condition], f"series by {name}")
    said = verdict(path)
    check(f"--where '{condition}'" in said and said.startswith("The rows are of 2 series"), f"series by {name}: {said}")
    one = fit(path, "--where", condition)
    equal((one["table"]["rows"], one["table"]["series"]), (3, []), f"one series by {name}")
few = fit(table("few.csv", rows("size,nprocs,time", (100, 1, 10), (200, 1, 20), (400, 1, 40), (100, 2, 5.2), (200, 2, 10.3))))
equal(few["table"]["series"], ["size=100"], "more sizes than counts")
grid = fit(table("grid.csv", rows("nodes,ppn,seconds", (1, 1, 100), (1, 2, 52), (1, 4, 28), (2, 4, 15), (4, 4, 9))))
equal((grid["table"]["workers_column"], grid["table"]["series"]), ("nodes x ppn", []), "counts that multiply are no series")
equal([row["workers"] for row in grid["predictions"] if not row["beyond_measured"]], [1, 2, 4, 8, 16], "their product counts the workers")
repeats = fit(table("repeats.csv", rows("host,nprocs,time", *((h, k, t / k * n) for k in (1, 2, 4) for h, n, t in (("a", 1, 8), ("b", 1.02, 8))))))
equal(repeats["table"]["series"], [], "hosts that agree are repeats")

measured = table("measured.csv", rows("threads,time,mem_kb", *((k, 10 / k * (1 + 0.001 * (i % 7)), 1000 + 37 * (i * k % 41)) for k in (1, 2, 4, 8) for i in range(12))))
equal(fit(measured)["table"]["series"], [], "a measured column of whole numbers")

# ---- the workers are the column that varies -----------------------------------------------------------------------------------------
for header, lines, column in (
        ("threads,processes,total_ms", [(1, 1, 80), (2, 1, 41), (4, 1, 21)], "threads"),
        ("threads,processes,total_ms", [(1, 1, 80), (2, 1, 41), (4, 1, 21), (4, 2, 12)], "threads"),
        ("threads,processes,total_ms", [(t, p, 80 / t / p) for p in (1, 2, 4) for t in (1, 2, 3, 4)], "processes"),
        ("nodes,gpus,seconds", [(1, 8, 80), (2, 16, 41), (4, 32, 21)], "gpus"),
        ("gpus,nodes,seconds", [(8, 1, 80), (8, 2, 41), (8, 4, 21)], "nodes"),
        ("threads,seconds,cpu%", [(1, 80, "99%"), (2, 41, "98%"), (4, 21, "97%")], "threads"),
        ("n,threads,seconds", [(100, 1, 80), (100, 2, 41), (100, 4, 21)], "threads"),
        ("n,threads,seconds", [(100, 1, 80), (200, 1, 160), (300, 2, 120), (400, 2, 161)], "threads")):
    equal(fit(table("columns.csv", rows(header, *lines)))["table"]["workers_column"], column, f"workers of {header}, {lines}")
constant = run("laws", "--fit", table("constant.csv", rows("procs,team,seconds", (1, 1, 80), (1, 2, 41), (1, 4, 21))))
equal(constant.code, 2, "a constant worker count with another that varies")
check("--workers-column 'team'" in constant.err, f"names the column that varies: {constant.err}")

# ---- a head says what the values are: A per time is a rate and never a time ---------------------------------------------------------------
for head in ("samples_per_sec", "tokens_per_s", "images per s", "jobs per hour", "samples/min", "img/s", "Performance [ns/day]", "GFLOPS", "fps", "Bandwidth (GB/s)"):
    value = fit(table("head.csv", rows(f"threads,{head}", (1, 100), (2, 190), (4, 360), (8, 650))))
    equal((value["fitted_quantity"], value["predictions"][0]["workers"]), ("throughput", 1), f"values under {head!r}")
for head, seconds in (("ms/step", 0.1), ("s/iter", 100), ("seconds per iteration", 100), ("time per step (ms)", 0.1), ("Loop time", 100), ("real", 100)):
    value = fit(table("head.csv", rows(f"threads,{head}", (1, 100), (2, 53), (4, 29), (8, 17))))
    equal(value["fitted_quantity"], "seconds", f"values under {head!r}")
    close(value["predictions"][0]["ideal"], seconds, f"unit of {head!r}")
for head in ("samples/second/gpu", "TFLOP/s/GPU"):
    data = (1, 100), (2, 95), (4, 90), (8, 80)
    equal(run("laws", "--fit", table("head.csv", rows(f"threads,{head}", *data))).code, 2, f"{head!r} is of another worker")
    value = fit(table("head.csv", rows(f"gpus,{head}", *data)))
    close(value["predictions"][3]["ideal"], 800, f"{head!r} is of each worker")
    check(any("of one worker" in note for note in value["table"]["notes"]), f"which is said: {value['table']['notes']}")

# ---- digit groups and decimal commas are read whole or refused -------------------------------------------------------------------------
plain = [row["value"] for row in fit(table("plain.csv", rows("threads,throughput", (1, 1500), (2, 2500), (4, 4500), (8, 7500), (16, 11500))))["predictions"]]
for name, separator, cells in (("comma", ",", ('"1,500"', '"2,500"', '"4,500"', '"7,500"', '"11,500"')),
                               ("underscore", ",", ("1_500", "2_500", "4_500", "7_500", "11_500")),
                               ("apostrophe", ",", ("1'500", "2'500", "4'500", "7'500", "11'500")),
                               ("blank", ";", ("1 500", "2 500", "4 500", "7 500", "11 500")),
                               ("both", ";", ("1.500,0", "2.500,0", "4.500,0", "7.500,0", "11.500,0")),
                               ("decimal", ";", ("1500,0", "2500,0", "4500,0", "7500,0", "11500,0"))):
    text = f"threads{separator}throughput\n" + "".join(f"{k}{separator}{cell}\n" for k, cell in zip((1, 2, 4, 8, 16), cells))
    equal([row["value"] for row in fit(table(f"{name}.csv", text))["predictions"]], plain, f"digits with {name}")
for cell in ("1,50,0", "12abc", "1.500.2", "5 of 7"):
    refused = run("laws", "--fit", table("cell.csv", rows("threads,seconds", (1, 80), (2, f'"{cell}"'), (4, 21))))
    equal(refused.code, 4, f"{cell!r} is refused")
    check(":3: 'seconds'" in refused.err and cell in refused.err, f"{cell!r}: names the cell: {refused.err}")

# ---- the tables of the reports -----------------------------------------------------------------------------------------------------------
cases = pathlib.Path(os.environ.get("HEADROOM_SHARED", SOURCE.parent / "shared")) / "cases"
EXPECTED = {  # file: workers, values, rows, what the verdict holds
    "laws-digit-groups/th_us.csv": ("cores", "throughput", 4, ""),
    "laws-digit-groups/thousand.csv": ("threads", "throughput", 5, "17.9x one worker"),
    "laws-digit-groups/thousand_ok.csv": ("threads", "throughput", 5, "17.9x one worker"),
    "laws-digit-groups/l2.csv": ("OpenMP Threads per Rank", "Inactive [particles/sec]", 6, "no peak"),
    "laws-read-right/algorithms.csv": ("threads", "seconds", 15, "--where 'algo=bitonic'"),
    "laws-read-right/negative_scaling.csv": ("threads", "time_us", 5, "2.38 workers"),
    "laws-read-right/ranks.csv": ("ranks", "time_seconds", 3, ""),
    "laws-speedup-from-4/speedups.csv": ("cores", "speed-up", 3, "6.07x one worker"),
    "laws-speedup-from-4/with_one.csv": ("cores", "speed-up", 4, "5.22x one worker"),
    "laws-tables-as-found/comment_first.csv": ("cores", "time (s)", 4, "31.2x"),
    "laws-tables-as-found/jdftx.md": ("CPUs", "timeOfOneLCAOMinimize(s)", 26, ""),
    "laws-tables-as-found/openmc.md": ("OpenMP Threads per Rank", "Inactive [particles/sec]", 6, "no peak"),
    "laws-tables-as-found/semicolon.csv": ("cores", "time (s)", 5, ""),
    "laws-tables-as-found/tab.csv": ("cores", "time (s)", 4, "31.2x"),
    "laws-tables-as-found/omp_threads.csv": ("OMP_NUM_THREADS", "wall clock time", 4, "--scaling weak"),
    "laws-tables-as-found/omp_threads.md": ("OMP_NUM_THREADS", "wall clock time", 4, "--scaling weak"),
    "laws-tables-as-found/no_header.csv": ("1", "6", 8, ""),
    "laws-tables-as-found/n_procs.csv": ("n_procs", "time_taken", 23, "--where 'n_threads=1'"),
    "laws-two-sizes/two_sizes.csv": ("nprocs", "time", 6, "--where 'size=100000000'"),
    "laws-worker-column-constant/processes.csv": ("threads", "total_ms", 9, "--where 'model=openmp'"),
}
if cases.is_dir():
    for file in sorted(str(path.relative_to(cases)) for path in cases.glob("laws-*/*")):
        value = fit(cases / file)
        if value is None:
            continue
        check(file in EXPECTED, f"{file}: a case without an expectation")
        workers, values, count, words = EXPECTED.get(file, ("", "", 0, ""))
        read = value["table"]
        equal((read["workers_column"], read["value_column"], read["rows"]), (workers, values, count), f"{file}: what was read")
        said = verdict(cases / file)
        check(words in said, f"{file}: {said}")
else:
    print("skipped: the tables of the reports need HEADROOM_SHARED")

equal(run("measure", "scaling", "--workers", "1,2", "--efficiency", "70%", "--dry-run", "--", "echo", "{workers}").code, 0, "--efficiency of a measured command")

# ---- a sheet says on standard error what was left out ------------------------------------------------------------------------------------

unused = table("unused.csv", rows("gpus,seconds,host", (1, 10, "a"), (2, 6, "b"), (4, 4, "c")))
said = run("laws", "--fit", unused, "--format", "csv")
check("column not used" in said.err and "'host'" in said.err, f"an unused column beside CSV: {said.err}")
equal(run("laws", "--fit", unused, "--format", "csv", "--quiet").err, "", "--quiet says nothing")

finish()
