"""Equal input gives equal bytes: again, on more threads, with colour refused, in every format."""

import pathlib
import re
import subprocess

from _harness import CONFIGS, ENVIRONMENT, PROGRAM, SCRATCH, answer, check, equal, finish, run, succeed

PLAN = ["plan", "llama-3-70b", "--cluster", "dgx-h100", "--workers", "8..512", "--tokens", "2T", "--top", "3"]
PREDICT = ["predict", CONFIGS / "mistral-7b", "--cluster", "dgx-a100", "--workers", "32", "--explain", "--what-if"]

COMM = ["comm", "--size", "1GB", "--ranks", "8..64", "--cluster", "dgx-h100", "--gradient-compression", "one_bit"]
INFERENCE = ["inference", "llama-3-8b", "--cluster", "dgx-h100", "--arrivals", "30/s", "--output-variation", "1", "--burstiness", "2"]
QUEUE = ["queue", "--arrivals", "500/s", "--service", "12ms", "--replicas", "6..12:1", "--simulate", "--scale-up", "2x", "--price", "2.5"]

for arguments in (PLAN, PREDICT, COMM, QUEUE, INFERENCE, ["validate"], ["catalog", "list"]):
    for form in ("table", "json", "csv", "markdown"):
        first = succeed(*arguments, "--format", form)
        again = run(*arguments, "--format", form) if form in ("table", "json") else first  # the others write what JSON holds
        check(first.out and first.out == again.out, f"{first}: two runs differ")
        check("\x1b" not in first.out, f"{first}: escape sequences in a pipe")
        check("nan" not in first.out.lower().replace("nano", "").split(), f"{first}: a NaN in the result")

for form in ("table", "json"):
    alone, pair = (run(*PLAN, "--format", form, "--threads", threads) for threads in (1, 2))
    equal(pair.out, alone.out, f"{alone} against two threads")

# --stats adds its key and changes nothing else
plain, timed = answer(*PLAN), answer(*PLAN, "--stats")
if plain and timed:
    check(timed.pop("stats")["search_seconds"] > 0, "search_seconds is positive")
    equal(timed, plain, "a result with --stats, without stats")

# notes of a model file go to standard error, and --quiet keeps them back
loud, quiet = run(*PREDICT), run(*PREDICT, "--quiet")
equal(quiet.err, "", "standard error with --quiet")
equal(quiet.out, loud.out, "the result with --quiet")

# options from a file: below those of the command line, above the defaults
options = SCRATCH / "options.toml"
options.write_text('[predict]\nworkers = 16\ntp = 2\nformat = "json"\n[plan]\nworkers = 64\n')
base = ["predict", "llama-3-8b", "--cluster", "dgx-h100"]
equal(run(*base, "--config", options).out, run(*base, "--workers", 16, "--tp", 2, "--format", "json").out, "options from a file")
equal(run(*base, "--config", options, "--tp", 4).out, run(*base, "--workers", 16, "--tp", 4, "--format", "json").out, "the command line over the file")

# a page that needs nothing from elsewhere, with the same numbers, everything escaped
folder = SCRATCH / "a<b>&'c<script>"
folder.mkdir()
(folder / "config.json").write_text((CONFIGS / "gpt2-xl" / "config.json").read_text())
page = SCRATCH / "page.html"
succeed("predict", folder, "--cluster", "dgx-a100", "--workers", 8, "--html", page)
text = page.read_text()
check(text.startswith("<!DOCTYPE html>") and text.count("<figure>") == 2 and "</html>" in text, "a page with two figures")
check("<b>&'c" not in text, "names are escaped on the page")
check("default-src 'none'" in text and "'unsafe-inline'" not in text.split("script-src")[-1].split('"')[0], "a policy that fetches nothing and runs no other script")
outside = re.sub(r"<script>.*?</script>", "", text, flags=re.S)  # the library, which the policy names by its hash
check("http://" not in outside and "https://" not in outside and "src=" not in outside, "a page that loads nothing")
check(outside.count("<script") <= 1 and ("<script" in outside) == (outside != text), "no script but the library, and its data")
succeed(*PLAN, "--html", page)
again = page.read_text()
succeed(*PLAN, "--html", page)
equal(page.read_text(), again, "the same page twice")
equal(again.count("<figure>"), 4, "figures of a plan: speed-up, time against cost, memory, step")
equal(again.count("<figcaption>"), again.count("</table></div>\n</details>"), "every figure has a caption and a table")
check(again.count("<figcaption></figcaption>") == 0, "no caption is empty")

# the terminal's own refusals
bare = subprocess.run(["script", "-qec", f"{PROGRAM} predict llama-3-8b --cluster dgx-h100 --workers 8", "/dev/null"],
                      env=ENVIRONMENT, capture_output=True, stdin=subprocess.DEVNULL) if pathlib.Path("/usr/bin/script").exists() else None
if bare is not None and bare.returncode == 0:
    check(b"\x1b[1m" in bare.stdout, "bold on a terminal")
    for refusal in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        dull = subprocess.run(["script", "-qec", f"{PROGRAM} predict llama-3-8b --cluster dgx-h100 --workers 8", "/dev/null"],
                              env=ENVIRONMENT | refusal, capture_output=True, stdin=subprocess.DEVNULL)
        check(b"\x1b[1m" not in dull.stdout, f"no colour with {refusal}")

# a reader that leaves early is no error
pipe = subprocess.run(["bash", "-c", f"'{PROGRAM}' validate --format json | head -c 100 >/dev/null"], env=ENVIRONMENT, capture_output=True)
equal(pipe.stderr, b"", "standard error when the reader leaves")

finish()
