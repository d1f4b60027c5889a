"""The drawing of a schedule says what its letters are, those alone, and how many chunks a stage has."""

from _harness import check, finish, succeed

BASE = ["predict", "llama-3-8b", "--cluster", "dgx-h100", "--tp", "2", "--pp", "4", "--dp", "1", "--global-batch", "8", "--micro-batch", "1", "--recompute", "full"]
LEGENDS = {"1f1b": "F forward  B backward", "zb-h1": "F forward  b input gradient  W weight gradient"}

for schedule, legend in LEGENDS.items():
    text = succeed(*BASE, "--schedule", schedule).out
    lines = [line for line in text.splitlines() if line.startswith("F forward")]
    check(len(lines) == 1 and lines[0].split("  . ")[0] == legend, f"{schedule}: the legend is {lines}, not {legend}")
    check("chunks each" not in text, f"{schedule}: one chunk a stage is not told")

text = succeed(*BASE, "--schedule", "interleaved", "--virtual-pp", "2").out
check("4 stages, 2 chunks each, 8 micro-batches" in text, "the drawing of several chunks says how many")

# stages of ZB-2P do not wait for each other before the update: a step takes less than the drawing, whatever the CPU does
text = " ".join(succeed(*BASE[:-1], "none", "--schedule", "zb-2p").out.split())
check("a stage updates without waiting for the others" in text, "the drawing of ZB-2P does not say why the step takes less")
check("wait for the CPU" not in text, "the drawing of ZB-2P blames the CPU")

finish()
