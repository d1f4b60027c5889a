"""A Hugging Face config.json is enough: every family under tests/data/configs is predicted, and as the catalog's record of it."""

from _harness import CONFIGS, answer, check, close, equal, finish, run

# parameters in billions, from the model cards
FAMILIES = {"llama-3-70b": 70.6, "llama-3.2-1b": 1.24, "mistral-7b": 7.24, "qwen2.5-7b": 7.62, "gemma-7b": 8.54, "gpt2-xl": 1.56,
            "gpt-neox-20b": 20.6, "gpt-j-6b": 6.05, "opt-6.7b": 6.66, "falcon-7b": 6.92, "mpt-30b": 29.97, "bloom-176b": 176.2}

# Records that describe another variant than the released file: the trained benchmark had learned positions and biases;
# no predicting blocks (deepseek-v3-mtp has them); targets shorter than inputs.
OTHER_VARIANT = {"mpt-30b", "deepseek-v3", "t5-large"}

folders = sorted(path.name for path in CONFIGS.iterdir() if (path / "config.json").is_file())
check(len(folders) >= 5, f"five families or more: {folders}")

for name in folders:
    degrees = ["--tp", 8, "--pp", 10] if name == "bloom-176b" else ["--tp", 8] if name == "llama-3-70b" else []
    workers = 80 if name == "bloom-176b" else 64
    arguments = ["--cluster", "dgx-h100", "--workers", workers, "--global-batch", 256, "--sequence-length", 1024, *degrees]
    done = run("predict", CONFIGS / name, *arguments, "--format", "json")
    if done.code == 2 and "not timed yet" in done.err and ("experts" in (CONFIGS / name / "config.json").read_text()):
        continue  # a mixture of experts, refused in words
    check(done.code in (0, 3), f"{done}: exit {done.code}; said: {done.err.strip()}")
    value = done.json() if done.code in (0, 3) else None
    if value is None:
        continue
    if name in FAMILIES:
        close(value["model"]["parameters"] / 1e9, FAMILIES[name], f"{name}: parameters", 0.01)
    check(value["notes"] and "note:" in done.err, f"{name}: which keys were used and ignored is said")
    same = run("predict", CONFIGS / name / "config.json", *arguments, "--format", "json").json()
    equal(same["step_seconds"], value["step_seconds"], f"{name}: the file against its folder")
    known = run("predict", name, *arguments, "--format", "json")
    if known.code in (0, 3) and name not in OTHER_VARIANT:
        record = known.json()
        equal(record["model"]["parameters"], value["model"]["parameters"], f"{name}: parameters of the record against the file")
        close(value["step_seconds"], record["step_seconds"], f"{name}: step of the record against the file", 1e-9)

for name in ("llama-3.2-1b", "gpt2-xl"):
    value = answer("plan", CONFIGS / name, "--cluster", "dgx-a100", "--workers", "8..32", "--sequence-length", 1024)
    check(value and value["recommendation"], f"{name}: a plan from a config.json")

finish()
