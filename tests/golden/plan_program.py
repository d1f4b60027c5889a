"""The program that `make plan` builds: it answers as the whole one does, and names `make build` for every verb that it lacks."""

import pathlib

import _harness
from _harness import check, equal, finish, run

QUESTIONS = [
    ["plan", "llama-3-8b", "--cluster", "dgx-h100", "--workers", "8..32", "--format", "json"],
    ["predict", "llama-3-8b", "--cluster", "dgx-h100", "--workers", "8", "--format", "json"],
    ["finetune", "llama-3-8b", "--cluster", "2x4090", "--method", "qlora", "--dataset-tokens", "50M", "--format", "json"],
    ["support", "llama-3-8b", "dgx-h100", "--format", "json"],
    ["predict", "llama-3-8b", "--cluster", "dgx-a100,dgx-h100", "--workers", "8", "--format", "json"],
    ["catalog", "models"],
    ["plan", "--help"],
    ["frobnicate"],
    ["--version"],
]
whole = [run(*question) for question in QUESTIONS]
whole_help = run("--help")

_harness.PROGRAM = str(pathlib.Path(_harness.PROGRAM).resolve().with_name("headroom-plan"))
for question, expected in zip(QUESTIONS, whole):
    answer = run(*question)
    equal((answer.code, answer.out, answer.err), (expected.code, expected.out, expected.err), f"headroom-plan {question}")

answer = run("--help")
equal(answer.code, 0, "--help")
listed = " ".join(answer.out.split())
check("not in this program, make build adds them: " in listed, answer.out)
held = {"plan", "predict", "finetune", "support", "catalog"}
for line in whole_help.out.split("\n\n")[2].splitlines():
    verb = line.split()[0]
    check(verb in listed, f"--help of headroom-plan does not name {verb}")
    if verb in held:
        check(line in answer.out.splitlines(), f"--help of headroom-plan describes {verb} otherwise")
        continue
    for words in ([verb], [verb, "--help"]):
        lacking = run(*words)
        equal((lacking.code, lacking.out), (2, ""), f"headroom-plan {words}")
        check(lacking.err.count("\n") == 1 and "make build" in lacking.err, f"headroom-plan {words}: {lacking.err}")

finish()
