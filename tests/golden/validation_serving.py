"""Published serving: every row is accounted for, and every figure is found again from its rows."""

import csv
import statistics

from _harness import SCRATCH, SOURCE, answer, check, close, equal, finish, run, schema_errors

TABLE = SOURCE / "validation" / "published_serving.csv"
METRICS = ("ttft", "tpot", "throughput")
PROPERTIES = {"family": "family", "engine": "engine", "accelerator": "accelerator", "precision": "precision"}


def is_weighted_p90(found, errors, what):
    """Checks the least error at or below which 90 % of the weight lies, families alike; on either side of a tie."""
    weights = sorted((abs(error), 1 / len(of_family)) for of_family in errors.values() for error in of_family)
    total = sum(weight for _, weight in weights)
    below = sum(weight for error, weight in weights if error < found * (1 - 1e-9))
    up_to = sum(weight for error, weight in weights if error <= found * (1 + 1e-9))
    check(below <= 0.9 * total * (1 + 1e-9) and up_to >= 0.9 * total * (1 - 1e-9), f"{what}: {found} has {below / total} below, {up_to / total} up to it")


result = answer("validate", "--serving")
if result:
    for error in schema_errors(result):
        check(False, f"schema: {error}")
    with open(TABLE, newline="", encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    rows = result["rows"]
    equal(len(rows) + len(result["skipped"]) + len(result["refused"]), len(table), "every row is compared, skipped or refused")
    check(len(rows) >= 0.9 * len(table), f"most rows are compared: {len(rows)}")
    equal(result["issues"], [], "all of the table is read")
    for one in result["skipped"] + result["refused"]:
        check(one["reason"], f"{one['id']}: no reason")
    for row in rows:
        for metric, figure in (("ttft", "ttft_seconds"), ("tpot", "tpot_seconds"), ("throughput", "tokens_per_second")):
            if row[f"{metric}_error"] is not None:
                close(row[f"{metric}_error"] + 1, row[figure] / row[f"measured_{figure}"], f"{row['id']}: {metric}")
        check(row["batch"] is None or row["held_batch"] <= row["batch"], f"{row['id']}: more held than came")
    for group in result["groups"]:
        members = rows if group["by"] == "all" else [row for row in rows if group["by"] in PROPERTIES and row[PROPERTIES[group["by"]]] == group["name"]]
        errors = {}
        for row in members:
            if row[f"{group['metric']}_error"] is not None:
                errors.setdefault(row["family"], []).append(row[f"{group['metric']}_error"])
        if group["by"] == "batch":
            continue
        what = f"{group['by']} {group['name']} {group['metric']}"
        equal(group["rows"], sum(map(len, errors.values())), f"{what}: rows")
        equal(group["families"], len(errors), f"{what}: families")
        alone = [abs(error) for of_family in errors.values() for error in of_family]
        close(group["median_absolute_error"], statistics.median(alone), f"{what}: median")
        close(group["families_median_absolute_error"], statistics.median(statistics.median(map(abs, one)) for one in errors.values()), f"{what}: families alike")
        is_weighted_p90(group["families_p90_absolute_error"], errors, f"{what}: 90th percentile")
        left_out, inside = {}, {}
        for row in members:
            if row[f"{group['metric']}_error"] is not None:
                left_out.setdefault(row["family"], []).append(row[f"left_out_{group['metric']}_error"])
                inside.setdefault(row["family"], []).append(row[f"{group['metric']}_inside_interval"])
        close(group["left_out"]["families_median_absolute_error"], statistics.median(statistics.median(map(abs, one)) for one in left_out.values()), f"{what}: left out")
        is_weighted_p90(group["left_out"]["families_p90_absolute_error"], left_out, f"{what}: left out, 90th percentile")
        close(group["interval_coverage"], statistics.mean(sum(one) / len(one) for one in inside.values()), f"{what}: coverage")
    for metric in METRICS:
        counted = sum(group["rows"] for group in result["groups"] if group["by"] == "batch" and group["metric"] == metric)
        equal(counted, sum(row[f"{metric}_error"] is not None for row in rows), f"{metric}: every row has a class of batches")

    # bars that can fail: each family left out, families alike
    bars = {"ttft": (0.20, 0.55), "tpot": (0.12, 0.35), "throughput": (0.15, 0.40)}
    for group in result["groups"]:
        if group["by"] == "all":
            median, p90 = bars[group["metric"]]
            check(group["left_out"]["families_median_absolute_error"] <= median, f"{group['metric']}: median {group['left_out']}")
            check(group["left_out"]["families_p90_absolute_error"] <= p90, f"{group['metric']}: 90th percentile {group['left_out']}")
            check(group["interval_coverage"] >= 0.85, f"{group['metric']}: coverage {group['interval_coverage']}")

# a row that no memory allows is refused whatever is predicted, one that the catalog does not know is skipped
own = SCRATCH / "own.csv"
own.write_text("engine,model,accelerator,tp,batch,input_tokens,output_tokens,tpot_ms,colour\n"
               "vllm,llama-3-8b,h100-sxm-80gb,1,1,128,128,4.0,red\n"  # 16 GB in 4 ms are 4 TB/s, the peak is 3.35
               "vllm,llama-3-8b,h100-sxm-80gb,1,1,128,128,8.0,red\n"
               "vllm,llama-3-8b,h100-sxm-80gb,1,,128,128,8.0,red\n"
               "vllm,no-such-model,h100-sxm-80gb,1,1,128,128,8.0,red\n")
mine = answer("validate", "--serving", own)
if mine:
    equal([one["line"] for one in mine["refused"]], [2], "faster than the memory")
    equal([(one["line"], one["reason"]) for one in mine["skipped"]], [(4, "no batch stated"), (5, "model 'no-such-model' is not in the catalog")], "skipped")
    equal([row["line"] for row in mine["rows"]], [3], "compared")
    equal(mine["issues"][0]["column"] if mine["issues"] else "", "colour", "a column that nobody reads")
for code, words, arguments in ((2, "asks another question", ["--serving", "--memory"]), (4, "no such file", ["--serving", "missing.csv"]),
                               (99, "tpot_median_absolute_error", ["--serving", own, "--require", "tpot_median_absolute_error<=0.001%"])):
    done = run("validate", *arguments)
    equal(done.code, code, f"{done}: exit ({done.err.strip()})")
    check(words in done.err, f"{done}: said {done.err!r}, expected {words!r}")
(SCRATCH / "short.csv").write_text("engine,model\nvllm,llama-3-8b\n")
done = run("validate", "--serving", SCRATCH / "short.csv")
check(done.code != 0 and "no column 'accelerator'" in done.err and done.err.count("\n") == 1, f"{done}: {done.err}")

(SCRATCH / "none.csv").write_text("backend,model,gpu,batch,ISL,OSL,tpot_ms\nvllm,no-such-model,h100-sxm-80gb,1,128,128,8.0\n")
done = run("validate", "--serving", SCRATCH / "none.csv")
check(done.code == 5 and "no run that can be predicted (model 'no-such-model' is not in the catalog)" in done.err, f"{done}: {done.code} {done.err}")

finish()
