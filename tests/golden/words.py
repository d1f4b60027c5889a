"""The check of words (scripts/check_words.py): every fault is found at its line, legitimate uses pass, commits are read from a base."""

import shutil
import subprocess
import sys

from _harness import SCRATCH, SOURCE, check, equal, finish, skip

SCRIPT = SOURCE / "scripts" / "check_words.py"
TREE = SCRATCH / "tree"
AREA = "names no area"


def printed(*arguments):
    done = subprocess.run([sys.executable, SCRIPT, "--root", TREE, *arguments], capture_output=True, text=True)
    equal(done.stderr, "", "nothing goes wrong")
    equal(done.returncode, 1 if done.stdout else 0, f"exit code: {done.stdout}")
    return done.stdout.splitlines()


def write(name, text):
    (TREE / name).parent.mkdir(parents=True, exist_ok=True)
    (TREE / name).write_text(text)


cases = {}


def expect(name, text, lines, what):
    """Files are checked all at once: `name` gets a folder of its own."""
    folder, _, file = name.rpartition("/")
    name = f"{folder}/case_{len(cases)}/{file}"
    cases[name] = (lines, what)
    write(name, text)


# ---- openings of docstrings ----
for opening in ("What a stage sends", "How long it takes", "The same for rings", "Those that wait", "Of two ranks", "Who waits", "Which ranks wait", "That ends"):
    expect("core/src/a.cpp", f"int x;\n\n/// {opening}.\nint y;\n", [3], opening)
    expect("probe/src/a.hpp", f"// {opening}.\nint y;\n", [1], f"{opening}, two slashes")
    expect("tests/unit/a.py", f'def f():\n    """{opening}."""\n', [2], f"{opening}, in Python")
for opening in ("Time of a stage", "Whether ranks wait", "Where none waits, zero", "That is all", "Whatever is given", "Often zero"):
    expect("core/src/a.cpp", f"/// {opening}.\nint y;\n", [], opening)
expect("core/src/a.cpp", "/// Time until the answer shows\n/// What a rank waits for.\nint y;\n", [], "only the first line of a docstring")
expect("core/src/a.cpp", "struct A {\n    int a; ///< what it holds\n    int b; ///< of one rank\n};\n", [2], "comments of members")
expect("core/src/a.cpp", "// ---- What follows ----\nint y;\n", [], "headings are no docstrings")

# ---- words ----
NEVER = {
    "the adapter of a node": True, "LoRA adapters of rank 16": False, "Elastic Fabric Adapter": False, "`adapters=8` of a node": False,
    "another stack": True, "the call stack of a thread": False, "a stack of blocks": False, "a stack trace": False,
    "runs beside the network": True, "besides the network": False, "hidden behind a pass": True, "as was told": True, "as was said": True,
    "the doubt remains": True, "it claims to hold": True, "the row of a stage": True, "a row of the table": False, "a late host": True,
    "what is left of it": True, "what is left out": False, "the own product of it": True, "begins from nothing": True,
    "unit of measure": False, "a kind of network": False,
}
for text, is_fault in NEVER.items():
    expect("cli/src/a.cpp", f'auto x = "{text}";\n', [1] if is_fault else [], f"message: {text}")
    expect("cli/src/a.cpp", f"/// Time, and {text}.\nint x;\n", [1] if is_fault else [], f"docstring: {text}")
    expect("catalog/nodes/a.toml", f'name = "a"\nnotes = "{text}"\n', [2] if is_fault else [], f"catalog: {text}")
expect("cli/src/a.cpp", 'auto x = "it says nothing here";\n', [1], "words that only messages must not have")
expect("cli/src/a.cpp", "/// Time; says nothing of others.\nint x;\n", [], "and that comments may have")
expect("probe/src/a.cpp", 'auto x = "run beside it";\n', [], "strings of programs without users' texts are not searched")
expect("cli/src/a.cpp", 'auto x = "beside";\n', [], "a word alone is a name")
expect("cli/src/a.cpp", 'auto x = R"(one\ntwo beside three)";\n', [1], "raw strings")
expect("catalog/nodes/a.toml", '# beside it\naliases = ["adapters"]\n', [], "comments and names of the catalog")

found = {}
for line in printed():
    name, number, _ = line.split(":", 2)
    found.setdefault(name, []).append(int(number))
for name, (lines, what) in cases.items():
    equal(found.get(name, []), lines, what)

shutil.rmtree(TREE)
write("cli/src/a.cpp", 'auto x = "run beside it";\n')
equal(printed(), ["cli/src/a.cpp:1: 'beside' in a text for users. write: overlaps with, with, next to, in addition to"], "the line that is printed")

# ---- commits ----
if shutil.which("git") is None:
    skip("git is not installed: subjects of commits are not tried")
else:
    def git(*arguments):
        subprocess.run(["git", "-C", TREE, "-c", "user.name=a", "-c", "user.email=a@b", *arguments], check=True, capture_output=True)

    def commit(subject):
        git("commit", "--allow-empty", "-m", subject)

    def subjects(*arguments):
        return [line.split(": ", 1)[1] for line in printed(*arguments)]

    shutil.rmtree(TREE)
    write("core/src/a.cpp", "int x;\n")
    git("init", "-q")
    commit("before the rule, which nobody knew then")
    equal(subjects(), [], "without a remote and a tag no commit is looked at")
    git("tag", "v1")
    commit("io, cli: read a table")
    commit("network: " + "x" * (72 - len("network: ")))
    equal(subjects(), [], "subjects as they should be, since the last tag")
    commit("Read a table")
    commit("network: " + "x" * (73 - len("network: ")))
    found = subjects()
    check(len(found) == 2 and "73 characters" in found[0] and AREA in found[1], f"a subject too long, one without an area: {found}")
    equal(subjects("--base", "HEAD"), [], "no commit since the base")
    check("no such commit" in subjects("--base", "nowhere")[0], "a base that is not there")
    git("update-ref", "refs/remotes/origin/main", "HEAD~1")
    equal(len(subjects()), 1, "since origin/main where there is one")

shutil.rmtree(TREE)
TREE.mkdir()
check("no sources" in printed()[0], "an empty folder")
finish()
