"""Installs as `make install` does: an outside program against each library that the guide names, pkg-config, manual pages, completions."""

import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from _harness import PROGRAM, SOURCE, check, equal, finish

BUILD = pathlib.Path(PROGRAM).resolve().parent
TEXT = (SOURCE / "docs" / "guide" / "cpp.md").read_text()


def run(*words, **more):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, **more)


with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    prefix = folder / "prefix"
    for component in ("library", "program"):
        if component == "program":
            done = run("/usr/bin/python3", SOURCE / "scripts" / "shell_files.py", PROGRAM, BUILD / "shell")
            check(done.returncode == 0, f"manual pages and completions: {done.stderr}")
        done = run("cmake", "--install", BUILD, "--component", component, "--prefix", prefix)
        check(done.returncode == 0, f"install of {component}: {done.stderr[-500:]}")

    # ---- file lists of other packagers' recipes, and the bill of materials
    packaging = SOURCE / "packaging"
    for pattern, recipe in ((r"--from=build /opt/headroom/(\S+)", "Containerfile"), (r'"((?:bin|share)/[^"]+)"', "headroom.rb")):
        listed = re.findall(pattern, (packaging / recipe).read_text())
        check(len(listed) > 1, f"files that {recipe} lists: {listed}")
        for name in listed:
            check((prefix / name).exists(), f"{name} of {recipe} is installed")
    documents = prefix / "share" / "doc" / "headroom"
    bill = json.loads((documents / "headroom.cdx.json").read_text())
    equal((bill["bomFormat"], bill["specVersion"]), ("CycloneDX", "1.5"), "bill of materials")
    names = {row["name"] for row in bill["components"]}
    check({"fmt", "toml++", "nlohmann-json", "CLI11", "Eigen", "RE2", "Highway"} <= names, f"components inside: {names}")
    for row in bill["components"]:
        check(row["licenses"][0] and row["bom-ref"] in bill["dependencies"][0]["dependsOn"], f"licence and place of {row['name']}")
        if shutil.which("dpkg-query") and row["purl"].startswith("pkg:deb"):
            check(row["version"] and (documents / "licences" / row["name"].replace(" ", "-").lower()).is_file(), f"version and licence text of {row['name']}")
    again = run("/usr/bin/python3", SOURCE / "scripts" / "components.py", folder / "again", bill["metadata"]["component"]["version"], BUILD / "web" / "charts.js", PROGRAM)
    equal((again.returncode, (folder / "again" / "headroom.cdx.json").read_bytes()), (0, (documents / "headroom.cdx.json").read_bytes()), "the same bill again")

    # ---- the Python package, where it was built
    if (BUILD / "python" / "headroom" / "_program.abi3.so").exists():
        done = run("cmake", "--install", BUILD, "--component", "python", "--prefix", folder / "python")
        check(done.returncode == 0, f"install of python: {done.stderr[-500:]}")
        laid = {path.name for path in (folder / "python" / "headroom").iterdir()}
        equal(laid, {path.name for path in (SOURCE / "python" / "headroom").iterdir() if path.suffix in (".py", ".typed")} | {"__init__.pyi", "_program.abi3.so"},
              "files of the Python package")
        for name in re.findall(r"test -f \$SP_DIR/headroom/(\S+)", (packaging / "meta.yaml").read_text()):
            check(name in laid, f"{name} of meta.yaml is installed")

    # ---- every example of the guide, against the target that it names, with its output
    blocks = re.findall(r"```cpp\n(// links (\S+)\n.*?)```\n\n```\n(.*?)```", TEXT, re.S)
    equal(len(blocks), TEXT.count("```cpp"), "examples with a target and an output")
    project = folder / "outside"
    project.mkdir()
    lines = ["cmake_minimum_required(VERSION 3.25)", "project(outside CXX)", "set(CMAKE_CXX_STANDARD 20)", "find_package(headroom 0.1 REQUIRED)"]
    for number, (code, target, _) in enumerate(blocks):
        (project / f"example{number}.cpp").write_text(code)
        lines += [f"add_executable(example{number} example{number}.cpp)", f"target_link_libraries(example{number} PRIVATE {target})"]
    rooms = sorted(set(re.findall(r"headroom::(\w+)", (prefix / "lib/cmake/headroom/headroom.cmake").read_text()))
                   - {"headroom_flags", "headroom_quick", "headroom_joined_flags", "headroom_fmt"})
    check({"base", "laws", "network", "training", "trace", "serving", "measurement", "fit", "io_catalog", "document"} <= set(rooms), f"rooms: {rooms}")
    (project / "empty.cpp").write_text("int main() {}\n")
    for room in rooms:
        lines += [f"add_executable(with_{room} empty.cpp)", f"target_link_libraries(with_{room} PRIVATE headroom::{room})"]
    (project / "CMakeLists.txt").write_text("\n".join(lines) + "\n")
    environment = {**os.environ, "CXX": "g++"}
    done = run("cmake", "-S", project, "-B", project / "build", f"-DCMAKE_PREFIX_PATH={prefix}", env=environment)
    check(done.returncode == 0, f"find_package(headroom): {done.stderr[-800:]}")
    done = run("cmake", "--build", project / "build", "-j2", env=environment)
    check(done.returncode == 0, f"outside programs: {(done.stdout + done.stderr)[-1500:]}")
    for number, (_, target, output) in enumerate(blocks):
        done = run(project / "build" / f"example{number}")
        equal(done.stdout, output, f"output of the example of {target}")

    # ---- pkg-config
    if shutil.which("pkg-config"):
        flags = run("pkg-config", "--cflags", "--libs", f"--define-variable=prefix={prefix}", "headroom",
                    env={**os.environ, "PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig")}).stdout.split()
        laws = next(number for number, block in enumerate(blocks) if block[1] == "headroom::laws")
        done = run("g++", project / f"example{laws}.cpp", *flags, "-o", folder / "by_pkg_config")
        check(done.returncode == 0, f"pkg-config: {done.stderr[-500:]}")

    # ---- manual pages and completions: one page a verb, every option named, no complaint of the tools that read them
    verbs = run(PROGRAM, "schema", "--verbs").stdout
    verbs = json.loads(verbs)
    pages = prefix / "share" / "man" / "man1"
    equal(sorted(page.name for page in pages.iterdir()),
          sorted(["headroom.1.gz", *("headroom-" + verb["name"].replace(" ", "-") + ".1.gz" for verb in verbs)]), "manual pages")
    bash = (prefix / "share/bash-completion/completions/headroom").read_text()
    for verb in verbs:
        page = gzip.decompress((pages / ("headroom-" + verb["name"].replace(" ", "-") + ".1.gz")).read_bytes()).decode().replace("\\-", "-")
        for option in verb["options"]:
            check(option["name"] in page, f"{option['name']} in the page of {verb['name']}")
            check(option["name"] in bash, f"{option['name']} in the completion of bash")
    if shutil.which("man"):
        for page in sorted(pages.iterdir()):
            done = run("man", "--warnings", "-l", "-E", "UTF-8", "-Tutf8", page, env={**os.environ, "MANWIDTH": "80"})
            equal((done.returncode, done.stderr), (0, ""), f"man {page.name}")
    for shell, file in (("bash", "bash-completion/completions/headroom"), ("zsh", "zsh/vendor-completions/_headroom"),
                        ("fish", "fish/vendor_completions.d/headroom.fish")):
        if shutil.which(shell):
            done = run(shell, "-n", prefix / "share" / file)
            equal((done.returncode, done.stderr), (0, ""), f"{shell} -n")
    script = f'source {prefix}/share/bash-completion/completions/headroom; COMP_WORDS=(headroom plan --work); COMP_CWORD=2; _headroom; echo "${{COMPREPLY[@]}}"'
    equal(run("bash", "-c", script).stdout.split(), ["--workers"], "completion of plan --work")
    script = f'source {prefix}/share/bash-completion/completions/headroom; COMP_WORDS=(headroom measure sc); COMP_CWORD=2; _headroom; echo "${{COMPREPLY[@]}}"'
    equal(run("bash", "-c", script).stdout.split(), ["scaling"], "completion of measure sc")

finish()
