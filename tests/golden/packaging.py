"""Recipes of other packagers against packages.txt: each names every library that the build needs, the version, and files that are there."""

import os
import re
import shutil
import subprocess
import sys

from _harness import PROGRAM, SOURCE, check, equal, finish

# Name of each library of packages.txt in the three recipes; the image needs those that the program links when it runs.
LIBRARIES = {
    "libfmt-dev": ("fmt", "fmt", None),
    "libtomlplusplus-dev": ("tomlplusplus", "tomlplusplus", None),
    "nlohmann-json3-dev": ("nlohmann_json", "nlohmann-json", None),
    "libprotozero-dev": ("protozero", "protozero", None),
    "libcli11-dev": ("cli11", "cli11", None),
    "libeigen3-dev": ("eigen", "eigen", None),
    "libisal-dev": ("isa-l", "isa-l", "libisal2"),
    "libzstd-dev": ("zstd", "zstd", None),
    "libsqlite3-dev": ("sqlite", "sqlite", "libsqlite3-0"),
    "libhwloc-dev": ("libhwloc", "hwloc", "libhwloc15"),
    "libhwy-dev": ("libhwy", "highway", None),
    "libre2-dev": ("re2", "re2", None),
    "libyaml-dev": ("yaml", "libyaml", None),
    "libcpp-httplib-dev": ("cpp-httplib", "cpp-httplib", "libcpp-httplib0.11"),
    "libsimdjson-dev": ("simdjson", "simdjson", "libsimdjson14"),
}

# What is inside of the program, by the packages of its headers and archives, is named with its licence; so is what it loads.
sys.path.insert(0, str(SOURCE / "scripts"))
import components  # noqa: E402

shipped = {package for package, _, _ in components.INSIDE.values()} | set(components.STATIC.values())
equal(sorted(set(LIBRARIES) - shipped), [], "libraries of packages.txt without a licence in components.py")
equal(sorted(set(components.STATIC) - set(components.BESIDE)), [], "libraries of a static program without a licence")

text = (SOURCE / "packages.txt").read_text()
section = re.search(r"# libraries\n(.*?)\n\n", text, re.S).group(1).split()
equal(sorted(section), sorted(LIBRARIES), "libraries of packages.txt")

conda = (SOURCE / "packaging" / "meta.yaml").read_text()
brew = (SOURCE / "packaging" / "headroom.rb").read_text()
image = (SOURCE / "packaging" / "Containerfile").read_text()
for library, (in_conda, in_brew, at_run) in LIBRARIES.items():
    check(re.search(rf"^    - {re.escape(in_conda)}( |$)", conda, re.M), f"{library} in meta.yaml as {in_conda}")
    check(f'depends_on "{in_brew}"' in brew, f"{library} in headroom.rb as {in_brew}")
    if at_run:
        check(re.search(rf"\b{re.escape(at_run)}\b", image), f"{library} in Containerfile as {at_run}")

if shutil.which("dpkg-query") and shutil.which("readelf"):
    needed = re.findall(r"NEEDED.*\[(.*)\]", subprocess.run(["readelf", "-d", PROGRAM], capture_output=True, text=True, check=True).stdout)
    loaded = subprocess.run(["ldd", PROGRAM], capture_output=True, text=True, check=True).stdout
    owners = {components.owner(re.search(rf"{re.escape(name)} => (\S+)", loaded).group(1)) for name in needed if f"{name} =>" in loaded}
    listed = set(re.search(r"install-recommends \\\n +(.*) &&", image).group(1).split())
    equal(listed, owners - {"libc6", "libgcc-s1"}, "packages of the image, against what the program loads")

version = re.search(r"project\(headroom VERSION (\S+)", (SOURCE / "CMakeLists.txt").read_text()).group(1)
equal(re.search(r'^version = "(.*)"', (SOURCE / "pyproject.toml").read_text(), re.M).group(1), version, "version of pyproject.toml")
equal(re.search(r'  version: "(.*)"', conda).group(1), version, "version of meta.yaml")
equal(re.search(r'version "(.*)"', brew).group(1), version, "version of headroom.rb")
check((SOURCE / "LICENSE").is_file(), "LICENSE")
presets = (SOURCE / "CMakePresets.json").read_text()
for preset in re.findall(r'"--preset", "(\w+)"', brew):
    check(f'"name": "{preset}"' in presets, f"preset {preset} of headroom.rb")
targets = (SOURCE / "cli" / "CMakeLists.txt").read_text() + (SOURCE / "cmake" / "HeadroomInstall.cmake").read_text()
for target in ("headroom", "headroom_shell_files"):
    check(re.search(rf"\b{target}\b", targets), f"target {target}")
makefile = (SOURCE / "Makefile").read_text()
for target in re.findall(r"make (\w+)", image):
    check(re.search(rf"^{target}:", makefile, re.M) or target == "packages", f"make {target} of Containerfile")
for script in sorted(set(re.findall(r"@?((?:scripts|tests)/[\w/]+\.(?:py|sh))\b", makefile))):
    check(os.access(SOURCE / script, os.X_OK), f"{script}, which the Makefile names, is not executable")

finish()
