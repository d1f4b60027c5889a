"""Files of options: found in the working folder or the user's, printed by --print-config; and -h in one screen."""

import pathlib
import tempfile

from _harness import ENVIRONMENT, PROGRAM, check, equal, finish, run, succeed
import json
import subprocess

HOME = pathlib.Path(ENVIRONMENT["HOME"])


def called(folder, *arguments, **environment):
    done = subprocess.run([PROGRAM, *arguments], cwd=folder, env=ENVIRONMENT | environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return done


ASKED = ["predict", "llama-3-8b", "--format", "json"]
plain = run(*ASKED, "--cluster", "dgx-h100", "--workers", "16")
with tempfile.TemporaryDirectory(prefix="headroom-golden-") as name:
    folder = pathlib.Path(name)
    (folder / "headroom.toml").write_text('cluster = "dgx-h100"\n[predict]\nworkers = 16\n[laws]\nserial = "0.1"\n')

    def same(found, message):
        value, expected = json.loads(found.stdout), json.loads(plain.out)
        value["notes"] = [text for text in value["notes"] if "sets" not in text]
        equal(value, expected, message)

    found = called(folder, *ASKED)
    equal(found.returncode, 0, f"./headroom.toml: {found.stderr}")
    same(found, "./headroom.toml")
    check("note: ./headroom.toml sets --cluster, --workers" in found.stderr or "note: ./headroom.toml sets --workers, --cluster" in found.stderr, found.stderr)
    check(any("./headroom.toml sets" in text for text in json.loads(found.stdout)["notes"]), "and so in the answer")
    equal(json.loads(called(folder, *ASKED, "--workers", "8").stdout)["workers"], 8, "the command line goes first")
    none = called(folder, *ASKED, "--config", "")
    equal(none.returncode, 2, "--config '' leaves it out")
    check("--cluster" in none.stderr, none.stderr)

    # the user's folder, where the working folder has none
    empty = folder / "empty"
    empty.mkdir()
    user = folder / "config" / "headroom"
    user.mkdir(parents=True)
    (user / "headroom.toml").write_text('cluster = "dgx-h100"\nworkers = 16\n')
    same(called(empty, *ASKED, XDG_CONFIG_HOME=str(folder / "config")), "$XDG_CONFIG_HOME/headroom/headroom.toml")
    (folder / "home" / ".config" / "headroom").mkdir(parents=True)
    (folder / "home" / ".config" / "headroom" / "headroom.toml").write_text('cluster = "dgx-h100"\nworkers = 16\n')
    same(called(empty, *ASKED, HOME=str(folder / "home")), "~/.config/headroom/headroom.toml")

    # what is printed reads back to the same answer
    printed = called(folder, *ASKED, "--tp", "2", "--what-if", "--print-config")
    equal(printed.returncode, 0, f"--print-config: {printed.stderr}")
    equal(sorted(printed.stdout.splitlines()),
          sorted(['[predict]', 'cluster = "dgx-h100"', 'workers = "16"', 'tp = "2"', 'what-if = true', 'format = "json"']), "what is printed")
    (empty / "mine.toml").write_text(printed.stdout)
    equal(called(empty, "predict", "llama-3-8b", "--config", "mine.toml").stdout,
          run(*ASKED, "--cluster", "dgx-h100", "--workers", "16", "--tp", "2", "--what-if").out, "what was printed, read back")
    log = called(empty, "predict", "llama-3-8b", "--sweep", "tp=1,2", "--sweep", "a \"b\"=1", "--print-config").stdout
    check('sweep = ["tp=1,2", "a \\"b\\"=1"]' in log, log)

    # a file that nobody named writes no files, and has no unknown keys
    for text, part in [('out = "stolen.txt"\n', "./headroom.toml:1: 'out' would write a file"), ('clustr = "dgx-h100"\n', "./headroom.toml:1: unknown key 'clustr'")]:
        (folder / "headroom.toml").write_text(text)
        refused = called(folder, *ASKED, "--cluster", "dgx-h100", "--workers", "16")
        equal((refused.returncode, refused.stdout, refused.stderr.count("\n")), (2, "", 1), f"{text}: {refused.stderr}")
        check(part in refused.stderr, f"{text}: {refused.stderr}")
    check(not (folder / "stolen.txt").exists(), "nothing was written")
    (folder / "headroom.toml").write_text('out = "wanted.txt"\n')
    equal(called(folder, *ASKED, "--cluster", "dgx-h100", "--workers", "16", "--config", "headroom.toml").returncode, 0, "a file that is named may")
    check((folder / "wanted.txt").exists(), "and it was")

# ---- -h: one screen with the options that the examples use; --help: all
verbs = json.loads(run("schema", "--verbs").out)
check(len(verbs) > 15, f"verbs: {len(verbs)}")
for verb in verbs:
    short = succeed(*verb["name"].split(), "-h").out
    lines = short.splitlines()
    check(len(lines) <= 24 and all(len(line) <= 80 for line in lines), f"{verb['name']} -h: {short}")
    check("usage: headroom " + verb["name"] in short and "\nExamples\n  " in short, f"{verb['name']} -h: {short}")
    check(f"has all {len(verb['options'])} options" in short, f"{verb['name']} -h: {short}")
    check(len(succeed(*verb["name"].split(), "--help").out.splitlines()) > len(lines) - 8, f"{verb['name']} --help")
check("--cluster NAME|FILE" in run("predict", "-h").out, "what the examples use")
finish()
