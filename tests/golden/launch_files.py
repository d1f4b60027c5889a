"""--from reads launch files, the command line goes before them, and --emit writes files that read back to the same answer."""

import shlex

from _harness import SCRATCH, SOURCE, answer, check, equal, finish, run

FILES = SOURCE / "tests" / "data" / "launch"
LLAMA = ["llama-3-70b", "--cluster", "dgx-h100"]
SMALL = ["llama-3-8b", "--cluster", "dgx-h100"]


def strategy(value, *names):
    return tuple(value["strategy"][name] for name in names) if value else None


# ---- reading ----
whole = answer("predict", *LLAMA, "--from", FILES / "megatron.sh")
equal(strategy(whole, "tp", "pp", "virtual_pp", "dp", "zero", "micro_batch", "recompute", "precision"), (8, 2, 4, 4, 1, 1, "selective", "bf16"), "a Megatron script")
if whole:
    notes = "\n".join(whole["notes"])
    for part in ("Megatron-LM script, read as", "--tp 8 (--tensor-model-parallel-size, line 16)", "--attention-backend (line 27): not understood", "--lr (line 26)", "defaults of the software: --framework megatron-core"):
        check(part in notes, f"notes have {part!r}: {notes}")
    equal(whole["workload"]["global_batch"], 512, "the batch of the script")

over = run("predict", *LLAMA, "--from", FILES / "megatron.sh", "--tp", "4", "--format", "json")
equal(strategy(over.json(), "tp"), (4,), "the option goes before the file")
check("--tp 8 (--tensor-model-parallel-size, line 16) is not used: the command line has --tp 4" in over.err, over.err)
sized = run("predict", *LLAMA, "--from", FILES / "megatron.sh", "--workers", "32", "--format", "json")
check("the command line has --workers 32" in sized.err, sized.err)
equal(strategy(sized.json(), "dp"), (2,), "workers of the command line")

for name, words, fields, expected in (
        ("ds_config.json", [*SMALL, "--workers", "8"], ("zero", "micro_batch", "offload"), (3, 2, "optimizer")),
        ("torchtitan.toml", ["--cluster", "dgx-h100"], ("dp", "zero", "shard", "micro_batch"), (16, 3, 8, 2)),
        ("accelerate.yaml", [*SMALL], ("dp", "zero", "shard", "recompute"), (16, 3, 8, "full")),
        ("axolotl.yaml", ["--cluster", "8xH100"], ("micro_batch", "recompute"), (2, "full")),
        ("llama_factory.yaml", ["--cluster", "8xH100"], ("micro_batch",), (1,)),
        ("training_arguments.json", [*SMALL, "--workers", "8"], ("zero", "micro_batch", "recompute"), (3, 4, "full")),
        ("maxtext.yaml", ["--cluster", "tpu-v5p", "--workers", "8"], ("zero", "micro_batch"), (3, 2)),
        ("nemo.yaml", [*LLAMA], ("tp", "pp", "dp", "zero"), (4, 2, 4, 1))):
    done = run("predict", *words, "--from", FILES / name, "--format", "json")
    check(done.code in (0, 3), f"{name}: exit {done.code}, {done.err}")
    equal(strategy(done.json(), *fields) if done.out else None, expected, name)

two = run("predict", *SMALL, "--from", FILES / "accelerate.yaml", "--from", FILES / "ds_config.json", "--format", "json")
check("--offload optimizer" in two.err and two.code in (0, 3), f"two files: {two.err}")

# ---- files that are none ----
for name, text, code, part in (("broken.yaml", "distributed_type: [FSDP\n", 4, "not valid YAML"), ("job.toml", "[x\n", 4, "not valid TOML"),
                               ("other.yaml", "colour: red\n", 4, "read are: Megatron-LM"), ("empty.sh", "", 4, "no option of a launch")):
    (SCRATCH / name).write_text(text)
    refused = run("predict", *SMALL, "--workers", "8", "--from", SCRATCH / name)
    equal(refused.code, code, f"{name}: {refused.err}")
    check(part in refused.err and name in refused.err, f"{name}: {refused.err}")
equal(run("predict", *SMALL, "--workers", "8", "--emit", "slrm").code, 2, "an unknown name of --emit")

# ---- what needs the question: layers of MODEL, accelerators, a meaning that the file does not have ----
lora = answer("predict", *SMALL, "--workers", "16", "--micro-batch", "2", "--grad-accum", "8", "--tp", "1", "--pp", "1", "--zero", "0", "--train", "lora:8:linear")
equal(lora and lora["workload"]["global_batch"], 256, "2 sequences x 8 steps x 16 replicas, which follow from the degrees")
(SCRATCH / "stages.sh").write_text("torchrun --nproc_per_node 8 --nnodes 2 pretrain_gpt.py --tensor-model-parallel-size 2 --pipeline-model-parallel-size 4 "
                                   "--decoder-first-pipeline-num-layers 5 --micro-batch-size 1 --global-batch-size 64 --seq-length 4096 --bf16\n")
stages = answer("predict", *SMALL, "--from", SCRATCH / "stages.sh")
check(stages and "--layers-per-stage 5,9,9,9" in "\n".join(stages["notes"]), f"27 of 32 layers over three stages: {stages and stages['notes']}")
(SCRATCH / "copies.toml").write_text("[training]\nlocal_batch_size = 1\n[parallelism]\ndata_parallel_replicate_degree = 2\ntensor_parallel_degree = 2\n")
copies = run("predict", *SMALL, "--workers", "32", "--from", SCRATCH / "copies.toml", "--format", "json")
equal(strategy(copies.json(), "shard") if copies.out else None, (8,), f"shards of a copy: {copies.err}")
(SCRATCH / "batch.sh").write_text("python main.py --batch_size 64 --bf16\n")
batch = [*SMALL, "--workers", "8", "--from", SCRATCH / "batch.sh"]
undecided = run("predict", *batch)
check(undecided.code == 2 and "batch.sh:1" in undecided.err and "--global-batch" in undecided.err, f"a batch of one or of all: {undecided.err}")
decided = run("predict", *batch, "--global-batch", "64", "--format", "json")
equal(decided.out and decided.json()["workload"]["global_batch"], 64, f"the batch that is given: {decided.err}")

# ---- a script that sets keys of a file of settings ----
(SCRATCH / "keys.toml").write_text("[training]\nlocal_batch_size = 1\n[parallelism]\ntensor_parallel_degree = 2\n[activation_checkpoint]\nmode = \"selective\"\n")
(SCRATCH / "keys.sh").write_text("torchrun --nproc_per_node 8 --nnodes 2 -m torchtitan.train --job.config_file keys.toml --activation_checkpoint.mode full "
                                 "--parallelism.data_parallel_replicate_degree 2\n")
for order in (("keys.toml", "keys.sh"), ("keys.sh", "keys.toml")):
    both = run("predict", *SMALL, *(word for name in order for word in ("--from", SCRATCH / name)), "--format", "json")
    equal(strategy(both.json(), "dp", "tp", "recompute", "shard", "sequence_parallel") if both.out else None, (8, 2, "full", 4, True), f"{order}: {both.err}")
(SCRATCH / "dump.json").write_text('{"output_dir": "o", "per_device_train_batch_size": 2, "bf16": true, "fsdp": [], "deepspeed": null}\n')
dump = run("predict", "gpt2", "--cluster", "dgx-h100", "--workers", "8", "--from", SCRATCH / "dump.json", "--format", "json")
equal(strategy(dump.json(), "zero") if dump.out else None, (0,), f"no sharding is asked for: {dump.err}")

# ---- places of values, the model of the file, what fine-tuning takes ----
(SCRATCH / "value.sh").write_text("torchrun --nproc_per_node 8 --nnodes 1 train.py --tp 2 \\\n  --micro-batch-size x --num-layers 80\n")
refused = run("predict", *SMALL, "--from", SCRATCH / "value.sh")
check("value.sh:2 --micro-batch" in refused.err, f"the place of a value: {refused.err}")
(SCRATCH / "model.sh").write_text("torchrun --nproc_per_node 8 --nnodes 1 train.py --tensor-model-parallel-size 2 --micro-batch-size 2 --bf16 --num-layers 80 --hidden-size 4096\n")
other = run("predict", *SMALL, "--from", SCRATCH / "model.sh", "--format", "json")
check("--num-layers 80 (line 1) is not that of llama-3-8b, which has 32" in other.err and "--hidden-size 4096 (line 1) is not" not in other.err, other.err)
equal(other.json()["workload"]["global_batch"] if other.out else None, 8, "one micro-batch of 2 on each of 4 replicas")
(SCRATCH / "full.yaml").write_text("base_model: meta-llama/Llama-3.1-8B\nsequence_len: 2048\nmicro_batch_size: 1\nadapter:\nnum_epochs: 3\nbf16: auto\ngradient_checkpointing: true\nfsdp:\n  - full_shard\n")
tuned = run("finetune", "--cluster", "8xH100", "--dataset-tokens", "50M", "--from", SCRATCH / "full.yaml", "--format", "json")
equal((tuned.json()["method"], tuned.json()["epochs"]) if tuned.out else tuned.err, ("full", 3), "what is trained, and how often")

# ---- writing: what is read back has the framework that the file was written for; the JSON of DeepSpeed says nothing of who uses it ----
plan = answer("plan", *LLAMA, "--workers", "64", "--global-batch", "512", "--tokens", "1T")
if plan:
    command = shlex.split(plan["recommendation"]["command"])
    equal(command[:2], ["headroom", "predict"], "the command of the winner")
    same = answer(*command[1:])
    equal(same and same["step_seconds"], plan["recommendation"]["step_seconds"], "the command predicts the winner")
    equal(same and same["strategy"], plan["recommendation"]["strategy"], "its strategy")
FRAMEWORKS = {"megatron": "megatron-core", "slurm": "megatron-core", "nemo": "megatron-core", "torchtitan": "torchtitan", "deepspeed": "hf-deepspeed",
              "accelerate": "hf-fsdp"}
for name, file in (("megatron", "a.sh"), ("slurm", "b.sh"), ("torchtitan", "c.toml"), ("nemo", "d.yaml"), ("accelerate", "e.yaml"), ("deepspeed", "f.json")):
    fixed = [*SMALL, "--workers", "16", "--global-batch", "128", "--sequence-length", "8192", "--micro-batch", "1", "--dp", "16", "--tp", "1", "--pp", "1", "--cp", "1",
             "--zero", "3" if name in ("torchtitan", "accelerate", "deepspeed") else "1", "--recompute", "full" if name != "deepspeed" else "none"]
    written = run("predict", *fixed, "--emit", name, "--out", SCRATCH / file)
    check(written.code in (0, 3) and "note: predicted by headroom predict llama-3-8b" in written.err, f"{name}: {written.err}")
    text = (SCRATCH / file).read_text()
    check(name == "deepspeed" or "# headroom predict llama-3-8b --cluster dgx-h100 --workers 16" in text, f"{name}: {text}")
    first = answer("predict", *fixed, "--framework", FRAMEWORKS[name], code=written.code)
    again = answer("predict", *SMALL, *([] if name in ("megatron", "slurm", "nemo", "accelerate") else ["--workers", "16"]), "--from", SCRATCH / file,
                   *(["--sequence-length", "8192", "--global-batch", "128", "--micro-batch", "1"] if name == "accelerate" else []),
                   *(["--sequence-length", "8192", "--recompute", "none", "--framework", "hf-deepspeed"] if name == "deepspeed" else []), code=written.code)
    if first and again:
        equal(again["strategy"], first["strategy"], f"{name}: read back")
        equal(again["workload"], first["workload"], f"{name}: read back, its workload")
        equal(again["step_seconds"], first["step_seconds"], f"{name}: read back, its step")

# ---- a file is of a plan that is priced for its software
for name, framework in FRAMEWORKS.items():
    for verb in ("predict", "plan"):
        words = [verb, *SMALL, "--workers", "16", "--global-batch", "128"]
        written, stated = run(*words, "--emit", name), run(*words, "--emit", name, "--framework", framework)
        equal(written.out, stated.out, f"{verb} --emit {name}: as with --framework {framework}")
        check(f"--framework {framework}" in written.err and f"--emit {name}: priced for --framework {framework}, the software of such a file" in written.err, written.err)
other = run("predict", *SMALL, "--workers", "16", "--framework", "maxtext", "--emit", "torchtitan")
check("--emit torchtitan: priced for --framework maxtext, which is stated" in other.err, other.err)
split = run("predict", *SMALL, "--workers", "16", "--tp", "2", "--emit", "deepspeed")
check("priced for --framework megatron-deepspeed" in split.err, f"who splits layers by such a file: {split.err}")

finish()
