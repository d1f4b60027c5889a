"""measure scaling: known laws found again, every failure distinguished, and campaigns that survive being killed."""

import csv
import io
import json
import os
import pathlib
import random
import resource
import signal
import sqlite3
import subprocess
import tempfile
import time

from _harness import ENVIRONMENT, PATIENCE, PROGRAM, SCRATCH, check, close, equal, finish, interrupted_when, run, schema_errors, start, succeed, wait_until

# stores in memory where there is such a place: the disk's own flushes are not what is tested here
MEMORY = pathlib.Path("/dev/shm")
KEPT = tempfile.TemporaryDirectory(prefix="headroom-scaling-", dir=MEMORY if os.access(MEMORY, os.W_OK) else None)


def store(name):
    return str(pathlib.Path(KEPT.name) / (name + ".sqlite"))


def words(name, *options, command):
    return ["measure", "scaling", "--store", store(name), *options, "--", *command]


def answer(name, *options, command, code=0):
    done = succeed(*words(name, "--format", "json", *options, command=command), code=code)
    value = done.json() if done.out else None
    for error in schema_errors(value) if value else []:
        check(False, f"{done}: {error}")
    return value


def said(name, *options, command, code):
    done = succeed(*words(name, *options, command=command), code=code)
    equal(len(done.err.splitlines()), 1, f"{done}: lines on standard error: {done.err!r}")
    return done.err


def shell(text):
    return ["sh", "-c", text]


def samples(name):
    """(campaign, workers, repetition, outcome) of all that is kept, by what the program itself tells."""
    database = sqlite3.connect(store(name))
    columns = {row[1] for row in database.execute("PRAGMA table_info(samples)")}
    check({"campaign", "point", "repetition"} <= columns, f"columns of the store: {columns}")
    return list(database.execute("SELECT campaign, point, repetition FROM samples ORDER BY campaign, place"))


def known_laws():
    """A command that prints Amdahl's times with a serial share of a tenth, exactly."""
    amdahl = shell("echo step took $((100000 + 900000 / {workers})) us")
    options = ("--workers", "1,2,4,8", "--repeats", "3", "--result", "took ([0-9]+) us", "--result-unit", "microseconds")
    value = answer("known", *options, command=amdahl)
    if value is None:
        return
    rows = {row["workers"]: row for row in value["rows"]}
    close(rows[8]["summary"]["median"], 0.2125, "median at 8 workers")
    close(rows[8]["speedup"], 1 / 0.2125, "speedup at 8 workers")
    close(rows[8]["efficiency"], 1 / 0.2125 / 8, "efficiency at 8 workers")
    serial = value["serial_fraction"]
    close(serial["value"], 0.1, "Karp-Flatt's fraction", 1e-6)
    equal((serial["at_workers"], serial["over_workers"]), (8, 1), "counts that it belongs to")
    fits = {one["law"]: one for one in value["fit"]["fits"]}
    close(fits["amdahl"]["coefficients"]["s"]["value"], 0.1, "Amdahl's share", 1e-6)
    close(fits["amdahl"]["ceiling"], 10, "Amdahl's ceiling", 1e-6)
    check("4" in value["stop"] or "2" in value["stop"], f"where to stop: {value['stop']}")
    equal(value["state"], "done", "state")

    # the CSV is what `laws --fit` reads, and gives the same fit
    table = succeed(*words("known", "--format", "csv", *options, command=amdahl))
    found = list(csv.DictReader(io.StringIO(table.out)))
    equal(len(found), 12, "rows of the CSV")
    (SCRATCH / "measured.csv").write_text(table.out)
    again = succeed("laws", "--fit", "measured.csv", "--scaling", "strong", "--format", "json").json()
    equal(again["best"], value["fit"]["best"], "best law of the CSV")
    close({one["law"]: one for one in again["fits"]}["amdahl"]["coefficients"]["s"]["value"], 0.1, "the same share", 1e-6)

    text = succeed(*words("known", *options, command=amdahl)).out
    check(max(map(len, text.splitlines())) <= 80, "lines of 80 columns at most")
    wide = run(*words("wide", "--workers", "1,2,4,1024", "--repeats", "4", "--problem", "1073741824", "--result", "t=(.*)",
                      command=shell("n=$(cat {workers}.runs 2>/dev/null || echo 0); n=$((n+1)); echo $n > {workers}.runs;"
                                    "[ $n != 3 ] || [ {workers} != 4 ] || exit 1; echo t=0.123$((n * 7))$((1024 / {workers})); echo {size}")))
    check(wide.code == 0 and max(map(len, wide.out.splitlines())) <= 80, f"a wide table in 80 columns: {wide.code}\n{wide.out[:2000]}")
    check("3 of 4" in wide.out, "runs that count, of those that were made")
    for part in ("stop:", "serial fraction:", "Measured: time as the command prints it", "Karp-Flatt", "Predicted by"):
        check(part in text, f"the text has no {part!r}")


def weak():
    value = answer("weak", "--workers", "1,2,4", "--repeats", "2", "--mode", "weak", "--problem", "1000", "--result", "t=(.*)",
                   command=shell("echo size {size} each {per_worker}; echo t=1.5"))
    equal([row["size"] for row in value["rows"]], ["1000", "2000", "4000"], "sizes grow with the workers")
    equal([row["speedup"] for row in value["rows"]], [1.0, 2.0, 4.0], "scaled speedups")
    equal([row["efficiency"] for row in value["rows"]], [1.0, 1.0, 1.0], "efficiencies of a problem that grows")
    equal(value["fit"]["scaling"], "weak", "scaling that is fitted")
    strong = answer("strong", "--workers", "1,2,4", "--repeats", "1", "--problem", "1000", "--result", "([0-9]+)$",
                    command=shell("echo {size} {per_worker}"))
    equal([row["values"] for row in strong["rows"]], [[1000.0], [500.0], [250.0]], "a problem that is divided")


def failures():
    command = shell("""case {workers} in
        2) echo 'no such device' >&2; exit 3;; 8) echo nothing;; 16) echo t=nan;; 32) echo t=-1;; 64) echo t=1e999;;
        128) kill -SEGV $$;; 256) echo t=seven;; *) echo t=1; esac""")
    value = answer("failures", "--workers", "1,2,8,16,32,64,128,256", "--repeats", "1", "--result", "t=(.*)",
                   command=command, code=5)
    rows = {row["workers"]: row for row in value["rows"]}
    for workers, outcome, message in ((2, "failed", "exit status 3: no such device"), (8, "unreadable", "matches no line"), (16, "unreadable", "no number above zero"),
                                      (32, "unreadable", "no number above zero"), (64, "unreadable", "no number above zero"),
                                      (128, "failed", "Segmentation fault"), (256, "unreadable", "'seven' is no number")):
        equal(rows[workers][outcome], 1, f"{workers} workers: {outcome}")
        check(message in rows[workers]["first_message"], f"{workers} workers: {rows[workers]['first_message']!r} has no {message!r}")
    equal((value["failures"], value["samples"], value["fit"]), (7, 8, None), "failures, samples, no fit")
    late = answer("late", "--workers", "1,2", "--repeats", "1", "--timeout", "0.3s", command=["sleep", "100{workers}"], code=5)["rows"]
    equal([(row["timed_out"], "longer than 0.3 s" in row["first_message"]) for row in late], [(1, True)] * 2, "runs that are ended")
    check("1 of 8 worker counts" in value["why_no_fit"], f"what is missing: {value['why_no_fit']}")
    err = said("failures", "--workers", "1,2,4", "--repeats", "2", command=shell("echo out of luck {workers}; exit 7"), code=5)
    check("no run of 6 has a result" in err and "exit status 7: out of luck" in err and "kept as campaign" in err, f"all failed: {err}")
    err = said("failures", "--workers", "1,2", "--repeats", "1", command=["true", "{workers}"], code=5)
    check("needs three" in err, f"two counts: {err}")


def refusals():
    for options, command, expected in (
            ((), ["true", "{workers}"], "--workers: missing"), (("--workers", "1,2"), ["true"], "no {workers} in it"),
            (("--workers", "1,2"), ["no-such-program", "{workers}"], "not found in PATH"),
            (("--workers", "1,2"), ["/etc/passwd", "{workers}"], "no permission"),
            (("--workers", "1,2"), ["true {workers}"], "add --shell"), (("--workers", "1,2", "--shell"), ["a", "{workers}"], "one text"),
            (("--workers", "1,2", "--result", "(["), ["true", "{workers}"], "no regular expression"),
            (("--workers", "1,2", "--result-unit", "throughput"), ["true", "{workers}"], "without --result"),
            (("--workers", "1,2"), ["true", "{size}"], "--problem: missing"),
            (("--workers", "1,3", "--problem", "1000"), ["true", "{per_worker}"], "does not divide by 3"),
            (("--workers", "1,2", "--problem", "10"), ["true", "{workers}"], "takes no size"),
            (("--workers", "1,2", "--timeout", "5"), ["true", "{workers}"], "--timeout"),
            (("--workers", "1,2", "--law", "nosuch"), ["true", "{workers}"], "--law"),
            (("--workers", "1,2", "--example"), ["true", "{workers}"], "--example")):
        err = said("refused", *options, command=command, code=2)
        check(expected in err, f"{options} {command}: {err!r} has no {expected!r}")
    done = succeed("measure", "scaling", "--workers", "1,2", code=2)
    check("COMMAND: missing" in done.err, f"no command: {done.err}")
    check(not pathlib.Path(store("refused")).exists(), "what is refused leaves no store")


def shell_prepare_and_words():
    value = answer("words", "--workers", "1,2,4", "--repeats", "1", "--shell", "--prepare", "echo {workers} > prepared", "--result", "v=(.*)",
                   command=["echo v=$(cat prepared) | cat"])
    equal([row["values"] for row in value["rows"]], [[1.0], [2.0], [4.0]], "what --prepare wrote")
    value = answer("words", "--workers", "1,2,4", "--repeats", "1", "--result", "v=(.)", command=["printf", "%s", "v={workers}; $(exit 1) *"])
    equal([row["values"] for row in value["rows"]], [[1.0], [2.0], [4.0]], "no shell reads the words")
    value = answer("words", "--workers", "1,2,4", "--repeats", "1", "--prepare", "exit 9", command=["true", "{workers}"], code=5)
    check(value["first_message"].startswith("--prepare: exit status 9"), f"prepare that fails: {value['first_message']}")
    value = answer("words", "--workers", "1,2,4", "--repeats", "2", "--warm-up", "1", command=["true", "{workers}"])
    equal([(row["runs"], row["warm_ups"]) for row in value["rows"]], [(2, 1)] * 3, "warm-ups are kept and left out")


def dry_run():
    options = ("--workers", "1,2,4,8", "--repeats", "3", "--warm-up", "1", "--seed", "5")
    plan = answer("dry", "--dry-run", *options, command=["true", "{workers}"])
    check(not pathlib.Path(store("dry")).exists(), "--dry-run keeps nothing")
    equal(plan["estimate_seconds"], None, "nothing is known of a command that never ran")
    answer("dry", *options, command=["true", "{workers}"])
    order = [(run["workers"], run["repetition"]) for run in plan["order"]]
    equal([((1, 2, 4, 8)[point], repetition) for _, point, repetition in samples("dry")], order, "runs are made in the order that was shown")
    again = answer("dry", "--dry-run", *options, command=["true", "{workers}"])
    check(0 < again["estimate_seconds"] < 60, f"an estimate from what is kept: {again['estimate_seconds']}")


def lines_of(path):
    return len(path.read_text().splitlines()) if path.exists() else 0


def grow_until_killed(name, options, kills):
    """Kills the program over and over; what it loses is at most the run in flight. Returns the order of the runs.

    A run waits until it is allowed, so that some are made between two kills, however slow or busy the machine is.
    """
    log, allowed = pathlib.Path(KEPT.name) / "runs.log", pathlib.Path(KEPT.name) / "allowed"
    log.touch()
    command = shell(f"while [ $(wc -l < {log}) -ge $(cat {allowed}) ]; do sleep 0.01; done; echo {{workers}} >> {log}")
    full = [(run["workers"], run["repetition"]) for run in answer(name, "--dry-run", *options, command=command)["order"]]
    moments, before = random.Random(20240607), 0
    for kill in range(1, kills + 1):
        wanted = lines_of(log) + moments.randrange(4)
        allowed.write_text(f"{wanted}\n")
        process = start([PROGRAM, *words(name, *options, command=command)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        check(wait_until(lambda: lines_of(log) >= wanted, process), f"kill {kill}: {lines_of(log)} runs were made, {wanted} allowed")
        time.sleep(moments.uniform(0.0, 0.02))  # any moment of keeping it, and of starting the next
        process.kill()
        equal(process.wait(), -signal.SIGKILL, f"kill {kill}")
        if not pathlib.Path(store(name)).exists():
            continue
        plan = answer(name, "--dry-run", *options, command=command)
        there = plan["resumed_samples"]
        left = [(run["workers"], run["repetition"]) for run in plan["order"]]
        ran = lines_of(log)
        check(there >= before, f"kill {kill}: {there} runs are kept, {before} were before")
        check(left == full[there:], f"kill {kill}: what is left is not what was not run")
        check(ran - there <= kill, f"kill {kill}: {ran} runs were made, {there} are kept")
        before = there
    check(0 < before < len(full), f"kills came while runs were made: {before} of {len(full)}")
    allowed.write_text("1000000\n")
    final = answer(name, *options, command=command)
    equal(final["resumed_samples"], before, "the last call goes on with what was kept")
    equal((final["samples"], final["state"], final["complete"]), (len(full), "done", True), "runs at the end")
    return full


def killed():
    workers = (1, 2, 3, 4)
    full = grow_until_killed("killed", ("--workers", "1,2,3,4", "--repeats", "60", "--seed", "3"), 50)
    kept = samples("killed")
    equal(len({campaign for campaign, _, _ in kept}), 1, "campaigns")
    equal([(workers[point], repetition) for _, point, repetition in kept], full, "the same runs in the same order as without a kill")


def alive(pid):
    """Whether a process runs; one that nobody has looked at since it ended does not."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def nothing_stays():
    """A command does not outlive the program that is killed while it runs."""
    mark = pathlib.Path(KEPT.name) / "pid"
    command = shell(f"echo $$ > {mark}; sleep 1000 & wait {{workers}}; sleep 1000")
    process = start([PROGRAM, *words("orphan", "--workers", "1,2,4", command=command)])
    check(wait_until(lambda: lines_of(mark) > 0, process), "the command runs")
    pid = int(mark.read_text())
    process.kill()
    process.communicate()
    check(wait_until(lambda: not alive(pid)), "the command outlives the program")


def interrupted():
    mark = pathlib.Path(KEPT.name) / "third"
    options = ("--workers", "1,2,4", "--repeats", "2", "--seed", "1")
    command = shell(f"echo {{workers}} >> {mark}; [ $(wc -l < {mark}) != 3 ] || exec sleep 1000")
    code, out, err = interrupted_when([PROGRAM, *words("interrupted", "--format", "json", *options, command=command)],
                                      lambda: lines_of(mark) == 3)
    equal(code, 130, f"exit after Ctrl-C: {err}")
    value = json.loads(out)
    equal((value["state"], value["complete"], value["samples"]), ("interrupted", False, 2), "state after Ctrl-C in the third run")
    equal(value["failures"], 0, "the run in flight is no failure")
    check("goes on where it stopped" in err, f"says how to go on: {err!r}")
    final = answer("interrupted", *options, command=command)
    equal(final["resumed_samples"], 2, "runs that were there")
    equal((final["samples"], final["state"]), (6, "done"), "runs at the end")


def two_at_a_time():
    held, running = pathlib.Path(KEPT.name) / "held", pathlib.Path(KEPT.name) / "running"
    held.touch()
    waits = shell(f"echo {{workers}} >> {running}; while [ -e {held} ]; do sleep 0.01; done")
    options = ("--workers", "1,2,4", "--repeats", "12")
    campaigns = []
    for number, more in enumerate(((), ("--seed", "2")), 1):
        campaigns.append(start([PROGRAM, *words("two", "--format", "json", *options, *more, command=waits)]))
        check(wait_until(lambda: lines_of(running) == number, campaigns[-1]), f"campaign {number} runs")
    err = said("two", *options, command=waits, code=2)
    check("being measured by another process" in err, f"the same campaign twice: {err}")
    held.unlink()
    values = []
    for process in campaigns:
        out, err = process.communicate(timeout=PATIENCE)
        equal(process.returncode, 0, f"two campaigns at a time: {err}")
        values.append(json.loads(out))
    check(values[0]["campaign"] != values[1]["campaign"], "two campaigns")
    equal([value["samples"] for value in values], [36, 36], "runs of each")
    check("others_measure" in [one["kind"] for one in values[1]["warnings"]], "the second knows of the first")
    equal(len(samples("two")), 72, "runs of both")


def opened(process, path):
    """Whether a running process has this file open."""
    try:
        return any(os.path.realpath(one) == os.path.realpath(path) for one in pathlib.Path(f"/proc/{process.pid}/fd").iterdir())
    except OSError:
        return False


def stores_in_trouble():
    options = ("--workers", "1,2,4", "--repeats", "40")
    command = ["true", "{workers}"]
    # no space: files of this process may not grow beyond what some samples need
    limit, long = 80 * 1024, ("--workers", "1,2,4", "--repeats", "120")
    talks = shell("head -c 300 /dev/zero | tr '\\0' y >&2; exit {workers}")
    done = subprocess.run([PROGRAM, *words("full", *long, command=talks)], cwd=SCRATCH, env=ENVIRONMENT, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=PATIENCE, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    equal(done.returncode, 4, f"no space left: {done.stderr.decode()}")
    equal(len(done.stderr.decode().splitlines()), 1, f"no space left: {done.stderr.decode()!r}")
    kept = len(samples("full"))
    check(0 < kept < 360, f"what was kept before stays: {kept}")
    again = answer("full", *long, command=talks, code=5)
    equal((again["resumed_samples"], again["samples"]), (kept, 360), "goes on when there is space")
    # locked by another for a moment: waited for
    answer("locked", *options, command=command)
    other = sqlite3.connect(store("locked"), isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    process = start([PROGRAM, *words("locked", "--seed", "9", *options, command=command)], stdout=subprocess.DEVNULL)
    check(wait_until(lambda: opened(process, store("locked")), process), "a locked store is opened")
    time.sleep(0.5)  # for one who does not wait to give up
    check(process.poll() is None, "a locked store is waited for")
    other.execute("ROLLBACK")
    process.communicate(timeout=PATIENCE)
    equal((process.returncode, len(samples("locked"))), (0, 240), "and written when it is free")
    pathlib.Path(store("damaged")).write_bytes(b"no store at all" * 100)
    check("damaged" in said("damaged", *options, command=command, code=4), "a damaged store is named")


def without_a_store():
    done = succeed("measure", "scaling", "--store", "none", "--workers", "1,2,4", "--repeats", "2", "--format", "json", "--", "true", "{workers}")
    equal((done.json()["store"], done.json()["campaign"], done.json()["samples"]), (None, None, 6), "--store none")


def warnings():
    flag = pathlib.Path(KEPT.name) / "flag"
    cold = shell(f"if [ -e {flag}{{workers}} ]; then echo t=1; else touch {flag}{{workers}}; echo t=3; fi")
    value = answer("cold", "--workers", "1,2,4096", "--repeats", "6", "--result", "t=(.*)", command=cold)
    kinds = {one["kind"]: one["text"] for one in value["warnings"]}
    check("--warm-up 1" in kinds.get("slow_first_run", ""), f"a slow first run: {kinds}")
    check("outliers" in kinds and "noise" in kinds and "workers_beyond_cores" in kinds, f"warnings: {sorted(kinds)}")
    behind = answer("behind", "--workers", "1,2,4", "--repeats", "1", command=shell("sleep 1000 & true {workers}"))
    check("left_behind" in [one["kind"] for one in behind["warnings"]], "processes that a command leaves behind are told")


def example():
    done = run("measure", "scaling", "--store", "none", "--workers", "1,2", "--example", PATH="/nowhere")
    check(done.code == 2 and "--example" in done.err, f"without what it needs the example is refused: {done.code} {done.err}")
    # a workload that knows nothing of MPI would do all the work in each process
    tools = pathlib.Path(KEPT.name) / "tools"
    tools.mkdir()
    for name, text in (("mpirun", 'shift 2; exec "$@"'), ("headroom-step", "echo '1 worker, matrix products'; echo step_seconds = 0.5")):
        (tools / name).write_text("#!/bin/sh\n" + text + "\n")
        (tools / name).chmod(0o755)
    if (pathlib.Path(PROGRAM).resolve().parent / "headroom-step").exists():
        return  # the one beside the program goes before
    path = f"{tools}:/usr/bin:/bin"
    done = run("measure", "scaling", "--store", "none", "--workers", "1,2", "--example", PATH=path)
    check(done.code == 2 and "built without MPI" in done.err, f"a workload without MPI is refused: {done.code} {done.err}")
    (tools / "headroom-step").write_text("#!/bin/sh\necho '2 workers, matrix products'; echo step_seconds = 0.5\n")
    done = run("measure", "scaling", "--store", "none", "--workers", "1,2,4", "--repeats", "1", "--example", "--format", "json", PATH=path)
    value = done.json()
    equal([row["values"] for row in value["rows"]], [[0.5]] * 3, "the example's own time is read")
    check(value["rows"][2]["command"].startswith("mpirun -np 4 "), f"its command: {value['rows'][2]['command']}")


for part in (known_laws, weak, failures, refusals, shell_prepare_and_words, dry_run, interrupted, two_at_a_time, stores_in_trouble,
             without_a_store, warnings, example, nothing_stays, killed):
    part()
KEPT.cleanup()
finish()
