"""Words that users of other tools type: each row of docs/guide/words-of-habit.md gives the answer of Headroom's own words."""

import shlex

from _harness import SOURCE, check, equal, finish, run

# Readings of texts: they say what was typed.
TYPED = ("notes", "assumed", "assumptions")


def rows():
    for line in (SOURCE / "docs/guide/words-of-habit.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) == 5 and cells[1].startswith("`"):
            yield cells[1].strip("`"), cells[2].strip("`"), cells[3]


def asked(words):
    words = shlex.split(words)
    if words[0].startswith("--"):
        words = ["predict", *([] if "--model" in words else ["llama-3-8b"]), *words]
    return run(*words, "--format", "json")


def answer_of(done):
    value = done.json()
    return {key: value[key] for key in value if key not in TYPED} if value else None


table = list(rows())
check(len(table) >= 40, f"{len(table)} rows of habits")
for typed, own, said in table:
    habit, plain = asked(typed), asked(own)
    equal(habit.code, plain.code, f"{typed}: exit code, said {habit.err.strip()!r} and {plain.err.strip()!r}")
    check(habit.code in (0, 3), f"{typed}: {habit.err.strip()}")
    found, expected = answer_of(habit), answer_of(plain)
    if found is None or expected is None:
        continue
    for key in expected:
        equal(found.get(key), expected[key], f"{typed}: {key}")
    check(said in habit.err, f"{typed}: says {habit.err!r}")

# ---- machines that nobody named ----
box = asked("--cluster 2x4090 --train lora --base nf4 --framework hf").json()
equal(box["cluster"]["accelerators_per_node"] if box else None, 2, "a workstation of two cards")
pair = asked("--cluster 2x2x4090 --train lora --base nf4 --framework hf").json()
equal(pair["strategy"]["workers"] if pair and "workers" in pair["strategy"] else pair and pair["workers"], 4, "two workstations of two cards")
for words in ("--cluster 4xdgx-h100 --workers 64", "--cluster 64xH100 --nodes 4"):
    refused = asked(words)
    equal(refused.code, 2, words)
    check("contradicts --cluster" in refused.err, f"{words}: {refused.err}")
equal(asked("--cluster 4xdgx-h100 --workers 32").code, 0, "a number that is said twice")

# ---- errors ----
for words, part in (
        (["predict", "llama-3-8b", "--cluster", "8xH100", "--gbs", "64", "--global-batch", "32"], "the same option, --global-batch"),
        (["predict", "llama-3-8b", "--cluster", "8xH100", "--fix", "tp=8"], "does not take it"),
        (["plan", "llama-3-8b", "--cluster", "8xH100", "--fix", "tp=8", "--tp", "4"], "--tp: given with --fix tp=8"),
        (["plan", "llama-3-8b", "--cluster", "8xH100", "--gradient-chekpointing"], "unknown option '--gradient-chekpointing'"),
        (["laws", "--serial", "0.1", "--tp", "4"], "plan, predict, finetune and others take it"),
        (["plan", "llama-3-8b", "--cluster", "8xH100", "--train", "all", "--lora-rank", "4"], "both are --train"),
        (["predict"], "MODEL (llama-3-70b, a config.json), --cluster (dgx-h100, 8xH100) and --workers (64) are missing"),
        (["finetune"], "MODEL (llama-3-70b, a config.json), --cluster (dgx-h100, 8xH100) and --dataset-tokens (50M) are missing"),
        (["comm"], "--size (140GB), --ranks (8) and --cluster (dgx-h100, or --link 450GB/s,1us) are missing"),
        (["laws", "--compute", "240ms"], "--communication (60ms) and --at-workers (8) are missing"),
        (["plan", "--workers", "8"], "MODEL (llama-3-70b, a config.json) and --cluster (dgx-h100, 8xH100) are missing"),
):
    refused = run(*words)
    equal(refused.code, 2, f"{refused}: exit code")
    check(part in refused.err, f"{refused}: {refused.err}")
for wrong in ("--top'", "--checkpoint'"):
    for words in (["plan", "llama-3-8b", "--cluster", "8xH100", "--toq"], ["laws", "--tp", "4"], ["comm", "--gradient-checkpointing"]):
        check(f"did you mean '{wrong}" not in run(*words).err, f"{words}: suggests {wrong}")

finish()
