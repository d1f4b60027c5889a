"""The static site of all documents is made: mkdocs refuses a page that links to one that the site lacks, and each verb has its references."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

from _harness import PROGRAM, SCRATCH, SOURCE, check, equal, finish, succeed

mkdocs = shutil.which("mkdocs")
if mkdocs is None:
    print("skipped: mkdocs is not installed")
    sys.exit(77)
alone = SCRATCH / "alone"  # without doxygen, which takes longer than all the rest
alone.mkdir()
(alone / "mkdocs").symlink_to(mkdocs)
done = subprocess.run([sys.executable, str(SOURCE / "scripts" / "site.py"), PROGRAM, str(SCRATCH / "site")], capture_output=True, text=True,
                      env={**os.environ, "PATH": str(alone)}, check=False)
if check(done.returncode == 0, done.stdout + done.stderr):
    site = pathlib.Path(SCRATCH / "site")
    check((site / "index.html").is_file() or (site / "README.html").is_file(), "the first page is README")
    python = (SCRATCH / "site-source" / "reference" / "python.md").read_text()
    for verb in json.loads(succeed("schema", "--verbs").out):
        name = verb["name"]
        check((site / "reference" / "cli" / (name.replace(" ", "-") + ".html")).is_file(), f"page of {name}")
        equal(f"## headroom.{name.replace(' ', '_')}\n" in python, name not in ("schema", "serve"), f"function of {name}")
    check("| `global_batch` |" in python and "--" not in python.replace("| --- |", "").replace("---|", ""), "arguments are named as Python names them")
finish()
