"""Memory as people ask about it: validate --memory, the probability of a prediction, the risk of a plan, memory over a step."""

import json
import os
import pathlib

from _harness import SCRATCH, SOURCE, answer, check, close, equal, finish, run, schema_errors, succeed

# ---- published runs ---------------------------------------------------------------------------------------------------

HEAD = ("id,source_family,arch,model_name,layers,hidden,heads,vocab,seq_len,accelerator,accelerators_total,precision,"
        "global_batch_sequences,micro_batch,dp,tp,pp,activation_recompute,measured_memory_gib_per_gpu,memory_kind,notes\n")
ROW = "{},{},dense_transformer,a model of mine,24,2048,16,50304,2048,A100-80GB,1,bf16,8,1,1,1,1,full,{},{},{}\n"
table = SCRATCH / "memory.csv"
table.write_text(HEAD + ROW.format("A", "one", 30, "", "memory = torch max allocated") + ROW.format("B", "one", 32, "reserved", "")
                 + ROW.format("C", "two", 35, "", "memory = nvidia-smi") + ROW.format("D", "two", 33, "", "")
                 + ROW.format("E", "two", "", "", "no memory"))


def median(values):
    values = sorted(values)
    half = len(values) // 2
    return values[half] if len(values) % 2 else (values[half - 1] + values[half]) / 2


result = answer("validate", "--memory", "--runs", table, "--require", "predicted_not_to_fit<=0,reserved_median_absolute_error<=200%")
if result:
    for error in schema_errors(result):
        check(False, error)
    rows = {row["id"]: row for row in result["rows"]}
    equal({key: row["memory_kind"] for key, row in rows.items()},
          {"A": "allocated", "B": "reserved", "C": "process", "D": "not stated"}, "kinds of memory")
    parts = ("state_bytes", "kept_activations_bytes", "logits_bytes", "temporaries_bytes", "buffers_bytes")
    for row in rows.values():
        close(row["relative_error"], row["predicted_bytes"] / row["measured_bytes"] - 1, f"error of {row['id']}")
        check(row["left_out_low_bytes"] <= row["predicted_bytes"] <= row["left_out_high_bytes"], f"interval of {row['id']}")
    close(rows["A"]["predicted_bytes"], sum(rows["A"][part] for part in parts), "allocated is the sum of what tensors hold")
    equal(rows["B"]["predicted_bytes"], rows["D"]["predicted_bytes"], "a kind that is not stated is taken for reserved")
    equal(rows["C"]["predicted_bytes"], rows["C"]["footprint_bytes"], "process memory is the footprint")
    check(rows["A"]["predicted_bytes"] < rows["B"]["predicted_bytes"] < rows["C"]["predicted_bytes"], "each kind holds more")
    errors = {key: abs(row["relative_error"]) for key, row in rows.items()}
    equal((result["summary"]["rows"], result["summary"]["families"]), (4, 2), "rows and families")
    close(result["summary"]["median_absolute_error"], median(errors.values()), "median over rows")
    close(result["summary"]["families_median_absolute_error"],
          median([median([errors["A"], errors["B"]]), median([errors["C"], errors["D"]])]), "median over families")
    groups = {(group["by"], group["name"]): group for group in result["groups"]}
    equal(groups["family", "two"]["rows"], 2, "rows of a family")
    equal(groups["recomputation", "full"]["rows"], 4, "rows by recomputation")
    targets = {target["figure"]: target for target in result["targets"]}
    close(targets["median error of allocated memory"]["value"], errors["A"], "figure against its target")
    for figure, target in targets.items():
        value, least, most = target["value"], target["at_least"], target["at_most"]
        met = value is not None and (least is None or value >= least) and (most is None or value <= most)
        equal(target["met"], met, f"{figure} is met")
    equal(targets["greatest probability of a run that ran out"]["value"], None, "no run ran out")
ran_out = SCRATCH / "ran_out.csv"
ran_out.write_text(table.read_text() + ROW.format("F", "three", "OOM", "", "").replace(",8,1,1,1,1,full", ",64,64,1,1,1,none"))
result = answer("validate", "--memory", "--runs", ran_out)
if result:
    equal([run["id"] for run in result["ran_out"]], ["F"], "the run that ran out")
    equal(result["summary"]["rows"], 4, "it is in no error")
    check(0 <= result["greatest_ran_out_probability"] < 0.5, f"64 sequences without recomputation: {result['ran_out']}")
    equal(result["greatest_ran_out_probability"], result["ran_out"][0]["left_out_fits_probability"], "greatest of one")
text = succeed("validate", "--memory", "--runs", table, "--full").out
check("Against the targets" in text, "figures stand against targets")
check("By kind of memory" in text and "By recomputation" in text, "the report has its tables")
equal(len(succeed("validate", "--memory", "--runs", table, "--format", "csv").out.splitlines()), 5, "a line of CSV a row")
answer("validate", "--memory", "--runs", table, "--require", "median_absolute_error<=0.0001%", code=99)
table.write_text(HEAD + ROW.format("E", "two", "", "", "no memory"))
for arguments, code, said in ((["--memory", "--communication"], 2, "another question"),
                              (["--memory", "--leave-one-scale"], 2, "not memory"),
                              (["--memory", "--simulation"], 2, "another question"),
                              (["--memory", "--runs", table], 5, "no run with a memory")):
    done = run("validate", *arguments)
    check(done.code == code and said in done.err, f"validate {arguments}: {done.code}, {done.err}")

# ---- a prediction and a plan ------------------------------------------------------------------------------------------

PREDICT = ["predict", "llama-3-8b", "--cluster", "dgx-h100", "--workers", "16", "--tp", "2", "--pp", "4", "--dp", "2", "--micro-batch", "1",
           "--global-batch", "16", "--virtual-pp", "1"]
value = answer(*PREDICT)
if value:
    memory = value["memory"]
    check(memory["footprint_low_bytes"] < memory["footprint_bytes"] < memory["footprint_high_bytes"], f"interval: {memory}")
    equal(memory["fits"], memory["fits_probability"] >= 0.5, "fits and its probability")
    check("fits: " in succeed(*PREDICT).out, "the verdict says how sure that is")

PLAN = ["plan", "llama-3-70b", "--cluster", "dgx-h100", "--workers", "32,64", "--framework", "megatron-core"]
careful, bold = answer(*PLAN), answer(*PLAN, "--memory-risk", "50%")
for error in schema_errors(careful) if careful else []:
    check(False, error)
if careful and bold:
    for one, other in zip(careful["curve"], bold["curve"]):
        if one["feasible"]:
            check(one["memory"]["fits_probability"] >= 0.95, f"{one['workers']}: {one['memory']['fits_probability']}")
            check(one["step_seconds"] >= 0.99 * other["step_seconds"], f"{one['workers']}: more risk leaves more to choose from")
        if one["given_up"]:
            check(0.5 <= one["given_up"]["fits_probability"] < 0.95, f"{one['workers']} gave up {one['given_up']}")
            check(not one["feasible"] or one["given_up"]["step_seconds"] < one["step_seconds"], "what was given up is faster")
        check(other["given_up"] is None, "half the risk gives nothing up")
for value, said in (("60%", "from 0.001 to 0.5"), ("0", "from 0.001 to 0.5"), ("none", "--memory-risk")):
    done = run(*PLAN, "--memory-risk", value)
    check(done.code == 2 and said in done.err, f"--memory-risk {value}: {done.code}, {done.err}")

# ---- memory over a step -----------------------------------------------------------------------------------------------


def peaks_of(file):
    """The peak of each stage's counter, and its names; events are in order of time."""
    names, peaks, last = {}, {}, {}
    for event in json.loads(file.read_text())["traceEvents"]:
        if event["ph"] == "M":
            if event["name"] == "process_name":
                names[event["pid"]] = event["args"]["name"]
            continue
        equal((event["ph"], event["name"], list(event["args"])), ("C", "memory", ["bytes"]), "counter events")
        check(event["ts"] >= last.get(event["pid"], 0), f"time of {event['pid']} goes on")
        last[event["pid"]] = event["ts"]
        peaks[event["pid"]] = max(peaks.get(event["pid"], 0), event["args"]["bytes"])
    return names, peaks


for more in ([], ["--virtual-pp", "2", "--global-batch", "32"], ["--schedule", "gpipe"], ["--pp", "1", "--dp", "8"]):
    file = SCRATCH / "memory.json"
    file.unlink(missing_ok=True)
    without = [one for one in PREDICT]
    for option, new in zip(more[::2], more[1::2]):
        if option in without:
            without[without.index(option) + 1] = new
        else:
            without += [option, new]
        if option == "--schedule" and "--virtual-pp" in without:
            at = without.index("--virtual-pp")
            del without[at:at + 2]
    if "--pp" in more:
        at = without.index("--virtual-pp")
        del without[at:at + 2]
    value = answer(*without, "--memory-timeline", file)
    if value:
        names, peaks = peaks_of(file)
        stages = value["memory_by_stage"] or [value["memory"]]
        equal(names, {n: f"stage {n}" for n in range(len(stages))}, f"{more}: a process a stage")
        for n, stage in enumerate(stages):
            close(peaks[n], stage["total_bytes"], f"{more}: peak of stage {n}", 1e-9)
for arguments, said in ((["--memory-timeline", "-"], "where the result goes too"),
                        (["--memory-timeline", SCRATCH / "same", "--timeline", SCRATCH / "same"], "where the timeline goes too")):
    done = run(*PREDICT, *arguments)
    check(done.code == 2 and said in done.err, f"{arguments}: {done.code}, {done.err}")

# ---- placement, host memory, what a framework can do --------------------------------------------------------------------

STAGES = ["predict", "llama-3-8b", "--cluster", "dgx-h100", "--workers", "8", "--tp", "2", "--dp", "1", "--micro-batch", "1",
          "--global-batch", "16"]
value = answer(*STAGES, "--layers-per-stage", "10,6,6,10")
if value:
    equal(value["strategy"]["pp"], 4, "as many stages as are stated")
    state = [stage["state_bytes"] for stage in value["memory_by_stage"]]
    check(state[1] < 0.65 * state[0] and state[1] == state[2], f"state by stage: {state}")
for arguments, code, said in ((["--layers-per-stage", "10,6,6"], 2, "22 layers in sum"),
                              (["--layers-per-stage", "10,6,6,10", "--pp", "2"], 2, "--pp is 2"),
                              (["--layers-per-stage", "32,0"], 2, "is not positive"),
                              (["--recompute", "mla_up_proj"], 2, "mla_up_proj"),
                              (["--framework", "hf-fsdp"], 3, "cannot split matrix products")):
    done = run(*STAGES, *arguments)
    check(done.code == code and said in done.err and len(done.err.splitlines()) == 1, f"{arguments}: {done.code}, {done.err}")

FOUR = ["predict", "deepseek-v3", "--layers", "4", "--cluster", "dgx-h100", "--workers", "8", "--tp", "1", "--pp", "2", "--ep", "4",
        "--micro-batch", "1", "--precision", "bf16"]
value = answer(*FOUR)
if value:
    first, last = (stage["state_bytes"] for stage in value["memory_by_stage"])
    check(last > 3 * first, f"the only layer with experts is on the last stage: {first}, {last}")

OFFLOAD = ["predict", "llama-3-8b", "--cluster", "dgx-h100", "--workers", "8", "--dp", "8", "--zero", "3", "--micro-batch", "1"]
value, without = answer(*OFFLOAD, "--offload", "optimizer"), answer(*OFFLOAD)
if value and without:
    moved = without["memory"]["optimizer_bytes"] + without["memory"]["gradients_bytes"]
    close(value["memory"]["host_bytes"], moved, "what leaves the accelerator is with the host")
    equal(without["memory"]["host_bytes"], 0, "nothing is offloaded")

value = answer("predict", "llama-3-8b", "--cluster", "rtx-4090", "--workers", "2", "--framework", "hf-fsdp", "--train", "lora:16:linear",
               "--base", "nf4", "--sequence-length", "2048")
if value:
    equal([value["strategy"][degree] for degree in ("tp", "pp", "cp")], [1, 1, 1], "degrees that the framework has")

# ---- the published tables ---------------------------------------------------------------------------------------------

result = answer("validate", "--memory")
if result:
    check(result["summary"]["rows"] >= 260, f"{result['summary']['rows']} published runs are predicted")
    # 305 state it; three contradict themselves and two are no peaks (validation/README.md)
    equal(result["summary"]["rows"] + len(result["skipped"]), 300, "every run that states its memory")
    left = {"C0729", "C0730", "C0736", "C0737", "C0739"} & {row["id"] for row in result["rows"]}
    equal(left, set(), "runs whose memory is not compared")
    close(result["least_fits_probability"], min(row["left_out_fits_probability"] for row in result["rows"]), "least probability")

# The table of the project has columns for what the sources' notes say; of the notes alone the same is read.
shared = pathlib.Path(os.environ.get("HEADROOM_SHARED") or SOURCE.parent / "shared") / "validation" / "published_runs_ordinary_open.csv"
if result and shared.exists():
    noted = answer("validate", "--memory", "--runs", shared)
    if noted:
        by_id = {row["id"]: row for row in result["rows"]}
        kinds = [row["id"] for row in noted["rows"] if row["memory_kind"] != by_id.get(row["id"], row)["memory_kind"]]
        told = ["C0731", "C0732", "C0733", "C0734", "C0735", "C0738"]  # by a footnote of the page: max_memory_allocated
        smi = ["C0935", "C0936", "C0937", "C0938"]  # MiB beside the utilisation of the GPU: nvidia-smi
        equal(sorted(kinds), sorted(["C0875", *told, *smi]),
              "rows whose kind of memory differs from that of their notes: \"max CUDA memory\" names none")

finish()
