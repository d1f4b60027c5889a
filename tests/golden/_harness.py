"""Shared by all golden tests: run the program, wait for events, collect what is wrong, print it, fail.

A test must hold on a slow, a busy and a fast machine: it waits for an event (a file, a row in the store, processor time that
was used), never for a time that should be enough, and limits processor time, never time on the clock.
"""

import atexit
import functools
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

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
} | {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ}
PATIENCE = 600  # seconds after which an event will never come, nor the end of a run

SKIPPED = 77  # SKIP_RETURN_CODE of tests/CMakeLists.txt

failures = []
skipped = []


class Run:
    """One call of the program: its arguments and its output."""

    def __init__(self, arguments, **environment):
        self.arguments = [str(argument) for argument in arguments]
        before = processor_seconds_of_children()
        done = subprocess.run([PROGRAM, *self.arguments], cwd=SCRATCH, env=ENVIRONMENT | environment,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE)
        self.processor_seconds = processor_seconds_of_children() - before
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


def processor_seconds_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def start(command, **more):
    """The program, running, with both of its outputs in pipes."""
    return subprocess.Popen([str(word) for word in command], **{"cwd": SCRATCH, "env": ENVIRONMENT, "stdin": subprocess.DEVNULL,
                                                                "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | more)


def wait_until(event, process=None):
    """Waits for `event()` to hold; false where the process ends before, or nothing comes."""
    end = time.monotonic() + PATIENCE
    while not event():
        if time.monotonic() > end or (process is not None and process.poll() is not None):
            return bool(event())
        time.sleep(0.002)
    return True


def listens(process):
    """Whether the program has begun to handle Ctrl-C itself."""
    try:
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    except OSError:
        return False
    caught = next(line.split()[1] for line in status.splitlines() if line.startswith("SigCgt:"))
    return int(caught, 16) >> (signal.SIGINT - 1) & 1 == 1


def processor_seconds(process):
    """Processor time that a running process has used."""
    try:
        fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def interrupted_when(command, event):
    """Starts `command`, sends Ctrl-C once it listens and `event()` holds; exit status, output, errors."""
    process = start(command)
    if wait_until(lambda: listens(process) and event(), process):
        process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    return process.returncode, out, err


def interrupted(command, kept):
    """Sends Ctrl-C after ever more processor time, until `command` has something to keep: `kept(value)` of its JSON.

    That JSON and the errors; None, and the test fails, where it never is interrupted.
    """
    tried = []
    for spent in (0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6):
        def used(begin=[]):
            begin or begin.append(processor_seconds(process))
            return processor_seconds(process) >= begin[0] + spent

        process = start(command)
        if wait_until(lambda: listens(process) and used(), process):
            process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
        tried.append(f"exit {process.returncode} after {spent} s")
        value = json.loads(out) if process.returncode == 130 and out else None
        if value is not None and kept(value):
            return value, err
    check(False, f"{' '.join(map(str, command))[:200]}: no Ctrl-C left something to keep: {', '.join(tried)}; said {err[-300:]!r}")
    return None


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
    """Breaches of the schema of the value's verb."""
    found = validator(value["schema"].split(".")[1].split("/")[0]).iter_errors(value)
    return ["/".join(map(str, error.absolute_path)) + ": " + error.message[:200] for error in found]


def skip(reason):
    """A part of the test that this machine cannot run: ctest calls the test skipped, unless another part fails."""
    skipped.append(reason)
    print(f"skipped: {reason}")


def finish():
    if failures:
        print(f"{len(failures)} failed")
        sys.exit(1)
    print("all as expected" + (", but for what was skipped" if skipped else ""))
    sys.exit(SKIPPED if skipped else 0)
