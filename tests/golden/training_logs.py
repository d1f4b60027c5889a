"""Training logs as evidence: every format is recognised and gives its steady step; predict leans on it and takes the facts
that it states; contradictions are noted; calibrate keeps it; other texts are refused; Ctrl-C keeps what was read."""

from _harness import SCRATCH, SOURCE, PROGRAM, answer, check, close, equal, finish, interrupted_when, run, schema_errors, succeed

LOGS = SOURCE / "tests" / "data" / "training_logs"
RUN = ["llama-3-8b", "--cluster", "dgx-h100", "--workers", 16, "--tp", 2, "--micro-batch", 1, "--zero", 1, "--global-batch", 64,
       "--sequence-length", 8192, "--sequence-parallel", "on", "--recompute", "none", "--precision", "bf16", "--framework", "megatron-core"]


def log_of(*arguments):
    found = answer("predict", *arguments)
    return found["logs"][0], found


# ---- every format ------------------------------------------------------------------------------------------------------

# Medians by hand from the lines that are left.
STEPS = {
    "megatron.log": ("Megatron-LM", 3.6001), "nemo.log": ("NeMo", 2.3905), "nanotron.log": ("nanotron", 1.23),
    "maxtext.log": ("MaxText", 3.437), "composer.log": ("Composer", 1 / 0.109), "deepspeed.log": ("DeepSpeed", 2.0),
    "torchtitan.log": ("torchtitan", 65536 / 8 / 3209), "hf_trainer.log": ("Hugging Face Trainer", 3.0),
    "trainer_state.json": ("Hugging Face Trainer JSON", 2.0), "trainer_log.jsonl": ("Hugging Face Trainer JSON", 6.5),
    "mlperf.log": ("MLPerf", 2.0074), "lightning.csv": ("Lightning CSV", 2.0), "wandb.csv": ("W&B export", 2.0),
    "tensorboard.csv": ("TensorBoard export", 0.5), "nanogpt.log": ("nanoGPT", 3.4513), "modded_nanogpt.log": ("modded-nanogpt", 1.5),
    "llm_c.log": ("llm.c", 3.6128), "torchtune.log": ("torchtune", 4.0), "epoch_bar.log": ("bar of an epoch", 4.0),
    "litgpt.log": ("litgpt", 3 * 0.8805 + 0.95025), "levanter.log": ("levanter", 3.0), "micro_batches.csv": ("table", 3.62)}
for name, (form, seconds) in STEPS.items():
    log, found = log_of(*RUN, "--log", LOGS / name)
    equal(log["format"], form, f"{name}: its format")
    close(log["step_seconds"], seconds, f"{name}: its steady step", 0.004)
    low, high = log["interval_seconds"]
    check(low <= log["step_seconds"] <= high, f"{name}: the interval holds the step")
    lines = log["lines_timed"]
    equal(sum(count for use, count in lines.items() if use != "read"), lines["read"], f"{name}: every line has one use")
    check(found["measured"] is not None and found["measured"]["measured_steps"] == 1, f"{name}: one measured step")
    equal(schema_errors(found), [], f"{name}: schema")

# ---- lines told apart --------------------------------------------------------------------------------------------------

log, _ = log_of("llama-3-8b", "--cluster", "dgx-h100", "--log", LOGS / "megatron.log")
equal({use: log["lines_timed"][use] for use in ("read", "warm_up", "evaluation", "checkpoint", "outliers", "steady")},
      {"read": 12, "warm_up": 2, "evaluation": 1, "checkpoint": 1, "outliers": 0, "steady": 8}, "megatron: uses of its lines")
close(log["memory_bytes"], 61440 * 2**20, "megatron: memory")
close(log["tokens_per_second"], 64 * 8192 / log["step_seconds"], "megatron: tokens a second")
log, _ = log_of(*RUN, "--log", LOGS / "torchtitan.log")
equal(log["ranks"], 2, "torchtitan: two ranks print each step")
log, _ = log_of(*RUN, "--log", LOGS / "hf_trainer.log")
check(any("another clock or progress bar" in issue["kind"] for issue in log["issues"]) or log["lines_timed"]["evaluation"] > 0,
      "Trainer: the evaluation is told apart")

# Twenty slow lines before twenty others are no warm-up: both times are in the interval, and the first screen says so.
line = (LOGS / "megatron.log").read_text().splitlines()[-1]
(SCRATCH / "regimes.log").write_text("".join(
    line.replace("iteration       12/", f"iteration       {step}/").replace("3598.4", "8200.0" if step <= 20 else "6800.0") + "\n"
    for step in range(1, 41)))
log, found = log_of(*RUN, "--log", "regimes.log")
close(log["regimes"][0]["step_seconds"], 8.2, "regimes: before", 1e-9)
close(log["regimes"][1]["step_seconds"], 6.8, "regimes: after", 1e-9)
equal(log["regimes"][0]["last_step"], 20, "regimes: the last step before the change")
check(log["interval_seconds"][0] < 6.801 and log["interval_seconds"][1] > 8.199, "the interval holds both")
equal(schema_errors(found), [], "regimes: schema")
screen = " ".join(succeed("predict", *RUN, "--log", "regimes.log").out.split())
mean = " ".join(succeed("predict", *RUN, "--log", LOGS / "trainer_state.json").out.split())
check("median of 1 of 1 line" in mean and "a step of a resumed run takes longer" in mean, f"a log of one mean says so on the first screen: {mean}")
check("two regimes: 8.2 s until step 20, 6.8 s after" in screen, f"and the first screen names them: {screen}")

# A stretch in the middle is a regime, too; two jobs in one file are not averaged.
def megatron(*stretches, flops="400.0", stamps=0.0):
    """Lines of steps of a number of milliseconds, each run from step 1 on, stamped every so many seconds."""
    text, clock = "", 0.0
    for run in stretches:
        step = 0
        for count, milliseconds in run:
            for _ in range(count):
                step += 1
                clock += stamps
                minutes, seconds = divmod(int(clock), 60)
                text += (f" [2026-03-04 10:{minutes:02}:{seconds:02}] iteration {step}/ 500 | consumed samples: {64 * step} | "
                         f"elapsed time per iteration (ms): {milliseconds} | throughput per GPU (TFLOP/s/GPU): {flops} | "
                         "global batch size: 64 | lm loss: 2.1E+00 | number of skipped iterations: 0 |\n")
    return text


def first_screen(text, *more):
    (SCRATCH / "text.log").write_text(text)
    return log_of(*RUN, "--log", "text.log", *more)[0], " ".join(succeed("predict", *RUN, "--log", "text.log").out.split())


log, screen = first_screen(megatron([(20, 6800.0), (15, 8200.0), (20, 6800.0)], flops="280.0"))
close(log["step_seconds"], 6.8, "a stretch in the middle: the step is that of most steps", 1e-9)
equal((len(log["regimes"]), log["lines_timed"]["outliers"]), (3, 0), "a stretch in the middle is a regime")
check("3 regimes: 6.8 s until step 20, 8.2 s until step 35, 6.8 s after" in screen, f"and the first screen names all: {screen}")
for count in (6, 30):
    log, screen = first_screen(megatron([(count, 3500.0)], [(count, 7000.0)], flops="280.0"))
    close(log["step_seconds"], 7.0, f"two jobs of {count} steps: the last one counts", 1e-9)
    close(log["earlier_runs_seconds"][0], 3.5, "and the first is named", 1e-9)
    check("two runs that differ in speed or batch: 3.5 s a step, then 7 s; the last one counts" in screen, f"on the first screen: {screen}")

# ---- figures that contradict each other ----------------------------------------------------------------------------------

# 64 sequences of 8192 tokens of an 8B model in 3.5 s on 16 accelerators are about 550 TFLOP/s each.
log, screen = first_screen(megatron([(12, 3500.0)], flops="100.0"))
equal(len(log["warnings"]), 1, "a rate that contradicts the time is a warning")
check("it prints 100 TFLOP/s an accelerator, but 3.50 s a step are 4" in log["warnings"][0], f"with both figures: {log['warnings']}")
check("it prints 100 TFLOP/s" in screen, f"on the first screen: {screen}")
equal(first_screen(megatron([(12, 3500.0)], flops="500.0"))[0]["warnings"], [], "a rate that agrees is none")
log, screen = first_screen(megatron([(12, 6993.0)], flops="270.0", stamps=7).replace("(ms)", "(s)"))
close(log["step_seconds"], 6.993, "seconds that are milliseconds by the clock", 1e-9)
check("it prints 6993 s a step and its time stamps show 7" in screen, f"which the first screen says: {screen}")

# ---- facts -------------------------------------------------------------------------------------------------------------

_, found = log_of("llama-3-8b", "--cluster", "dgx-h100", "--log", LOGS / "megatron.log")
strategy = found["strategy"]
equal((found["workers"], strategy["tp"], strategy["micro_batch"], strategy["zero"], strategy["recompute"]), (16, 2, 1, 1, "none"),
      "facts of the log fill what no option says")
equal(found["workload"]["global_batch"], 64, "the batch of the lines")
stated = answer("predict", *RUN, "--measured-step", "3.6001s")
close(found["step_seconds"], stated["step_seconds"], "the same as the measured step stated by hand", 1e-3)

asked = succeed("predict", "llama-3-8b", "--cluster", "dgx-h100", "--workers", 64, "--global-batch", 256, "--log", LOGS / "megatron.log",
                "--format", "json")
found = asked.json()
equal(found["workers"], 64, "the option wins")
check("--workers 16 (line 1)" in asked.err and "--global-batch 64" in asked.err, f"the contradictions are said: {asked.err}")
check(any("--workers 16" in note for note in found["logs"][0]["notes"]), "and stand in the answer")
equal(found["strategy"]["tp"], 2, "facts that do not contradict are taken")
other = run("predict", "llama-3-70b", "--cluster", "dgx-h100", "--log", LOGS / "megatron.log")
equal(other.code, 2, "a log of another model is refused")
check("32 layers" in other.err, f"with the reason: {other.err}")

_, found = log_of(*RUN, "--log", LOGS / "torchtitan.log")
check(any("its lines are those of torchtitan; it counts as a run of megatron-core, as you say" in note for note in found["logs"][0]["notes"]),
      "a framework that is another than the lines suggest is noted")

# ---- calibrate ---------------------------------------------------------------------------------------------------------

kept = SCRATCH / "kept.toml"
made = answer("calibrate", LOGS / "megatron.log", "--model", "llama-3-8b", "--cluster", "dgx-h100", "--out", kept)
equal(made["measured_steps"], 1, "calibrate keeps the step")
equal((made["evidence"][0]["kind"], made["evidence"][0]["samples"]), ("training log", 8), "as evidence")
equal(schema_errors(made), [], "calibrate: schema")
text = kept.read_text()
check('step_low_seconds = "' in text and 'workers = "16"' in text, f"with its interval and description: {text}")
warm = answer("predict", *RUN, "--calibration", kept)
_, direct = log_of(*RUN, "--log", LOGS / "megatron.log")
close(warm["step_seconds"], direct["step_seconds"], "predict reads it back as it reads the log")
alone = run("calibrate", LOGS / "megatron.log")
equal(alone.code, 5, "a log without a model is no evidence")
check("not of which model" in alone.err, f"which is said: {alone.err}")
saved = SCRATCH / "saved.toml"
succeed("predict", *RUN, "--log", LOGS / "megatron.log", "--log", LOGS / "nemo.log", "--save-calibration", saved)
equal(saved.read_text().count("[[measured]]"), 2, "several logs are several steps")

# ---- refusals ----------------------------------------------------------------------------------------------------------

(SCRATCH / "text.log").write_text("nothing\nof use\n")
equal(run("predict", *RUN, "--log", "text.log").code, 4, "a text that is no log")
equal(run("predict", *RUN, "--log", "missing.log").code, 4, "a file that is missing")
(SCRATCH / "rate.log").write_text("step: 10  loss: 2.1  memory: 42.00GiB(30.10%)  tps: 1,024  mfu: 8.65%\n")
rate = run("predict", "llama-3-8b", "--cluster", "dgx-h100", "--workers", 8, "--log", "rate.log")
equal(rate.code, 5, "a rate without a batch times no step")
check("add --global-batch" in rate.err, f"and the missing fact is named: {rate.err}")

composer = run("predict", "llama-3-8b", "--cluster", "dgx-h100", "--workers", 8, "--log", LOGS / "composer.log")
equal(composer.code, 5, "a step without a batch says nothing")
check("it states no batch" in composer.err and "add --global-batch" in composer.err, f"which is reported: {composer.err}")
_, found = log_of("llama-3-8b", "--cluster", "dgx-h100", "--workers", 8, "--global-batch", 8, "--log", LOGS / "composer.log")
check(any("sequence_length" in note for note in found["logs"][0]["notes"]), "what is assumed of the run is named")

# ---- Ctrl-C ------------------------------------------------------------------------------------------------------------

line = (LOGS / "megatron.log").read_text().splitlines()[-1]
big = SCRATCH / "big.log"
with open(big, "w") as out:
    for block in range(20):
        out.write((line + "\n") * 20_000)
code, _, err = interrupted_when([PROGRAM, "predict", *map(str, RUN), "--log", str(big)], lambda: True)
check(code == 0 or (code == 130 and "interrupted" in err), f"Ctrl-C ends the reading: exit {code}, {err}")

finish()
