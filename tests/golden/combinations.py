"""Several models, machines and values in one call of predict and plan, and two plans side by side: each row is the single call's answer."""

import csv
import io
import re

from _harness import SCRATCH, PROGRAM, answer, check, close, equal, finish, interrupted, run, schema_errors, succeed

SAME = ["step_seconds", "interval_seconds", "tokens_per_second", "mfu", "breakdown", "days", "cost_dollars", "dollars_per_million_tokens", "strategy", "workers",
        "assumed"]


def same_as_single(row, single, message):
    for key in SAME:
        equal(row[key], single[key], f"{message}: {key}")
    equal(row["memory_bytes"], single["memory"]["total_bytes"], f"{message}: memory")
    equal((row["fits"], row["fits_probability"]), (single["memory"]["fits"], single["memory"]["fits_probability"]), f"{message}: fits")


# ---- machines: sorted by time, the best marked
ASKED = ["predict", "llama-3-8b", "--workers", "16", "--tokens", "100B"]
several = answer(*ASKED, "--cluster", "dgx-a100,dgx-h100,dgx-b200")
if several:
    equal(schema_errors(several), [], "schema")
    rows = several["candidates"]
    equal(sorted(row["values"]["cluster"] for row in rows), ["dgx-a100", "dgx-b200", "dgx-h100"], "clusters")
    equal([row["days"] for row in rows], sorted(row["days"] for row in rows), "the soonest first")
    equal([row["soonest"] for row in rows], [True, False, False], "soonest")
    equal([row["cheapest"] for row in rows], [row["cost_dollars"] == min(r["cost_dollars"] for r in rows) for row in rows], "cheapest")
    for row in rows:
        single = answer(*ASKED, "--cluster", row["values"]["cluster"])
        if single:
            same_as_single(row, single, row["values"]["cluster"])
            # 100e9 tokens at the rate, and 16 accelerators of that price
            close(row["days"], 100e9 / row["tokens_per_second"] / 86400, "days by hand")
            close(row["cost_dollars"], 16 * single["cluster"]["price_dollars_per_hour"] * row["days"] * 24, "dollars by hand")
    check(several["verdict"].startswith(f"llama-3-8b, 100B tokens: {rows[0]['values']['cluster']} is soonest"), several["verdict"])

# ---- models by machines; what cannot run keeps its row
crossed = answer("predict", "llama-3-8b,llama-3-70b", "--cluster", "8xH100,2x4090")
if crossed:
    equal([(row["values"]["model"], row["runs"]) for row in crossed["candidates"]].count(("llama-3-8b", True)), 1, "what runs")
    equal(len(crossed["candidates"]), 4, "four combinations")
    for row in crossed["candidates"][1:]:
        check(row["runs"] is False and row["why_not"], f"a reason: {row['why_not']}")
none = run("predict", "llama-3-70b", "--cluster", "2x4090,1xL4")
equal(none.code, 3, "nothing runs")
check("none of 2" in none.err and "cannot run" not in none.out, none.err)

# ---- a file of a cluster among names
mine = SCRATCH / "folder" / "mine.toml"
mine.parent.mkdir()
mine.write_text('node = "dgx-h100"\nname = "mine"\n')
filed = answer("predict", "llama-3-8b", "--workers", "8", "--cluster", "folder/../folder/mine.toml,dgx-h100")
if filed:
    equal(sorted(row["values"]["cluster"] for row in filed["candidates"]), ["dgx-h100", "folder/../folder/mine.toml"], "a file and a name")

# ---- sweeps, in words of other tools too: 4k..16k doubles
SWEEP = ["predict", "llama-3-8b", "--cluster", "dgx-h100", "--workers", "8", "--global-batch", "64"]
swept = answer(*SWEEP, "--sweep", "seq-len=4k..16k", "--sweep", "micro-batch=1,2")
if swept:
    equal(schema_errors(swept), [], "schema of a sweep")
    equal([tuple(row["values"].values()) for row in swept["candidates"]],
          [("4k", "1"), ("4k", "2"), ("8k", "1"), ("8k", "2"), ("16k", "1"), ("16k", "2")], "in the order that was asked for")
    for row in swept["candidates"]:
        length, batch = row["values"]["sequence-length"], row["values"]["micro-batch"]
        single = answer(*SWEEP, "--sequence-length", length, "--micro-batch", batch)
        if single:
            same_as_single(row, single, f"{length}, {batch}")
            equal(single["workload"]["sequence_length"], 1024 * int(length[:-1]), "8k is 8192")
trained = answer(*SWEEP, "--sweep", "train=lora,all")
if trained:
    equal([row["strategy"]["train"] for row in trained["candidates"]], ["lora:16", "all"], "trained weights")
lengths = answer(*SWEEP, "--sweep", "tokens=1T..2T")
if lengths:
    close(lengths["candidates"][1]["days"], 2 * lengths["candidates"][0]["days"], "twice the tokens")
    check(lengths["verdict"].startswith("llama-3-8b on dgx-h100: tokens 1T is soonest and cheapest"), lengths["verdict"])
partial = answer(*SWEEP, "--sweep", "tp=1,2,3")
if partial:
    equal([row["runs"] for row in partial["candidates"]], [True, True, False], "tp 3 does not divide 8")
    check("cannot be divided by tp 3" in partial["candidates"][2]["why_not"], partial["candidates"][2]["why_not"])
    equal(partial["candidates"][2]["step_seconds"], None, "no step without a plan")
    check("1 of 3 cannot run" in partial["verdict"], partial["verdict"])

table = list(csv.DictReader(io.StringIO(succeed(*SWEEP, "--sweep", "tp=1,2,3", "--format", "csv").out)))
equal([row["asked.tp"] for row in table], ["1", "2", "3"], "CSV has the values first")
if partial:
    equal(float(table[0]["step_seconds"]), partial["candidates"][0]["step_seconds"], "the same in CSV")

page = SCRATCH / "sweep.html"
succeed(*SWEEP, "--sweep", "sequence-length=4k..16k", "--sweep", "tp=1,2,3", "--html", page)
heat = page.read_text().split('class="heat"')
equal(len(heat), 2, "one heat map for two lists")
equal(len(re.findall(r"<td class=\"number\" style=", heat[1].split("</table>")[0])), 9, "three by three cells")
equal(heat[1].split("</table>")[0].count(">-</td>"), 3, "tp 3 has no number")
succeed("predict", "llama-3-8b,gpt3-13b", "--cluster", "dgx-h100", "--sweep", "workers=8,16", "--html", page)
single = answer("predict", "gpt3-13b", "--cluster", "dgx-h100", "--workers", "16")
cell = page.read_text().split('class="heat"')[1].split("</table>")[0].split("<td")[4]
check("MFU of the plan by model and workers, %" in page.read_text(), "sizes and models are compared by their MFU")
check(single is None or (f'>{100 * single["mfu"]:#.3g}<' in cell and single["strategy"]["name"] in cell), f"each cell has its plan: {cell}")
succeed(*SWEEP, "--sweep", "tp=1,2", "--html", page)
check('class="heat"' not in page.read_text(), "one list is no map")

# ---- a screen by default, all rows on request
many = [*SWEEP, "--sweep", "global-batch=8..1024", "--sweep", "micro-batch=1,2,4,8"]
many.remove("--global-batch")
many.remove("64")
screen = succeed(*many)
check(len(screen.out.splitlines()) <= 25 and "--full has all" in screen.out, screen.out)
check(len(succeed(*many, "--full").out.splitlines()) > 32, "--full has 32 rows")
equal(len(succeed(*many, "--brief").out.splitlines()), 1, "--brief")

# ---- plan: the recommended size of each machine
PLAN = ["plan", "llama-3-8b", "--workers", "8..32", "--tokens", "100B"]
plans = answer(*PLAN, "--cluster", "dgx-a100,dgx-h100")
if plans:
    equal(schema_errors(plans), [], "schema of plans")
    equal(plans["schema"], "headroom.plan/1", "schema name")
    for row in plans["candidates"]:
        single = answer(*PLAN, "--cluster", row["values"]["cluster"])
        if single:
            point = next(one for one in single["curve"] if one["recommended"])
            for key in ("workers", "step_seconds", "interval_seconds", "mfu", "days", "cost_dollars", "tokens_per_second", "memory_bytes"):
                equal(row[key], point[key], f"plan on {row['values']['cluster']}: {key}")
            equal(row["recommendation"]["workers"], single["recommendation"]["workers"], "recommendation")
            equal(row["command"], single["recommendation"]["command"], "command")
budget = answer(*PLAN, "--cluster", "dgx-a100,dgx-h100", "--objective", "cost")
if budget:
    equal([row["cost_dollars"] for row in budget["candidates"]], sorted(row["cost_dollars"] for row in budget["candidates"]), "the cheapest first")

# ---- two plans
PAIR = ["predict", "llama-3-8b", "--cluster", "dgx-h100", "--workers", "16", "--tp", "4", "--dp", "4"]
pair = answer(*PAIR, "--against-plan", "tp=2,pp=2")
first, second = answer(*PAIR), answer(*PAIR[:6], "--tp", "2", "--pp", "2")
if pair and first and second:
    equal(schema_errors(pair), [], "schema of two plans")
    same_as_single(pair["plan"], first, "the first plan")
    same_as_single(pair["plan2"], second, "the second plan")
    close(pair["speedup"], first["step_seconds"] / second["step_seconds"], "speedup")
    close(sum(part["difference_seconds"] for part in pair["differences"]), second["step_seconds"] - first["step_seconds"], "differences sum up", 1e-6)
    sizes = [abs(part["difference_seconds"]) for part in pair["differences"]]
    equal(sizes, sorted(sizes, reverse=True), "the largest difference first")

# ---- a condition holds for each combination, and names those for which it does not
both = ["--cluster", "dgx-a100,dgx-h100"]
gated = run(*ASKED, *both, "--require", "mfu>=0.2", "--format", "json")
equal((gated.code, gated.err), (0, ""), "a condition that holds for both")
value = gated.json()
if value:
    equal(schema_errors(value), [], "schema of gates")
    equal(sorted((gate["combination"], gate["condition"], gate["passed"]) for gate in value["gates"]),
          [("dgx-a100", "mfu>=0.2", True), ("dgx-h100", "mfu>=0.2", True)], "gates")
    for row in value["candidates"]:
        equal([gate["value"] for gate in value["gates"] if gate["combination"] == row["values"]["cluster"]], [row["mfu"]], "the value of each")
if several:
    steps = {row["values"]["cluster"]: row["step_seconds"] for row in several["candidates"]}
    limit = (steps["dgx-a100"] + steps["dgx-h100"]) / 2
    failed = run(*ASKED, *both, "--require", f"step<={limit}s")
    equal(failed.code, 99, "one of two is too slow")
    check("does not hold for dgx-a100" in failed.err and "for dgx-h100" not in failed.err, failed.err)
unrun = run(*SWEEP, "--sweep", "tp=1,3", "--require", "mfu>=0.01")
equal(unrun.code, 99, "what cannot run does not hold")
check("does not hold for tp 3 (it is unknown: it cannot run)" in unrun.err, unrun.err)
planned = run(*PLAN, *both, "--require", "time<=1d")
equal((planned.code, "does not hold for dgx-a100" in planned.err), (99, True), f"plan: {planned.err}")
compared = run(*PAIR, "--against-plan", "tp=2,pp=2", "--require", "step<=1us")
equal((compared.code, compared.err.count("does not hold for ")), (99, 2), f"two plans: {compared.err}")

# ---- --emit writes the best one
for words, best in (([*ASKED, *both], "dgx-h100"), ([*PLAN, *both], "dgx-h100")):
    launch = SCRATCH / "launch.sh"
    emitted = succeed(*words, "--emit", "megatron", "--out", launch)
    check("--emit writes the soonest of 2" in emitted.err and best in emitted.err, emitted.err)
    alone = succeed(*words[:-1], best, "--emit", "megatron")
    equal(launch.read_text(), alone.out, f"{emitted}: the file of {best} alone")
swept_file = succeed(*SWEEP, "--sweep", "micro-batch=1,2", "--emit", "deepspeed")
check("--emit writes the soonest of 2, micro-batch " in swept_file.err and swept_file.out.startswith("{"), swept_file.err)
emitted_pair = succeed(*PAIR, "--against-plan", "tp=2,pp=2", "--emit", "megatron")
if pair:
    faster = (4, 2)[pair["speedup"] > 1]
    check(f"--tensor-model-parallel-size {faster} " in emitted_pair.out, f"the faster plan: {emitted_pair.out}")
equal(run("predict", "llama-3-70b", "--cluster", "2x4090,1xL4", "--emit", "megatron").code, 3, "nothing to emit where nothing runs")

# ---- refusals: one line each
LIST = ["predict", "llama-3-8b", "--workers", "8", "--cluster", "dgx-a100,dgx-h100"]
for words, part in [
    (["predict", "llama-3-8b", "--workers", "8", "--cluster", "dgx-a100,dgx-h10"], "did you mean 'dgx-h100'?"),
    ([*SWEEP, "--sweep", "format=json,csv"], "'format' is no option with a value that states the question"),
    ([*SWEEP, "--sweep", "mikro-batch=1,2"], "did you mean 'micro-batch'?"),
    ([*SWEEP, "--sweep", "tp"], "'tp' names no values"),
    ([*SWEEP, "--sweep", "--=1"], "names no option"),
    ([*SWEEP, "--sweep", "qlora=true,false"], "'qlora' is no option"),
    ([*SWEEP, "--sweep", "global-batch=1,2"], "varies --global-batch, which is given, too"),
    ([*SWEEP, "--sweep", "tp=1,2", "--sweep", "tp=4,8"], "--tp is varied twice"),
    ([*SWEEP, "--sweep", "tp=1,2", "--sweep", "pp=1,2", "--sweep", "cp=1,2"], "two are answered"),
    ([*SWEEP, "--sweep", "seq-len=1..128", "--sweep", "micro-batch=" + ",".join(map(str, range(1, 100)))], "792 combinations (at most 256"),
    ([*SWEEP, "--sweep", "price=1$/h..8$/s"], "has two units"),
    ([*SWEEP, "--sweep", "tp=8..2"], "runs backwards"),
    ([*SWEEP, "--sweep", "tp=1,,2"], "has an empty value"),
    ([*SWEEP, "--sweep", "tp=3,5"], "cannot be divided by tp 3"),
    ([*LIST, "--explain"], "--explain: given with several combinations"),
    ([*LIST, "--against-plan", "tp=2"], "--against-plan: given with several combinations"),
    ([*PAIR, "--against-plan", "tp"], "--against-plan"),
    (["plan", "llama-3-8b", "--cluster", "dgx-a100,dgx-h100", "--against", "dgx-b200"], "--against: given with several combinations"),
]:
    refused = run(*words)
    equal((refused.code, refused.out, refused.err.count("\n")), (2, "", 1), f"{refused}: {refused.err}")
    check(part in refused.err, f"{refused}: {refused.err}")

# ---- Ctrl-C prints what is finished
long = [PROGRAM, "predict", "llama-3-405b", "--cluster", "dgx-h100", "--sweep", "workers=256..32768", "--sweep",
        "global-batch=" + ",".join(str(1024 * n) for n in range(1, 33)), "--format", "json"]
kept = interrupted(long, lambda value: 0 < len(value["candidates"]) < value["asked"])
if kept:
    equal(kept[0]["asked"], 256, "256 were asked for")
    check(f"interrupted ({len(kept[0]['candidates'])} of 256 finished)" in kept[1], kept[1])

finish()
