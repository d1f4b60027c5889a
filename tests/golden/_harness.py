"""What every golden test uses: run the program, collect what is wrong, say it, fail."""

import atexit
import functools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ.get("HEADROOM_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
PROGRAM = os.environ.get("HEADROOM_PROGRAM", str(SOURCE / "build" / "headroom"))
CONFIGS = SOURCE / "tests" / "data" / "configs"

# Far from the records and the terminal of whoever runs the tests.
SCRATCH = pathlib.Path(tempfile.mkdtemp(prefix="headroom-golden-"))
atexit.register(shutil.rmtree, SCRATCH, ignore_errors=True)
ENVIRONMENT = {
    "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
    "HOME": str(SCRATCH),
    "LC_ALL": "C.UTF-8",
    "TERM": "xterm",
}

failures = []


class Run:
    """One call of the program: what it was asked, what it said."""

    def __init__(self, arguments, **environment):
        self.arguments = [str(argument) for argument in arguments]
        done = subprocess.run([PROGRAM, *self.arguments], cwd=SCRATCH, env=ENVIRONMENT | environment,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
        self.code = done.returncode
        self.out = done.stdout.decode()
        self.err = done.stderr.decode()

    def __str__(self):
        return "headroom " + " ".join(self.arguments)

    def json(self):
        def refuse(word):
            raise ValueError(f"{word} is no JSON number")

        try:
            return json.loads(self.out, parse_constant=refuse)
        except ValueError as error:
            check(False, f"{self}: no JSON on standard output ({error}); exit {self.code}, said: {self.err.strip()}")
            return None


def run(*arguments, **environment):
    return Run(arguments, **environment)


def check(true, message):
    if not true:
        failures.append(message)
        print("FAILED:", message)
    return true


def equal(found, expected, message):
    return check(found == expected, f"{message}: {found!r}, expected {expected!r}")


def close(found, expected, message, tolerance=1e-9):
    near = (found is not None and expected is not None
            and abs(found - expected) <= tolerance * max(abs(found), abs(expected)))
    return check(near, f"{message}: {found!r}, expected {expected!r}")


def succeed(*arguments, code=0, **environment):
    """A run that must end with `code`, or with one of them."""
    done = run(*arguments, **environment)
    check(done.code in code if isinstance(code, tuple) else done.code == code, f"{done}: exit {done.code}, expected {code}; said: {done.err.strip()}")
    return done


def answer(*arguments, code=0):
    """The JSON of a run that must end with `code`; None when there is none."""
    done = succeed(*arguments, "--format", "json", code=code)
    return done.json() if done.out else None


@functools.cache
def validator(verb):
    """The schema of a verb, which is right itself: looked at once, it takes longer than most results."""
    import jsonschema

    schema = json.loads((SOURCE / "docs" / "schema" / f"{verb}.json").read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


def schema_errors(value):
    """What the schema of the value's verb objects to."""
    found = validator(value["schema"].split(".")[1].split("/")[0]).iter_errors(value)
    return ["/".join(map(str, error.absolute_path)) + ": " + error.message[:200] for error in found]


def finish():
    if failures:
        print(f"{len(failures)} failed")
        sys.exit(1)
    print("all as expected")
