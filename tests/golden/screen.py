"""The answer first, on one screen: at most 25 lines of plan and predict, one with --brief, all with --full; the catalog is found by words."""

from _harness import answer, check, equal, finish, run, succeed

LLAMA = ["llama-3-70b", "--cluster", "dgx-h100"]
CASES = [
    ["plan", *LLAMA, "--workers", "256,1024", "--tokens", "2T"],
    ["plan", *LLAMA, "--workers", "8..8192", "--global-batch", "8192", "--tokens", "15T"],
    ["plan", "llama-3-8b", "--cluster", "2x4090", "--train", "lora", "--base", "nf4"],
    ["predict", *LLAMA, "--workers", "64"],
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

first = succeed(*CASES[0], "--brief").out
value = answer(*CASES[0])
for part in ("llama-3-70b on dgx-h100, 2T tokens: 1024 accelerators take ", " days (", " and $", "; 256 take ", "sooner"):
    check(part in first, f"the verdict has {part!r}: {first}")
if value:
    check(value["verdict"].startswith(first.strip()), f"the verdict of the JSON begins so: {value['verdict']}")
equal(run(*CASES[0], "--brief", "--full").code, 2, "one line and all of them")
check(" days and $" in succeed(*CASES[4][:4], "--tokens", "2T", "--brief").out, "predict has days and dollars")

# ---- the catalog ----
kinds = succeed("catalog").out
check("headroom catalog list accelerators" in kinds and len(kinds.splitlines()) <= 25, f"the kinds: {kinds}")
found = answer("catalog", "search", "4090")
names = [(one["kind"], one["name"]) for one in found["records"]] if found else []
check(("accelerator", "rtx-4090") in names and ("node", "rtx-4090-pcie-8") in names, f"search 4090: {names}")
check("did you mean" in run("catalog", "search", "lamma-3-70b").err, "a word that is nearly a name")
equal([one["name"] for one in answer("catalog", "list", "gpus")["records"]], [one["name"] for one in answer("catalog", "list", "accelerators")["records"]], "gpus are accelerators")

finish()
