"""Fine-tuning as people ask for it: whether it fits, minutes an epoch and dollars, by method, for a data set."""

import json
import re
import shlex

from _harness import answer, check, close, equal, finish, run, succeed

BOX = ["llama-3-8b", "--cluster", "2x4090", "--dataset-tokens", "50M"]

small = answer("finetune", *BOX, "--method", "qlora")
if small:
    equal((small["method"], small["fits"], small["workers"]), ("qlora", True, 2), "QLoRA of 8 billion parameters on two cards of 24 GiB")
    check(0.5 <= small["probability_fits"] <= 1, f"probability: {small['probability_fits']}")
    close(small["minutes_per_epoch"], 50e6 / small["tokens_per_second"] / 60, "minutes an epoch")
    close(small["cost_dollars"], 2 * small["cluster"]["price_dollars_per_hour"] * small["minutes_per_epoch"] / 60, "dollars of an epoch")
    check(small["strategy"]["train"].startswith("lora"), small["strategy"]["train"])
    command = shlex.split(small["command"])
    again = answer(*command[1:], code=0)
    equal(again and again["step_seconds"], small["step_seconds"], "the command predicts the same step")
three = answer("finetune", *BOX, "--method", "qlora", "--epochs", "3")
if small and three:
    close(three["cost_dollars"], 3 * small["cost_dollars"], "three epochs cost three times as much")
    equal(three["minutes_per_epoch"], small["minutes_per_epoch"], "and each takes as long")
scaled = answer("finetune", *BOX, "--method", "qdora", "--micro-batch", "1")
small = answer("finetune", *BOX, "--method", "qlora", "--micro-batch", "1")
if small and scaled:
    equal(scaled["strategy"]["train"], "dora:16", "DoRA on a quantised base")
    check(scaled["strategy"]["name"].endswith(" dora") and scaled["verdict"].startswith("QDoRA fine-tuning of "), f"its names: {scaled['verdict']}")
    check(scaled["minutes_per_epoch"] > 1.05 * small["minutes_per_epoch"], "lengths of rows take time")
    check(scaled["memory_bytes"] > small["memory_bytes"], "two results of each matrix are kept")
for words, spelled in (("--dora --lora-rank 8", "dora:8"), ("--lora-rank 8 --use-dora", "dora:8"), ("--qdora", "dora:16"), ("--train dora:8:linear", "dora:8:linear")):
    equal(answer("predict", "llama-3-8b", "--cluster", "8xH100", "--framework", "hf", *words.split())["strategy"]["train"], spelled, words)
whole = run("finetune", *BOX, "--method", "full")
equal(whole.code, 3, "all weights do not fit on two cards")
told = " ".join(whole.out.split())
check("does not fit" in told and "minutes an epoch" in told, told)
found = re.search(r"--method (lora|qlora) fits: (\d+) minutes an epoch", told)
if check(found, f"a method that fits: {told}"):
    close(answer("finetune", *BOX, "--method", found[1])["minutes_per_epoch"], float(found[2]), "minutes of that method", 5e-3)
big = answer("finetune", "llama-3-8b", "--cluster", "8xH100", "--method", "full", "--dataset-tokens", "1 billion tokens", "--epochs", "2")
if big:
    equal((big["dataset_tokens"], big["epochs"], big["workload"]["sequence_length"]), (1e9, 2, 2048), "the data set and the assumed length")
    equal({one["field"]: one["value"] for one in big["assumed"][:2]}, {"framework": "hf-fsdp", "sequence_length": "2048"}, "what is assumed, first")
    named = answer("finetune", "llama-3-8b", "--cluster", "8xH100", "--method", "full", "--dataset-tokens", "1B", "--epochs", "2", "--framework", "hf-fsdp")
    equal(named["step_seconds"], big["step_seconds"], "the framework that is assumed, named")
    width = lambda value: value["interval_seconds"][1] / value["interval_seconds"][0]
    check(width(big) > 1.2 * width(named), f"an assumed framework is less certain than a named one: {width(big)}, {width(named)}")
for words, part in ((["finetune", *BOX[:3]], "--dataset-tokens: missing"), (["finetune", *BOX, "--tokens", "2T"], "--tokens: given with --dataset-tokens"),
                    (["finetune", *BOX, "--global-batch", "15"], "give --global-batch 14 or 16"),  # Trainer has no tensor ranks
                    (["finetune", *BOX, "--method", "loar"], "did you mean 'lora'?"), (["finetune", "--dataset-tokens", "5M"], "MODEL")):
    refused = run(*words)
    equal(refused.code, 2, f"{refused}")
    check(part in refused.err, f"{refused}: {refused.err}")
# ---- the method is that of the weights that are trained ----
EIGHT = ["llama-3-8b", "--cluster", "8xH100", "--dataset-tokens", "50M"]
for words, method, said in ((["--train", "all"], "full", "full fine-tuning of "), (["--train", "dora:8"], "dora", "DoRA fine-tuning of "),
                            (["--base", "nf4"], "qlora", "QLoRA fine-tuning of "), (["--method", "lora", "--base", "int4"], "qlora", "QLoRA fine-tuning of "),
                            (["--base", "int8"], "lora", "LoRA fine-tuning of "), (["--method", "qlora", "--train", "lora:64:linear"], "qlora", "QLoRA fine-tuning of "),
                            (["--train", "last:4"], "full", "fine-tuning of the last 4 layers of ")):
    value = answer("finetune", *EIGHT, *words)
    check(value and value["method"] == method and value["verdict"].startswith(said), f"{words}: {value and value['verdict']}")
for words in (["--method", "lora", "--train", "all"], ["--method", "full", "--train", "lora:64"], ["--method", "qlora", "--base", "bf16"],
              ["--method", "lora", "--train", "dora"], ["--method", "qlora", "--train", "last:4"]):
    refused = run("finetune", *EIGHT, *words)
    check(refused.code == 2 and " ".join(refused.err.split()).startswith(f"--method: {words[1]} contradicts {words[2]} {words[3]} "), f"{refused}: {refused.err}")
# ---- several numbers of accelerators ----
several = ["finetune", "llama-3-8b", "--cluster", "dgx-h100", "--dataset-tokens", "50M", "--workers", "1..8"]
sizes = answer(*several)
if sizes:
    equal([size["workers"] for size in sizes["curve"]], [1, 2, 4, 8], "every size")
    equal([size["recommended"] for size in sizes["curve"]], [False, False, False, True], "every doubling is worth it")
    equal((sizes["workers"], sizes["minutes_per_epoch"]), (8, sizes["curve"][3]["minutes_per_epoch"]), "the answer is that of the recommended size")
    for size in sizes["curve"]:
        alone = answer(*several[:-1], str(size["workers"]))
        equal([size[key] for key in ("step_seconds", "cost_dollars", "memory_bytes", "strategy")],
              [alone[key] for key in ("step_seconds", "cost_dollars", "memory_bytes", "strategy")], f"{size['workers']} as asked alone")
        equal([one["workers"] for one in alone["curve"]], [size["workers"]], "one size is a list of one")
    check(re.search(r"4 accelerators take [\d.]+ minutes an epoch and \$[\d.]+: a doubling gives 1\.\d+x\. 8 is the largest size that you asked about",
                    sizes["verdict"]), sizes["verdict"])
    equal(run(*several).out.count("min/epoch"), 1, "a table of the sizes")
    equal(len(succeed(*several, "--format", "csv").out.splitlines()), 5, "a line of CSV a size")
refused = answer(*several[:-1], "1,3", "--global-batch", "16")
if refused:
    equal((refused["workers"], refused["curve"][1]["strategy"]), (1, None), "a size that no strategy divides has none")
    check("dp 3 does not divide the batch of 16" in refused["curve"][1]["why_not"], refused["curve"][1]["why_not"])
none = run("finetune", "llama-3-8b", "--cluster", "2x4090", "--workers", "1,2", "--method", "full", "--dataset-tokens", "50M")
check(none.code == 3 and "No other size that you asked about fits either" in " ".join(none.out.split()), f"{none}")
check(" fits on " in " ".join(none.out.split()), "the method that fits, on which size")
many = run(*several[:-1], "1..40:1")
check("Sizes have batches of 16 to 40 sequences: --global-batch holds one." in " ".join(many.out.split()), many.out)
check("Sizes have batches" not in run(*several).out, "where they do not differ")
check(len(many.out.splitlines()) <= 25 and re.search(r"not shown: \d+ sizes: --full", many.out), many.out)
equal(len(re.findall(r"^\*? +\d+ +dp", run(*several[:-1], "1..40:1", "--full").out, re.M)), 40, "all of them with --full")
equal(run(*several[:-1], "1..100:1").code, 2, "as many as a table has")
# ---- defaults of --help are those that are used ----
(verb,) = [row for row in json.loads(succeed("schema", "--verbs").out) if row["name"] == "finetune"]
said = {row["name"]: row["help"] for row in verb["options"]}
node = ["finetune", "llama-3-8b", "--cluster", "dgx-h100", "--dataset-tokens", "50M"]
for more, batch, framework in (([], 16, "hf-trainer"), (["--nodes", "4"], 32, "hf-trainer"), (["--micro-batch", "1"], 16, "hf-trainer"),
                               (["--method", "full"], 16, "hf-fsdp")):
    used = answer(*node, *more)
    if used:
        equal((used["workload"]["global_batch"], used["workload"]["sequence_length"], used["framework"]), (batch, 2048, framework), f"defaults with {more}")
        equal(used["workers"], 32 if more[:1] == ["--nodes"] else 8, f"one node, or what is stated: {more}")
check("default: 16, or one an accelerator)" in said["--global-batch"], said["--global-batch"])
check("default: 2048" in said["--sequence-length"] and "one node" in said["--workers"], f"{said['--sequence-length']}; {said['--workers']}")
check("default: hf-fsdp for --method full, else hf-trainer" in said["--framework"], said["--framework"])
for name in ("--tokens", "--steps"):
    check(said[name].startswith("refused"), said[name])
(other,) = [row for row in json.loads(succeed("schema", "--verbs").out) if row["name"] == "predict"]
check(any(row["name"] == "--global-batch" and "default: 1024" in row["help"] for row in other["options"]), "predict has its own default")

screen = run("finetune", *BOX, "--method", "qlora").out
check(len(screen.splitlines()) <= 25 and screen.startswith("QLoRA fine-tuning of llama-3-8b on 2x rtx-4090 fits ("), screen)
for base, method, stated in (("bf16", "qlora", "lora"), ("int8", "qlora", "lora")):
    refused = run("finetune", "llama-3-8b", "--cluster", "dgx-h100", "--method", method, "--base", base, "--dataset-tokens", "1M")
    equal(refused.code, 2, f"{refused}: {refused.err}")
    check(f"--method: {method} contradicts --base {base} (with --base {base} the method is {stated}). "
          f"write --method {stated}, or leave --base {base} out" in refused.err, refused.err)

finish()
