"""The command line that the package is compared with: build/headroom, or $HEADROOM_PROGRAM."""

import os
import pathlib
import subprocess

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("HEADROOM_PROGRAM", str(SOURCE / "build" / "headroom"))


def run(*words):
    """Exit code, standard output and standard error of a call."""
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, cwd=SOURCE, check=False)
    return done.returncode, done.stdout, done.stderr
