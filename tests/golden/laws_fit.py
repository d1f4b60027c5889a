"""Fits to measured tables: what R and Extra-P print comes out of `laws --fit`, the answer follows its schema, its numbers
agree with each other, and bad tables are refused in one line."""

import json
import math
import os
import pathlib
import re

from _harness import SCRATCH, SOURCE, answer, check, close, equal, finish, run, schema_errors, skip, succeed

DATA = SOURCE / "tests" / "data" / "scaling"


def fit(table, *arguments):
    what = f"laws --fit {table} " + " ".join(map(str, arguments))
    value = answer("laws", "--fit", table, *arguments)
    if value is None:
        return None
    for error in schema_errors(value):
        check(False, f"{what}: {error}")
    names = [one["law"] for one in value["fits"]]
    check(value["best"] in names, f"{what}: best {value['best']} is none of {names}")
    for one in value["fits"]:
        if one["residual_standard_error"] is not None:
            close(one["rss"], one["residual_standard_error"] ** 2 * one["degrees_of_freedom"], f"{what}: {one['law']} residual")
        for name, c in one["coefficients"].items():
            if c["low"] is not None and c["high"] is not None:
                slack = 1e-9 * abs(c["value"])
                check(c["low"] <= c["value"] + slack and c["value"] <= c["high"] + slack, f"{what}: {one['law']} {name} {c}")
    for row in value["predictions"]:
        if None not in (row["low"], row["curve_low"], row["curve_high"], row["high"]):
            check(row["low"] <= row["curve_low"] <= row["value"] * (1 + 1e-9) and
                  row["value"] * (1 - 1e-9) <= row["curve_high"] <= row["high"], f"{what}: bands {row}")
    for row in value["karp_flatt"]:
        k, s = row["workers"] / value["karp_flatt_verdict"]["over_workers"], row["speedup"]
        close(row["serial_fraction"], (1 / s - 1 / k) / (1 - 1 / k), f"{what}: Karp-Flatt of {row}", 1e-6)
    return value


# times that lie on the law to the last digit: no interval is too narrow for rounding, whatever the number of repeats
for repeats in (1, 3, 5):
    exact = SCRATCH / f"exact{repeats}.csv"
    exact.write_text("workers,seconds\n" + "".join(f"{w},{0.022 + 0.22 / w}\n" for w in (1, 2, 4, 8, 16) for _ in range(repeats)))
    said = run("laws", "--fit", exact)
    check("never more than 11.0x" in said.out, f"{repeats} repeats of exact times: {said.out[:300]} {said.err}")


def law(value, name):
    found = [one for one in value["fits"] if one["law"] == name]
    return found[0] if check(len(found) == 1, f"one fit of {name}: {[one['law'] for one in value['fits']]}") else None


def value_of(value, name, coefficient):
    return law(value, name)["coefficients"][coefficient]["value"]


def printed(found, text, what):
    """Agreement with a number as it was printed: half of its last digit."""
    mantissa, _, exponent = text.lower().partition("e")
    digits = len(mantissa.partition(".")[2])
    step = 10.0 ** (int(exponent or 0) - digits)
    check(found is not None and abs(found - float(text)) <= 0.5000001 * step, f"{what}: {found!r}, printed {text}")


def table(name, text):
    path = SCRATCH / name
    path.write_text(text)
    return path


# ---- R's usl ----------------------------------------------------------------------------------------------------------
tracer = DATA / "usl_raytracer.csv"
six = table("six.csv", "\n".join(tracer.read_text().splitlines()[:7]) + "\n")
value = fit(six, "--law", "usl", "--intervals", "asymptotic")
for name, text in (("alpha", "0.02444"), ("beta", "0.00163"), ("gamma", "20.85605")):
    printed(value_of(value, "usl", name), text, f"first six points, {name}")
quantile = 2.015048372669157  # of one side, 0.95, with 5 degrees of freedom: what R's confint takes
for name, low, high in (("alpha", "0.00754", "0.04135"), ("beta", "0.00110", "0.00215"), ("gamma", "19.267", "22.445")):
    c = law(value, "usl")["coefficients"][name]
    printed(c["value"] - quantile * c["standard_error"], low, f"R's interval of {name}")
    printed(c["value"] + quantile * c["standard_error"], high, f"R's interval of {name}")
    close(c["high"] - c["value"], 2.3533634348018264 * c["standard_error"], f"90 % with 3 degrees of freedom, {name}", 1e-9)
value = fit(tracer)
printed(value_of(value, "usl", "alpha"), "0.0577708", "all points, alpha")
equal(value_of(value, "usl", "beta"), 0, "all points, beta is at its bound")
equal(law(value, "usl")["coefficients"]["beta"]["at_bound"], True, "and says so")
printed(value_of(value, "usl", "gamma"), "21.848843", "all points, gamma")
printed(value_of(value, "usl_normalised", "alpha"), "0.0497973", "gamma fixed, alpha")
close(value_of(value, "usl_normalised", "beta"), 1.14345e-5, "gamma fixed, beta", 1e-5)
equal(value_of(value, "usl_normalised", "gamma"), 20, "gamma is X(1)")
equal(value["best"], "amdahl", "a law with beta at its bound is Amdahl's, with one coefficient less")
# the knee of S(K) = 1/(s + (1-s)/K), s = 0.0578: 8 -> 16 gains 1.504, 4 -> 8 gains 1.671
equal(value["knee_workers"], 8, "knee of the ray tracer")
rows = [tuple(map(float, line.split(","))) for line in tracer.read_text().splitlines()[1:]]


def rss_at_ceiling(ceiling):
    """The least sum of squares of X(K) = g K / (1 + (g/C)(K-1)) over g: a search of one dimension, by thirds."""
    def rss(g):
        return sum((x - g * k / (1 + g / ceiling * (k - 1))) ** 2 for k, x in rows)

    low, high = 1.0, 100.0
    for _ in range(200):
        third = (high - low) / 3
        low, high = (low, high - third) if rss(low + third) < rss(high - third) else (low + third, high)
    return rss(low)


least = law(value, "amdahl")["rss"]
close(rss_at_ceiling(law(value, "amdahl")["ceiling_value"]), least, "the ceiling is where the sum of squares is least", 1e-9)
t = 1.8331129326536337  # of 95 % and 9 degrees of freedom
for end in ("ceiling_value_low", "ceiling_value_high"):
    close(rss_at_ceiling(value[end]), least * (1 + t * t / 9), f"profile of the ceiling at {end}", 2e-3)
endless = fit(table("endless.csv", "workers,throughput\n1,10\n2,19.4\n4,40.9\n8,78\n16,162\n"), "--law", "amdahl")
equal(endless["ceiling_value_high"], None, "a table that hardly bends sets the ceiling no upper end")
close_laws = table("close.csv", "workers,seconds\n1,812\n2,421\n4,226\n8,131\n16,88\n32,71\n64,69\n")
told = " ".join(succeed("laws", "--fit", close_laws).out.split())
check("the peak is at 73.7 workers (42.9 to 73.7 by laws that fit as well)" in told, f"another peak is told: {told[:200]}")
little = table("little.csv", "workers,seconds\n1,100\n2,52\n4,24.9\n8,13.2\n16,6.4\n")
equal(fit(little, "--law", "fixed_communication")["ceiling_value_low"], None, "a serial time that may be nothing")
told = succeed("laws", "--fit", little, "--law", "fixed_communication").out
check("the ceiling, if there is one, is about 184x" in told, f"an open ceiling is said to be one: {told[:200]}")
close(law(value, "amdahl")["ceiling"], 1 / value_of(value, "amdahl", "s"), "Amdahl's ceiling")
value = fit(DATA / "usl_specsdm91.csv")
usl = law(value, "usl")
for name, text, error in (("alpha", "2.773e-02", "9.122e-03"), ("beta", "1.044e-04", "1.988e-05"), ("gamma", "9.000e+01", "14.21")):
    printed(usl["coefficients"][name]["value"], text, f"specsdm91 {name}")
    printed(usl["coefficients"][name]["standard_error"], error, f"specsdm91 error of {name}")
printed(usl["residual_standard_error"], "82.85", "specsdm91 residual standard error")
equal(usl["degrees_of_freedom"], 4, "specsdm91 degrees of freedom")
printed(usl["peak_workers"], "96.52", "specsdm91 peak")
printed(usl["ceiling_value"], "1884", "specsdm91 throughput at the peak")
printed(usl["limit_value"], "3245.6", "specsdm91 limit of Amdahl")
equal(value["best"], "usl", "specsdm91")
equal(value["karp_flatt_verdict"]["trend"], "rising", "specsdm91: overhead")

# ---- Extra-P -----------------------------------------------------------------------------------------------------------


def model_of(text):
    """"-0.88 + 0.2 * x^(2)" as constant, factor, exponent, exponent of the logarithm."""
    constant, _, term = text.partition(" + ")
    factor, _, rest = term.partition(" * ")
    power = re.search(r"(?:^|\* )[a-z]\^\(([^)]*)\)", rest)
    logarithm = re.search(r"log2\([a-z]\)\^\(([^)]*)\)", rest)
    top, _, bottom = (power.group(1) if power else "0").partition("/")
    return float(constant), float(factor), float(top) / float(bottom or 1), int(logarithm.group(1)) if logarithm else 0


def same_model(value, reference, what):
    one = law(value, "normal_form")
    constant, factor, exponent, logarithm = model_of(reference["model"])
    close(one["coefficients"]["c0"]["value"], constant, f"{what}: c0", 1e-6)
    close(one["coefficients"]["c1"]["value"], factor, f"{what}: c1", 1e-6)
    close(one["term"]["exponent"], exponent, f"{what}: exponent") if exponent else equal(one["term"]["exponent"], 0.0, what)
    equal(one["term"]["logarithm_exponent"], logarithm, f"{what}: exponent of the logarithm")
    for ours, theirs in (("rss", "RSS"), ("smape", "SMAPE"), ("adjusted_r2", "AR2"), ("relative_rss", "rRSS")):
        close(one["cross_validation"][ours], reference[theirs], f"{what}: {theirs}", 1e-6)


REFERENCE = json.loads((DATA / "extrap_models.json").read_text())


def reversed_rows(path, name):
    lines = path.read_text().split("\nMETRIC flops")[0].splitlines()
    data = [line for line in lines if line.startswith("DATA")]
    return table(name, "\n".join([line for line in lines if not line.startswith("DATA")] + data[::-1]) + "\n")


first, third = DATA / "one_parameter_1.txt", DATA / "one_parameter_3.txt"
SOURCES = {"docs/examples/input.txt": DATA / "docs_example_input.txt", "tests/data/text/one_parameter_1.txt": first,
           "tests/data/text/one_parameter_2.txt": third, "tests/data/text/one_parameter_3.txt": third,
           "tests/data/text/strong_scaling/one_parameter_1.txt": reversed_rows(first, "strong_1.txt"),
           "tests/data/text/strong_scaling/one_parameter_2.txt": reversed_rows(third, "strong_2.txt")}
for one in REFERENCE:
    metric = ["--metric", one["metric"]] if "parameter_3" in one["file"] else []
    same_model(fit(SOURCES[one["file"]], *metric), one, f"{one['file']} {one['metric']}")
# with medians: least squares over 1 and p^i log^j p of the medians, computed apart
for path, constant, factor in ((DATA / "docs_example_input.txt", 2.7229464299611665, 0.4838585818310699),
                               (first, -1.4552477453412986, 0.202168341353126), (third, -2.474960860128555, 0.20206469546920244)):
    value = fit(path, "--centre", "median")
    close(value_of(value, "normal_form", "c0"), constant, f"medians of {path.name}, c0", 1e-9)
    close(value_of(value, "normal_form", "c1"), factor, f"medians of {path.name}, c1", 1e-9)
shared = pathlib.Path(os.environ.get("HEADROOM_SHARED", SOURCE.parent / "shared")) / "data" / "scaling"
if (shared / "extrap_reference_models.json").is_file():
    every = json.loads((shared / "extrap_reference_models.json").read_text())
    files = {"docs/examples/input.txt": "docs_example_input.txt"} | {f"tests/data/text/one_parameter_{i}.txt": f"one_parameter_{i}.txt" for i in (1, 2, 3)}
    checked = 0
    for one in every:
        if one["file"] in files:
            same_model(fit(shared / "extrap_text" / files[one["file"]], "--law", "normal_form", "--region", one["callpath"],
                           "--metric", one["metric"]), one, f"{one['file']} {one['callpath']}")
            checked += 1
    print(checked, "models of Extra-P, every region, reproduced")
else:
    skip("the models of every region need HEADROOM_SHARED")

# ---- known laws come back ------------------------------------------------------------------------------------------------


def rows(header, counts, f):
    return header + "\n" + "".join(f"{k},{f(k)!r}\n" for k in counts)


value = fit(table("amdahl.csv", rows("workers,speedup", (1, 2, 4, 8, 16, 64), lambda k: 1 / (0.05 + 0.95 / k))), "--predict", "64,128")
close(value_of(value, "amdahl", "s"), 0.05, "Amdahl's share", 1e-9)
equal(value["best"], "amdahl", "Amdahl's law is found")
equal([row["workers"] for row in value["predictions"]], [64, 128], "--predict")
close(value["predictions"][1]["value"], 1 / (0.05 + 0.95 / 128), "predicted", 1e-9)
equal(value["fitted_quantity"], "speedup", "a table of speed-ups")
value = fit(table("weak.csv", rows("gpus,step_ms", (1, 2, 4, 8, 16), lambda k: 100 * k / (k - 0.05 * (k - 1)))), "--scaling", "weak")
close(value_of(value, "gustafson", "s"), 0.05, "Gustafson's share", 1e-9)
equal([one["law"] for one in value["fits"] if one["law"] in ("amdahl", "fixed_communication")], [], "no fixed problem")
value = fit(table("chain.csv", rows("K,seconds", (1, 2, 4, 8, 16, 32), lambda k: 1 + 40 / k + 0.05 * k)))
close(value_of(value, "chain_synchronisation", "c"), 0.05, "a chain's link", 1e-8)
close(law(value, "chain_synchronisation")["peak_workers"], math.sqrt(40 / 0.05), "its optimum", 1e-8)
value = fit(table("tree.csv", rows("K,seconds", (1, 2, 4, 8, 16, 32), lambda k: 1 + 40 / k + 0.5 * math.log2(k))))
close(value_of(value, "tree_synchronisation", "c"), 0.5, "a tree's level", 1e-8)
close(law(value, "tree_synchronisation")["peak_workers"], 40 * math.log(2) / 0.5, "its optimum", 1e-8)
super_linear = fit(table("super.csv", "workers,throughput\n1,100 img/s\n2,210 img/s\n4,390 img/s\n8,700 img/s\n"))
equal([(one["kind"], one["workers"]) for one in super_linear["findings"]][:1], [("superlinear", 2)], "super-linear points are told")
equal(super_linear["table"]["unit"], "img/s", "the unit of the cells")

# ---- synchronisation -----------------------------------------------------------------------------------------------------
chain = fit(table("sync_chain.csv", "workers,sync_us\n2,9.2\n4,13.1\n8,20.9\n16,37.2\n32,69\n64,133.3\n"))
equal(chain["synchronisation"]["growth"], "linear", "a chain")
close(chain["synchronisation"]["linear_seconds"], 133e-6, "a chain at 64", 0.01)
check("as a chain does" in chain["synchronisation"]["sentence"], f"in words: {chain['synchronisation']['sentence']}")
tree = fit(table("sync_tree.csv", "workers,seconds\n2,0.0141\n4,0.0229\n8,0.0321\n16,0.0409\n32,0.0502\n64,0.0588\n"), "--quantity", "sync")
equal(tree["synchronisation"]["growth"], "logarithmic", "a tree")
check("a chain fitted to the same measurements would take" in tree["synchronisation"]["sentence"], "and what the other would give")
equal(fit(table("sync_few.csv", "workers,sync_us\n2,10\n4,14\n8,23\n"))["synchronisation"]["growth"], "unclear", "three points")

# ---- intervals -----------------------------------------------------------------------------------------------------------
for how in ("bootstrap", "bootstrap_pairs"):
    once = succeed("laws", "--fit", tracer, "--intervals", how, "--seed", "7", "--format", "json").out
    equal(once, succeed("laws", "--fit", tracer, "--intervals", how, "--seed", "7", "--format", "json").out, f"{how} repeats")
    check(once != succeed("laws", "--fit", tracer, "--intervals", how, "--seed", "8", "--format", "json").out, f"{how} has a seed")
wide, narrow = (law(fit(tracer, "--coverage", c), "amdahl")["coefficients"]["s"] for c in ("0.95", "80%"))
check(wide["low"] < narrow["low"] and narrow["high"] < wide["high"], "wider intervals cover more")

# errors as a share of the time: sigma = 1 % of each says the same, up to the common factor
counts = (1, 2, 4, 8, 16, 32, 64)
wobble = (1.01, 0.99, 1.02, 0.985, 1.0, 1.015, 0.99)
times = [(k, (0.5 + 100 / k) * w) for k, w in zip(counts, wobble)]
plain = table("times.csv", "workers,seconds\n" + "".join(f"{k},{t!r}\n" for k, t in times))
stated = table("sigmas.csv", "workers,seconds,sigma\n" + "".join(f"{k},{t!r},{t / 100!r}\n" for k, t in times))
relative = fit(plain, "--errors", "relative")
for name in ("a", "b"):
    close(value_of(relative, "fixed_communication", name), value_of(fit(stated), "fixed_communication", name), f"relative errors, {name}", 1e-9)
equal(relative["errors"], "relative", "what the errors are")
check("unequal_times" in [one["kind"] for one in fit(plain)["findings"]], "long and short times in one table")
row = relative["predictions"][-1]
check(row["high"] - row["low"] < 0.2 * row["value"], f"errors of a share stay a share beyond: {row}")

# ---- tables, weights, columns --------------------------------------------------------------------------------------------
shuffled = tracer.read_text().splitlines()
same = fit(table("shuffled.csv", "\n".join(shuffled[:1] + shuffled[:0:-1]) + "\n"))
there = fit(tracer)
equal(same["fits"], there["fits"], "the order of rows does not matter")
series = table("series.csv", "framework,gpus,throughput\n" + "".join(f"{f},{k},{s * k / (1 + 0.02 * (k - 1))}\n" for f, s in (("A", 100), ("B", 50)) for k in (1, 8, 16, 32)))
mixed = run("laws", "--fit", series, "--format", "json")
check("--where 'framework=A'" in mixed.err, f"several series are told: {mixed.err}")
close(value_of(fit(series, "--where", "framework=B"), "amdahl", "gamma"), 50, "one series", 1e-9)

# ---- for people, and CSV -------------------------------------------------------------------------------------------------
shown = succeed("laws", "--fit", DATA / "usl_specsdm91.csv").out
check(shown.startswith("usl fits best: the peak is at 96.5 workers"), f"the verdict comes first: {shown[:80]!r}")
check(all(len(line) <= 80 for line in shown.splitlines()), "80 columns: " + max(shown.splitlines(), key=len))
sheet = succeed("laws", "--fit", DATA / "usl_specsdm91.csv", "--format", "csv").out.splitlines()
equal(len(sheet), 1 + 9, "a line a predicted count")
equal(sheet[0].split(",")[:3], ["law", "workers", "value"], "header of the CSV")
check(succeed("laws", "--fit", tracer).processor_seconds < 2.0, "a fit is quick")  # 30 ms; the bound is for slow processors

# ---- refusals ------------------------------------------------------------------------------------------------------------
few = table("few.csv", "workers,seconds\n4,10\n")
for code, words, arguments in (
        (5, "--fit: 1 worker count (linear: it needs 2 worker counts, there are 1)", ["--fit", few]),
        (5, "usl: it needs 4 worker counts, there are 3", ["--fit", table("three.csv", "workers,seconds\n1,9\n2,5\n4,3\n"), "--law", "usl"]),
        (4, ":3: 'seconds': 'x' is no number", ["--fit", table("bad.csv", "workers,seconds\n1,2\n2,x\n")]),
        (4, "is missing|no such file|cannot", ["--fit", SCRATCH / "nothing.csv"]),
        (2, "no column of worker counts", ["--fit", table("cols.csv", "a,seconds\n1,2\n")]),
        (2, "did you mean 'usl'?", ["--fit", tracer, "--law", "uls"]),
        (2, "'linear_growth' does not apply", ["--fit", tracer, "--law", "linear_growth"]),
        (2, "belongs to a bootstrap", ["--fit", tracer, "--seed", "3"]),
        (2, "--coverage", ["--fit", tracer, "--coverage", "2"]),
        (2, "belongs to a text of Extra-P", ["--fit", tracer, "--region", "main"]),
        (2, "no region 'mian'", ["--fit", third, "--region", "mian"]),
        (2, "has no effect here", ["--fit", SCRATCH / "sync_chain.csv", "--scaling", "weak"])):
    done = run("laws", *arguments)
    equal(done.code, code, f"{done}: exit")
    check(re.search(re.escape(words) if "|" not in words else words, done.err) is not None, f"{done}: {done.err!r} should say {words!r}")
    equal(done.err.count("\n"), 1, f"{done}: one line")
    equal(done.out, "", f"{done}: nothing else")

# for people: the ceiling says what it is counted in, a table that no law fits is told, the title is no path
raytracer = SOURCE / "tests" / "data" / "scaling" / "usl_raytracer.csv"
done = succeed("laws", "--fit", raytracer, "--full", "--html", SCRATCH / "fit.html")
said, page = " ".join(done.out.split("\n\n")[0].split()), (SCRATCH / "fit.html").read_text()
check(" fits best: " in said and "one worker, a throughput of " in said, f"verdict of a fit: {said}")
check("<title>Scaling laws fitted to usl_raytracer.csv" in page and "T(K) = a + b/K" in done.out, "a short title, and the formulas")
(SCRATCH / "noise.csv").write_text("workers,throughput\n" + "".join(f"{k},{rate}\n" for k, rate in zip((1, 2, 4, 8, 16, 32), (9, 1, 30, 2, 40, 1))))
said = " ".join(succeed("laws", "--fit", SCRATCH / "noise.csv").out.split("\n\n")[0].split())
check("fits least badly" in said, f"verdict of a table without a law: {said}")
(SCRATCH / "falling.csv").write_text("gpus,throughput\n1,400\n2,780\n8,2800\n64,19200\n512,128000\n")
said = " ".join(succeed("laws", "--fit", SCRATCH / "falling.csv", "--full").out.split())
check(said.startswith("linear is chosen (--full has the reason)") and "of laws with enough measurements for one" in said,
      f"others miss by less, with too few measurements: {said}")

finish()
