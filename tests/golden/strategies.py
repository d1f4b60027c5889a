"""Every field of a strategy as an option, in --fix and in a record: results follow their schemas, sum up, and a field at
its neutral value changes nothing."""

import tomllib

from _harness import CONFIGS, SOURCE, answer, check, close, equal, finish, run, schema_errors, succeed

DENSE = ["llama-3-8b", "--cluster", "dgx-h100", "--workers", "64"]
FITS_OR_NOT = (0, 3)
MIXTURE = ["mixtral-8x7b", "--cluster", "dgx-h100", "--workers", "64"]


def conforms(value, what):
    for error in schema_errors(value) if value else ["no result"]:
        check(False, f"{what}: {error}")
    return value


def predict(*arguments, code=0):
    what = "predict " + " ".join(arguments)
    value = conforms(answer("predict", *arguments, code=code), what)
    if value:
        close(sum(value["breakdown"].values()), value["step_seconds"], f"{what}: breakdown against step_seconds")
        close(sum(value["exposed_communication"].values()), value["breakdown"]["exposed_communication_seconds"],
              f"{what}: exposed communication against its parts")
    return value


def fields(value, **wanted):
    for key, expected in wanted.items():
        equal(value["strategy"][key], expected, f"{value['strategy']['name']}: {key}")


# ---- each field: as an option of predict, as a key of plan --fix; what the result says of it -------------------------

EACH = [
    (["cp=2"], {"cp": 2, "exchange": "gather"}),
    (["cp=2", "exchange=ring"], {"cp": 2, "exchange": "ring"}),
    (["cp=2", "exchange=ulysses"], {"cp": 2, "exchange": "all-to-all"}),
    (["recompute=full", "recompute-layers=4"], {"recompute": "full", "recompute_layers": 4}),
    (["recompute-layers=4"], {"recompute_layers": 4}),
    (["offload=optimizer"], {"offload": "optimizer"}),
    (["offload=activations"], {"offload": "activations"}),
    (["offload=both"], {"offload": "both"}),
    (["train=lora"], {"train": "lora:16"}),
    (["train=lora:64"], {"train": "lora:64"}),
    (["train=last:2"], {"train": "last:2"}),
    (["local-steps=500"], {"local_steps": 500, "zero": 0}),
    (["servers=8"], {"servers": 8, "zero": 0}),
    (["compression=low-rank"], {"compression": "low-rank:4", "zero": 0}),
    (["compression=low_rank:8"], {"compression": "low-rank:8"}),
    (["compression=quantized:4"], {"compression": "quantised:4"}),
    (["compression=top-k:1%"], {"compression": "top-k:0.01"}),
    (["compression=one-bit:0.2"], {"compression": "one-bit:0.2"}),
    (["zero=3", "shard=8", "pp=1"], {"zero": 3, "shard": 8}),
    (["zero=1", "shard=8", "pp=1"], {"zero": 1, "shard": 8}),
    (["zero=2", "shard-group=4", "pp=2"], {"zero": 2, "shard": 4, "pp": 2}),
    (["zero=3", "shard-group=node", "tp=2", "pp=1", "cp=1"], {"zero": 3, "shard": 4}),
    (["zero=1", "shard-group=replica", "tp=4", "cp=2"], {"zero": 1, "shard": 2}),
    (["zero=1", "shard-group=all"], {"zero": 1, "shard": 0}),
    (["zero=3", "pp=2"], {"zero": 3, "pp": 2}),
    (["overlap=off"], {"overlap": False, "overlap_by_traffic": "off"}),
    (["overlap=tensor:off+gradients:on"], {"overlap": True, "overlap_by_traffic": "tensor=off,gradients=on"}),
]
OF_EXPERTS = [
    (["ep=8"], {"ep": 8}),
    (["ep=4", "tp=2", "etp=2"], {"ep": 4, "etp": 2}),
    (["ep=8", "capacity=1.25"], {"ep": 8, "capacity": 1.25}),
]
WORKLOAD = [["--documents", "2048"], ["--fill", "80%"], ["--layers", "8"], ["--documents", "1k", "--fill", "0.5"]]

for model, cases in ((DENSE, EACH), (MIXTURE, EACH + OF_EXPERTS)):
    for pairs, wanted in cases:
        options = [word for pair in pairs for word in ("--" + pair.split("=")[0], pair.split("=")[1])]
        value = predict(*model, *options, code=FITS_OR_NOT)
        free = {"zero"} if "local-steps" in pairs[0] else set()  # shard groups may be of workers of their own
        if value:
            fields(value, **{key: wanted[key] for key in wanted if key not in free})
        plan = conforms(answer("plan", *model, "--fix", ",".join(pairs), code=FITS_OR_NOT), f"plan {model[0]} --fix {pairs}")
        if plan and plan["recommendation"]:
            fields(plan["recommendation"], **{key: wanted[key] for key in wanted if key not in free})
        else:
            check(model is MIXTURE, f"plan {model[0]} --fix {pairs}: nothing is recommended")
for model in (DENSE, MIXTURE):
    for options in WORKLOAD:
        predict(*model, *options)
        conforms(answer("plan", *model, *options), f"plan {model[0]} {options}")
skewed = predict(*MIXTURE, "--expert-skew", "1.5")
check(skewed["step_seconds"] > predict(*MIXTURE)["step_seconds"], "unbalanced experts take longer")

# ---- a shard group by name is the number that it stands for ----------------------------------------------------------

HYBRID_SHARDS = [*DENSE, "--zero", "3", "--tp", "2", "--pp", "1", "--cp", "1", "--micro-batch", "1", "--recompute", "full", "--shard-group"]
named, counted = predict(*HYBRID_SHARDS, "node"), predict(*HYBRID_SHARDS, "4")
equal(named["step_seconds"], counted["step_seconds"], "a shard group in a node of 8 is of 4 ranks with tp 2")
changed = predict(*HYBRID_SHARDS[:-1], "--what-if", "shard=node")
equal(changed["what_if"][0]["step_seconds"], counted["step_seconds"], "a shard group by name as a change")
done = run("predict", *HYBRID_SHARDS, "rack")
check(done.code == 2 and "node, replica, all" in done.err, f"{done}: exit {done.code}, said: {done.err.strip()}")

# ---- a field at its neutral value ------------------------------------------------------------------------------------

NEUTRAL = ["--ep", "1", "--etp", "1", "--capacity", "0", "--exchange", "gather", "--recompute-layers", "0", "--offload", "none",
           "--train", "all", "--local-steps", "1", "--servers", "0", "--compression", "none", "--fill", "1", "--expert-skew", "1"]
PLAIN = {form: run("predict", *DENSE, "--format", form).out for form in ("table", "json")}
for i in range(0, len(NEUTRAL), 2):
    for form, expected in PLAIN.items():
        option = NEUTRAL[i:i + 2]
        equal(run("predict", *DENSE, *option, "--format", form).out, expected, f"predict {option} changes something")
equal(run("predict", *DENSE, "--layers", "32", "--format", "json").out, PLAIN["json"], "all layers given")
plain = run("plan", *DENSE, "--format", "json")
pairs = ",".join(f"{NEUTRAL[i][2:]}={NEUTRAL[i + 1]}" for i in range(0, len(NEUTRAL) - 4, 2))
equal(run("plan", *DENSE, "--fix", pairs, "--format", "json").out, plain.out, "plan with neutral fields")

# ---- a model cut short ----------------------------------------------------------------------------------------------

cut = predict("llama-3-70b", "--cluster", "dgx-h100", "--workers", "8", "--tp", "1", "--layers", "8")
equal((cut["model"]["name"], cut["model"]["layers"]), ("llama-3-70b cut to 8 layers", 8), "a model cut short")
for model in ("deepseek-v3", "t5-base", "bert-large", "nemotron-3-nano", "gemma-3-4b"):
    predict(model, "--cluster", "dgx-h100", "--workers", "8", "--layers", "4")

# ---- records ---------------------------------------------------------------------------------------------------------

for path in sorted((SOURCE / "catalog" / "strategies").glob("*.toml")):
    record = tomllib.loads(path.read_text())
    equal(record["name"], path.stem, f"name of {path.name}")
    asked = MIXTURE if "ep" in record else DENSE  # experts need a model that has some
    done = run("predict", *asked, "--strategy", path.stem, "--format", "json")
    check(done.code in (0, 3), f"{done}: exit {done.code}; said: {done.err.strip()}")
    value = done.json()
    conforms(value, str(done))
    equal(value["strategy_record"], path.stem, f"record of {done}")
    given = {one["field"]: one for one in value["assumed"] if one["reason"] == f"given by the strategy {path.stem}"}
    for field in set(record) - {"name", "title", "aliases", "source", "source_detail", "date", "notes"}:
        check(field in given and given[field]["provenance"] == "given", f"{path.stem}: {field} is not said to come from the record")
    plan = run("plan", *asked, "--strategy", path.stem, "--format", "json")
    check(plan.code in (0, 3), f"{plan}: exit {plan.code}; said: {plan.err.strip()}")
    conforms(plan.json(), str(plan))
    shown = succeed("catalog", "show", path.stem, "--kind", "strategy").out
    check(record["title"] in " ".join(shown.split()), f"catalog show {path.stem}")
mine = predict(*DENSE, "--strategy", "FSDP", "--shard", "8")
fields(mine, zero=3, shard=8)
check("strategy" in succeed("catalog", "list", "strategies").out, "catalog list strategies")

# ---- what results say ------------------------------------------------------------------------------------------------

deep = ["deepseek-v3", "--cluster", "hgx-h800", "--workers", "2048"]
uneven = predict(*deep, "--tp", "1", "--pp", "16", "--ep", "64", "--recompute", "full")
said = {one["field"]: one for one in uneven["assumed"]}
check("61 layers over 16 stages" in said["stages"]["reason"], f"uneven stages: {said['stages']}")
check("256 experts" in said["experts"]["reason"], f"experts: {said['experts']}")
check(uneven["exposed_communication"]["expert_seconds"] > 0, "experts communicate")
check(any(row["dimension"] == "experts" for row in uneven["communication"]), "rows of experts")
four = predict("deepseek-v3", "--cluster", "hgx-h800", "--workers", "512", "--pp", "4", "--tp", "8", "--ep", "128")
reasons = [one["reason"] for one in four["assumed"]]
check("61 layers over 4 stages: 15, 16, 16, 14" in reasons, f"stages in words: {reasons}")
for arguments in (["predict", *deep], ["plan", *deep], ["predict", *MIXTURE], ["plan", *MIXTURE], ["plan", "resnet-50", "--cluster", "dgx-a100", "--workers", "8..64"],
                  ["predict", "resnet-50", "--cluster", "dgx-a100", "--workers", "8", "--what-if"],
                  ["predict", *MIXTURE, "--offload", "both", "--host-memory", "4TiB", "--expert-skew", "2", "--what-if", "--explain"]):
    for line in succeed(*arguments).out.splitlines():
        check(len(line) <= 80, f"{arguments}: a line of {len(line)} columns: {line}")
timed = answer("plan", *deep, "--stats")
print("search of deepseek-v3 on 2048:", timed["stats"]["search_seconds"], "s,", timed["search"]["evaluated"], "strategies")
check(timed["stats"]["search_seconds"] < 20, "the search of a large mixture takes long")

levers = predict(*MIXTURE, "--ep", "8", "--what-if", "ep=1,tp=1,expert-skew=1.5,fill=0.5,compression=none,host=2x")
equal(len(levers["what_if"]) >= 6, True, "levers of the new terms")
terms = predict(*MIXTURE, "--offload", "both", "--host-memory", "4TiB", "--explain")["terms"]
named = {term["name"]: term["value"] for term in terms}
for name in ("expert_seconds", "offload_seconds", "stragglers_seconds"):
    check(name in named, f"--explain has no {name}: {sorted(named)}")
alone = predict(*MIXTURE, "--explain", "expert_seconds")
close(alone["terms"][0]["value"], alone["exposed_communication"]["expert_seconds"], "an explained part")
tower = predict(str(CONFIGS / "gemma-3-4b"), "--cluster", "dgx-h100", "--workers", "8")
check("vision_tower" in {one["field"] for one in tower["assumed"]}, "a vision tower that is not counted is said")

# ---- lists of operators ----------------------------------------------------------------------------------------------

images = predict("resnet-50", "--cluster", "dgx-a100", "--workers", "8")
equal((images["workload"]["sequence_length"], images["workload"]["global_batch"]), (1, 2048), "a batch of pictures")
close(images["samples_per_second"], images["tokens_per_second"], "samples are what is counted")
check(0.05 < images["mfu"] < 0.6, f"MFU of resnet-50: {images['mfu']}")
if images["pace"] != 1:
    check("the factor fitted to runs of these kernels" in " ".join(succeed("predict", "resnet-50", "--cluster", "dgx-a100", "--workers", "8").out.split()), "pace in words")
text = succeed("predict", "resnet-50", "--cluster", "dgx-a100", "--workers", "8").out
check("samples/s" in text and "tokens" not in text, "text speaks of samples")
grown = conforms(answer("plan", "resnet-50", "--cluster", "dgx-a100", "--workers", "8..64"), "plan resnet-50")
for point in grown["curve"]:
    s = point["strategy"]
    equal((s["tp"], s["pp"], s["cp"], s["ep"], s["zero"]), (1, 1, 1, 1, 0), "resnet-50 runs data parallel only")
for model, length in (("bert-large", 512), ("t5-base", 512), ("vit-large", None)):
    if (SOURCE / "catalog" / "models" / f"{model}.toml").exists():
        value = predict(model, "--cluster", "dgx-a100", "--workers", "8")
        check(length is None or value["workload"]["sequence_length"] == length, f"{model}: {value['workload']}")

# ---- accumulation steps that somebody states -------------------------------------------------------------------------

EIGHT = ["llama-3-8b", "--cluster", "dgx-h100", "--workers", "8"]
steps = predict(*EIGHT, "--grad-accum", "64", "--micro-batch", "1")
dp = steps["strategy"]["dp"]
equal((steps["strategy"]["micro_batches"], steps["workload"]["global_batch"]), (64, 64 * dp), "a batch of accumulation steps")
for stated in (["--grad-accum", "7"], ["--grad-accum", "64", "--micro-batch", "1"]):
    done = run("predict", *EIGHT, "--global-batch", "1024", *stated)
    check(done.code == 2 and "do not make the batch of 1024" in done.err, f"{done}: exit {done.code}, said: {done.err.strip()}")
for steps in ("7", "200"):
    done = run("predict", *EIGHT, "--what-if", f"grad-accum={steps}")
    check(done.code == 2 and "split" in done.err, f"{done}: exit {done.code}, said: {done.err.strip()}")

# ---- tokens that are no padding --------------------------------------------------------------------------------------

run_of = [*EIGHT, "--tokens", "1T", "--price", "2"]
whole, half = predict(*run_of), predict(*run_of, "--fill", "50%")
close(half["tokens_per_second"] * half["step_seconds"], 0.5 * whole["tokens_per_second"] * whole["step_seconds"],
      "padding is no token that is trained on")
close(half["cost_dollars"], 1e12 / half["tokens_per_second"] / 3600 * 2 * 8, "dollars of tokens that are no padding")
check(half["cost_dollars"] > 0.8 * whole["cost_dollars"], "half-empty sequences do not halve the bill of a run")
filled = predict(*run_of, "--fill", "50%", "--critical-batch", "4Mtokens")
close(filled["statistics"]["critical_batch"], 4e6 / 4096, "a critical batch in tokens")

# ---- a lever with two meanings ---------------------------------------------------------------------------------------

levers = {one["lever"]: one for one in predict(*MIXTURE, "--what-if", "capacity=1.25,capacity=2x")["what_if"]}
check(levers["capacity=1.25"]["step_seconds"] > levers["capacity=2x"]["step_seconds"], "room of experts and of memory")

# ---- times and sizes below nothing -----------------------------------------------------------------------------------

thin = predict("gpt-oss-120b", "--cluster", "gcp-a3-mega", "--workers", "8", "--pp", "8", "--zero", "1", "--train", "last:1",
               "--offload", "activations")
check(thin["breakdown"]["offload_seconds"] >= 0, f"chunks of less than a block save time: {thin['breakdown']}")
small = predict("maxtext-1024b", "--cluster", "t4-pcie-4", "--workers", "64", "--tp", "2", "--pp", "1", "--micro-batch", "16",
                "--framework", "deepspeed-2024", code=3)
check(small["memory"]["usable_bytes"] >= 0, f"usable memory: {small['memory']['usable_bytes']}")

ONE_RANK_STATED = ["llama-3-8b", "--cluster", "dgx-h100", "--workers", "8", "--framework", "megatron-core", "--tp", "1", "--pp", "1",
                   "--micro-batch", "1", "--recompute", "full", "--zero", "1"]

# ---- power ---------------------------------------------------------------------------------------------------------------

full = predict(*ONE_RANK_STATED)
equal(predict(*ONE_RANK_STATED, "--power-limit", "700W")["step_seconds"], full["step_seconds"], "the board's own power is no limit")
steps = [predict(*ONE_RANK_STATED, "--power-limit", f"{watts}W")["step_seconds"] for watts in (600, 450, 350)]
check(full["step_seconds"] < steps[0] < steps[1] < steps[2] < 2 * full["step_seconds"], f"less power, a slower step: {steps}")
opened = predict(*ONE_RANK_STATED, "--power-limit", "0.35kW", "--explain", "power_ratio")["terms"]
(ratio,) = [term for term in opened if term["name"] == "power_ratio"]
check(ratio["value"] == 0.5 and "--power-limit 350 W" in ratio["origin"], f"the ratio names its option: {ratio}")
for limit, why in (("900W", "draws at most 700 W"), ("0W", "is no limit"), ("500", "--power-limit"), ("500GB", "--power-limit")):
    done = run("predict", *ONE_RANK_STATED, "--power-limit", limit)
    check(done.code == 2 and why in done.err, f"--power-limit {limit}: exit {done.code}, said: {done.err.strip()}")

# ---- the kernel of attention ------------------------------------------------------------------------------------------------

LONG = [*ONE_RANK_STATED[:-4], "--recompute", "none", "--zero", "3", "--sequence-length", "2048", "--global-batch", "256"]
kernels = {name: predict(*LONG, "--attention-kernel", name) for name in ("unfused", "flash1", "flash2", "flash3")}
steps = [found["step_seconds"] for found in kernels.values()]
check(steps == sorted(steps, reverse=True) and steps[0] > steps[3], f"each generation is sooner: {steps}")
kept = {name: found["memory"]["activations_bytes"] for name, found in kernels.items()}
check(kept["unfused"] > 2 * kept["flash2"] and kept["flash1"] == kept["flash3"], f"only unfused keeps scores: {kept}")
equal(predict(*LONG, "--attn-implementation", "eager")["step_seconds"], steps[0], "Hugging Face's word for unfused")
for lever in ("attention-kernel=unfused", "compile=on"):
    done = run("predict", *EIGHT, "--what-if", lever)
    check(done.code == 2 and "part of the question" in done.err, f"{lever} changes no plan: {done.code}, {done.err.strip()}")

# ---- scales of FP8 -----------------------------------------------------------------------------------------------------------

steps = [predict(*LONG, "--precision", "fp8", "--fp8-recipe", kind)["step_seconds"] for kind in ("tensorwise", "delayed", "rowwise", "block")]
check(steps[0] == steps[1] < steps[2] == steps[3], f"finer scales take longer: {steps}")
done = run("predict", *LONG, "--precision", "bf16", "--fp8-recipe", "rowwise")
check(done.code == 2 and "products are not in FP8" in done.err, f"--fp8-recipe in bf16: {done.code}, {done.err.strip()}")

# ---- levers that change nothing are refused, as the option is ----------------------------------------------------------

ONE_RANK = [*EIGHT, "--tp", "1", "--pp", "1", "--dp", "8"]
for lever, why in (("virtual-pp=2", "virtual stages need a pipeline"), ("sequence-parallel=on", "needs tp > 1")):
    done = run("predict", *ONE_RANK, "--what-if", lever)
    check(done.code == 2 and why in done.err, f"{done}: exit {done.code}, said: {done.err.strip()}")

# ---- sequences beyond a model's positions ----------------------------------------------------------------------------

longer = predict("bert-large", "--cluster", "dgx-h100", "--workers", "8", "--sequence-length", "1024")
check(any("1024 tokens are more than the 512 positions of bert-large" in note for note in longer["notes"]),
      f"a sequence that the model has no positions for: {longer['notes']}")
equal(predict("llama-2-7b", "--cluster", "dgx-h100", "--workers", "8", "--sequence-length", "4096")["notes"], [],
      "a sequence that the model has positions for")

# ---- what a reader should know before he pays -----------------------------------------------------------------------

twelve = predict("llama-2-7b", "--cluster", "dgx-h100", "--workers", "12", "--global-batch", "24")["notes"]
check(any("12 accelerators; 2 whole nodes hold 16" in note for note in twelve), f"accelerators of part of a node: {twelve}")
HYBRID = ["nemotron-h-8b", "--cluster", "dgx-h100", "--workers", "64", "--tp", "4", "--pp", "16", "--global-batch", "256"]
HYBRID += ["--micro-batch", "2", "--recompute", "full"]
deep = predict(*HYBRID)
check(deep["strategy"]["virtual_pp"] * 16 <= 52 + 2, f"no chunk is empty: {deep['strategy']}")

finish()
