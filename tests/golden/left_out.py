"""Terms that the speedup laws leave out: textbook numbers through the verbs, terms on and off, and the errors of their options."""

import json
import math
import re

from _harness import SCRATCH, SOURCE, answer, check, close, equal, finish, run, schema_errors, succeed

TEXTBOOK = json.loads((SOURCE / "tests" / "data" / "textbook.json").read_text())
BASE = ["predict", "llama-3-8b", "--cluster", "dgx-h100"]
EIGHT = [*BASE, "--workers", 8]
PLAN = ["plan", "llama-3-8b", "--cluster", "dgx-h100", "--workers", "8..64"]


def conforms(value, what):
    for error in schema_errors(value):
        check(False, f"{what}: {error}")
    return value


def ask(*arguments, code=0):
    return conforms(answer(*arguments, code=code), " ".join(map(str, arguments)))


def row(result, term):
    return next(one for one in result["left_out"] if one["term"] == term)


# ---- checkpoints ---------------------------------------------------------------------------------------------------

book = TEXTBOOK["checkpointing"]
STORED = [*EIGHT, "--cluster-mtbf", "3.1h", "--checkpoint", "60s"]
for name, percent in book["time_over_work_minus_1_percent"].items():
    restart = name.split("_")[1] + "s"
    run_ = ask(*STORED, "--restart", restart, "--checkpoint-interval", "young", "--tokens", "1T")
    goodput = run_["goodput"]
    equal(round(goodput["young_interval_seconds"]), book["young_interval_seconds"], "Young's interval")
    equal(round(goodput["exact_interval_seconds"], -1), book["exact_optimum_seconds"], "exact optimum")
    equal(round(100 * (goodput["time_over_work"] - 1), 2), percent, f"time over work at Young's interval, {name}")
    equal(goodput["interval_seconds"], goodput["young_interval_seconds"], "the interval asked for")
    close(sum(goodput["shares"].values()), 1, "shares of the time")
    close(run_["days"] / run_["productive_days"], goodput["time_over_work"], "days over productive days")
    close(run_["cost_dollars"] / run_["dollars_per_million_tokens"], 1e6, "cost of a trillion tokens")
    best = ask(*STORED, "--restart", restart)["goodput"]
    check(best["time_over_work"] < goodput["time_over_work"], f"the exact optimum is not the least: {best}")
    equal(best["interval_seconds"], best["exact_interval_seconds"], "the exact optimum is the default")

# the state of a dense model over the nodes: 2 bytes of weights and 12 of optimizer state a parameter
written = ask(*BASE, "--nodes", 4, "--checkpoint-rate", "2 GB/s", "--checkpoint-blocking", "10%")["goodput"]
close(written["checkpoint_seconds"], 0.1 * written["state_bytes"] / (4 * 2e9), "a computed checkpoint")
close(written["state_bytes"], 14 * TEXTBOOK["parameter_counts"]["llama-3.1-8b"], "bytes of a checkpoint")
close(written["cluster_mtbf_seconds"], 50700 * 3600 / 32, "the default between failures")
assumed = {one["field"]: one for one in ask(*EIGHT, "--restart", "0s")["assumed"]}
equal(assumed["mtbf"]["provenance"], "cited", "provenance of the default between failures")
check({"checkpoint_rate", "checkpoint_blocking", "checkpoint_interval"} <= assumed.keys(), f"defaults are listed: {sorted(assumed)}")

# ---- the slowest of many -------------------------------------------------------------------------------------------

for workers, z in TEXTBOOK["tail"]["expected_max_standard_normal"].items():
    arguments = [*BASE, "--workers", workers, "--global-batch", 2048]
    spread, none = ask(*arguments, "--step-spread", "1%"), ask(*arguments, "--step-spread", "off")
    stragglers = row(spread, "stragglers")
    equal(round(stragglers["expected_maximum"], 4), z, f"expected slowest of {workers}")
    close(stragglers["value"], 0.01 * stragglers["expected_maximum"], f"share of the slowest of {workers}")
    fixed = none["breakdown"]["overhead_seconds"]
    close((spread["step_seconds"] - fixed) / (none["step_seconds"] - fixed), 1 + stragglers["value"],
          f"step of {workers} with the slowest over the step without")
    close(stragglers["seconds"], spread["step_seconds"] - none["step_seconds"], f"seconds of the slowest of {workers}")
    equal(row(none, "stragglers")["on"], False, "--step-spread off")

# ---- imbalance, congestion -----------------------------------------------------------------------------------------

plain, heavier = ask(*EIGHT), ask(*EIGHT, "--imbalance", "1.08")
close(heavier["step_seconds"] - plain["step_seconds"], row(heavier, "imbalance")["seconds"], "seconds of an imbalance")
table = SCRATCH / "work.csv"
table.write_text("rank,work\n" + "".join(f"{rank},{1.1 if rank == 3 else 0.98571428571428571}\n" for rank in range(8)))
measured = ask(*EIGHT, "--imbalance", table)
close(row(measured, "imbalance")["value"], 1.1, "largest over mean of a file")
drawn = ask(*BASE, "--dp", 8, "--tp", 1, "--pp", 1, "--zero", 2, "--recompute", "full", "--imbalance", "lengths:50%:16")
close(row(drawn, "imbalance")["value"], 1 + 0.5 / 4 * 1.4236003, "imbalance of uneven sequences", 1e-6)
for arguments in (["--imbalance", "off"], ["--congestion", "off"], ["--mtbf", "off"], ["--critical-batch", "off"], ["--congestion", "0%"]):
    equal(run(*EIGHT, *arguments, "--format", "json").out, run(*EIGHT, "--format", "json").out, f"{arguments} against nothing said")
equal(ask(*EIGHT, "--congestion", "5%")["step_seconds"], plain["step_seconds"], "congestion inside one domain")
crowded = ask(*BASE, "--nodes", 8, "--congestion", "5%", "--explain", "congestion")
check(row(crowded, "congestion")["seconds"] > 0, "congestion between domains")
close(crowded["terms"][0]["value"], 1.15, "three doublings of domains lose 15 %")

# ---- the batch -----------------------------------------------------------------------------------------------------

# a batch in tokens: millions may be of 2^20, a number in full is what it says; days are counted in days
for tokens, sequences in (("4M tokens", 512), ("4,000,000 tokens", 488), ("4194304 tokens", 512)):
    one = ask(*EIGHT, "--global-batch", tokens, "--sequence-length", 8192)
    equal(one["workload"]["global_batch"] if one else None, sequences, f"--global-batch '{tokens}'")
equal(run(*EIGHT, "--tokens", "1T", "--require", "days<=1").code, 99, "days<=1")
equal(run(*EIGHT, "--tokens", "1T", "--require", "days<=100000").code, 0, "days<=100000")
half = ask(*EIGHT, "--global-batch", 512, "--critical-batch", "4Mtokens", "--sequence-length", 8192, "--tokens", "1T")
equal(half["statistics"]["critical_batch"], 4e6 / 8192, "critical batch of tokens in sequences")
same = ask(*EIGHT, "--global-batch", 512, "--critical-batch", "512 sequences", "--tokens", "1T")
equal(same["statistics"]["sample_efficiency"], 0.5, "efficiency at the critical batch")
equal(same["statistics"]["tokens_needed"], 2e12, "tokens at the critical batch")
close(same["statistics"]["time_to_target_seconds"], same["statistics"]["steps_needed"] * same["step_seconds"], "time to target")
close(same["days"] * 86400, same["statistics"]["time_to_target_seconds"], "days are those to the target")
# |G|^2 = 1, tr Sigma = 256: squared norms 1 + 256/64 = 5 and 1 + 256/1024 = 1.25
noise = ask(*EIGHT, "--gradient-norms", "64:5,1024:1.25")
close(noise["statistics"]["critical_batch"], 256, "noise scale of two norms")
equal(noise["statistics"]["time_to_target_seconds"], None, "no time to target without tokens")

# ---- opened, listed, shown -----------------------------------------------------------------------------------------

ALL = ["--imbalance", "1.1", "--step-spread", "2%", "--congestion", "5%", "--mtbf", "20000h", "--critical-batch", 1024, "--tokens", "1T"]
for term, names in {"imbalance": {"imbalance_seconds"}, "stragglers": {"stragglers_seconds"}, "congestion": {"congestion_slowdown"},
                    "goodput": {"goodput", "time_over_work", "young_interval_seconds", "cluster_mtbf_seconds", "checkpoint_seconds"},
                    "critical batch": {"sample_efficiency", "tokens_needed", "steps_needed"}, "time_over_work": {"time_over_work", "cluster_mtbf_seconds", "checkpoint_seconds"}}.items():
    opened = ask(*BASE, "--nodes", 8, *ALL, "--explain", term)
    formulas = [one for one in opened["terms"] if one["kind"] == "formula"]
    equal({one["name"] for one in formulas}, names, f"--explain {term}")
    for one in formulas:
        functions = {"min": min, "max": max, "ceil": math.ceil, "floor": math.floor, "log2": math.log2}
        close(eval(one["formula"].replace("^", "**"), {"__builtins__": {}}, functions | one["inputs"]), one["value"], f"formula of {one['name']}")
whole = ask(*BASE, "--nodes", 8, *ALL, "--explain")
equal([one["value"] for one in whole["terms"] if one["name"] == "step_seconds"], [whole["step_seconds"]], "explained step with every term on")
equal([one["term"] for one in whole["left_out"]], ["imbalance", "stragglers", "congestion", "failures", "critical_batch"], "terms")
check(all(one["on"] and one["seconds"] > 0 for one in whole["left_out"]), "every term is on and adds")
equal([one["on"] for one in plain["left_out"]], [False] * 5, "nothing is on by default")
equal((plain["goodput"], plain["statistics"], plain["productive_days"]), (None, None, None), "what nobody asked about")
for verb in ([*EIGHT], [*PLAN]):
    for extra in ([], ALL):
        text = succeed(*verb, *extra, "--full").out
        check("What the laws leave out" in text, f"{verb}: the table is missing")
        screen = succeed(*verb, *extra).out
        check(len(screen.splitlines()) <= 25 and ("\ncounted: " in screen) == bool(extra), f"{verb} {extra}: a screen\n{screen}")
        check(extra or "not counted; add --congestion 5%" in text, f"{verb}: how to switch a term on")
        check(max(map(len, text.splitlines())) <= 80, f"{verb}: wider than 80 columns")
page = SCRATCH / "left-out.html"
succeed(*EIGHT, *ALL, "--html", page)
check("What the laws leave out" in page.read_text(), "the table on the page")
check("left_out.0.seconds," in succeed(*EIGHT, *ALL, "--format", "csv").out, "the rows of the sheet")
gated = succeed(*EIGHT, *ALL, "--require", "goodput>=0.5,time_to_target<=1000d,sample_efficiency>=40%")
equal(run(*EIGHT, *ALL, "--require", "goodput>=0.9999999").code, 99, "a gate on goodput")

# ---- plans ---------------------------------------------------------------------------------------------------------

plan = ask(*PLAN, "--tokens", "1T", "--mtbf", "2000h", "--restart", "300s")
for point in plan["curve"]:
    close(point["days"] / point["productive_days"], point["goodput"]["time_over_work"], f"days at {point['workers']}")
    close(point["cost_dollars"] / point["dollars_per_million_tokens"], 1e6, f"cost at {point['workers']}")
    equal(point["global_batch"], 1024, f"batch at {point['workers']}")

weak = ask("plan", "llama-3-8b", "--cluster", "dgx-h100", "--workers", "8..1024", "--tokens", "1T", "--batch-per-worker", 4, "--critical-batch", 64)
equal([point["global_batch"] for point in weak["curve"]], [4 * point["workers"] for point in weak["curve"]], "a batch that grows")
for point in weak["curve"]:
    strategy = point["strategy"]
    equal(strategy["dp"] * strategy["micro_batch"] * strategy["micro_batches"], point["global_batch"], f"micro-batches at {point['workers']}")
    close(point["time_to_target_seconds"], point["statistics"]["steps_needed"] * point["step_seconds"], f"time to target at {point['workers']}")
    close(point["days"] * 86400, point["time_to_target_seconds"], f"days at {point['workers']}")
check(weak["stop"]["workers"] < 1024 and "past the critical one" in weak["stop"]["reason"], f"stop: {weak['stop']}")
times = [point["time_to_target_seconds"] for point in weak["curve"]]
close(weak["curve"][-1]["speedup"], times[0] / times[-1], "speedup is that of the time to the target")
check(not any(one["field"] == "global_batch" for one in weak["assumptions"]), "a batch that grows is not assumed")

stuck = ask(*PLAN, "--cluster-mtbf", "1s", code=3)
check(all("no progress" in point["why_not"] for point in stuck["curve"]), f"no size progresses: {stuck['curve'][0]}")
alone = ask(*EIGHT, "--cluster-mtbf", "1s", "--tokens", "1T", code=3)
equal((alone["days"], alone["goodput"]["progresses"], alone["fits"]), (None, False, True), "a run without progress")
equal(row(alone, "failures")["seconds"], None, "seconds of a run without progress")

# ---- errors: one line, the place, the way out ----------------------------------------------------------------------

bad = SCRATCH / "bad.csv"
bad.write_text("rank,work\n0,1\n1,lots\n")
other = SCRATCH / "other.csv"
other.write_text("rank,load\n0,1\n")
ERRORS = [
    (["--imbalance", "0.9"], 2, "not from 1 to"),
    (["--imbalance", "-1"], 2, "not from 1 to"),
    (["--imbalance", "much"], 2, "neither a factor nor a file"),
    (["--imbalance", "8%"], 2, "write 1.08"),
    (["--imbalance", "lengths:0.5"], 2, "two numbers"),
    (["--imbalance", "lengths:-1:4"], 2, "coefficient of variation"),
    (["--imbalance", "lengths:0.5:0"], 2, "one or more"),
    (["--imbalance", "lengths:101%:4"], 2, "above 100 %"),
    (["--imbalance", "./no.csv"], 4, "no.csv"),
    (["--imbalance", bad], 4, "bad.csv:3: no amount of work 'lots'"),
    (["--imbalance", other], 4, "no column 'work'"),
    (["--step-spread", "2"], 2, "no unit"),
    (["--step-spread", "-2%"], 2, "negative"),
    (["--step-spread", "101%"], 2, "above 100 %"),
    (["--step-spread", "nan%"], 2, "no percentage"),
    (["--congestion", "0.05"], 2, "no unit"),
    (["--congestion", "1000%"], 2, "above 100 %"),
    (["--congestion", "much"], 2, "no percentage"),
    (["--mtbf", "50700"], 2, "--mtbf"),
    (["--mtbf", "0h"], 2, "not above zero"),
    (["--cluster-mtbf", "-3h"], 2, "--cluster-mtbf"),
    (["--mtbf", "1000h", "--cluster-mtbf", "3h"], 2, "keep one of the two"),
    (["--mtbf", "off", "--restart", "300s"], 2, "given with --mtbf off"),
    (["--checkpoint", "60"], 2, "--checkpoint"),
    (["--checkpoint", "60 GB"], 2, "--checkpoint"),
    (["--checkpoint", "60s", "--checkpoint-rate", "5 GB/s"], 2, "keep one of the two"),
    (["--checkpoint", "60s", "--checkpoint-blocking", "10%"], 2, "keep one of the two"),
    (["--checkpoint-rate", "5 GB"], 2, "--checkpoint-rate"),
    (["--checkpoint-rate", "0 GB/s"], 2, "not above zero"),
    (["--checkpoint-blocking", "0.1"], 2, "no unit"),
    (["--checkpoint-blocking", "110%"], 2, "above 100 %"),
    (["--checkpoint-interval", "yung"], 2, "did you mean 'young'?"),
    (["--checkpoint-interval", "20"], 2, "--checkpoint-interval"),
    (["--restart", "5"], 2, "--restart"),
    (["--critical-batch", "4M bytes"], 2, "--critical-batch"),
    (["--critical-batch", "0"], 2, "--critical-batch"),
    (["--critical-batch", "1024", "--gradient-norms", "64:5,1024:1.25"], 2, "keep one of the two"),
    (["--gradient-norms", "64:5"], 2, "1 batch sizes"),
    (["--gradient-norms", "64,1024"], 2, "not BATCH:NORM"),
    (["--gradient-norms", "64:-5,1024:1"], 2, "not negative"),
    (["--gradient-norms", "64:5,64:5"], 2, "equal"),
    (["--gradient-norms", "64:1,1024:5"], 5, "noise"),
    (["--gradient-norms", "64:1,1024:1"], 5, "no noise scale"),
    (["--batch-per-worker", "4"], 2, "--batch-per-worker"),
    (["--explain", "congestion"], 2, "switch it on: --congestion 5%"),
    (["--explain", "goodput"], 2, "switch it on: --mtbf 50700h"),
]
for arguments, code, contains in [*((([*EIGHT, *a]), c, t) for a, c, t in ERRORS),
                                  ([*PLAN, "--batch-per-worker", "4", "--global-batch", "64"], 2, "keep one of the two"),
                                  ([*PLAN, "--batch-per-worker", "1000000000"], 2, "1000000000"),
                                  ([*PLAN, "--batch-per-worker", "0"], 2, "--batch-per-worker"),
                                  ([*PLAN, "--cluster-mtbf", "1s"], 3, "no progress"),
                                  ([*EIGHT, "--cluster-mtbf", "1s"], 3, "failures: no progress")]:
    done = run(*arguments)
    equal(done.code, code, f"{done}: exit code; said {done.err.strip()}")
    equal(len(done.err.splitlines()), 1, f"{done}: lines on standard error")
    check(contains in done.err, f"{done}: {contains!r} is not in {done.err.strip()!r}")
    check(not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", done.err), f"{done}: control characters")

finish()
