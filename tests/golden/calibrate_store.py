"""`calibrate` from the store of measurements: what was put into campaigns comes out within its intervals, changes predictions,
is joined with other sources by a stated rule, and is explained; unusable evidence is reported, with the right exit code."""

import json
import random
import sqlite3
import tomllib

from _harness import SCRATCH, SOURCE, answer, check, close, equal, finish, run, schema_errors, succeed

STORE = SCRATCH / "runs.sqlite"
DAY = 86_400 * 10**9
BEGAN = 1_780_000_000 * 10**9  # 2026-05-28
CPU = "Test processor 9000"


def calibrate(*arguments, code=0):
    value = answer("calibrate", *arguments, code=code)
    if value is not None:
        for error in schema_errors(value):
            check(False, f"calibrate {arguments}: {error}")
    return value


# ---- a store that the program wrote, and campaigns beside its own ---------------------------------------------------

measured = succeed("measure", "scaling", "--store", STORE, "--workers", "1,2,4", "--repeats", "5", "--name", "sleepers", "--",
                   "sh", "-c", "sleep 0.0$((8 / {workers}))")


def campaign(kind, points, settings=(), machine=(("processor", CPU), ("host", "a")), name="", began=BEGAN, state="done", store=STORE):
    """points: (label, parameters, unit, values)."""
    database = sqlite3.connect(store)
    row = database.execute("INSERT INTO campaigns (kind, name, state, began_ns, ended_ns) VALUES (?, ?, ?, ?, ?)",
                           (kind, name, state, began, None if state == "running" else began + 10**9))
    number, place = row.lastrowid, 0
    for subject, facts in (("setting", settings), ("machine", machine)):
        for i, (key, value) in enumerate(facts):
            database.execute("INSERT INTO campaign_facts VALUES (?, ?, ?, ?, ?)", (number, subject, i, key, value))
    for i, (label, parameters, unit, values) in enumerate(points):
        database.execute("INSERT INTO points (campaign, point, label, unit) VALUES (?, ?, ?, ?)", (number, i, label, unit))
        for j, (key, value) in enumerate(parameters.items()):
            database.execute("INSERT INTO point_parameters VALUES (?, ?, ?, ?, ?)", (number, i, j, key, str(value)))
        for j, value in enumerate(values):
            database.execute("INSERT INTO samples (campaign, place, point, repetition, value, outcome, message, began_ns, load)"
                             " VALUES (?, ?, ?, ?, ?, 'measured', '', ?, 0.1)", (number, place, i, j, value, began + place))
            place += 1
    database.commit()
    database.close()
    return number


ALPHA, RATE = 4e-6, 10e9
SIZES = [2**i for i in range(6, 27, 4)]


def messages(alpha=ALPHA, rate=RATE, noise=0.01, seed=5, ranks=4):
    """Messages and a ring all-reduce of four ranks, over links that are known."""
    source = random.Random(seed)
    noisy = lambda seconds: [seconds * (1 + source.gauss(0, noise)) for _ in range(7)]
    points = [(f"one_way of {size} B", {"pattern": "one_way", "bytes": size, "peer": 1, "link": "inside a host"}, "seconds",
               noisy(alpha + size / rate)) for size in SIZES]
    points += [(f"all_reduce of {size} B", {"pattern": "collective", "bytes": size, "collective": "all_reduce", "algorithm": "ring"},
                "seconds", noisy(2 * (ranks - 1) * alpha + 2 * (ranks - 1) / ranks * size / rate)) for size in SIZES]
    return points + [("both_ways of 64 B", {"pattern": "both_ways", "bytes": 64}, "seconds", noisy(1e-5))]


def roofline(share=0.8, product=0.6, seed=3):
    source = random.Random(seed)
    noisy = lambda rate: [rate * (1 + source.gauss(0, 0.005)) for _ in range(9)]
    return [("triad", {"quantity": "bandwidth", "level": "memory", "kernel": "triad", "threads": 2}, "bytes/second", noisy(share * 3350e9)),
            ("triad L2", {"quantity": "bandwidth", "level": "L2", "kernel": "triad", "threads": 2}, "bytes/second", noisy(9000e9)),
            ("peak", {"quantity": "peak", "precision": "fp32", "threads": 2}, "flops/second", noisy(60e12)),
            ("product", {"quantity": "product", "precision": "bf16", "order": 4096, "threads": 2}, "flops/second", noisy(product * 989.4e12)),
            ("latency", {"quantity": "latency", "level": "memory"}, "seconds", noisy(1e-7))]


COMM = campaign("comm", messages(), settings=[("ranks", "4")], name="quiet")
H100 = (("accelerator", "NVIDIA H100 80GB HBM3"), ("host", "b"))
ROOFLINE = campaign("roofline", roofline(), machine=(("processor", CPU), ("host", "a")))

# ---- links ----------------------------------------------------------------------------------------------------------

NETWORK = SCRATCH / "network.toml"
value = calibrate("--store", STORE, "--campaign", COMM, "--out", NETWORK)
if value:
    one = value["evidence"][0]
    equal((one["kind"], one["samples"], one["from"], one["machine"]), ("campaign", 7 * 13, "2026-05-28", CPU), "what the evidence is")
    link = value["scale_up"]
    for key, truth in (("latency_seconds", ALPHA), ("bytes_per_second", RATE)):
        check(link[key]["low"] <= truth <= link[key]["high"], f"{key}: {truth} is not in {link[key]}")
        close(link[key]["value"], truth, key, 0.03)
    equal(sorted((fit["collective"], fit["ranks"]) for fit in value["fits"]), [("all_reduce", 4), ("point_to_point", 2)], "fits")
    check(any("both_ways" in text for text in value["missing"]), "what was not used is said")

QUESTION = ["llama-3-8b", "--cluster", "dgx-h100", "--workers", "8", "--tp", "2", "--dp", "4", "--zero", "1", "--global-batch", "64"]
before, after = answer("predict", *QUESTION), answer("predict", *QUESTION, "--calibration", NETWORK)
if before and after:
    equal(after["step_seconds"], before["step_seconds"], "links of a processor's ranks are not those of a DGX")
    check(any(CPU in text and "not used" in text for text in after["notes"]), f"and that is noted: {after['notes']}")
for words, said in (([], CPU), (["--system", "dgx-h100"], "host memory")):
    refused = succeed("calibrate", "--store", STORE, "--campaign", COMM, "--cluster", "dgx-h100", *words, code=5)
    check(said in refused.err, f"calibrate for a cluster {words}: {refused.err}")

planned = answer("plan", "llama-3-8b", "--cluster", "dgx-h100", "--workers", "8", "--global-batch", "64", "--calibration", NETWORK)
check(planned is not None, "plan takes the file")

# ---- the same by the argument, and by the latest of a kind -------------------------------------------------------------

for words in (["store:comm", "--store", STORE], ["--store", STORE, "--campaign", "comm"], [f"store:{COMM}", "--store", STORE]):
    same = calibrate(*words, "--out", SCRATCH / "same.toml")
    equal((SCRATCH / "same.toml").read_text(), NETWORK.read_text(), f"{words}: the same file")
latest = calibrate("--store", STORE)
if latest:
    equal(sorted(one["gives"].split(":")[0] for one in latest["evidence"]), ["comm", "roofline", "scaling"], "the latest of each kind")

# ---- links between hosts of the machine in question --------------------------------------------------------------------

FAR = campaign("comm", [(label, dict(parameters, link="between hosts") if "link" in parameters else parameters, unit, values)
                        for label, parameters, unit, values in messages()], settings=[("ranks", "4"), ("nodes", "4")])
BETWEEN = SCRATCH / "between.toml"
far = calibrate("--store", STORE, "--campaign", FAR, "--system", "dgx-h100", "--cluster", "dgx-h100", "--out", BETWEEN)
TWO_NODES = ["llama-3-8b", "--cluster", "dgx-h100", "--workers", "16", "--tp", "1", "--dp", "16", "--zero", "3", "--global-batch", "16"]
before, after = answer("predict", *TWO_NODES), answer("predict", *TWO_NODES, "--calibration", BETWEEN)
if far and before and after:
    check(after["step_seconds"] > 1.03 * before["step_seconds"], "links of 10 GB/s between nodes slow the step of two")
    check("network.scale_out" in json.dumps(after) and "measured" in json.dumps(after), "measured links are among the assumptions")
    check(any("between nodes" in text and "dgx-h100" in text for text in after["notes"]), f"and their origin is noted: {after['notes']}")

# ---- constants of an accelerator, only where it was the one measured --------------------------------------------------

other = succeed("calibrate", "--store", STORE, "--campaign", f"{COMM},{ROOFLINE}", "--cluster", "dgx-h100", code=5)
for said in (CPU, "no constants", "not used"):
    check(said in other.err, f"neither rates nor links of a processor are an H100's: {other.err}")
ON_H100 = campaign("roofline", roofline(), machine=H100, name="gpu")
SHARES = SCRATCH / "shares.toml"
shares = calibrate("--store", STORE, "--campaign", ON_H100, "--cluster", "dgx-h100", "--out", SHARES)
if shares:
    found = {one["name"]: one for one in shares["constants"]}
    equal(sorted(found), ["gemm_hopper", "memory_fraction"], "constants")
    for name, truth in (("gemm_hopper", 0.6), ("memory_fraction", 0.8)):
        one = found.get(name, {"low": 0, "high": 0, "value": 0, "provenance": ""})
        check(one["low"] <= truth <= one["high"], f"{name}: {truth} is not in {one}")
        equal(one["provenance"], "measured", name)
    used = answer("predict", *QUESTION, "--calibration", SHARES)
    constants = {one["key"]: one for one in used["constants"]} if used and "constants" in used else {}
    if constants:
        equal((constants["gemm_hopper"]["value"], constants["gemm_hopper"]["provenance"]), (found["gemm_hopper"]["value"], "measured"), "predict uses it")

# ---- a machine file -------------------------------------------------------------------------------------------------

MACHINE = SCRATCH / "server.toml"
saved = calibrate("--store", STORE, "--campaign", ROOFLINE, "--save-machine", MACHINE)
if saved:
    equal(saved["saved_machine"], str(MACHINE), "the machine file")
    levels = answer("roofline", "--machine", MACHINE)
    check(levels is not None, "roofline reads it")
    close(float(tomllib.loads(MACHINE.read_text())["memory"]["bandwidth"].split()[0]), 0.8 * 3350, "its bandwidth", 0.01)

# ---- two sources of one constant --------------------------------------------------------------------------------------

SLOWER = campaign("roofline", roofline(share=0.7, seed=9), machine=H100, began=BEGAN + 200 * DAY)
both = calibrate("--store", STORE, "--campaign", ON_H100, "--campaign", SLOWER, "--cluster", "dgx-h100", "--explain")
if both:
    joined = {one["what"]: one for one in both["disagreements"]}
    close(joined["memory_fraction"]["ratio"], 0.8 / 0.7, "how far they are apart", 0.01)
    check(joined["memory_fraction"]["heterogeneity"] > 0.9, "their own intervals do not explain it")
    low, high = joined["memory_fraction"]["joined"]["low"], joined["memory_fraction"]["joined"]["high"]
    check(low < 0.7 and high > 0.8, f"two that disagree leave a wide interval: {low} to {high}")
    check(any("200 days older" in text for text in both["notes"]), "the age of the older one is said")
    rows = {one["name"]: one for one in both["explain"]["constants"]}
    equal(len(rows["memory_fraction"]["evidence"]), 2, "both are listed")
    close(sum(one["weight"] for one in rows["memory_fraction"]["evidence"]), 1.0, "weights")
    equal([one["samples"] for one in rows["memory_fraction"]["evidence"]], [9, 9], "samples")
    equal(rows["kernel_gap"]["from_catalog"], True, "others come from the catalog")
    equal(sum(both["explain"]["counts"].values()), len(rows), "every constant has one provenance")
    order = ["given", "measured", "fitted", "cited", "datasheet", "guessed"]
    ranks = [order.index(one["provenance"]) for one in both["explain"]["constants"]]
    equal(ranks, sorted(ranks), "from the best to the worst")

differ = calibrate("--store", STORE, "--campaign", ROOFLINE, "--campaign", ON_H100, "--cluster", "dgx-h100")
if differ:
    check(any("machines that differ in host" in text for text in differ["notes"]), "machines that differ are told")

TWICE = campaign("comm", messages(rate=RATE / 1.3, seed=8), settings=[("ranks", "4")])
links = calibrate("--store", STORE, "--campaign", f"{COMM},{TWICE}", "--explain")
if links:
    named = {one["what"]: one for one in links["disagreements"]}
    close(named["bytes a second inside a node"]["ratio"], 1.3, "links that differ", 0.03)
    close(sum(one["weight"] for one in links["explain"]["links"]), 1.0, "weights of links", 0.01)
    check(any("at the same sizes" in text for text in links["notes"]), "curves that differ are told")

# ---- a scaling campaign -----------------------------------------------------------------------------------------------

RUN = ["--model", "llama-3-8b", "--cluster", "dgx-h100", "--global-batch", "64", "--dp", "1", "--tp", "2"]
refused = succeed("calibrate", "--store", STORE, "--campaign", "scaling", code=5)
check("--model" in refused.err, f"what is missing is said: {refused.err}")
steps = calibrate("--store", STORE, "--campaign", "scaling", *RUN, "--workers", "2", "--out", SCRATCH / "steps.toml")
if steps:
    equal((steps["measured_steps"], steps["scaling"][0]["kept"]), (1, True), "the step on two workers")
    with sqlite3.connect(STORE) as kept:
        times = [value for value, in kept.execute("select value from samples where campaign = 1 and point = 1")]
    check(0.04 <= min(times) <= steps["scaling"][0]["steps"][1]["seconds"]["value"] <= max(times), "the time of the command")
    check(any("whole commands" in text for text in steps["notes"]), "that a command was timed is said")
    entry = tomllib.loads((SCRATCH / "steps.toml").read_text())["measured"][0]
    equal((entry["workers"], entry["model"]), ("2", "llama-3-8b"), "what the file has")

# ---- files keep what they hold ------------------------------------------------------------------------------------------

(SCRATCH / "mine.toml").write_text('''partial = true
[bands.mixture]
low = 0.5
high = 2.0
[seen.dense]
hardware = ["hopper"]
frameworks = ["megatron-core"]
[pace.mystack]
factor = 1.25
[likeness.dense]
site = 0.01
model = 0.0
workload = 0.0
layout = 0.0
replica = 0.0
noise = 0.001
pairs = 7
[constants.kernel_gap]
value = 1e-5
low = 9e-6
high = 2e-5
provenance = "given"
source = ["ours"]
''')
kept = calibrate(SCRATCH / "mine.toml", "--store", STORE, "--campaign", COMM, "--out", SCRATCH / "kept.toml")
if kept:
    before, after = (tomllib.loads((SCRATCH / name).read_text()) for name in ("mine.toml", "kept.toml"))
    for key in ("bands", "seen", "pace", "likeness"):
        for name, table in before[key].items():
            equal({k: after[key][name][k] for k in table}, table, f"{key}.{name} stays")
    equal(after["constants"]["kernel_gap"]["provenance"], "given", "a constant that was given")
    check("scale_up" in after["network"], "with the links of the campaign")
    check("band" in kept["evidence"][0]["gives"] and "pace" in kept["evidence"][0]["gives"], "what it gives is said")
    again = calibrate(SCRATCH / "kept.toml", "--out", SCRATCH / "again.toml")
    after_again = tomllib.loads((SCRATCH / "again.toml").read_text())
    for key in ("bands", "seen", "pace", "likeness", "network"):
        equal(after_again[key], after[key], f"{key} stays when read again")
only = calibrate(SCRATCH / "mine.toml", "--explain")
if only:
    rows = {one["name"]: one for one in only["explain"]["constants"]}
    equal(rows["kernel_gap"]["provenance"], "given", "--explain of a file")
    equal(only["explain"]["constants"][0]["name"], "kernel_gap", "what was given stands first")
TRAINING = SOURCE / "catalog" / "calibration" / "training.toml"
whole = calibrate(TRAINING, SHARES, "--out", SCRATCH / "whole.toml")
if whole:
    before, after = tomllib.loads(TRAINING.read_text()), tomllib.loads((SCRATCH / "whole.toml").read_text())
    check("partial" not in after, "a file that states everything stays one")
    for key in ("bands", "seen", "pace", "likeness"):
        equal(after.get(key), before.get(key), f"{key} of a whole file")
    changed = [name for name in before["constants"] if after["constants"][name]["value"] != before["constants"][name]["value"]]
    equal(sorted(changed), ["gemm_hopper", "memory_fraction"], "measured ones take the place of fitted ones, and nothing else changes")
text = run("calibrate", SHARES, "--explain")
for words in ("Measured", "Guessed", "memory_fraction", "host_experts"):
    check(words in text.out, f"--explain says {words}")
check(all(len(line) <= 80 for line in text.out.splitlines()), "80 columns are enough")
sheet = run("calibrate", SHARES, "--explain", "--format", "csv")
equal(len(sheet.out.splitlines()), 1 + len(only["explain"]["constants"]) if only else 0, "a row a constant")

# ---- refusals -----------------------------------------------------------------------------------------------------------

empty = SCRATCH / "empty.sqlite"
run("measure", "scaling", "--store", empty, "--workers", "1,2", "--repeats", "2", "--", "false")
NONE = campaign("comm", [], settings=[("ranks", "4")])
FEW = campaign("comm", [point for point in messages() if point[1]["bytes"] in (64, 1024)], settings=[("ranks", "4")])
OTHER = campaign("dance", [("a", {}, "seconds", [1.0, 1.0, 1.0])])
for words, code, said in (
        (["--store", STORE, "--campaign", NONE], 5, "no sample that counts"),
        (["--store", STORE, "--campaign", FEW], 5, "not fitted"),
        (["--store", STORE, "--campaign", OTHER], 5, "'dance' say nothing to models"),
        (["--store", STORE, "--campaign", "9999"], 2, "9999"),
        (["--store", STORE, "--campaign", "yesterday"], 2, "'yesterday'"),
        (["--store", SCRATCH / "nowhere.sqlite"], 4, "nowhere.sqlite"),
        (["--store", SCRATCH / "mine.toml"], 4, "mine.toml"),
        (["--store", "none"], 2, "--store"),
        (["store:"], 2, "names no campaign"),
        (["--store", STORE, "--campaign", ROOFLINE], 5, "--cluster"),
        (["--store", STORE, "--campaign", COMM, "--save-machine", SCRATCH / "m.toml"], 2, "roofline"),
        (["--store", STORE, "--campaign", COMM, SCRATCH / "mine.toml", "--save-machine", SCRATCH / "m.toml"], 2, "roofline")):
    done = succeed("calibrate", *words, "--out", SCRATCH / "never.toml", code=code)
    check(said in done.err, f"{words}: says {done.err.strip()!r}, expected {said!r}")
    equal(len(done.err.strip().splitlines()), 1, f"{words}: one line")
check(not (SCRATCH / "never.toml").exists(), "and nothing is written")

newer = SCRATCH / "newer.sqlite"
newer.write_bytes(STORE.read_bytes())
database = sqlite3.connect(newer)
database.execute("PRAGMA user_version = 99")
database.commit()
database.close()
done = succeed("calibrate", "--store", newer, code=4)
check("newer version" in done.err, f"a store of a newer version: {done.err}")

running = campaign("comm", messages(), settings=[("ranks", "4")], state="interrupted")
cut = calibrate("--store", STORE, "--campaign", running)
check(cut and any("not done" in text for text in cut["notes"]), "a campaign that was interrupted is used, and said to be")

finish()
