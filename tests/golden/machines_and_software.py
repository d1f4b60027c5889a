"""Limits of a machine's host and of the software: offloaded state and the host's memory, experts, whole gradients, the watts of a
faster chip, boxes of cards."""

from _harness import answer, check, close, equal, finish, run, succeed

# ---- offloaded state is in the host's memory --------------------------------------------------------------------

HUGE = ["predict", "llama-3-405b", "--framework", "hf-deepspeed", "--zero", 3, "--offload", "parameters", "--micro-batch", 1,
        "--global-batch", 8, "--recompute", "full"]
known = answer(*HUGE, "--cluster", "8xH100", code=3)
check(not known["fits"], "6 TB of state do not fit a host of 2 TB")
check("host memory" in known["why_not"], f"the reason is the host: {known['why_not']}")
check(known["host_memory_bytes"] > known["host_memory_capacity_bytes"], "more is needed than is there")
stated = answer(*HUGE, "--cluster", "8xH100", "--host-memory", "8TiB")
check(stated["fits"], "a host of 8 TiB holds them")
close(stated["host_memory_bytes"], known["host_memory_bytes"], "what is needed does not depend on what is there")
CARD = ["finetune", "llama-3-70b", "--cluster", "1x4090", "--method", "full", "--offload", "all", "--zero", 3, "--framework",
        "hf-deepspeed", "--dataset-tokens", "10M"]
check("host memory a machine, which must be there" in " ".join(succeed(*CARD).out.split()), "an unknown host is named")
equal(answer("predict", "llama-3-8b", "--cluster", "dgx-h100", "--workers", 8)["host_memory_bytes"], 0, "nothing is offloaded")

# ---- a plan is one that the software can run --------------------------------------------------------------------

for framework in ["hf-fsdp", "hf-deepspeed", "pytorch-fsdp"]:
    plan = answer("plan", "mixtral-8x7b", "--cluster", "dgx-h100", "--workers", "32", "--global-batch", 32, "--framework", framework)
    for point in plan["curve"]:
        strategy = point["strategy"]
        check(strategy is None or strategy["ep"] == 1, f"{framework} does not spread experts: {strategy}")
spread = answer("plan", "mixtral-8x7b", "--cluster", "dgx-h100", "--workers", "16", "--framework", "megatron-core")
check(spread["curve"][0]["strategy"]["ep"] > 1, "Megatron Core does")

TINY = ["predict", "tinyllama-1.1b", "--workers", 8, "--global-batch", 8, "--cluster"]
for arguments, words in [
    (["predict", "llama-3-8b", "--cluster", "dgx-h100", "--workers", 8, "--framework", "unsloth", "--zero", 3], "has no ZeRO stage 3"),
    (["predict", "mixtral-8x7b", "--cluster", "8xH100", "--framework", "hf-fsdp", "--ep", 2], "cannot split experts over ranks"),
    (["predict", "llama-3-8b", "--cluster", "aws-trn1", "--workers", 32, "--framework", "unsloth"], "does not run on"),
    (["predict", "llama-3-8b", "--cluster", "tpu-v5p-host", "--workers", 32, "--optimizer", "adamw-8bit"], "bitsandbytes"),
    ([*TINY, "8xH100", "--framework", "gpt-neox", "--pp", 2, "--zero", 2], "no ZeRO stage 2 with a pipeline"),
    ([*TINY, "8xA100", "--attention-kernel", "flash3"], "is not for a100-sxm-80gb"),
    ([*TINY, "8xB200", "--attention-kernel", "fa3"], "is not for b200-sxm-180gb"),
    ([*TINY, "4xT4", "--attention-kernel", "flash2"], "is not for t4"),
    ([*TINY, "dgx-v100", "--attention-kernel", "cudnn"], "is not for v100-sxm2-32gb"),
    ([*TINY, "dgx-v100", "--attention-kernel", "flash1"], "is not for v100-sxm2-32gb"),
    ([*TINY, "tpu-v5p-host", "--attention-kernel", "flash2"], "is not for tpu-v5p"),
]:
    refused = run(*arguments)
    equal(refused.code, 3, f"{refused} is impossible")
    check(words in refused.err, f"{refused}: {words!r} is not in {refused.err}")
equal(run("comm", "--size", "1GB", "--ranks", 8, "--cluster", "2x4090").code, 0, "comm takes machines with their number, as predict does")

for cluster, kernel in [("8xA100", "cudnn"), ("dgx-v100", "sdpa"), ("8xB200", "flash2"), ("8xB200", "fused"), ("8xH100", "fa3")]:
    equal(run(*TINY, cluster, "--attention-kernel", kernel).code in (0, 3), True, f"{cluster} has {kernel}")
    check("is not for" not in run(*TINY, cluster, "--attention-kernel", kernel).err, f"{cluster} has {kernel}")
few = run("predict", "gemma-2-9b", "--cluster", "dgx-2", "--workers", 16, "--train", "lora", "--global-batch", 8)
check(few.code == 2 and "8 sequences cannot be shared by 16 data-parallel replicas" in few.err, f"LoRA of a batch below the ranks: {few.err}")
# the software that is assumed is software of the machine: stated, it gives the same answer
for model in ["resnet-50", "lstm-medium", "bert-large", "llama-3.2-1b"]:
    for machine in ["dgx-h100", "mi300x-node", "gaudi2-node", "tpu-v5p-host", "dgx-v100", "aws-trn2"]:
        one = ["predict", model, "--cluster", machine, "--workers", 1, *(["--micro-batch", 1, "--sequence-length", 512] if "-1b" in model else [])]
        assumed = answer(*one)
        named = answer(*one, "--framework", assumed["framework"])
        equal(named["step_seconds"], assumed["step_seconds"], f"{model} on {machine}, {assumed['framework']} stated")
deep = answer("plan", "llama-3-70b", "--cluster", "8xH100", "--workers", 64, "--framework", "gpt-neox", "--pp", 4, "--global-batch", 64)
check(deep["curve"][0]["strategy"]["zero"] < 2, "DeepSpeed's pipeline has no ZeRO 2")

# ---- a text that names one machine, and more accelerators ---------------------------------------------------------

two = run("predict", "llama-3-8b", "--cluster", "8xH100", "--workers", 16)
check("16 accelerators are 2 machines of 8, joined by" in two.err, f"the second machine is named: {two.err}")
listed = {one["field"]: one["value"] for one in answer("predict", "llama-3-8b", "--cluster", "8xH100", "--workers", 16)["assumed"]}
check(listed.get("machines", "").startswith("2 of 8"), f"and listed: {listed}")
for one in (["8xH100"], ["8xH100", "--workers", 8], ["16xH100"], ["dgx-h100", "--workers", 16]):
    check("machines of 8, joined" not in run("predict", "llama-3-8b", "--cluster", *one).err, f"{one} says which machines")

# ---- whole gradients between micro-batches ------------------------------------------------------------------------

SHARDED = ["predict", "llama-2-13b", "--cluster", "8xH200", "--framework", "hf-fsdp", "--dp", 8, "--micro-batch", 1, "--grad-accum", 16,
           "--global-batch", 128, "--sequence-length", 2048, "--recompute", "full"]
two, three = (answer(*SHARDED, "--zero", stage)["memory"] for stage in (2, 3))
close(two["gradients_bytes"], three["gradients_bytes"], "no_sync keeps whole gradients under both", 1e-9)
check(three["total_bytes"] < two["total_bytes"], "ZeRO-3 shards the weights, too")
once = answer(*[16 if one == 128 else 2 if one == 16 else one for one in SHARDED], "--zero", 3)["memory"]
away = answer(*SHARDED, "--zero", 3, "--offload", "optimizer")["memory"]
close(away["gradients_bytes"], three["gradients_bytes"], "they stay where an optimizer is offloaded", 1e-9)
close(once["gradients_bytes"], three["gradients_bytes"], "of two micro-batches as of sixteen", 1e-9)

# ---- what would fit, where the training may change -----------------------------------------------------------------

lean = ["predict", "llama-2-13b", "--cluster", "1x4090", "--framework", "hf-trainer", "--train", "lora", "--micro-batch", 1, "--recompute", "full",
        "--sequence-length", 1024, "--global-batch", 8]
check("with frozen weights of 4 bits (--base nf4)" in answer(*lean, code=3)["why_not"], "QLoRA is named where LoRA does not fit")
check(answer(*lean, "--base", "nf4")["fits"], "and fits")
MIXTURE = ["mixtral-8x7b", "--cluster", "8xH100", "--framework", "hf-fsdp"]
for workers in (16, 64):
    refused = answer("plan", *MIXTURE, "--workers", workers, code=3)["curve"][0]["why_not"]
    named = f"--micro-batch 1 --global-batch {workers}"
    check(f"without gradient accumulation ({named})" in refused, f"whole gradients are named: {refused}")
    check(answer("predict", *MIXTURE, "--workers", workers, "--zero", 3, "--recompute", "full", *named.split())["fits"], f"{named} fits")
images = ["predict", "resnet-50", "--cluster", "dgx-v100-16gb", "--workers", 1, "--precision", "fp32", "--micro-batch", 256, "--global-batch", 256]
check("half the micro-batch" in answer(*images, code=3)["why_not"], "256 images do not fit, 128 do")

# ---- a faster chip with the watts that it takes ------------------------------------------------------------------

SPEED = ["predict", "llama-3-8b", "--workers", 8, "--framework", "megatron-core", "--global-batch", 256]
for cluster in ["l20-pcie-8", "hgx-h20", "dgx-h100", "dgx-a100"]:
    before = 0.0
    for factor in ["1x", "1.2x", "1.5x", "1.95x", "2.5x"]:
        speedup = answer(*SPEED, "--cluster", cluster, "--what-if", f"compute={factor}")["what_if"][0]["speedup"]
        check(speedup >= before, f"{cluster}: {factor} of compute is no slower than less: {speedup} after {before}")
        before = speedup

# ---- cards are in one box ---------------------------------------------------------------------------------------

box = answer("predict", "llama-3.2-1b", "--cluster", "4xT4", "--train", "lora:16", "--precision", "fp16", "--sequence-length", 1024)
equal(box["cluster"]["accelerators_per_node"], 4, "four T4 are in one box")

# ---- instances of clouds by their names, with their accelerators and what joins the machines ----------------------

for name, accelerators, network in [
    ("ND96isr_H100_v5", 8, "50 GB/s"), ("Standard_ND96isr_MI300X_v5", 8, "50 GB/s"), ("NC96ads_A100_v4", 4, "2.5 GB/s"), ("a2-ultragpu-8g", 8, "1.56 GB/s"),
    ("a2-megagpu-16g", 16, "781 MB/s"), ("a4-highgpu-8g", 8, "50 GB/s"), ("BM.GPU.H100.8", 8, "50 GB/s"), ("BM.GPU.A100-v2.8", 8, "25 GB/s"),
    ("g5.12xlarge", 4, "1.25 GB/s"), ("g6.48xlarge", 8, "1.56 GB/s"), ("g6e.48xlarge", 8, "6.25 GB/s"), ("g6e.xlarge", 1, "2.5 GB/s")]:
    facts = answer("catalog", "show", name)["record"]["facts"]
    check(facts.startswith(f"{accelerators} x "), f"accelerators of {name}: {facts}")
    check(f"scale-out {network}" in facts, f"{network} an accelerator between machines of {name}: {facts}")

finish()
