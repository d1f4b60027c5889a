#!/usr/bin/python3
"""compare_options.py BEFORE AFTER: verbs and options of two builds of the program, from their help.

Prints what only one of them has; exits with 1 where BEFORE has a verb or an option that AFTER lacks.
"""

import re
import subprocess
import sys


def help_of(program, *words):
    return subprocess.run([program, *words, "--help"], capture_output=True, text=True, check=False).stdout


def options_of(program):
    """Verbs of the overview, each with the options of its help: {(verb, option)}, and (verb, "") for the verb."""
    found = set()
    overview = help_of(program)
    verbs = re.findall(r"^  ([a-z]+)  ", overview, re.M)
    for verb in verbs:
        subjects = re.findall(rf"^  ({verb} [a-z]+)$", help_of(program, verb), re.M)
        for name in subjects or [verb]:
            text = help_of(program, *name.split())
            found.add((name, ""))
            found |= {(name, option) for option in re.findall(r"^ +(--[a-z0-9-]+)", text, re.M)}
    return found


def main():
    before, after = (options_of(program) for program in sys.argv[1:3])
    if not before or not after:
        print("no verbs found: is it the program?")
        return 1
    lost = sorted(before - after)
    for verb, option in lost:
        print(f"lost: {verb} {option}")
    for verb, option in sorted(after - before):
        print(f"new: {verb} {option}")
    verbs = {verb for verb, _ in before}
    print(f"{len(verbs)} verbs and {len(before) - len(verbs)} options before, {len(lost)} lost")
    return 1 if lost else 0


sys.exit(main())
