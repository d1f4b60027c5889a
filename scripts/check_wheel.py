#!/usr/bin/python3
"""check_wheel.py WHEEL: a wheel with its libraries inside, in an environment of its own.

Fails unless its tag is manylinux for the stable interface, it is under 25 MB, each library inside has a licence text and a row in the bill of
materials, and the package and the program answer alike for each Python that is found.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

MOST_BYTES = 25_000_000
wheel = pathlib.Path(sys.argv[1]).resolve()
faults = []


def check(holds, text):
    if not holds:
        faults.append(text)


check(re.fullmatch(r"headroom-[\d.]+-cp39-abi3-manylinux_2_\d+_x86_64\.whl", re.sub(r"\.manylinux\w+", "", wheel.name)), f"tag: {wheel.name}")
size = wheel.stat().st_size
check(size < MOST_BYTES, f"size: {size} bytes")
with zipfile.ZipFile(wheel) as archive:
    names = archive.namelist()
    licences = {pathlib.PurePath(name).name for name in names if "/licenses/libraries/" in name}
    (bill,) = [json.loads(archive.read(name)) for name in names if name.endswith("sboms/headroom.cdx.json")]
check(any(name.endswith("/licenses/LICENSE") for name in names), "no licence of Headroom")
inside = sorted({re.sub(r"-[0-9a-f]{8}$", "", pathlib.PurePath(name).name.split(".so")[0]) for name in names if "headroom.libs/" in name and ".so" in name})
components = {re.sub(r"[^a-z0-9]", "", row["name"].lower()) for row in bill["components"]}
for library in inside:
    word = re.sub(r"[^a-z0-9]", "", library.removeprefix("lib").lower())
    known = {"isal": "isal", "hwy": "highway", "sqlite3": "sqlite", "udev": "libudev", "z": "zlib", "crypto": "openssl", "ssl": "openssl"}.get(
        word, "brotli" if word.startswith("brotli") else word)
    check(known in components, f"{library} is not in the bill of materials")
for row in bill["components"]:
    if row["purl"].startswith("pkg:deb/"):
        check(row["name"].replace(" ", "-").lower() in licences, f"no licence text of {row['name']}")
check("charts" in licences, "no licence text of the charts")

ASK = """
import sys, time
begun = time.perf_counter()
import headroom
seconds = time.perf_counter() - begun
answer = headroom.predict("llama-3-8b", "dgx-h100", workers=8)
print(answer.step_seconds, round(seconds * 1000), sys.version.split()[0])
"""
pythons = {}
managed = pathlib.Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser().glob("versions/*/bin/python3")
for python in ["python3", *(f"python3.{minor}" for minor in range(9, 20)), *managed]:
    python = shutil.which(python)
    done = python and subprocess.run([python, "-c", "import sys; print(*sys.version_info[:3], sep='.')"], capture_output=True, text=True, check=False)
    if done and done.returncode == 0 and tuple(map(int, done.stdout.split("."))) >= (3, 9):
        pythons.setdefault(done.stdout.strip(), python)
answers = {}
for version, python in pythons.items():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([python, "-m", "venv", folder], check=True)
        bin_folder = pathlib.Path(folder, "bin")
        subprocess.run([bin_folder / "pip", "--quiet", "--disable-pip-version-check", "install", "--no-index", wheel], check=True)
        package = subprocess.run([bin_folder / "python", "-c", ASK], capture_output=True, text=True, check=False)
        program = subprocess.run([bin_folder / "headroom", "predict", "llama-3-8b", "--cluster", "dgx-h100", "--workers", "8", "--format", "json"],
                                 capture_output=True, text=True, check=False)
        check(package.returncode == 0, f"{version}: package: {package.stderr[-500:]}")
        check(program.returncode == 0, f"{version}: program: {program.stderr[-500:]}")
        if package.returncode == 0 and program.returncode == 0:
            seconds, import_ms, _ = package.stdout.split()
            check(float(seconds) == json.loads(program.stdout)["step_seconds"], f"{version}: package and program differ")
            answers[version] = import_ms
for fault in faults:
    print("wheel:", fault, file=sys.stderr)
print(f"wheel: {wheel.name}, {size / 1e6:.1f} MB, with {', '.join(inside) or 'no library'}; import takes "
      + ", ".join(f"{milliseconds} ms ({version})" for version, milliseconds in answers.items()))
sys.exit(1 if faults else 0)
