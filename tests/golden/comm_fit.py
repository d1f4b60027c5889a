"""`comm --fit` on small logs whose times are known: the constants come out, the errors are what another program makes of
the segments, bad rows are named, and what is saved changes predictions the way it should."""

import json
import math
import os
import pathlib

from _harness import SCRATCH, SOURCE, answer, check, close, equal, finish, run, schema_errors, skip, succeed


def table(name, rows, head="system,collective,ranks,nodes,bytes,time_us"):
    file = SCRATCH / name
    file.write_text(head + "\n" + "\n".join(",".join(map(str, row)) for row in rows) + "\n")
    return file


def fit(*arguments):
    value = answer("comm", "--fit", *arguments)
    if value is not None:
        for error in schema_errors(value):
            check(False, f"comm --fit {arguments}: {error}")
    return value


def segment_time(one, size):
    """The formula of the guide, from the JSON alone."""
    segments = one["segments"]
    line = lambda s, n: s["alpha_seconds"]["value"] + n * s["beta_seconds_per_byte"]["value"]
    for low, high in zip(segments, segments[1:]):
        if size <= low["to_bytes"]:
            return line(low, size)
        if size < high["from_bytes"]:
            a, b = low["to_bytes"], high["from_bytes"]
            slopes = low["beta_seconds_per_byte"]["value"] - high["beta_seconds_per_byte"]["value"]
            meet = (high["alpha_seconds"]["value"] - low["alpha_seconds"]["value"]) / slopes if slopes else -1
            if a <= meet <= b:
                return line(low if size < meet else high, size)
            return line(low, a) * (line(high, b) / line(low, a)) ** (math.log(size / a) / math.log(b / a))
    return line(segments[-1], size)


def median(values):
    values = sorted(values)
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2


def agrees(value, what):
    """Everything that follows from something else in the answer does."""
    for one in value["fits"]:
        for row in one["residuals"]:
            close(row["predicted_seconds"], segment_time(one, row["size_bytes"]), f"{what}: fitted time", 1e-9)
            close(row["relative_error"] + 1, row["predicted_seconds"] / row["measured_seconds"], f"{what}: error")
        kept = [abs(row["relative_error"]) for row in one["residuals"] if not row["outlier"]]
        check(abs(one["median_relative_error"] - median(kept)) < 1e-12, f"{what}: median error")
        equal(one["outliers"], [row for row in one["residuals"] if row["outlier"]], f"{what}: outliers")
        equal(one["alpha_seconds"], one["segments"][0]["alpha_seconds"], f"{what}: alpha is the first segment's")
        equal(one["beta_seconds_per_byte"], one["segments"][-1]["beta_seconds_per_byte"], f"{what}: beta is the last one's")
        equal(len(one["switch_points"]), len(one["segments"]) - 1, f"{what}: switch points")
        times = [segment_time(one, 8 * 1.3**i) for i in range(80)]
        check(all(b >= a * (1 - 1e-9) for a, b in zip(times, times[1:])), f"{what}: the time falls")


# ---- one protocol, then another, and one bad row -------------------------------------------------------------------

SIZES = [2**i for i in range(3, 31)]
alike = lambda n: 10 + n * 1e-3 if n < 65536 else 300 + n * 1e-4  # us: 1 GB/s, then a handshake and 10 GB/s
rows = [["lab", "all_reduce", 8, 1, n, alike(n)] for n in SIZES]
good = fit(table("good.csv", rows))
if good:
    agrees(good, "two protocols")
    one = good["fits"][0]
    equal(len(good["fits"]), 1, "one group")
    equal(len(one["segments"]), 2, "two protocols are two segments")
    close(one["alpha_seconds"]["value"], 10e-6, "alpha", 1e-6)
    close(one["beta_seconds_per_byte"]["value"], 1e-10, "beta", 1e-6)
    close(one["bus_bandwidth_bytes_per_second"], 1.75e10, "bus bandwidth: 2 x 7/8 bytes a byte", 1e-6)
    equal([p["jumps"] for p in one["switch_points"]], [True], "a forced switch")
    equal(one["outliers"], [], "no outlier")

bad = [row[:] for row in rows]
bad[10][5] *= 10
worse = fit(table("bad.csv", bad))
if worse and good:
    agrees(worse, "a bad row")
    one = worse["fits"][0]
    close(one["alpha_seconds"]["value"], 10e-6, "alpha beside a bad row", 0.01)
    close(one["beta_seconds_per_byte"]["value"], 1e-10, "beta beside a bad row", 0.01)
    equal([(row["size_bytes"], row["line"]) for row in one["outliers"]], [(SIZES[10], 12)], "the bad row by its line")
told = succeed("comm", "--fit", SCRATCH / "bad.csv", "--full").out
check("bad.csv:12" in told, f"the bad row is named: {told}")
check(max(map(len, told.splitlines())) <= 80, "80 columns")
equal(run("comm", "--fit", SCRATCH / "bad.csv", "--format", "json").out,
      run("comm", "--fit", SCRATCH / "bad.csv", "--format", "json").out, "the same bytes again")

# ---- several files, rank counts and levels: the links that made them -----------------------------------------------


def ring(p, n, alpha=3.0, beta=2.5e-6):  # us, us a byte: 400 GB/s
    return 2 * (p - 1) * alpha + 2 * (p - 1) / p * n * beta


head = "system,collective,algorithm,ranks,nodes,bytes,time_us"
files = [table(f"ring{p}.csv", [["dgx-h100", "all_reduce", "ring", p, 1, n, ring(p, n)] for n in SIZES], head) for p in (2, 4, 8)]
apart = [["dgx-h100", "all_reduce", "hierarchical_ring", 8 * k, k, n,
          ring(8, n) + 2 * (k - 1) * 9 + 2 * (k - 1) / k * n / 8 * 2e-5] for k in (2, 4) for n in SIZES]
files.append(table("apart.csv", apart, head))
net = SCRATCH / "network.toml"
several = fit(*files, "--save", net)
if several:
    agrees(several, "several files")
    levels = {one["level"]: one for one in several["levels"]}
    equal(sorted(levels), ["scale_out", "scale_up"], "two levels")
    close(levels["scale_up"]["latency_seconds"]["value"], 3e-6, "latency inside", 1e-3)
    close(levels["scale_up"]["bandwidth_bytes_per_second"]["value"], 4e11, "bandwidth inside", 1e-3)
    close(levels["scale_out"]["latency_seconds"]["value"], 9e-6, "latency between nodes", 1e-2)
    close(levels["scale_out"]["bandwidth_bytes_per_second"]["value"], 5e10, "bandwidth between nodes", 1e-2)
    equal(several["saved"], str(net), "what was saved")
folder = SCRATCH / "logs"
folder.mkdir()
for file in files:
    (folder / file.name).write_text(file.read_text())
inside = fit(folder)
if inside and several:
    strip = lambda fits: [{k: v for k, v in one.items() if k not in ("residuals", "outliers")} for one in fits]
    equal(strip(inside["fits"]), strip(several["fits"]), "a folder is its files")

again = fit(*files, files[0], f"{SCRATCH}/./{files[1].name}")
if again and several:
    equal(strip(again["fits"]), strip(several["fits"]), "a file that is named twice is one measurement")
    equal([one["rows"] for one in again["files"][-2:]], [0, 0], "and is named as such")

unnamed = SCRATCH / "unnamed.csv"
unnamed.write_text("bytes,time_us\n1000,5\n2000,6\n4000,8\n")
nothing = SCRATCH / "prose.txt"
nothing.write_text("no log\n")
equal(run("comm", "--fit", unnamed, nothing).code, 5, "a log without its collective, beside a text: too little data")
equal(run("comm", "--fit", nothing, nothing).code, 4, "no log")

# ---- as a calibration ----------------------------------------------------------------------------------------------

question = ["predict", "llama-3-8b", "--cluster", "dgx-h100", "--workers", 16, "--tp", 8, "--dp", 2, "--global-batch", 64]
before = answer(*question)
same = answer(*question, "--calibration", net)
if before and same:
    by = {one["field"]: one for one in same["assumed"]}
    check("400 GB/s" in by["network.scale_up"]["value"], f"measured link among the assumptions: {by.get('network.scale_up')}")
    equal(by["network.scale_up"]["provenance"], "measured", "provenance")
    check("network.scale_up" not in {one["field"] for one in before["assumed"]}, "no such assumption without")
    known = {one["key"]: one for one in same["constants"]}
    equal(known["nvlink_hopper"]["provenance"], "measured", "provenance of the fraction")
    equal(known["gemm_hopper"], {one["key"]: one for one in before["constants"]}["gemm_hopper"], "other constants stay")
    check(any("measured on dgx-h100" in text and "ring2.csv" in text for text in same["notes"]),
          f"notes name the origin of links: {same['notes']}")
wide = SCRATCH / "wide.toml"
wide.write_text("partial = true\n[network.scale_up]\nlatency_seconds = { value = 3e-6, low = 1e-6, high = 9e-6 }\n"
                "bytes_per_second = { value = 4e11, low = 1e11, high = 8e11 }\nprovenance = \"measured\"\nsource = \"x\"\n")
unsure = answer(*question, "--calibration", wide)
if unsure and before and same:
    ratios = [one["interval_seconds"][1] / one["step_seconds"] for one in (same, unsure)]
    check(ratios[1] > 1.02 * ratios[0], f"the interval of a link widens that of the step: {ratios}")

# ---- links of another machine, or of another class, are not used ----------------------------------------------------

for words, said in ((dict(system="Intel(R) Xeon(R) Processor"), "Xeon"), (dict(system="8x A100 SXM"), "A100"),
                    (dict(system="dgx-h100", interconnect="host memory"), "host memory"),
                    (dict(system="NVIDIA H100 80GB HBM3", interconnect="PCIe gen 5"), "PCIe")):
    other = SCRATCH / "other.toml"
    link = f'interconnect = "{words["interconnect"]}"\n' if "interconnect" in words else ""
    other.write_text(f'partial = true\n[network]\nsystem = "{words["system"]}"\n[network.scale_up]\n'
                     f'latency_seconds = {{ value = 3e-6 }}\nbytes_per_second = {{ value = 4e9 }}\n{link}source = "x"\n')
    kept = answer(*question, "--calibration", other)
    if kept and before:
        equal(kept["step_seconds"], before["step_seconds"], f"{words}: the catalog's links are used")
        check(any("not used" in text and said in text for text in kept["notes"]), f"{words}: {kept['notes']}")
    times = [answer("comm", "--size", "1GB", "--ranks", 8, "--cluster", "dgx-h100", *more) for more in ([], ["--calibration", other])]
    if all(times):
        equal([row["seconds"] for row in times[1]["rows"]], [row["seconds"] for row in times[0]["rows"]], f"{words}: nor by comm")
        check(any("not used" in text for text in times[1]["notes"]), f"{words}: comm says so: {times[1]['notes']}")
slow = SCRATCH / "slow.toml"
slow.write_text("partial = true\n[network.scale_up]\nlatency_seconds = { value = 3e-6 }\n"
                "bytes_per_second = { value = 4e10 }\nprovenance = \"measured\"\nsource = \"x\"\n")
slower = answer(*question, "--calibration", slow)
if slower and same:
    check(slower["step_seconds"] > same["step_seconds"] * 1.02, "a tenth of the bandwidth is slower: "
          f"{slower['step_seconds']} against {same['step_seconds']}")
priced = answer("comm", "--size", "1GB", "--ranks", 8, "--cluster", "dgx-h100", "--calibration", net)
if priced:
    for error in schema_errors(priced):
        check(False, f"comm with a calibration that was saved: {error}")
    close(priced["network"]["scale_up"]["bandwidth_bytes_per_second"], 4e11, "comm takes the measured link", 1e-3)
    times = {row["algorithm"]: row["seconds"] for row in priced["rows"]}
    close(times["ring"], ring(8, 1e9) * 1e-6, "comm prices the ring by it", 1e-3)
fast = SCRATCH / "fast.toml"
fast.write_text("partial = true\n[[network.collectives]]\ncollective = \"all_reduce\"\nranks = 8\nnodes = 1\nsource = \"x\"\n"
                "segments = [ { from_bytes = 8.0, to_bytes = 1e9, alpha_seconds = 1e-6, beta_seconds_per_byte = 1e-13 } ]\n")
faster = answer("comm", "--size", "1GB", "--ranks", 8, "--cluster", "dgx-h100", "--calibration", fast)
for row in faster["rows"] if faster else []:
    check(row["lower_bound_seconds"] <= row["seconds"] * (1 + 1e-9), f"measured faster than the links allow: {row}")
for verb in (["roofline", "--machine", "dgx-h100", "--against", "dgx-a100", "--model", "llama-3-8b", "--calibration", net],
             ["validate", "--calibration", net], ["plan", "llama-3-8b", "--cluster", "dgx-h100", "--workers", 16, "--against",
                                                  "dgx-a100", "--calibration", net]):
    done = run(*verb)
    equal(done.code, 2, f"{done}: links of one machine")
    check("measured on one machine" in done.err, f"{done}: {done.err}")

# ---- formats and refusals ------------------------------------------------------------------------------------------

page = SCRATCH / "fit.html"
succeed("comm", "--fit", SCRATCH / "bad.csv", "--html", page)
check("bus bandwidth" in page.read_text(), "the page has the chart")
lines = succeed("comm", "--fit", SCRATCH / "bad.csv", "--format", "csv").out.splitlines()
equal(len(lines), 1 + len(SIZES), "a line a row")
check(succeed("comm", "--fit", SCRATCH / "bad.csv", "--format", "markdown").out.startswith("## "), "markdown")

little = table("little.csv", rows[:2])
empty = table("empty.csv", [])
noise = SCRATCH / "noise.txt"
noise.write_text("this is no log\n")
REFUSED = [
    (["comm", "--fit", little], 5, "too few sizes to fit"),
    (["comm", "--fit", noise], 4, "no known output of a benchmark"),
    (["comm", "--fit", SCRATCH / "absent.csv"], 4, "absent.csv"),
    (["comm", "--fit"], 2, "no log is named"),
    (["comm", "--fit", SCRATCH / "good.csv", "--size", "1GB"], 2, "does not belong to --fit"),
    (["comm", "--fit", SCRATCH / "good.csv", "--save", "-"], 2, "names no file"),
    (["comm", "--size", "1GB", "--ranks", 8, "--link", "1GB/s,1us", "--save", "x.toml"], 2, "belongs to --fit"),
    (["comm", "good.csv", "--size", "1GB", "--ranks", 8, "--link", "1GB/s,1us"], 2, "unexpected argument"),
]
for arguments, code, words in REFUSED:
    done = run(*arguments)
    equal(done.code, code, f"{done}: exit")
    check(words in done.err and len(done.err.strip().splitlines()) == 1, f"{done}: {done.err}")
mixed = fit(SCRATCH / "good.csv", noise)
if mixed:
    check(any(one["refusal"] for one in mixed["files"]), "a text that is no log is named")
    equal(len(mixed["fits"]), 1, "and the others are used")
both = table("both.csv", rows + [["other", *row[1:]] for row in rows])
done = run("comm", "--fit", both, "--save", SCRATCH / "both.toml")
equal(done.code, 2, "a calibration is of one system")
check("more than one system" in done.err and not (SCRATCH / "both.toml").exists(), f"{done.err}")

# ---- measured networks ---------------------------------------------------------------------------------------------

shared = pathlib.Path(os.environ.get("HEADROOM_SHARED", SOURCE.parent / "shared"))
for published in (SOURCE / "validation" / "published_communication.csv", shared / "validation" / "published_comm_open.csv"):
    if not published.is_file():
        continue
    every = fit(published)
    if not every:
        continue
    agrees(every, published.name)
    import csv

    with open(published, newline="") as text:
        read = list(csv.DictReader(text))
    lines = {line: row for line, row in enumerate(read, 2)}
    groups = {}
    for one in every["fits"]:
        for row in one["residuals"]:
            groups.setdefault((one["id"], one["collective"], one["ranks"]), []).append((row["size_bytes"], row["line"]))
    half, kept = [], []
    for key, members in groups.items():
        members.sort()
        sizes = sorted({size for size, _ in members})
        if len(sizes) < 6:
            continue
        half += [lines[line] for size, line in members if sizes.index(size) % 2 == 0]
        kept += [(key, size, line) for size, line in members if sizes.index(size) % 2 == 1]
    times = {(one["id"], one["collective"], one["ranks"], row["size_bytes"]): row["measured_seconds"]
             for one in every["fits"] for row in one["residuals"]}
    fitted = SCRATCH / "half.csv"
    with open(fitted, "w", newline="") as text:
        writer = csv.DictWriter(text, read[0].keys())
        writer.writeheader()
        writer.writerows(half)
    value = fit(fitted)
    by = {(one["id"], one["collective"], one["ranks"]): one for one in value["fits"]}
    errors = [abs(segment_time(by[key], size) / times[(*key, size)] - 1) for key, size, _ in kept if key in by]
    check(len(errors) > 250, f"{len(errors)} rows predicted")
    print(f"every second size of {published.name}: {len(errors)} rows predicted, median {100 * median(errors):.2f} %, "
          f"p90 {100 * sorted(errors)[int(0.9 * len(errors))]:.2f} %")
    check(median(errors) <= 0.05, f"median error {median(errors)}")
    break


def recording(name):
    """Rows of a recording over sockets: operation, ranks, bytes, iterations, minimum, median, 90th percentile (us)."""
    algorithms = {"pp": "send", "ring": "ring", "rd": "recursive_doubling", "rab": "rabenseifner"}
    rows = []
    for line in (shared / "cluster" / "raw" / f"{name}.tsv").read_text().splitlines():
        cells = line.split("\t")
        if len(cells) == 7 and cells[0] in algorithms:
            pair = cells[0] == "pp"
            ranks = 2 if pair else int(cells[1])
            rows.append([name, "point_to_point" if pair else "all_reduce", algorithms[cells[0]], ranks, ranks, cells[2], cells[5]])
    return table(f"{name}.csv", rows, head)


if (shared / "cluster" / "raw" / "tap4d.tsv").is_file():
    sound, faulty = fit(recording("tap4d")), fit(recording("tap4_HOLbug"))
    if sound and faulty:
        check(all(one["median_relative_error"] < 0.03 and not one["outliers"] for one in sound["fits"]), "a sound switch fits")
        check(all(one["dip"] is None for one in sound["fits"]), "and bandwidth never falls")
        close(sound["levels"][0]["bandwidth_bytes_per_second"]["value"], 1.25e8, "1 Gbit/s", 0.05)
        rings = [one for one in faulty["fits"] if one["algorithm"] == "ring"]
        check(rings[0]["outliers"] or rings[0]["dip"], "the faulty switch shows in the largest messages of a ring")
        check(any(one["dip"] and not one["dip"]["ends"] for one in faulty["fits"]), "where bandwidth falls and stays low")
else:
    skip("recordings of emulated networks are not there")

finish()
