"""Every command that README, guides, examples/README.md and --help show runs as printed, in a folder that has what a clean checkout has.

A command is a line of a code block that begins with `headroom` (after `$`, `build/`, or in a table of README), or code in a sentence
with more than the verb's name. A line with `...` or a word in capitals (`FILE`, `VERB`) is a pattern, not a command. Commands of one
document run in its order, in one folder: what one writes, the next may read. A new command that does not run fails this test; one
that cannot run here needs a rule below, with its reason.

In documents of COMPARED a code block of one command after `$` holds what it prints: every line is compared. HEADROOM_UPDATE_DOCUMENTS=1
writes what is printed now into the document in the place of what it had.
"""

import difflib
import os
import pathlib
import re
import shlex
import shutil
import subprocess

from _harness import ENVIRONMENT, PATIENCE, PROGRAM, SCRATCH, SOURCE, check, finish, run

# What is not run: (pattern, reason). A rule that fits no command is stale.
NOT_RUN = [
    (r"^headroom serve\b", "serves until it is interrupted"),
    (r"^mpirun ", "needs MPI and processors of its own"),
    (r"^headroom measure (comm|roofline)\b", "measures the machine for up to minutes"),
    (r"^headroom measure scaling (?!.*--dry-run)", "times programs until it is sure"),
    (r"^headroom calibrate .*store:comm", "reads a measurement of links, which needs MPI"),
    (r"^headroom calibrate --store runs.sqlite", "reads a measured roofline"),
    (r"^headroom validate .*--leave-one-source-out", "fits for two minutes"),
    (r"^headroom validate --simulation", "simulates thousands of plans for a minute"),
    (r"^headroom (roofline --machine here.toml|comm --fit comm.csv|laws --fit measured.csv)", "reads what a measurement before it wrote"),
]

# What ends with another status than 0, and why the document shows it.
ENDS = {
    "headroom predict llama-3-8b": (2, "words-of-habit says what is missing"),
    "headroom tail examples/after.csv --baseline examples/before.csv --objective 'p99<=150ms' --replicas 20": (3, "no number of replicas helps"),
    "headroom tail examples/after.csv --baseline examples/before.csv --objective 'p99<=150ms' --replicas 20 --full": (3, "the same"),
}

COMPARED = {"README.md": 2, "docs/guide/four-jobs.md": 8}  # and the least number of outputs that each shows

VERBS = [line.split()[0] for line in run("--help").out.splitlines() if re.match(r"  [a-z]+ ", line) and not line.startswith("  headroom")]
PATTERN = re.compile(r"^(store:)?[A-Z][A-Z0-9+*]*$")


def words_of(command):
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()


def is_pattern(command):
    return "..." in command or any(PATTERN.match(word) for word in words_of(command))


def cleaned(line):
    """The command of a line of a code block; None where it has none."""
    line = re.sub(r"^(\$ )?(build/)?(?=headroom )", "", line.strip())
    line = re.sub(r"\s+# .*$", "", line).strip()
    shown = re.match(r"(headroom|mpirun( -\S+ \S+| --\S+ \S+)* headroom) +([a-z]+)\b", line)
    return line if shown and shown[3] in VERBS + ["help"] else None


def commands_of_text(text):
    found = []
    for block in re.split(r"^```", text, flags=re.M)[1::2]:
        for line in re.sub(r" *\\\n *", " ", block).splitlines():
            found.append(cleaned(line))
    prose = "".join(re.split(r"^```.*?^```", text, flags=re.M | re.S))
    for code in re.findall(r"(?<!`)`([^`\n]+)`(?!`)", prose):
        command = cleaned(code)
        found.append(command if command and len(command.split()) > 2 else None)
    return [one for one in found if one and not is_pattern(one)]


def commands_of_help(text):
    lines = re.sub(r" *\\\n *", " ", text.partition("\nExamples")[2])
    return [one for one in map(cleaned, lines.splitlines()) if one and not is_pattern(one)]


def documents():
    for path in [SOURCE / "README.md", SOURCE / "examples" / "README.md", *sorted((SOURCE / "docs" / "guide").glob("*.md"))]:
        yield str(path.relative_to(SOURCE)), commands_of_text(path.read_text())
    yield "headroom --help", commands_of_help(run("--help").out)
    for verb in VERBS:
        names = [verb] if verb != "measure" else ["measure roofline", "measure comm", "measure scaling"]
        for name in names:
            yield f"headroom {name} --help", commands_of_help(run(*name.split(), "--help").out)


SHOWN = re.compile(r"^```\n\$ (headroom (?:[^\n\\]|\\\n)*)\n(.*?)^```$", flags=re.M | re.S)


def joined(command):
    return re.sub(r" *\\\n *", " ", command).strip()


def shown_in(text):
    """Commands of code blocks with the output that follows them."""
    return [(joined(command), output) for command, output in SHOWN.findall(text)]


def updated(text, printed):
    """The document with what its commands print now."""
    return SHOWN.sub(lambda match: f"```\n$ {match[1]}\n{printed[joined(match[1])].rstrip()}\n```", text)


# ---- a folder like a checkout, with two measurements in the store ---------------------------------------------------------

PATH = SCRATCH / "bin"
PATH.mkdir()
(PATH / "headroom").symlink_to(PROGRAM)
ENVIRONMENT = ENVIRONMENT | {"PATH": f"{PATH}:{ENVIRONMENT['PATH']}"}


def shell(command, folder):
    return subprocess.run(["bash", "-c", command], cwd=folder, env=ENVIRONMENT, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE)


def prepared(folder):
    folder.mkdir()
    shutil.copytree(SOURCE / "examples", folder / "examples")
    return folder


for _ in range(2):
    made = shell("headroom measure scaling --workers 1,2,4 --repeats 2 --warm-up 0 -- sh -c ': {workers}'", SCRATCH)
    check(made.returncode == 0, f"a measurement for `headroom history`: {made.stderr.decode()}")

matched, done, count, printed = set(), set(), 0, {}
for number, (name, commands) in enumerate(documents()):
    folder = prepared(SCRATCH / f"document{number}")
    for command in commands:
        count += 1
        rule = next((pattern for pattern, _ in NOT_RUN if re.search(pattern, command)), None)
        if rule:
            matched.add(rule)
            continue
        if command in done:
            continue
        before = set(os.listdir(folder))
        local = any((folder / word).exists() and not word.startswith("examples") for word in words_of(command))
        ended = shell(command, folder)
        code, reason = ENDS.get(command, (0, ""))
        printed[command] = ended.stdout.decode()
        said = (ended.stderr.decode().strip() or "nothing")[-400:]
        check(ended.returncode == code, f"{name}: {command}\n  exit {ended.returncode}, expected {code}; said: {said}")
        check(code == 0 or reason, f"{command}: an exit of {code} needs its reason")
        if not local and set(os.listdir(folder)) == before:
            done.add(command)
    shutil.rmtree(folder)

check(count > 200, f"only {count} commands were found")
for pattern, reason in NOT_RUN:
    check(pattern in matched, f"no document shows what {pattern!r} ({reason}) leaves out")
for name, least in COMPARED.items():
    text = (SOURCE / name).read_text()
    shown = shown_in(text)
    check(len(shown) >= least, f"{name}: only {len(shown)} outputs are shown")
    if os.environ.get("HEADROOM_UPDATE_DOCUMENTS"):
        (SOURCE / name).write_text(updated(text, printed))
        continue
    for command, output in shown:
        now = printed.get(command, "")
        if output.strip() != now.strip():
            lines = "\n".join(difflib.unified_diff(output.strip().splitlines(), now.strip().splitlines(), "document", "printed", lineterm="", n=0))
            check(False, f"{name}: {command} prints something else (HEADROOM_UPDATE_DOCUMENTS=1 mends the document)\n{lines}")
print(f"{count} commands")
finish()
