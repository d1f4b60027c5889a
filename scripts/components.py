#!/usr/bin/python3
"""components.py [--static | --inside=SOURCE] FOLDER VERSION CHARTS FILE...: licences and bill of materials of what is shipped.

    FOLDER/licences/NAME          licence texts of all that is inside of the files, and of the libraries next to them
    FOLDER/copyright              the same as Debian's copyright file
    FOLDER/headroom.cdx.json      components with versions and licences, as CycloneDX 1.5: the same bytes from the same build

Libraries inside are those of INSIDE and, from its first lines, of CHARTS, the bundled chart library. Libraries next to the files are those that
the loader finds for them; in a static program (--static) those of STATIC are inside; so is one that --inside names.
"""

import json
import pathlib
import re
import subprocess
import sys
import urllib.parse

# Libraries whose code is inside: Debian's package of their headers or archive, licence, and the word for it in Debian's copyright files.
INSIDE = {
    "fmt": ("libfmt-dev", "MIT", "Expat"), "toml++": ("libtomlplusplus-dev", "MIT", "Expat"), "nlohmann-json": ("nlohmann-json3-dev", "MIT", "Expat"),
    "CLI11": ("libcli11-dev", "BSD-3-Clause", "BSD-3-clause"), "protozero": ("libprotozero-dev", "BSD-2-Clause", "BSD-2-clause"),
    "RE2": ("libre2-dev", "BSD-3-Clause", "BSD-3-clause"), "Zstandard": ("libzstd-dev", "BSD-3-Clause", "BSD-3-clause"),
    "libyaml": ("libyaml-dev", "MIT", "Expat"), "Eigen": ("libeigen3-dev", "MPL-2.0", "MPL-2.0"), "Highway": ("libhwy-dev", "Apache-2.0", "Apache-2.0"),
}
# Libraries that are loaded, by Debian's source package.
BESIDE = {
    "sqlite3": ("SQLite", "blessing"), "libisal": ("ISA-L", "BSD-3-Clause"), "simdjson": ("simdjson", "Apache-2.0"), "hwloc": ("hwloc", "BSD-3-Clause"),
    "highway": ("Highway", "Apache-2.0"), "re2": ("RE2", "BSD-3-Clause"), "cpp-httplib": ("cpp-httplib", "MIT"), "openssl": ("OpenSSL", "Apache-2.0"),
    "brotli": ("Brotli", "MIT"), "zlib": ("zlib", "Zlib"), "systemd": ("libudev", "LGPL-2.1-or-later"), "glibc": ("glibc", "LGPL-2.1-or-later"),
    "gcc": ("GCC runtime libraries", "GPL-3.0-or-later WITH GCC-exception-3.1"),
}

# The same libraries where they are inside, by the packages of their archives or of the sources that archives are built from.
STATIC = {
    "sqlite3": "libsqlite3-dev", "libisal": "libisal-dev", "simdjson": "libsimdjson-dev", "hwloc": "libhwloc-dev",
    "cpp-httplib": "libcpp-httplib-dev", "glibc": "libc6-dev", "gcc": "libstdc++-12-dev",
}


def lines(*words):
    """Output of a command; nothing where it fails or is not there."""
    try:
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError):
        return []


def debian(package):
    """Version, source and architecture of an installed package."""
    found = lines("dpkg-query", "-W", "-f", "${Version}\t${source:Package}\t${Architecture}\n", package)
    return found[0].split("\t") if found else (None, package, None)


def owner(library):
    """Debian's package of a library's file."""
    path = pathlib.Path(library).resolve()
    for place in (path, pathlib.Path("/", *path.parts[2:]), library):  # /usr/lib is /lib, too
        found = lines("dpkg-query", "-S", str(place))
        if found:
            return found[0].split(":")[0]
    return None


def component(name, package, licence, inside):
    version, _, architecture = debian(package)
    purl = f"pkg:deb/debian/{package}" + (f"@{urllib.parse.quote(version)}?arch={architecture}" if version else "")
    return {"name": name, "version": version, "licence": licence, "purl": purl, "inside": inside,
            "text": pathlib.Path("/usr/share/doc", package, "copyright")}


def loaded(files):
    """Libraries that the loader finds for the files, each once."""
    found = {}
    for file in files:
        for line in lines("ldd", file):
            match = re.search(r"=> (/\S+)", line) or re.match(r"\s*(/\S+)", line)
            package = owner(match.group(1)) if match else None
            if package:
                source = re.sub(r"-\d+$", "", debian(package)[1])
                name, licence = BESIDE[source]
                found[name] = component(name, package, licence, False)
    return found


def charts(file):
    """Packages of the bundled chart library, and the lines that state their licences."""
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    banner = text[3 : text.index("*/")].strip() if text.startswith("/*!") else ""
    found = []
    for name, version, licence in re.findall(r"^(\S+) (\d\S*) \((\S+)\) Copyright", banner, re.M):
        found.append({"name": name, "version": version, "licence": licence, "purl": f"pkg:npm/{urllib.parse.quote(name, safe='/')}@{version}",
                      "inside": True, "text": None})
    return found, banner


def bill(version, components):
    """CycloneDX without a time or a serial number: they would differ between two builds of the same bytes."""
    rows = []
    for each in components:
        row = {"type": "library", "bom-ref": each["purl"], "name": each["name"], "version": each["version"] or "",
               "licenses": [{"expression": each["licence"]} if " " in each["licence"] else {"license": {"id": each["licence"]}}],
               "purl": each["purl"], "properties": [{"name": "headroom:linkage", "value": "inside" if each["inside"] else "loaded"}]}
        rows.append(row)
    return {"$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json", "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
            "metadata": {"component": {"type": "application", "bom-ref": "headroom", "name": "headroom", "version": version,
                                       "licenses": [{"license": {"id": "Apache-2.0"}}]}},
            "components": rows, "dependencies": [{"ref": "headroom", "dependsOn": [row["bom-ref"] for row in rows]}]}


HEAD = """Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: headroom

Files: *
Copyright: 2025-2026 the authors of Headroom
License: Apache-2.0
 On Debian systems the full text of the Apache License, version 2.0, is in
 /usr/share/common-licenses/Apache-2.0.
"""


def main(words):
    options = [word for word in words if word.startswith("--")]
    folder, version, chart_file, *files = [word for word in words if not word.startswith("--")]
    static = "--static" in options
    sources = list(STATIC) if static else [option.partition("=")[2] for option in options]
    folder = pathlib.Path(folder)
    (folder / "licences").mkdir(parents=True, exist_ok=True)
    inside = {name: component(name, package, licence, True) for name, (package, licence, _) in INSIDE.items()}
    inside |= {BESIDE[source][0]: component(BESIDE[source][0], STATIC[source], BESIDE[source][1], True) for source in sources}
    beside = {} if static else loaded(files)
    packages, banner = charts(pathlib.Path(chart_file))
    components = [*inside.values(), *packages, *(each for name, each in beside.items() if name not in inside)]
    components.sort(key=lambda each: each["purl"])
    (folder / "headroom.cdx.json").write_text(json.dumps(bill(version, components), indent=1) + "\n", encoding="utf-8")

    text = HEAD
    for each in components:
        if each["text"] is None:
            continue
        shipped = "licences/" + each["name"].replace(" ", "-").lower()
        there = each["text"].is_file()
        if there:
            (folder / shipped).write_text(each["text"].read_text(encoding="utf-8"), encoding="utf-8")
        if each["inside"]:
            where = f"in /usr/share/doc/headroom/{shipped}" if there else "with the sources of that library"
            word = INSIDE.get(each["name"], ("", "", each["licence"]))[2]
            text += (f"\nFiles: (code of {each['name']} inside of usr/bin/headroom)\nCopyright: the authors of {each['name']}\nLicense: {word}\n"
                     f" The text and the holders are {where}.\n")
    if banner:
        (folder / "licences" / "charts").write_text(banner + "\n", encoding="utf-8")
        text += ("\nFiles: (code of Observable Plot and D3 inside of usr/bin/headroom)\nCopyright: the authors of Observable Plot and D3\nLicense: ISC\n"
                 " The texts and the holders are in /usr/share/doc/headroom/licences/charts.\n")
    (folder / "copyright").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
