"""The committed constants are what `headroom-fit` makes of the committed runs.

The constants of training.toml and serving.toml and the spread of memory.toml by default; with HEADROOM_LONG=1 the folds and bands too, one fit for each source.
"""

import os
import pathlib
import subprocess
import tempfile
import tomllib

from _harness import PATIENCE, PROGRAM, SOURCE, check, close, equal, finish

FIT = pathlib.Path(os.environ.get("HEADROOM_FIT") or pathlib.Path(os.path.realpath(PROGRAM)).with_name("headroom-fit"))
LONG = os.environ.get("HEADROOM_LONG") == "1"
COMMITTED = SOURCE / "catalog" / "calibration"
TOLERANCE = 1e-6


def load(path):
    with open(path, "rb") as file:
        return tomllib.load(file)


def compare(found, expected, where):
    """Numbers to the tolerance, everything else the same."""
    if isinstance(expected, dict):
        if equal(sorted(found), sorted(expected), f"keys of {where}"):
            for key in expected:
                compare(found[key], expected[key], f"{where}.{key}")
    elif isinstance(expected, float):
        close(found, expected, where, TOLERANCE)
    else:
        equal(found, expected, where)


if check(FIT.exists(), f"no program {FIT}: build headroom-fit, or say where it is in HEADROOM_FIT"):
    with tempfile.TemporaryDirectory(prefix="headroom-refit-") as folder:
        out = pathlib.Path(folder)
        done = subprocess.run([FIT, SOURCE, "--out", out, *([] if LONG else ["--quick"])],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=1800 if LONG else PATIENCE)
        if check(done.returncode == 0, f"{FIT.name}: exit {done.returncode}, said: {done.stderr.strip()}"):
            made, committed = load(out / "training.toml"), load(COMMITTED / "training.toml")
            if not LONG:  # bands and likeness are measured with the folds
                for part in ("bands", "likeness"):
                    made.pop(part, None), committed.pop(part, None)
            compare(made, committed, "training")
            if LONG:
                compare(load(out / "folds.toml"), load(COMMITTED / "folds.toml"), "folds")

    with tempfile.TemporaryDirectory(prefix="headroom-refit-") as folder:
        out = pathlib.Path(folder)
        done = subprocess.run([FIT, SOURCE, "--out", out, "--serving"],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)
        if check(done.returncode == 0, f"{FIT.name} --serving: exit {done.returncode}, said: {done.stderr.strip()}"):
            compare(load(out / "serving.toml"), load(COMMITTED / "serving.toml"), "serving")
        done = subprocess.run([FIT, SOURCE, "--out", out, "--memory"],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)
        if check(done.returncode == 0, f"{FIT.name} --memory: exit {done.returncode}, said: {done.stderr.strip()}"):
            compare(load(out / "memory.toml"), load(COMMITTED / "memory.toml"), "memory")

finish()
