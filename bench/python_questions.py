"""python_questions.py FOLDER [FOLDER]: questions a second from Python, one thread, and instructions of a question.

Each folder holds a built package (build/release/python). Two are compared: they answer in alternating rounds of one run, so that the
ratio holds on a busy machine. Instructions are counted by valgrind where it is installed: of many questions less of few.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

QUESTIONS = {
    "predict, stated": "predict('llama-3-8b', 'dgx-h100', workers=8, tp=2, pp=1, dp=4, cp=1, zero=1, micro_batch=1, sequence_parallel='on', "
                       "recompute='none', global_batch=1024, sequence_length=8192, precision='bf16', framework='megatron-core').step_seconds",
    "predict, few stated": "predict('llama-3-8b', 'dgx-h100', workers=8).step_seconds",
    "plan of two sizes": "plan('llama-3-8b', 'dgx-h100', workers=[8, 16]).curve[0].step_seconds",
    "laws": "laws(serial=0.05, workers=64).rows",
}

LOOP = """
import sys, time, headroom
def ask(): return headroom.{question}
ask()
rounds = 0
begin = time.perf_counter()
while rounds < {least} or ({seconds} and time.perf_counter() - begin < {seconds}):
    ask()
    rounds += 1
print(rounds / (time.perf_counter() - begin))
"""


def run(folder, question, least=0, seconds=0.0, before=()):
    script = LOOP.format(question=question, least=least, seconds=seconds)
    done = subprocess.run([*before, sys.executable, "-c", script], capture_output=True, text=True, check=True,
                          env={**os.environ, "PYTHONPATH": str(pathlib.Path(folder).resolve())})
    return done.stdout, done.stderr


def instructions(folder, question):
    """Instructions of one question; None without valgrind."""
    if shutil.which("valgrind") is None:
        return None
    counted = []
    with tempfile.TemporaryDirectory() as scratch:
        tool = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={scratch}/out"]
        for least in (1, 6):
            _, errors = run(folder, question, least=least, before=tool)
            counted.append(int(re.search(r"Collected : (\d+)", errors)[1]))
    return (counted[1] - counted[0]) / 5


def main():
    folders = sys.argv[1:3]
    if not folders:
        sys.exit(__doc__)
    print(f"{'question':<22}" + "".join(f"{'instructions':>16}{'a second':>10}" for _ in folders) + ("   ratio" if folders[1:] else ""))
    for name, question in QUESTIONS.items():
        rates = [0.0] * len(folders)
        for _ in range(5):
            for i, folder in enumerate(folders):
                rates[i] = max(rates[i], float(run(folder, question, seconds=1.0)[0]))
        counts = [instructions(folder, question) for folder in folders]
        cells = "".join(f"{'-' if count is None else f'{count:,.0f}':>16}{rate:>10,.0f}" for count, rate in zip(counts, rates))
        print(f"{name:<22}{cells}" + (f"{rates[-1] / rates[0]:>8.2f}" if folders[1:] else ""), flush=True)


if __name__ == "__main__":
    main()
