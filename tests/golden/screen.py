"""The answer first, on one screen as wide as the terminal: at most 25 lines, one with --brief, all with --full; the catalog is found by words."""

import json
import re

from _harness import SCRATCH, SOURCE, answer, check, equal, finish, run, succeed

LLAMA = ["llama-3-70b", "--cluster", "dgx-h100"]
CASES = [
    ["plan", *LLAMA, "--workers", "256,1024", "--tokens", "2T"],
    ["plan", *LLAMA, "--workers", "8..8192", "--global-batch", "8192", "--tokens", "15T"],
    ["plan", "llama-3-8b", "--cluster", "2x4090", "--train", "lora", "--base", "nf4"],
    ["plan", *LLAMA, "--workers", "256,1024", "--tokens", "2T", "--mtbf", "50700h", "--imbalance", "1.08", "--step-spread", "2%"],
    ["predict", *LLAMA, "--workers", "64"],
    ["predict", *LLAMA, "--workers", "64", "--mtbf", "50700h"],
    ["predict", "llama-3-8b", "--cluster", "8xH100", "--tokens", "2T"],
    ["predict", "resnet-50", "--cluster", "dgx-a100", "--workers", "8"],
    ["predict", "llama-3-8b", "--cluster", "2x4090"],
]
for words in CASES:
    screen, brief, full = run(*words), run(*words, "--brief"), run(*words, "--full")
    equal((brief.code, full.code), (screen.code, screen.code), f"{screen}: exit codes")
    lines = screen.out.splitlines()
    check(2 < len(lines) <= 25, f"{screen}: {len(lines)} lines\n{screen.out}")
    check(all(len(line) <= 80 for line in lines), f"{screen}: 80 columns")
    if words[0] == "predict" or screen.code == 0:
        equal(len(brief.out.splitlines()), 1, f"{brief}: {brief.out!r}")
        check(" ".join(screen.out.split()).startswith(" ".join(brief.out.split())[:60]), f"{screen}: the line of --brief comes first")
    check(len(full.out.splitlines()) > len(lines), f"{full}: longer than a screen")

# ---- every size is on the screen where it has room; else their number
def sizes_on(screen):
    return re.findall(r"^[* ] +(\d+) ", screen.out[screen.out.index("---"):].split("\n\n")[0], re.M)


seven = ["plan", "llama-2-13b", "--cluster", "dgx-a100", "--nodes", "4,8,16,24,32,64,128", "--tokens", "500B"]
equal(sizes_on(succeed(*seven)), ["32", "64", "128", "192", "256", "512", "1024"], "seven sizes")
equal(sizes_on(succeed("plan", *LLAMA, "--tokens", "2T")), ["8", "16", "32", "64", "128", "256", "512", "1024"], "the usual sizes")
for width in (60, 80, 120):
    many = run("plan", "llama-3-8b", "--cluster", "dgx-h100", "--workers", "8..128:8", "--tokens", "2T", COLUMNS=str(width))
    hidden = re.search(r"not shown: (\d+) sizes: --full", many.out)
    check(len(many.out.splitlines()) <= 25, many.out)
    equal(len(sizes_on(many)) + int(hidden[1] if hidden else 0), 16, f"sizes shown and not shown at {width}: {many.out}")

# ---- names stay whole in narrow windows, and an option with its value
for words in (["predict", "llama-3-8b,llama-3-70b", "--cluster", "dgx-h100,dgx-a100", "--workers", "64"], CASES[0], ["predict", "llama-3-8b", "--cluster", "dgx-h100",
              "--workers", "8", "--sweep", "sequence-length=4k..16k"]):
    for width in (60, 80, 120):
        screen = run(*words, COLUMNS=str(width))
        lines = screen.out.splitlines()
        check(len(lines) <= 25 and all(len(line) <= width for line in lines), f"{screen}: at {width}\n{screen.out}")
        table = screen.out[screen.out.index("---"):].split("\n\n")[0]
        cut = [word for word in re.findall(r"\S+", table) if word.endswith("-") and word.strip("-")]
        equal(cut, [], f"{screen} at {width}: names that are cut\n{screen.out}")
        check(not any(re.search(r"--[a-z-]+ \\$", line) for line in lines), f"{screen}: an option without its value at the end of a line\n{screen.out}")

# ---- every other verb, as wide as the terminal ----
SAMPLES = SOURCE / "examples"
OTHERS = [
    ["predict", *LLAMA, "--workers", "64", "--what-if"],
    ["predict", "llama-3-8b", "--cluster", "2x4090"],
    ["support", "llama-3-70b", "dgx-h100", "--workers", "64"],
    ["support", "llama-3-8b", "2x4090", "--framework", "hf-trainer", "--train", "lora"],
    ["graph", "cholesky:20"],
    ["graph", SAMPLES / "tasks.json", "--workers", "1..64"],
    ["finetune", "llama-3-8b", "--cluster", "2x4090", "--method", "qlora", "--dataset-tokens", "50M"],
    ["laws", "--serial", "0.5,0.1,0.02", "--workers", "1,2,4,8,16,64,256,1024"],
    ["laws", "--serial", "5%", "--faster", "2x", "--faster-price", "5 $/h", "--price", "2 $/h"],
    ["laws", "--compute", "240ms", "--communication", "60ms", "--at-workers", "8"],
    ["laws", "--communication-share", "22%", "--at-workers", "256", "--measured-speedup", "3", "--from-workers", "8"],
    ["laws", "--work", "1000000", "--per-level", "50"],
    ["laws", "--alpha", "0.0277", "--beta", "0.000104"],
    ["laws", "--efficiency", "0.8", "--overhead", "2 K log2(K)"],
    ["laws", "--parameters", "7B", "--global-batch", "2048", "--rate", "312TFLOP/s", "--bandwidth", "600GB/s"],
    ["laws", "--fit", SAMPLES / "measured.csv", "--efficiency", "70%"],
    ["comm", "--size", "140GB", "--ranks", "8", "--link", "450GB/s,1us"],
    ["comm", "--collective", "all_gather", "--size", "1GB", "--ranks", "8..1024", "--cluster", "dgx-h100"],
    ["comm", "--size", "14GB", "--ranks", "64", "--cluster", "dgx-a100", "--gradient-compression", "one_bit", "--buckets", "100MB", "--overlap-with", "180ms"],
    ["comm", "--fit", SAMPLES / "all_reduce.log", SAMPLES / "all_gather.log"],
    ["tail", SAMPLES / "after.csv"],
    ["tail", SAMPLES / "after.csv", "--baseline", SAMPLES / "before.csv", "--objective", "p99<=150ms", "--replicas", "20"],
    ["queue", "--arrivals", "500/s", "--service", "12ms", "--objective", "p99<=80ms", "--price", "2.5 $/h"],
    ["queue", "--arrivals", "500/s", "--service", "12ms", "--service-variation", "4", "--replicas", "6..12:1", "--simulate"],
    ["inference", "llama-3-8b", "--cluster", "dgx-h100"],
    ["inference", "llama-3-70b", "--cluster", "dgx-h100", "--arrivals", "20/s", "--against", "dgx-h200"],
    ["roofline", "--machine", "h100"],
    ["roofline", "--machine", "a100", "--kernel", "dot:1000000:fp32", "--kernel", "gemm:4096x4096x4096"],
    ["roofline", "--machine", "a100", "--model", "llama-3-8b", "--against", "h200"],
    ["trace", SAMPLES / "profiler"],
    ["trace", SAMPLES / "profiler", "--baseline", SAMPLES / "profiler-before"],
    ["validate"],
    ["validate", "--memory"],
    ["validate", "--communication"],
]
for words in OTHERS:
    lines = 40 if words[0] == "validate" else 25
    lines_at_80 = 0
    for width in (60, 80) if words[0] == "validate" else (60, 80, 120):  # the published runs take their time
        screen = run(*words, COLUMNS=str(width))
        printed = screen.out.splitlines()
        lines_at_80 = len(printed) if width == 80 else lines_at_80
        check(2 < len(printed) <= lines, f"{screen}: {len(printed)} lines at {width}\n{screen.out}")
        check(all(len(line) <= width for line in printed), f"{screen}: wider than {width} columns\n{screen.out}")
    whole, brief = run(*words, "--full"), run(*words, "--brief")
    check(len(whole.out.splitlines()) >= lines_at_80, f"{whole}: shorter than a screen of 80 columns")
    equal((whole.code, brief.code, len(brief.out.splitlines())), (screen.code, screen.code, 1), f"{brief}: {brief.out!r}")
    check(screen.out[:30] == brief.out[:30], f"{screen}: the line of --brief comes first: {brief.out}")

queue = next(words for words in OTHERS if words[0] == "queue" and "--price" in words)
wide = run(*queue, COLUMNS="120").out
check(" yes" in wide and " true" not in wide, f"yes and no, not true and false: {wide}")
check(len(succeed("graph", "--list").out.splitlines()) > 25, "the list of builders is printed whole")
full = succeed("support", "llama-3-8b", "2x4090", "--full").out
check("Constants in use" in full and "Measured runs" in full, "support --full has its tables")
adds = run("tail", SAMPLES / "after.csv", "--baseline", SAMPLES / "before.csv", "--objective", "p99<=150ms", "--replicas", "20", COLUMNS="120").out.split("--full adds: ")[-1]
check(not re.search(r", \d+, ", adds), f"titles are not cut inside a number: {adds}")
for shape in ("json", "csv", "markdown"):
    equal(run(*queue, "--format", shape).out, run(*queue, "--format", shape, "--full").out, f"--full does not change {shape}")
equal(run(*queue, "--full").out, run(*queue, "--full", COLUMNS="80").out, "80 columns where there is no terminal")
for wrong, width in (("20", 60), ("900", 160), ("wide", 80), ("", 80)):
    longest = max(map(len, run(*queue, COLUMNS=wrong).out.splitlines()))
    check(0.7 * width < longest <= width, f"COLUMNS={wrong!r}: {longest} columns")
    wrapped = run("plan", "llama-3-70b", "--cluster", "dgx-h1000000000", "--workers", "8", COLUMNS=wrong).err.splitlines()
    check(len(wrapped) == 1 if width == 80 else all(len(line) <= width for line in wrapped), f"COLUMNS={wrong!r}: {wrapped}")

# ---- what is wrong with the input is on the first screen ----
damaged = SCRATCH / "damaged.csv"
damaged.write_text((SAMPLES / "after.csv").read_text() + "broken,-3\n9.9,\n")
screen = run("tail", damaged)
check("warning" in screen.out and "left out" in screen.out, f"a damaged row is counted on the screen: {screen.out}")
check("warning" in run("tail", damaged, "--brief").out, "and in one line")
requests = (SAMPLES / "requests.csv").read_text()
damaged.write_text(requests + "99999,,\n")
serving = ["inference", "llama-3-8b", "--cluster", "dgx-a100", "--tp", "1", "--replicas", "4", "--time-unit", "ms", "--requests"]
check("warning" in run(*serving, damaged, "--brief").out and "warning" not in run(*serving, SAMPLES / "requests.csv", "--brief").out,
      "inference counts a request that is left out, and no other")
events = json.loads((SAMPLES / "profiler" / "rank0.json").read_text())
events["traceEvents"].append({"ph": "X", "cat": "kernel", "name": "broken", "ts": -5, "dur": -1, "args": {"stream": 7}})
(SCRATCH / "rank0.json").write_text(json.dumps(events))
screen = run("trace", SCRATCH / "rank0.json")
check("warning" in screen.out, f"a broken event is counted on the screen: {screen.out}")

first = succeed(*CASES[0], "--brief").out
value = answer(*CASES[0])
for part in ("llama-3-70b on dgx-h100, 2T tokens: 1024 accelerators take ", " days (", " and $", "; 256 take ", "sooner"):
    check(part in first, f"the verdict has {part!r}: {first}")
if value:
    check(value["verdict"].startswith(first.strip()), f"the verdict of the JSON begins so: {value['verdict']}")
equal(run(*CASES[0], "--brief", "--full").code, 2, "one line and all of them")
check(" days and $" in succeed(*CASES[6][:4], "--tokens", "2T", "--brief").out, "predict has days and dollars")

# ---- the catalog ----
kinds = succeed("catalog").out
check("headroom catalog list accelerators" in kinds and len(kinds.splitlines()) <= 25, f"the kinds: {kinds}")
found = answer("catalog", "search", "4090")
names = [(one["kind"], one["name"]) for one in found["records"]] if found else []
check(("accelerator", "rtx-4090") in names and ("node", "rtx-4090-pcie-8") in names, f"search 4090: {names}")
check("did you mean" in run("catalog", "search", "lamma-3-70b").err, "a word that is nearly a name")
equal([one["name"] for one in answer("catalog", "list", "gpus")["records"]], [one["name"] for one in answer("catalog", "list", "accelerators")["records"]], "gpus are accelerators")

finish()
