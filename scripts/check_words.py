#!/usr/bin/python3
"""Checks the words of code, messages and commits. Prints `file:line: problem. hint` for each breach.

    docstrings  comments and Python docstrings begin with a verb phrase or the name of a quantity, never with a noun clause (OPENING)
    words       docstrings, texts of the catalog and string literals that users read use the field's words (BANNED)
    commits     subjects since a base (--base, by default origin/main, else the last tag) are `area: change`, at most 72 characters
"""

import argparse
import ast
import pathlib
import re
import subprocess
import sys

SUBJECT_LENGTH = 72
MOST_EXCEPTIONS = 10

CODE = ("core", "fit", "io", "probe", "document", "cli", "serve", "bench", "tests", "tools", "web/src", "scripts", "validation")
CODE_ENDINGS = (".hpp", ".cpp", ".c", ".h", ".ts", ".mjs", ".py")
SPEAKING = ("core", "fit", "io", "document", "cli", "serve")  # their string literals reach the user

# "Whether" names a truth value, "Where" and "When" may begin a sentence: these are no fault.
OPENING = re.compile(r"(What|How|The same|Those|Of|That(?! is)|Who|Which)\b")
# A member's comment goes on from the member's name: "Seconds total; ///< of all buckets".
OPENING_OF_MEMBER = re.compile(r"(what|how|the same|those|who|which)\b", re.I)

# (pattern, hint): in docstrings, in string literals that users read and in the catalog.
BANNED = [
    (r"\badapters?\b", "NIC"),
    (r"\bstacks?\b(?! of)", "framework"),
    (r"\bbeside\b", "overlaps with, with, next to, in addition to"),
    (r"\bhid(e|es|den|ing)? behind\b", "is hidden by, overlaps with"),
    (r"\btold\b|\btells? of\b", "reported, printed, known, distinguished"),
    (r"\bsaid\b", "stated, reported, estimated"),
    (r"\bwhat ([a-z]+ )?shows?\b|\bshows? (of|beside)\b", "exposed, is exposed"),
    (r"\bdoubt(s|ed|ful)?\b|\bclaim(s|ed|ing)?\b", "holds, does not hold; valid, not valid"),
    (r"\brows? of (the |a |its |one )?(stages?|pipelines?|schedules?)\b", "the stage's order of passes, schedule"),
    (r"\blate hosts?\b|\bhosts? that gets? ahead\b", "launch-bound; the CPU runs ahead of the GPU"),
    (r"\bwhat (is|was|are) (left|missing)\b(?! out)", "residual, remainder, or the thing itself"),
    (r"\bown (product|stack)s?\b", "Headroom's GEMM; the framework's own kernels"),
    (r"\bfrom nothing\b", "from a clean checkout, from scratch"),
    (r"\bwords for a machine\b", "machine name"),
]
# Fine in a comment on code, vague in a message.
BANNED_FOR_USERS = [
    (r"\btells?\b", "shows, distinguishes, determines"),
    (r"\bsays (nothing|again|otherwise)\b", "has no effect, repeats, changes it"),
    (r"\bin turn\b", "one after the other"),
    (r"\bpieces?\b", "layer, block, bucket, shard, message, segment"),
]
# Legitimate uses, removed from a text before it is searched.
ALLOWED = re.compile(
    r"`[^`]*`|\badapters?="  # code
    r"|\b(fabric|lora|low-rank|rank of|for) adapters?\b|\badapters? (\(lora\)|of rank)"  # a product's name; of a model
    r"|\b(call|encoder|decoder) stacks?\b|\bstacks? (trace|overflow|size|frame)s?\b",
    re.I)

# (path, text that the line contains, reason). At most ten.
EXCEPTIONS = [
    ("io/src/networks/network_words.cpp", "nic nics hca hcas", "words that people write for a NIC"),
]

LITERAL = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\((.*?)\)\1"|"((?:\\.|[^"\\\n])*)"|\'(?:\\.|[^\'\\\n])\'', re.S)
COMMENT = re.compile(r"^\s*//(?:/(?!/))?(?!<) ?(.*)$")
MEMBER = re.compile(r"\S.*?///?< ?(.*)$")
RULE = re.compile(r"[-=]{3,}")
SUBJECT = re.compile(r"[a-z0-9_./-]+(, [a-z0-9_./-]+)*: \S")


def banned(patterns):
    return [(re.compile(pattern, re.I), hint) for pattern, hint in patterns]


IN_DOCSTRINGS = banned(BANNED)
FOR_USERS = banned(BANNED + BANNED_FOR_USERS)


def words_in(text, patterns):
    """(word, hint) of each banned word of the text."""
    text = ALLOWED.sub(" ", text)
    for pattern, hint in patterns:
        for match in pattern.finditer(text):
            yield match[0], hint


def docstrings(text):
    """(line, lines, whether of a member) of each comment of C++ and TypeScript that stands before or behind code."""
    block, begun = [], 0
    for number, line in enumerate([*text.splitlines(), ""], 1):
        comment = COMMENT.match(line)
        if comment:
            begun = begun if block else number
            block.append(comment[1])
            continue
        if block and not RULE.match(block[0]):
            yield begun, block, False
        block = []
        member = MEMBER.search(line)
        if member:
            yield number, [member[1]], True


def python_docstrings(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and (words := ast.get_docstring(node)):
            yield node.body[0].lineno, words.splitlines(), False


def literals(text):
    """(line, text) of each string literal of C++ that has a space: names and keys have none."""
    for match in LITERAL.finditer(text):
        words = match[2] if match[2] is not None else match[3]
        if words and " " in words:
            yield text.count("\n", 0, match.start()) + 1, words


def breaches_of_code(name, text):
    """(line, problem, hint) of each breach in a source."""
    for begun, lines, of_member in (python_docstrings if name.endswith(".py") else docstrings)(text):
        if opening := (OPENING_OF_MEMBER if of_member else OPENING).match(lines[0]):
            yield begun, f"a docstring begins with '{opening[1]}'", "name the quantity or begin with a verb"
        for number, line in enumerate(lines, begun):
            for word, hint in words_in(line, IN_DOCSTRINGS):
                yield number, f"'{word}' in a docstring", f"write: {hint}"
    if name.startswith(SPEAKING):
        for number, words in literals(text):
            for word, hint in words_in(words, FOR_USERS):
                yield number, f"'{word}' in a text for users", f"write: {hint}"


def breaches_of_catalog(text):
    for number, line in enumerate(text.splitlines(), 1):
        words = " ".join(one for one in re.findall(r'"([^"]*)"', line.split("#")[0]) if " " in one)
        for word, hint in words_in(words, FOR_USERS):
            yield number, f"'{word}' in the catalog", f"write: {hint}"


def sources(root):
    for folder, endings in (*((folder, CODE_ENDINGS) for folder in CODE), ("catalog", (".toml",))):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in endings and path.is_file() and not {"node_modules", "build"} & set(path.parts):
                yield path


def git(root, *arguments):
    """Lines that git prints; None where it fails or is not installed."""
    try:
        done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True)
    except FileNotFoundError:
        return None
    return done.stdout.splitlines() if done.returncode == 0 else None


def default_base(root):
    if git(root, "rev-parse", "--verify", "--quiet", "origin/main"):
        return "origin/main"
    return next(iter(git(root, "describe", "--tags", "--abbrev=0") or []), None)


def breaches_of_commits(root, base):
    """(commit, problem, hint) of each subject since the base."""
    for line in git(root, "log", "--no-merges", "--format=%h %s", f"{base}..HEAD") or []:
        commit, _, subject = line.partition(" ")
        if not SUBJECT.match(subject):
            yield commit, f"subject '{subject}' names no area", "write: area: imperative verb and object"
        if len(subject) > SUBJECT_LENGTH:
            yield commit, f"subject of {len(subject)} characters, above {SUBJECT_LENGTH}", "give the reason in the body"


def breaches_of_tree(root):
    """Lines to print: breaches of all sources, and exceptions that excuse none."""
    found, used = [], set()
    for path in sources(root):
        name, text = str(path.relative_to(root)), path.read_text()
        lines = text.splitlines()
        for line, problem, hint in breaches_of_catalog(text) if path.suffix == ".toml" else breaches_of_code(name, text):
            excused = {one for one in EXCEPTIONS if one[0] == name and one[1] in lines[line - 1]}
            used |= excused
            if not excused:
                found.append(f"{name}:{line}: {problem}. {hint}")
    for name, text, _ in EXCEPTIONS:
        if (root / name).is_file() and not any(one[:2] == (name, text) for one in used):
            found.append(f"{name}: the exception '{text}' excuses nothing. remove it from scripts/check_words.py")
    if len(EXCEPTIONS) > MOST_EXCEPTIONS:
        found.append(f"scripts/check_words.py: {len(EXCEPTIONS)} exceptions, above {MOST_EXCEPTIONS}. rewrite a text")
    return found


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    options.add_argument("--base", help="commits after this one are checked")
    asked = options.parse_args()
    if not any(sources(asked.root)):
        print(f"--root {asked.root}: no sources. name a folder with core/, cli/ or catalog/")
        return 1
    found = breaches_of_tree(asked.root)
    base = asked.base or default_base(asked.root)
    if base and git(asked.root, "rev-parse", "--verify", "--quiet", f"{base}^{{commit}}") is None:
        found.append(f"--base {base}: no such commit. name a commit, branch or tag")
    elif base:
        found += [f"{commit}: {problem}. {hint}" for commit, problem, hint in breaches_of_commits(asked.root, base)]
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
