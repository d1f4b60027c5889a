"""Facts that would narrow an interval, with its half-width before and after: once stated, they have the effect that was announced.

The half-width is that of the printed interval everywhere. Fields that nobody stated and that leave the interval as it is move the
step: `guessed` has by how much."""

from _harness import SOURCE, answer, check, close, equal, finish, schema_errors, succeed

MODEL = ["llama-3-8b", "--cluster", "dgx-h100", "--workers", 16]


def half_width(found):
    low, high = found["interval_seconds"]
    return (high / low) ** 0.5


def sound(found, what):
    facts = found["narrows"]
    check(1 <= len(facts) <= 3, f"{what}: one to three facts, {len(facts)}")
    equal([one["half_width_after"] for one in facts], sorted(one["half_width_after"] for one in facts), f"{what}: the best first")
    check(all(1 <= one["half_width_after"] < one["half_width_before"] for one in facts), f"{what}: each narrows: {facts}")
    equal(len({one["half_width_before"] for one in facts}), 1, f"{what}: one width before")
    equal(schema_errors(found), [], f"{what}: schema")
    return facts


# ---- predict: the width is that of the interval; a fact that is stated has the width that was announced -------------------

found = answer("predict", *MODEL)
facts = sound(found, "predict")
check(facts[0]["option"].startswith("--measured-step"), "a measured step narrows most")
close(facts[0]["half_width_before"], half_width(found), "the width is that of the printed interval")
options = [one["option"] for one in facts]
check("--framework" in options, f"the framework, which is guessed: {options}")
framed = answer("predict", *MODEL, "--framework", found["framework"])
close(framed["step_seconds"], found["step_seconds"], "the value that was taken leaves the step as it is")
check("--framework" not in [one["option"] for one in framed["narrows"]], "a stated field is no fact to state")
close(half_width(framed), facts[options.index("--framework")]["half_width_after"], "the width is as announced")

# ---- a guess that leaves the interval moves the step: by what predict says of another value -------------------------------

guessed = {one["field"]: one for one in found["guessed"]}
equal(sorted(guessed), sorted({one["field"] for one in found["assumed"] if one["provenance"] == "guessed"}), "fields that are guessed")
full = answer("predict", *MODEL, "--recompute", "full", "--micro-batch", found["strategy"]["micro_batch"], "--tp", found["strategy"]["tp"])
close(guessed["recompute"]["high"], full["step_seconds"] / found["step_seconds"], "full recomputation", 0.05)
told = answer("predict", *MODEL, "--recompute", "none")
check("recompute" not in [one["field"] for one in told["guessed"]], "a stated field is no guess")
close(half_width(told), half_width(found), "and the interval is as wide as before")
for words in (succeed("predict", *MODEL).out, succeed("predict", *MODEL, "--full").out):
    check("recompute none: other values give x" in " ".join(words.split()), f"in words: {words}")

# ---- a measured step gives the width that was announced -----------------------------------------------------------------

measured = answer("predict", *MODEL, "--measured-step", f"{found['step_seconds']}s")
close(half_width(measured), facts[0]["half_width_after"], "the interval with a measured step")

# ---- plan chooses the fields: its width is that of the interval ---------------------------------------------------------

plan = answer("plan", *MODEL, "--tokens", "1T")
facts = sound(plan, "plan")
(row,) = [row for row in plan["curve"] if row["workers"] == plan["recommendation"]["workers"]]
close(facts[0]["half_width_before"], half_width(row), "plan: the width is that of the printed interval")

# ---- validate: means over the runs --------------------------------------------------------------------------------------

table = answer("validate", "--runs", SOURCE / "validation" / "published_runs.csv")
facts = sound(table, "validate")
check(any("guessed in" in one["fact"] for one in facts), f"validate: columns with empty cells are facts: {facts}")

finish()
