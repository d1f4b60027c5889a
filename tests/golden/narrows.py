"""Facts that would narrow an interval, with its half-width before and after: once stated, they have the effect that was announced."""

from _harness import SOURCE, answer, check, close, equal, finish, schema_errors

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


# ---- predict: guessed fields count, and no longer once they are stated --------------------------------------------------

found = answer("predict", *MODEL)
facts = sound(found, "predict")
check(facts[0]["option"].startswith("--measured-step"), "a measured step narrows most")
options = [one["option"] for one in facts]
check("--recompute" in options, f"and recomputation, which is guessed: {options}")
check(facts[0]["half_width_before"] > half_width(found), "the width counts what is guessed")
told = answer("predict", *MODEL, "--recompute", "none")
close(told["step_seconds"], found["step_seconds"], "the value that was taken leaves the step as it is")
check("--recompute" not in [one["option"] for one in told["narrows"]], "a stated field is no fact to state")
close(told["narrows"][0]["half_width_before"], facts[options.index("--recompute")]["half_width_after"], "the width is as announced")

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
