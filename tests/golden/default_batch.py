"""A batch that nobody states: what raises it, what LoRA has, and where plan says so; one that is stated is never changed."""

from _harness import answer, check, close, equal, finish, succeed

CLUSTER = ["--cluster", "dgx-h100", "--tokens", "100B"]


def batch(*words):
    value = answer("plan", "llama-3-8b", *CLUSTER, *words)
    return (value["workload"]["global_batch"], next((one["reason"] for one in value["assumptions"] if one["field"] == "global_batch"), None)) if value else None


# ---- sizes that are no power of two raise it only where no other size loses by it: 1152 = 9 x 128
equal(batch("--workers", "8..64"), (1024, "default; sequences a step"), "powers of two")
equal(batch("--workers", "8,16,24,32"), (1152, "default; sequences a step, raised from 1024 for 24 accelerators"), "all of them divide 1152")
equal(batch("--workers", "24,256"), (1024, "default; sequences a step, no multiple of 24 accelerators"), "256 divides 1024, not 1152")
equal(batch("--workers", "8,24,40,56,72"), (1024, "default; sequences a step, no multiple of 4 sizes"), "3, 5, 7 and 9 have too much in common")
equal(batch("--workers", "8,24", "--global-batch", "1024"), (1024, None), "a stated batch")
for words, note in (("8,16,24,32", "global_batch 1152 (raised from 1024 for 24 accelerators)"), ("24,256", "global_batch 1024 (no multiple of 24 accelerators)")):
    screen = " ".join(succeed("plan", "llama-3-8b", *CLUSTER, "--workers", words).out.split())
    check(note in screen, f"{words}: {screen}")
alone = {words: answer("plan", "llama-3-8b", *CLUSTER, "--workers", words)["curve"] for words in ("32,256", "24,32,256")}
equal(alone["24,32,256"][1:], [row | {key: alone["24,32,256"][i + 1][key] for key in ("speedup", "efficiency", "marginal_speedup_per_doubling", "marginal_speedup_of_run")}
                               for i, row in enumerate(alone["32,256"])], "a size that shares nothing out leaves the others as they are")

# ---- LoRA: as finetune has it
LORA = ["plan", "llama-3-8b", "--cluster", "dgx-h100", "--train", "lora"]
for words, expected in ((["--workers", "8..64"], 16), (["--workers", "32,64"], 32), (["--workers", "24"], 24), ([], 16)):
    value = answer(*LORA, *words, "--tokens", "50M")
    if value:
        equal(value["workload"]["global_batch"], expected, f"LoRA {words}")
tuned = answer("finetune", "llama-3-8b", "--cluster", "dgx-h100", "--workers", "24", "--dataset-tokens", "50M")
equal(tuned and tuned["workload"]["global_batch"], 24, "finetune on 24")
equal(answer(*LORA, "--workers", "8", "--global-batch", "64")["workload"]["global_batch"], 64, "stated")

# ---- few optimizer steps are in the first lines, and in the JSON
few = succeed("plan", "llama-3-8b", "--cluster", "dgx-h100", "--workers", "8..64", "--tokens", "50M", "--brief").out
check("Only 6 optimizer steps of 1024 sequences: give a smaller --global-batch." in few, few)
value = answer("plan", "llama-3-8b", "--cluster", "dgx-h100", "--workers", "8..64", "--tokens", "50M")
for row in [*value["curve"], value["recommendation"]]:
    close(row["optimizer_steps"], 50e6 / (1024 * 8192), "optimizer steps")
check("Only" not in succeed(*LORA, "--workers", "8", "--tokens", "50M").out, "381 steps are enough")

finish()
