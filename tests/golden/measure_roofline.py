"""The measured roofline: its result follows its schema and agrees with itself, orders that physics sets hold, a machine file
that `headroom roofline` reads, measurements that go on after Ctrl-C, and plain refusals."""

import json
import os
import pathlib
import sqlite3

from _harness import PROGRAM, SCRATCH, check, close, equal, finish, interrupted_when, processor_seconds_of_children, run, schema_errors, succeed

STORE = SCRATCH / "measurements.sqlite"
MACHINE = SCRATCH / "here.toml"


def small(seconds):
    return ("--quick", "--time", f"{seconds}s", "--precision", "fp32", "--kernels", "triad,gemm_small", "--quiet")


def conforms(value, what):
    for error in schema_errors(value):
        check(False, f"{what}: {error}")
    figures = {one["label"]: one for one in value["figures"]}
    equal(len(figures), len(value["figures"]), f"{what}: every label is given once")
    for one in value["figures"]:
        check(one["least"] <= one["median"] <= one["most"], f"{what}: order within {one}")
        # a repeat may come out beyond all that was seen, and by one in a hundred at least
        rounding = 1e-12 * one["median"]
        check(0 <= one["low"] <= 0.99 * one["median"] + rounding and one["high"] >= 1.01 * one["median"] - rounding,
              f"{what}: where a repeat is expected: {one}")
    levels = {(one["level"], one["threads"]): one for one in value["levels"]}
    peaks = {(one["precision"], one["threads"]): one for one in value["peaks"]}
    for (level, threads), one in levels.items():
        rates = [figure["median"] for figure in value["figures"] if figure["quantity"] == "bandwidth"
                 and figure["parameters"]["level"] == level and figure["threads"] == threads]
        close(one["bytes_per_second"], max(rates), f"{what}: the fastest kernel is the bandwidth of {level}")
    for one in value["ridges"]:
        peak, level = peaks[one["precision"], one["threads"]], levels[one["level"], one["threads"]]
        close(one["flops_per_byte"], peak["flops_per_second"] / level["bytes_per_second"], f"{what}: ridge {one}")
        check(one["low"] <= one["flops_per_byte"] <= one["high"], f"{what}: interval of ridge {one}")
    for one in value["peaks"]:
        chains = [figure["median"] for figure in value["figures"] if figure["quantity"] == "peak"
                  and figure["parameters"]["precision"] == one["precision"] and figure["threads"] == one["threads"]]
        if one["by"] == "chain":
            close(one["flops_per_second"], max(chains), f"{what}: the fastest instruction set is the peak")
    for one in value["kernels"]:
        about = f"{what}: {one['kernel']} on {one['threads']}"
        bandwidth = levels[one["level"], one["threads"]]["bytes_per_second"]
        peak = peaks[one["precision"], one["threads"]]["flops_per_second"]
        close(one["intensity_flops_per_byte"], one["flops"] / one["bytes"], f"{about}: intensity")
        close(one["roof_flops_per_second"], min(peak, one["flops"] / one["bytes"] * bandwidth), f"{about}: roof")
        close(one["of_roof"], one["flops_per_second"] / one["roof_flops_per_second"], f"{about}: share of the roof")
        equal(one["bound"], "memory" if one["roof_flops_per_second"] < peak else "compute", f"{about}: bound")
        check(one["why"], f"{about}: says why")
    return value


def best(campaigns, **wanted):
    """The fastest repetition of any figure with these parameters: other work makes everything slower, nothing faster."""
    rates = [one["most"] for value in campaigns for one in value["figures"]
             if all(one["parameters"].get(key) == text for key, text in wanted.items())]
    return max(rates) if check(rates, f"a figure of {wanted}") else 0.0


def ordered(campaigns, holds, what, *options, more=4):
    """An order that physics sets: measured again, `more` times at most, until the fastest of all repetitions have it."""
    while not holds() and more > 0:
        campaigns.append(succeed("measure", "roofline", *SMALL, *options, "--store", "none", "--format", "json").json())
        more -= 1
    check(holds(), f"{what}: in none of {len(campaigns)} campaigns")


def processor_times():
    """Seconds of all cores: used by anybody, used by the programs started here, passed."""
    times = [int(word) / os.sysconf("SC_CLK_TCK") for word in pathlib.Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
    idle = times[3] + times[4]
    return sum(times) - idle, processor_seconds_of_children(), sum(times)


def measures_memory(done):
    """Whether a campaign came to rates and latency of memory."""
    figures = done.json()["figures"] if done.code == 0 else []
    return {"bandwidth", "latency"} <= {one["quantity"] for one in figures if one["parameters"].get("level") == "memory"}


def kept_in(store):
    """Samples in a store that somebody may be writing, or has not made yet."""
    try:
        with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as kept:
            return kept.execute("select count(*) from samples").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


# a small campaign on one core, whole
for seconds in (8, 40, 200):  # 8 s are a few times what it needs, unless other programs take the cores
    SMALL = small(seconds)
    done = run("measure", "roofline", *SMALL, "--threads", 1, "--store", STORE, "--save", MACHINE, "--format", "json")
    if measures_memory(done):
        break
equal(done.code, 0, f"a small campaign; said: {done.err.strip()}")
value = done.json()
conforms(value, "one core")
equal(value["complete"], True, "a finished campaign is complete")
equal(value["threads"], [1], "one core alone")
equal({one["kernel"] for one in value["kernels"]} | {name for name in ("triad", "gemm_small") if f"kernel {name}" in str(value["not_measured"])},
      {"triad", "gemm_small"}, "the kernels that were asked for, or why not")
equal({one["precision"] for one in value["peaks"]}, {"fp32"}, "the precision that was asked for")
check(all(one["coverage"] >= 0.95 for one in value["figures"] if one["count"] >= 6), "six repetitions give intervals of 95 %")
campaigns = [value]
if any(one["level"] == "L1" for one in value["levels"]):
    ordered(campaigns, lambda: best(campaigns, quantity="bandwidth", level="L1", threads="1")
            >= best(campaigns, quantity="bandwidth", level="memory", threads="1"), "the first cache is no slower than memory", "--threads", 1)
latency = min(one["least"] for one in value["figures"] if one["quantity"] == "latency" and one["parameters"]["level"] == "memory")
check(1e-9 < latency < 1e-4, f"latency of memory: {latency}")
check(1e8 < best(campaigns, quantity="peak", precision="fp32", threads="1") < 1e12, "peak of one core")
ordered(campaigns, lambda: best(campaigns, quantity="product", own="yes", threads="1")
        < 1.25 * best(campaigns, quantity="peak", precision="fp32", threads="1"),
        "no product of Headroom's above the peak of its instructions", "--threads", 1)
check(best(campaigns, kernel="triad", quantity="kernel") < 2 / 12 * 1e12, "a triad that memory can feed")

# what was kept: every repetition, raw
samples = kept_in(STORE)
check(samples >= sum(one["count"] + 1 for one in value["figures"]), f"{samples} samples are in the store, warm-ups among them")

# the machine file, read by the roofline: the same peak, bandwidth and ridge
read = succeed("roofline", "--machine", MACHINE, "--precision", "fp32", "--format", "json").json()
left_out = {one["level"] for one in value["levels"]} - {one["name"] for one in read["machine"]["levels"]}
for level in left_out:
    check(f"# {level} is left out" in MACHINE.read_text(), f"{level} is not in the machine file, which does not say why")
check("memory" not in left_out, "main memory is in the machine file")
memory = next(one for one in value["ridges"] if one["level"] == "memory" and one["precision"] == "fp32")
close(read["ridge_flops_per_byte"], memory["flops_per_byte"], "ridge of the machine file")

# all cores against one, where nobody else uses them
used, own, passed = processor_times()
value = succeed("measure", "roofline", *SMALL, "--store", "none", "--format", "json").json()
others = (processor_times()[0] - used - (processor_times()[1] - own)) / (processor_times()[2] - passed)
conforms(value, "all cores")
equal(value["store"], None, "--store none keeps nothing")
limit = next(one["value"] for one in value["machine"] if one["name"] == "limit of processors")
if len(value["threads"]) > 1 and others < 0.05 and limit == "none":
    campaigns, many = [value], str(value["threads"][-1])
    for what in ({"quantity": "peak"}, {"quantity": "bandwidth", "level": "memory"}):
        ordered(campaigns, lambda: best(campaigns, **what, threads=many) >= 0.7 * best(campaigns, **what, threads="1"),
                f"{what}: {many} cores no slower than one", more=4)
else:
    print(f"not compared: all cores with one; others used {100 * others:.0f} % of them, limit of processors: {limit}")

# text, page and rows: of the campaign that is in the store
text = succeed("measure", "roofline", *SMALL, "--threads", 1, "--store", STORE, "--html", SCRATCH / "here.html")
check(text.out.startswith(("Peak of 1 core: fp32 ", "The machine was busy")), f"the answer comes first: {text.out[:200]!r}")
for word in ("ridge of fp32", "triad", "L1", "Conditions", "one core: nothing here says"):
    check(word in " ".join(text.out.split()), f"the text has {word!r}")
check(max(map(len, text.out.splitlines())) <= 80, "80 columns are enough")
check("<svg" in (SCRATCH / "here.html").read_text() or "<script" in (SCRATCH / "here.html").read_text(), "a page with a picture")

# Ctrl-C: what was taken stays, and the same command goes on
PART = SCRATCH / "part.sqlite"
LONG = ["measure", "roofline", *SMALL, "--threads", "1", "--store", str(PART), "--format", "json"]
for _ in range(5):  # one that is over before it is interrupted is made again
    PART.unlink(missing_ok=True)
    code, out, err = interrupted_when([PROGRAM, *LONG], lambda: kept_in(PART) > 0)
    if code == 130:
        break
if equal(code, 130, f"exit of an interrupted campaign, which said {err!r}"):
    before = kept_in(PART)
    check(before > 0, "samples are kept")
    if out:
        equal(json.loads(out)["complete"], False, "an interrupted campaign is not complete")
    again = succeed(*LONG).json()
    equal(again["complete"], True, "the second call finishes")
    equal(again["resumed_samples"], before, "the second call has the samples of the first")
    equal(again["campaign"], 1, "it is the same campaign")
    conforms(again, "resumed")
    with sqlite3.connect(PART) as kept:
        twice = kept.execute("select point, repetition from samples group by point, repetition having count(*) > 1").fetchall()
    equal(twice, [], "no repetition is taken twice")

# Ctrl-C during set-up, of the largest problems: the promised line, and little more work
before = processor_seconds_of_children()
code, out, err = interrupted_when([PROGRAM, "measure", "roofline", "--store", str(SCRATCH / "setup.sqlite")], lambda: True)
equal((code, out), (130, ""), f"exit of a campaign that is interrupted during set-up, which said {err!r}")
# before the campaign has begun, too: the signal may come at any moment
check(any(f"interrupted ({kept}" in err for kept in ("0 samples kept", "nothing was finished")), f"it says what is kept: {err!r}")
check(processor_seconds_of_children() - before < 6, "and ends soon")  # two cores, a second, three times

# refusals: one line, exit 2
for wrong, word in ((("--threads", 0), "--threads"), (("--threads", 100000), "--threads"), (("--threads", "some"), "--threads"),
                    (("--precision", "fp33"), "--precision"), (("--kernels", "gem"), "--kernels"), (("--time", "0.1s"), "--time"),
                    (("--time", "5 GB"), "--time"), (("--seed", "x"), "--seed"), (("--save", SCRATCH / "no" / "file"), "file"),
                    (("--precision", "fp64", "--kernels", "triad"), "--kernels"), (("--store", ""), "--store")):
    done = run("measure", "roofline", *wrong)
    equal(done.code, 2, f"{done}: exit")
    check(word in done.err and len(done.err.splitlines()) == 1, f"{done}: said {done.err!r}")

finish()
