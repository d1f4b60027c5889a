#!/usr/bin/python3
"""site.py PROGRAM FOLDER: guides, references of the command line, Python and C++ as one static site in FOLDER; search works offline.

Pages keep the places that they have in the source, so every link that holds there holds here: mkdocs refuses one that does not. The references
of the command line and of Python come from the tables of the program, that of C++ from the headers, by doxygen.
"""

import importlib.util
import json
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
program, site = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
source = site.parent / (site.name + "-source")
shutil.rmtree(source, ignore_errors=True)
source.mkdir(parents=True)

for file in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE", "validation/README.md", "examples/README.md", "examples/decide.ipynb",
             "core/include/headroom/sample_statistics.hpp"):
    (source / file).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / file, source / file)
shutil.copytree(ROOT / "docs", source / "docs")
# a folder that a page links to is its list of pages
decisions = sorted(path for path in (source / "docs" / "adr").glob("*.md"))
(source / "docs" / "adr" / "index.md").write_text("# Decisions\n\n" + "".join(
    f"- [{path.read_text().splitlines()[0].lstrip('# ')}]({path.name})\n" for path in decisions))
readme = source / "README.md"
readme.write_text(readme.read_text().replace("](docs/adr)", "](docs/adr/index.md)"))


def ask(*words):
    return subprocess.run([program, *words], capture_output=True, text=True, check=True).stdout


def cell(text):
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


verbs = json.loads(ask("schema", "--verbs"))
reference = source / "reference"
(reference / "cli").mkdir(parents=True)
listing = "# Command line\n\n| verb | |\n|---|---|\n"
for verb in verbs:
    name = verb["name"].replace(" ", "-")
    listing += f"| [`{verb['name']}`](cli/{name}.md) | {cell(verb['summary'])} |\n"
    words = " ".join(f"{a['name']}..." if a["many"] else a["name"] for a in verb["arguments"])
    text = f"# headroom {verb['name']}\n\n{verb['summary'][:1].upper() + verb['summary'][1:]}.\n\n```\nheadroom {verb['name']} {words} [OPTIONS]\n```\n"
    for group in dict.fromkeys(row["group"] for row in verb["options"]):
        text += f"\n## {group}\n\n| option | |\n|---|---|\n"
        for row in verb["options"]:
            if row["group"] == group:
                text += f"| `{row['name']}{' ' + row['placeholder'] if row['placeholder'] else ''}` | {cell(row['help'])} |\n"
    text += f"\n## Examples\n\n```sh\n{verb['examples']}\n```\n"
    (reference / "cli" / f"{name}.md").write_text(text)
(reference / "cli.md").write_text(listing)

# words of the Python package, which is not needed here: its spelling of options needs no other module of it
spelling = importlib.util.spec_from_file_location("spelling", ROOT / "python" / "headroom" / "_errors.py")
errors = importlib.util.module_from_spec(spelling)
sys.modules["spelling"] = errors
spelling.loader.exec_module(errors)
functions = "# Python\n\nFunctions of `import headroom`; [their answers](answers.md). `estimate_memory`, `from_hf`, `from_torch`, `watch` and `units` are in the [guide](../docs/guide/python.md).\n"
for verb in verbs:
    name = verb["name"].replace(" ", "_")
    if name in ("schema", "serve"):
        continue
    words = errors.Wording(verb["name"], [row["name"] for row in verbs], [re.sub("[^A-Z_]", "", row["name"]) for row in verb["arguments"]], [])
    functions += f"\n## headroom.{name}\n\n{words(verb['summary'][:1].upper() + verb['summary'][1:])}.\n\n| argument | |\n|---|---|\n"
    rows = [("command", "a list of its words, or a text for a shell")] if name == "measure_scaling" else []
    rows += [(re.sub("[^0-9a-z]+", "_", row["name"].lower()).strip("_"), row["help"]) for row in verb["arguments"]]
    out = ("--out",) if name != "calibrate" else ()
    rows += [(errors.parameter(row["name"]), row["help"]) for row in verb["options"]
             if row["name"] not in ("--format", "--quiet", "--no-color", "--print-config", *out)]
    functions += "".join(f"| `{argument}` | {cell(words(text))} |\n" for argument, text in rows)
(reference / "python.md").write_text(functions)

answers = "# Answers\n\nFields of `--format json`, and attributes of the answers in Python.\n"
for verb in verbs:
    try:
        schema = json.loads(ask("schema", *verb["name"].split()))
    except subprocess.CalledProcessError:
        continue
    answers += f"\n## {verb['name']}\n\n| field | unit | |\n|---|---|---|\n"
    seen = set()
    for form in schema.get("anyOf", [schema]):
        for field, node in form.get("properties", {}).items():
            if field not in seen:
                seen.add(field)
                answers += f"| `{field}` | {node.get('unit', '')} | {cell(node.get('description', ''))} |\n"
(reference / "answers.md").write_text(answers)

guides = sorted((source / "docs" / "guide").glob("*.md"))
config = {
    "site_name": "Headroom",
    "docs_dir": str(source),
    "site_dir": str(site),
    "use_directory_urls": False,
    "theme": {"name": "mkdocs", "highlightjs": False},
    "plugins": ["search"],
    "markdown_extensions": ["tables", "fenced_code", "toc"],
    "strict": True,
    "nav": [
        {"Start": "README.md"},
        {"Guides": [{"All guides": "docs/guide/README.md"}] + [f"docs/guide/{path.name}" for path in guides if path.name != "README.md"]},
        {"Accuracy": ["docs/accuracy.md", "docs/accuracy-laws.md"]},
        {"Reference": [{"Command line": "reference/cli.md"}, {"Python": "reference/python.md"}, {"Answers": "reference/answers.md"}, {"Vocabulary": "docs/vocabulary.md"}]},
        {"Decisions": "docs/adr/index.md"},
        {"Changes": "CHANGELOG.md"},
    ],
}
(source.parent / "mkdocs.yml").write_text(json.dumps(config))  # JSON is YAML
subprocess.run(["mkdocs", "--quiet", "build", "--strict", "--config-file", source.parent / "mkdocs.yml"], check=True)

if shutil.which("doxygen"):
    includes = " ".join(str(path) for path in (ROOT / "core/include", ROOT / "fit/include", ROOT / "io/include", ROOT / "document/include"))
    settings = (f"PROJECT_NAME=Headroom\nINPUT={includes} {ROOT / 'docs/guide/cpp.md'}\nUSE_MDFILE_AS_MAINPAGE={ROOT / 'docs/guide/cpp.md'}\n"
                f"OUTPUT_DIRECTORY={site}\nHTML_OUTPUT=cpp\nGENERATE_LATEX=NO\nRECURSIVE=YES\nFILE_PATTERNS=*.hpp *.md\nQUIET=YES\nWARNINGS=NO\n"
                f"EXTRACT_ALL=YES\nSTRIP_FROM_INC_PATH={includes}\nHAVE_DOT=NO\nSEARCHENGINE=YES\n")
    subprocess.run(["doxygen", "-"], input=settings, text=True, check=True)
print(f"{len(list(site.rglob('*.html')))} pages: {site / 'README.html' if (site / 'README.html').exists() else site / 'index.html'}")
