"""Text for people: 80 columns, the verdict first, and help with examples."""

import re

from _harness import CONFIGS, SCRATCH, answer, check, close, equal, finish, run, succeed

VERBS = ["plan", "predict", "finetune", "support", "inference", "validate", "laws", "graph", "roofline", "comm", "tail", "queue", "trace", "measure roofline",
         "measure comm", "measure scaling", "history", "calibrate", "catalog"]
(SCRATCH / "latencies.csv").write_text("latency_ms\n" + "".join(f"{10 + 37 * n % 101 * (20 if n % 50 == 0 else 1)}\n" for n in range(5000)))
CASES = [
    ["plan", "llama-3-70b", "--cluster", "dgx-h100", "--workers", "8..8192", "--global-batch", "8192", "--tokens", "15T", "--top", "5", "--stats"],
    ["plan", "llama-3-70b", "--cluster", "dgx-h100", "--workers", "8..64", "--against", "dgx-b200", "--tokens", "2T", "--full"],
    ["plan", "gpt3-175b", "--cluster", "dgx-a100", "--workers", "8..1024", "--dry-run"],
    ["plan", "llama-3-8b", "--cluster", "dgx-v100", "--workers", "1,2,3,5,8,80"],
    ["predict", "llama-3-405b", "--cluster", "dgx-h100", "--workers", "1024", "--tp", "8", "--pp", "14", "--cp", "1", "--dp", "8", "--global-batch", "512"],
    ["predict", "llama-3-70b", "--cluster", "dgx-h100", "--workers", "64", "--what-if", "--explain", "--full"],
    ["predict", CONFIGS / "falcon-7b", "--cluster", "gb200-nvl72", "--workers", "72", "--global-batch", "720"],
    ["validate"],
    ["catalog", "list"],
    ["catalog", "list", "models"],
    ["comm", "--size", "14GB", "--ranks", "8..512", "--cluster", "dgx-h100", "--gradient-compression", "top_k"],
    ["queue", "--arrivals", "500/s", "--service", "12ms", "--service-variation", "4", "--replicas", "6..12:1", "--simulate", "20s", "--price", "2.5 $/h"],
    ["queue", "--arrivals", "123456/s", "--service", "123.456ms", "--replicas", "15000..20000:1000"],
    ["inference", "llama-3-8b", "--cluster", "dgx-h100"],
    ["inference", "llama-3-70b", "--cluster", "dgx-h100", "--arrivals", "20/s", "--duration", "100s", "--against", "dgx-h200"],
    ["tail", SCRATCH / "latencies.csv", "--fit", "--backups", "--fan-out", "1,100,1000,1000000", "--objective", "p99<=1s", "--arrivals", "10/s", "--replicas", "4"],
    ["predict", "llama-3-8b,llama-3-70b,gpt3-175b", "--cluster", "dgx-a100,dgx-h100", "--workers", "64", "--tokens", "2T"],
    ["predict", "llama-3-8b", "--cluster", "dgx-h100", "--workers", "8", "--sweep", "sequence-length=4k..128k", "--sweep", "tp=1,2,3", "--full"],
    ["predict", "llama-3-70b", "--cluster", "dgx-h100", "--workers", "64", "--tp", "8", "--pp", "4", "--against-plan", "tp=8,pp=2", "--tokens", "2T"],
    ["support", "mixtral-8x7b", "dgx-b200", "--full"],
    ["--help"],
] + [[*verb.split(), "--help"] for verb in VERBS]

for arguments in CASES:
    done = run(*arguments)
    check(done.code in (0, 2, 3), f"{done}: exit {done.code}; said: {done.err.strip()}")
    if done.code == 2:
        check("1024" in done.err, f"{done}: {done.err.strip()}")  # degrees that do not make the workers
        continue
    for line in done.out.splitlines():
        check(len(line) <= 80, f"{done}: a line of {len(line)} columns: {line}")
        check(line == line.rstrip() or "|" in line, f"{done}: blanks at the end of a line: {line!r}")
    check(all(ord(letter) < 128 for letter in done.out) or "catalog" in arguments, f"{done}: letters beyond ASCII in a pipe")

plan = succeed("plan", "llama-3-70b", "--cluster", "dgx-h100", "--workers", "8..128", "--tokens", "2T", "--full")
lines = plan.out.splitlines()
check(lines and lines[0].startswith("llama-3-70b on dgx-h100, 2T tokens: "), f"the verdict comes first: {lines[:1]}")
equal(sum(line.startswith("* ") for line in lines[:30]), 1, "one chosen row in the curve")
for word in ("step s", "tok/s/GPU", "MFU %", "eff %", "days", "cost $", "stop:", "interval:", "search:", "Assumed", "constants:"):
    check(word in plan.out, f"{plan}: {word!r} is missing")

# ---- the unit of a run's time is that of the longest in the column; JSON has days ----
SIZES = ["llama-3-8b", "--cluster", "dgx-h100", "--workers", "8,16"]
for tokens, unit, days in (("10M", "minutes", 1 / 1440), ("2B", "hours", 1 / 24), ("2T", "days", 1.0)):
    asked = ["plan", *SIZES, "--tokens", tokens, "--full"]
    value, table = answer(*asked), succeed(*asked).out.splitlines()
    header = next(line for line in table if "step s" in line and "tok/s/GPU" in line).split()
    check(unit in header and sum(word in header for word in ("minutes", "hours", "days")) == 1, f"{tokens}: {header}")
    for point in value["curve"] if value else []:
        (row,) = [line.lstrip("* ").split() for line in table if re.match(rf"\*? +{point['workers']} +tp|\*? +{point['workers']} +dp", line)][:1]
        shown = float(row[-2])  # then the dollars
        close(shown, point["days"] / days, f"{tokens} on {point['workers']}", 5e-3)
    one = ["predict", *SIZES[:3], "--workers", "16", "--tokens", tokens]
    told, value = " ".join(succeed(*one).out.split()), answer(*one)
    found = re.search(r"; ([0-9.]+) (minutes|hours|days) and \$", told)
    if check(found and found[2] == unit, told) and value:
        close(float(found[1]), value["days"] / days, f"{tokens}: predict", 5e-3)

for word in ("Speedup over the smallest size", "ceiling ", "knee: ", "o predicted", ". ideal", ": 90 % band", "* chosen", "Time against cost", "usable "):
    check(word in plan.out, f"{plan}: {word!r} is missing in the plots")
sweep = succeed("comm", "--size", "1GB", "--ranks", "8..64", "--cluster", "dgx-h100", "--sweep", "--full").out
check(all(word in sweep for word in ("Bus bandwidth over size", "Time over size", "tree (channels)", ". . NCCL's model")), "comm draws its algorithms")

for verb in VERBS:
    text = succeed(*verb.split(), "--help").out
    check("Examples" in text and f"headroom {verb}" in text, f"help of {verb} has examples")
check(succeed("--version").out.startswith("headroom "), "--version")

validation = succeed("validate", "--full").out
check(validation.startswith("Median absolute error of the step: "), "the verdict of validate comes first")
for word in ("source left out", "By source", "By accelerator", "By strategy", "left out %", "Pace of frameworks", "factor without source", "Worst runs"):
    check(word in validation, f"validate: {word!r} is missing")
check(not any(line.split()[:1] == ["row"] for line in validation.splitlines()), "validate: a name is broken over two lines")

hint = "not counted; add --congestion 5%"
page = SCRATCH / "page.html"
written = succeed("predict", "llama-3-8b", "--cluster", "dgx-h100", "--workers", "8", "--format", "markdown", "--html", page)
text = re.sub("</?span[^>]*>", "", page.read_text())
check(hint in written.out and hint in text, "how a term is switched on is missing from Markdown or the page")
check("The step, " in written.out and "```" in written.out and "<figure>" in text, "Markdown and the page draw the step")

markdown = succeed("plan", "llama-3-8b", "--cluster", "dgx-h100", "--workers", "8..32", "--format", "markdown").out
check("| ---: |" in markdown and markdown.startswith("## "), "Markdown has a heading and a table")
check("### Speedup over" in markdown and markdown.count("```") % 2 == 0 and all(ord(letter) < 128 for letter in markdown), "Markdown draws in ASCII, between fences")
csv = succeed("plan", "llama-3-8b", "--cluster", "dgx-h100", "--workers", "8..32", "--format", "csv").out.splitlines()
equal(len(csv), 4, "CSV: a header and a row a size")

finish()
