"""Every pipeline schedule as an option, a lever, a fixed field and a key of a record: what it says of itself, what it costs,
and what it is compared with the others."""

from _harness import SCRATCH, answer, check, close, equal, finish, schema_errors, succeed

NAMES = ["1f1b", "interleaved", "gpipe", "zb-h1", "zb-2p", "zbv", "v-half", "v-min", "dualpipe", "dualpipe-v", "pipedream"]
# One replica: no reduction of gradients slows the stages as they drain. Recomputation: GPipe holds every micro-batch.
PIPED = ["llama-3-70b", "--cluster", "dgx-h100", "--workers", "32", "--tp", "8", "--pp", "4", "--global-batch", "64",
         "--sequence-length", "4096", "--recompute", "full", "--micro-batch", "1", "--zero", "1", "--sequence-parallel", "on"]
CHUNKS = {"interleaved": ["--virtual-pp", "2"]}


def predict(*arguments):
    what = "predict " + " ".join(arguments)
    value = answer("predict", *arguments)
    for error in schema_errors(value) if value else ["no result"]:
        check(False, f"{what}: {error}")
    if value:
        close(sum(value["breakdown"].values()), value["step_seconds"], f"{what}: breakdown against step_seconds")
    return value


def said(value):
    return " ".join(one["reason"] for one in value["assumed"] if one["field"] == "schedule")


# ---- each one -------------------------------------------------------------------------------------------------------

found = {}
for name in NAMES:
    value = found[name] = predict(*PIPED, "--schedule", name, *CHUNKS.get(name, []))
    equal(value["strategy"]["schedule"], name, "the schedule that was asked for")
    equal(value["strategy"]["virtual_pp"], 2 if name == "interleaved" else 1, f"{name}: chunks")
    check(name in ("1f1b", "interleaved") or name in value["strategy"]["name"], f"{name}: not in the strategy's name")
    explained = succeed("predict", *PIPED, "--schedule", name, "--explain", "pipeline_bubble_seconds").out
    check("pipeline_bubble_seconds" in explained, f"{name}: the bubble cannot be opened")

bubble = {name: value["breakdown"]["pipeline_bubble_seconds"] for name, value in found.items()}
equal(bubble["pipedream"], 0, "steps that run into each other have no bubble")
close(bubble["gpipe"], bubble["1f1b"], "GPipe and 1F1B wait as long")
# the last stage has the output projection as well, whole in one of its chunks
close(bubble["interleaved"], bubble["1f1b"] / 2, "two chunks halve the bubble", 0.02)
for less, more in (("zb-h1", "1f1b"), ("zb-2p", "zb-h1"), ("zbv", "zb-h1"), ("v-half", "v-min"), ("zbv", "v-half")):
    check(bubble[less] < bubble[more], f"{less} waits {bubble[less]} s, no less than {more}: {bubble[more]} s")
check("checked afterwards" in said(found["zb-2p"]) and "checked afterwards" in said(found["zbv"]), "late validation untold")
check("3 updates" in said(found["pipedream"]) and "4 versions" in said(found["pipedream"]), "staleness untold")
check("two parts of the model" in said(found["dualpipe"]), "the second copy of the weights untold")
equal(said(found["1f1b"]), "", "1F1B asks for nothing")
equal(predict(*PIPED, "--virtual-pp", "2")["step_seconds"], found["interleaved"]["step_seconds"], "chunks are interleaved")

# ---- long steps ------------------------------------------------------------------------------------------------------

# rows of very many micro-batches are not run to their end: what a round waits is the same throughout


def long_step(name, micro_batches):
    return predict("llama-3-70b", "--cluster", "dgx-h100", "--workers", "64", "--tp", "8", "--pp", "8", "--dp", "1", "--micro-batch", "1",
                    "--global-batch", str(micro_batches), "--schedule", name)


for name in NAMES:
    if name in ("interleaved", "gpipe"):
        continue  # needs chunks; does not fit
    run, far = long_step(name, 512), long_step(name, 43648)
    close(far["step_seconds"] / 43648, run["step_seconds"] / 512, f"{name}: micro-batch of a long step", 0.05)

for name in ("v-half", "v-min"):
    run, further, far = (long_step(name, count)["breakdown"]["pipeline_bubble_seconds"] for count in (10912, 21824, 992000))
    each = (further - run) / 10912
    close(far, run + each * (992000 - 10912), f"{name}: bubble of a long step", 1e-4)

# ---- other ways to say it --------------------------------------------------------------------------------------------

lever = predict(*PIPED, "--schedule", "1f1b", "--what-if", "schedule=zb-h1,schedule=interleaved")["what_if"]
close(lever[0]["step_seconds"], found["zb-h1"]["step_seconds"], "the lever schedule=zb-h1")
close(lever[1]["step_seconds"], found["interleaved"]["step_seconds"], "the lever schedule=interleaved")

(SCRATCH / "catalog" / "strategies").mkdir(parents=True)
(SCRATCH / "catalog" / "strategies" / "zero-bubble.toml").write_text(
    'name = "zero-bubble"\ntitle = "Zero bubble"\nsource = "Qi2024"\nschedule = "zb-h1"\n')
record = predict(*PIPED, "--strategy", "zero-bubble", "--catalog", str(SCRATCH / "catalog"))
close(record["step_seconds"], found["zb-h1"]["step_seconds"], "a record with a schedule")

alone = predict("llama-3-8b", "--cluster", "dgx-h100", "--workers", "8", "--schedule", "zb-h1")
check(alone["strategy"]["pp"] > 1, "a schedule that needs a pipeline makes one")

# ---- plans -----------------------------------------------------------------------------------------------------------

PLAN = ["plan", "llama-3-8b", "--cluster", "dgx-h100", "--workers", "16", "--global-batch", "64", "--top", "40"]


def schedules(*arguments):
    value = answer(*PLAN, *arguments)
    point = value["curve"][0]
    plans = [point["strategy"], *(other["strategy"] for other in point["alternatives"])]
    return {(plan["pp"] > 1, plan["schedule"]) for plan in plans}


check(schedules() <= {(False, "1f1b"), (True, "1f1b"), (True, "interleaved")}, "a plan takes a schedule nobody asked for")
check(schedules("--fix", "schedule=zb-h1") <= {(False, "1f1b"), (True, "zb-h1")}, "a fixed schedule is not kept")
equal(schedules("--fix", "schedule=zbv,pp=2"), {(True, "zbv")}, "a fixed schedule with a fixed depth")
equal(schedules("--fix", "schedule=interleaved,pp=2"), {(True, "interleaved")}, "a fixed interleaving")

finish()
