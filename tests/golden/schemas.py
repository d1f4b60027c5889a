"""Every JSON result follows its schema, has no NaN, and its numbers agree with each other."""

import math
from collections import Counter

from _harness import CONFIGS, answer, check, close, equal, finish, schema_errors, succeed


def conforms(value, what):
    if value is not None:
        for error in schema_errors(value):
            check(False, f"{what}: {error}")
    return value


FUNCTIONS = {"min": min, "max": max, "ceil": math.ceil, "floor": math.floor, "log2": math.log2,
             "picoseconds": lambda seconds: math.floor(seconds * 1e12 + 0.5) / 1e12}


def evaluate(term):
    names = {name: math.nan if value is None else value for name, value in term["inputs"].items()}
    return eval(term["formula"].replace("^", "**"), {"__builtins__": {}}, FUNCTIONS | names)


def predict(*arguments, code=0):
    what = "predict " + " ".join(map(str, arguments))
    value = conforms(answer("predict", *arguments, code=code), what)
    if value is None:
        return None
    step = value["step_seconds"]
    close(sum(value["breakdown"].values()), step, f"{what}: breakdown against step_seconds")
    close(sum(value["exposed_communication"].values()), value["breakdown"]["exposed_communication_seconds"],
          f"{what}: exposed communication against its parts")
    memory = value["memory"]
    parts = sum(memory[part + "_bytes"] for part in ("weights", "gradients", "optimizer", "activations", "buffers"))
    close(parts, memory["total_bytes"], f"{what}: memory against its parts")
    equal(memory["fits"], memory["total_bytes"] <= memory["usable_bytes"], f"{what}: memory.fits")
    equal(value["fits"], memory["fits"], f"{what}: fits")
    low, high = value["interval_seconds"]
    check(low <= step <= high, f"{what}: step {step} outside its interval {low} to {high}")
    work, strategy = value["workload"], value["strategy"]
    close(value["tokens_per_second"], work["global_batch"] * work["sequence_length"] / step, f"{what}: tokens_per_second")
    close(value["tokens_per_second_per_accelerator"], value["tokens_per_second"] / value["workers"], f"{what}: per accelerator")
    close(value["mfu"], value["model_flops_per_second_per_accelerator"] / value["peak_flops_per_second"], f"{what}: mfu")
    equal(strategy["dp"] * strategy["tp"] * strategy["pp"] * strategy["cp"], value["workers"], f"{what}: product of degrees")
    equal(strategy["dp"] * strategy["micro_batch"] * strategy["micro_batches"], work["global_batch"], f"{what}: batch")
    for row in value["communication"]:
        check(row["exposed_seconds"] <= row["seconds"] * (1 + 1e-9) and row["why"], f"{what}: communication row {row}")
    return value


# models that the program is asked about most, on machines of several generations
predict("llama-3-8b", "--cluster", "dgx-h100", "--workers", 8)
predict("llama-3-70b", "--cluster", "dgx-h100", "--nodes", 8, "--tp", 8, "--pp", 2, "--global-batch", 256)
predict("gpt3-175b", "--cluster", "dgx-a100", "--workers", 1024, "--tp", 8, "--pp", 8, "--global-batch", 1536, "--recompute", "full")
predict("llama-3-405b", "--cluster", "dgx-b200", "--workers", 2048, "--tp", 8, "--pp", 14, "--global-batch", 2016, code=2)
predict("llama-3-8b", "--cluster", "dgx-v100", "--workers", 64, "--precision", "fp16")
predict("llama-3-8b", "--cluster", "gb200-nvl72", "--workers", 72, "--dp", 9, "--tp", 8, "--global-batch", 288)
predict(CONFIGS / "gpt2-xl", "--cluster", "dgx-a100", "--workers", 16)

run = predict("llama-3-70b", "--cluster", "dgx-h100", "--workers", 64, "--tokens", "2T", "--price", "3 $/h", "--what-if", "--explain", "--stats",
              "--require", "mfu>=1%")
if run:
    close(run["days"], 2e12 / run["tokens_per_second"] / 86400, "days of a run")
    close(run["accelerator_hours"], 64 * 24 * run["days"], "accelerator-hours of a run")
    close(run["cost_dollars"], 3 * run["accelerator_hours"], "cost of a run")
    close(run["dollars_per_million_tokens"], run["cost_dollars"] / 2e6, "dollars a million tokens")
    close(run["tokens_per_dollar"], 2e12 / run["cost_dollars"], "tokens a dollar")
    check(run["gates"][0]["passed"], f"gate: {run['gates']}")
    check(run["stats"]["wall_seconds"] > 0, "stats have a wall time")
    for term in run["terms"]:
        check(term["formula"] if term["kind"] == "formula" else term["origin"], f"origin of {term['name']}")
        if term["kind"] != "formula":
            continue
        close(evaluate(term), term["value"], f"formula of {term['name']}: {term['formula']}") if term["value"] else None
    equal([term["value"] for term in run["terms"] if term["name"] == "step_seconds"], [run["step_seconds"]], "explained step")
    deep = predict("llama-3-70b", "--cluster", "dgx-h100", "--workers", 64, "--explain", "step_seconds")["terms"]
    known = {term["name"]: term for term in deep}
    equal(deep[0]["name"], "step_seconds", "the term that was asked for comes first")
    for term in deep:
        check(set(term["inputs"]) <= set(known), f"unknown inputs of {term['name']}: {set(term['inputs']) - set(known)}")
        if term["kind"] == "formula":
            close(evaluate(term), term["value"], f"formula of {term['name']}: {term['formula']}") if term["value"] else None
    for name, kind in {"peak_flops": "catalog", "gemm_hopper": "constant", "dp": "option", "compute_seconds": "formula", "data_seconds": "priced"}.items():
        equal(known[name]["kind"], kind, f"kind of {name}")
    # the same words in 80 columns
    for line in succeed("predict", "llama-3-70b", "--cluster", "dgx-h100", "--workers", 64, "--explain", "block_kernel_seconds").out.splitlines():
        check(len(line) <= 80, f"--explain: {len(line)} columns: {line}")
    for lever in run["what_if"]:
        close(lever["speedup"], run["step_seconds"] / lever["step_seconds"], f"what-if {lever['lever']}")
        more = lever["lever"].split("=")[1] in ("2x", "0.5x")
        check(not more or lever["speedup"] >= 1 - 1e-9, f"what-if {lever['lever']} makes the step slower: {lever['speedup']}")
        check(lever["lever"] != "overlap=off" or lever["speedup"] <= 1, f"hiding nothing makes the step faster: {lever['speedup']}")

misfit = predict("llama-3-70b", "--cluster", "dgx-h100", "--workers", 8, "--tp", 1, "--dp", 8, code=3)
if misfit:
    check(misfit["fits"] is False and misfit["why_not"], "a plan that does not fit says so and why")

for arguments in (["llama-3-70b", "--cluster", "dgx-h100", "--workers", "8..256", "--tokens", "2T", "--top", "3", "--stats"],
                  ["llama-3-8b", "--cluster", "dgx-a100", "--workers", "8,16,24", "--price", "2", "--against", "dgx-h100", "--tokens", "300B"],
                  ["gpt3-175b", "--cluster", "dgx-h100", "--nodes", "16,64", "--require", "mfu>=1%"],
                  ["llama-3-8b", "--cluster", "dgx-h100", "--workers", "8..64", "--dry-run"]):
    conforms(answer("plan", *arguments), "plan " + " ".join(arguments))
conforms(answer("plan", "gpt3-175b", "--cluster", "dgx-v100", "--workers", 8, code=3), "a plan without an answer")

validation = conforms(answer("validate"), "validate")
if validation:
    rows = validation["rows"]
    suspect = [row for row in rows if row["dropped_by"] is not None]
    equal(validation["summary"]["dropped"], len(suspect), "summary.dropped")
    equal({rule["rule"]: rule["rows"] for rule in validation["dropped"]}, Counter(row["dropped_by"] for row in suspect), "dropped[]")
    rows = [row for row in rows if row["dropped_by"] is None]
    equal(validation["summary"]["rows"], len(rows), "summary.rows")
    equal(validation["summary"]["skipped"], sum(row["skipped_reason"] is not None for row in rows), "summary.skipped")
    for row in rows:
        if row["skipped_reason"] is None:
            close(row["relative_error"], row["predicted_step_seconds"] / row["measured_step_seconds"] - 1, f"relative error of {row['id']}", 1e-6)
    errors = sorted([abs(row["relative_error"]) for row in rows if row["skipped_reason"] is None]
                    + [1.0 for row in rows if row["skipped_reason"] is not None and row["states_enough"]])
    middle = (errors[(len(errors) - 1) // 2] + errors[len(errors) // 2]) / 2
    close(validation["summary"]["median_absolute_error"], middle, "median over the rows", 0.02)
    check({"kind", "source", "accelerator", "strategy"} <= {group["by"] for group in validation["groups"]}, "groups by kind, source, accelerator, strategy")

queue = conforms(answer("queue", "--arrivals", "500/s", "--service", "12ms", "--objective", "p99<=60ms", "--simulate", "--stats"), "queue")
if queue:
    equal(queue["replicas_for_objective"], queue["answer"]["replicas"], "replicas of the answer")

listing = conforms(answer("catalog", "list"), "catalog list")
if listing:
    kinds = {record["kind"] for record in listing["records"]}
    check({"model", "node", "accelerator", "framework", "calibration"} <= kinds, f"kinds of records: {sorted(kinds)}")
    for record in listing["records"]:
        check(": " not in record["facts"] or ".toml" not in record["facts"], f"record {record['name']}: {record['facts']}")
shown = conforms(answer("catalog", "show", "llama-3-70b"), "catalog show")
if shown:
    equal(shown["record"]["kind"], "model", "kind of llama-3-70b")

finish()
