#!/usr/bin/python3
"""Checks that every citation resolves in docs/references.bib, and that every entry there is cited.

A citation is
    [Key2025]                       in a comment of core, fit, io, probe, document, cli or serve, or in docs/*.md
    [Key]                           the same without a year, in a comment after `Source:` and in docs/formula-sources.md
    source = ["Key", ...]           in a catalog or validation TOML (a single "Key" too)
    .source = "Key"                 in a table of the C++ sources
Prints file:line for each problem.
"""

import pathlib
import re
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
BIBLIOGRAPHY = ROOT / "docs" / "references.bib"

ENTRY = re.compile(r"^\s*@(\w+)\s*\{\s*([^,\s]+)\s*,", re.M)
BRACKETED = re.compile(r"\[([A-Z][A-Za-z]{2,}[A-Za-z0-9]*)\](?!\()")
YEAR = re.compile(r"\d{4}[a-z]?$")
COMMENT = re.compile(r"^\s*(?:///?|\*|/\*\*?)\s?(.*)$|//+<?\s?(.*)$")
SOURCE_FIELD = re.compile(r'\.source\s*=\s*"([A-Za-z][A-Za-z0-9]*)"')
WORD = re.compile(r"[A-Za-z][A-Za-z0-9]+")


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def entries(text):
    """(key, line) of each bibliography entry."""
    for match in ENTRY.finditer(text):
        if match.group(1).lower() not in ("comment", "string", "preamble"):
            yield match.group(2), line_of(text, match.start(2))


def cited_in_source(text):
    in_source_paragraph = False
    for number, line in enumerate(text.splitlines(), 1):
        for key in SOURCE_FIELD.findall(line):
            yield key, number
        match = COMMENT.search(line)
        body = next((group for group in match.groups() if group is not None), "") if match else ""
        if not body.strip():
            in_source_paragraph = False
            continue
        if re.search(r"\bSources?:", body):
            in_source_paragraph = True
        elif re.match(r"\s*[A-Z]\w+( \w+)?:\s", body):
            in_source_paragraph = False
        for key in BRACKETED.findall(body):
            if in_source_paragraph or YEAR.search(key):
                yield key, number


def cited_in_markdown(text, every_key):
    for number, line in enumerate(text.splitlines(), 1):
        for key in BRACKETED.findall(line):
            if every_key or YEAR.search(key):
                yield key, number


def cited_in_toml(path, text):
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        print(f"{path.relative_to(ROOT)}:1: not valid TOML ({error})")
        yield None, 1
        return
    cited = []

    def walk(node):
        if isinstance(node, dict):
            for name, value in node.items():
                if name in ("source", "sources"):
                    if isinstance(value, list):
                        cited.extend(item for item in value if isinstance(item, str))
                    elif isinstance(value, str) and re.fullmatch(r"[A-Z][A-Za-z0-9]+", value):
                        cited.append(value)
                else:
                    walk(value)
        elif isinstance(node, list):
            for item in node:
                walk(item)

    walk(document)
    for key in cited:
        position = text.find(f'"{key}"')
        yield key, line_of(text, max(position, 0))


def files(folder, *suffixes):
    return sorted(path for path in (ROOT / folder).rglob("*") if path.suffix in suffixes and path.is_file())


def main():
    bibliography = BIBLIOGRAPHY.read_text(encoding="utf-8")
    known, problems = {}, 0

    def report(path, number, problem):
        nonlocal problems
        problems += 1
        print(f"{path.relative_to(ROOT)}:{number}: {problem}")

    for key, number in entries(bibliography):
        if key in known:
            report(BIBLIOGRAPHY, number, f"'{key}' is already defined on line {known[key]}")
        known.setdefault(key, number)

    mentioned = set()
    for folder in ("core", "fit", "io", "probe", "document", "cli", "serve", "catalog", "validation", "docs"):
        for path in files(folder, ".hpp", ".cpp", ".toml", ".csv", ".md"):
            text = path.read_text(encoding="utf-8", errors="replace")
            mentioned.update(WORD.findall(text))
            if path.suffix in (".hpp", ".cpp"):
                cited = cited_in_source(text)
            elif path.suffix == ".toml":
                cited = cited_in_toml(path, text)
            elif path.suffix == ".md":
                cited = cited_in_markdown(text, path.name == "formula-sources.md")
            else:
                cited = ()
            for key, number in cited:
                if key is None:
                    problems += 1
                elif key not in known:
                    report(path, number, f"'{key}' is not in docs/references.bib")

    for key, number in known.items():
        if key not in mentioned:
            report(BIBLIOGRAPHY, number, f"'{key}' is cited nowhere")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
