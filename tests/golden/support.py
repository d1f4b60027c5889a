"""Evidence behind a prediction: facts with sources, measured runs like it, constants, guesses with their effect, what was never seen."""

import re
import tomllib

from _harness import SOURCE, answer, check, close, equal, finish, run, schema_errors, succeed

GROUPS = tomllib.loads((SOURCE / "catalog" / "calibration" / "evidence.toml").read_text())["runs"]


def counted(**asked):
    found = [group for group in GROUPS if all(group[key] == value for key, value in asked.items())]
    return (sum(group["runs"] for group in found), min((group["least_workers"] for group in found), default=None),
            max((group["most_workers"] for group in found), default=None))


PLAN = ["--workers", "64", "--tp", "8", "--pp", "4", "--framework", "megatron-core"]
known = answer("support", "llama-3-70b", "dgx-h100", *PLAN)
single = answer("predict", "llama-3-70b", "--cluster", "dgx-h100", *PLAN)
if known and single:
    equal(schema_errors(known), [], "schema")
    for key in ("step_seconds", "interval_seconds", "interval_kind", "narrows", "strategy"):
        equal(known[key], single[key], f"{key} is that of predict")
    rows = [(row["runs"], row["least_workers"], row["most_workers"]) for row in known["evidence"]]
    hopper, core = {"generation": "hopper"}, {"framework": "megatron-core"}
    equal(rows, [counted(**hopper), counted(**core), counted(**hopper, **core), counted(**hopper, **core, mixture=False),
                 counted(**hopper, **core, mixture=False, train="all", precision="bf16")], "measured runs, counted by hand")
    check(known["pair_seen"] and rows[2][0] > 0, f"hopper and megatron-core were seen: {rows}")
    facts = {fact["what"]: fact for fact in known["known"]}
    check("70.6G parameters" in facts["model"]["value"] or "70.6B" in facts["model"]["value"], facts["model"]["value"])
    check("on the Hugging Face hub" in facts["model"]["source"], facts["model"]["source"])
    check("80 GiB" in facts["accelerator"]["value"] and "StasMlEngineering" in facts["accelerator"]["source"], str(facts["accelerator"]))
    constants = {one["key"]: one for one in known["constants"]}
    every = {one["key"] for one in single["constants"]}
    check("gemm_hopper" in constants and set(constants) < every and "gemm_volta" not in constants, f"constants in use: {sorted(constants)}")
    equal(constants["gemm_hopper"], next(one for one in single["constants"] if one["key"] == "gemm_hopper"), "a constant as predict has it")
    # a guess of recomputation: its range holds what predict says of another value, to the screen's quality
    guessed = {one["field"]: one for one in known["guessed"]}
    equal(sorted(guessed), sorted({one["field"] for one in single["assumed"] if one["provenance"] == "guessed"}), "fields that are guessed")
    check("tp" not in guessed, "a stated field is no guess")
    full = answer("predict", "llama-3-70b", "--cluster", "dgx-h100", *PLAN, "--recompute", "full", "--micro-batch", str(single["strategy"]["micro_batch"]),
                  "--zero", str(single["strategy"]["zero"]))
    if full:
        close(guessed["recompute"]["high"], full["step_seconds"] / single["step_seconds"], "full recomputation", 0.05)

# ---- nobody measured it
unseen = answer("support", "llama-3-8b", "aws-trn2", "--workers", "64")
if unseen:
    equal(unseen["pair_seen"], False, "no run on Trainium")
    check(any(text.startswith("no measured run of trainium2") for text in unseen["never_seen"]), f"{unseen['never_seen']}")
    check("never measured together" in unseen["verdict"], unseen["verdict"])
large = answer("support", "llama-3-405b", "dgx-h100", "--workers", "65536", "--framework", "megatron-core")
if large:
    pair = large["evidence"][2]
    check(any(f"65536 accelerators: runs of hopper with megatron-core have {pair['least_workers']} to {pair['most_workers']}" in text for text in large["never_seen"]), f"{large['never_seen']}")

# ---- the size that nobody stated: the fewest nodes on which it fits
sized = answer("support", "llama-3-70b", "dgx-h100")
if sized:
    check(any(re.fullmatch(rf"--workers {sized['workers']} is assumed: the fewest nodes on which it fits", text) for text in sized["notes"]), f"{sized['notes']}")
    fewer = run("predict", "llama-3-70b", "--cluster", "dgx-h100", "--workers", str(sized["workers"] // 2))
    equal(fewer.code, 3, "half of them are too few")
part = answer("support", "llama-3-8b", "2x4090", "--train", "lora", "--framework", "hf-trainer")
if part:
    equal(part["workers"] % 2, 0, "two cards")
    check(part["evidence"][4]["respect"].endswith("LoRA, bf16"), part["evidence"][4]["respect"])

# ---- the screen, and errors
screen = succeed("support", "llama-3-70b", "dgx-h100", *PLAN)
check(len(screen.out.splitlines()) <= 25, screen.out)
for label in ("known:", "measured:", "fitted:", "guessed:", "never seen:", "measure first:"):
    check(f"\n{label}" in screen.out, f"no line {label}: {screen.out}")
check("Constants in use" in succeed("support", "llama-3-70b", "dgx-h100", *PLAN, "--full").out, "--full")
equal(len(succeed("support", "llama-3-70b", "dgx-h100", *PLAN, "--brief").out.splitlines()), 1, "--brief")
for words, part in [(["support"], "MODEL"), (["support", "llama-3-70b"], "--cluster"), (["support", "llama-3-70b", "dgx-h10"], "did you mean 'dgx-h100'?"),
                    (["support", "llama-3-70b", "dgx-h100", "--cluster", "dgx-a100"], "--cluster: given with CLUSTER")]:
    refused = run(*words)
    equal((refused.code, refused.out, refused.err.count("\n")), (2, "", 1), f"{refused}: {refused.err}")
    check(part in refused.err, f"{refused}: {refused.err}")
finish()
