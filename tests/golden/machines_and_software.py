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

for arguments, words in [
    (["predict", "llama-3-8b", "--cluster", "dgx-h100", "--workers", 8, "--framework", "unsloth", "--zero", 3], "has no ZeRO stage 3"),
    (["predict", "mixtral-8x7b", "--cluster", "8xH100", "--framework", "hf-fsdp", "--ep", 2], "cannot split experts over ranks"),
    (["predict", "llama-3-8b", "--cluster", "aws-trn1", "--workers", 32, "--framework", "unsloth"], "does not run on"),
    (["predict", "llama-3-8b", "--cluster", "tpu-v5p-host", "--workers", 32, "--optimizer", "adamw-8bit"], "bitsandbytes"),
]:
    refused = run(*arguments)
    equal(refused.code, 3, f"{refused} is impossible")
    check(words in refused.err, f"{refused}: {words!r} is not in {refused.err}")
equal(run("comm", "--size", "1GB", "--ranks", 8, "--cluster", "2x4090").code, 0, "comm takes machines with their number, as predict does")

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

finish()
