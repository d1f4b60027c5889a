"""measure scaling: known laws found again, every failure told apart, and campaigns that survive being killed."""

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

from _harness import ENVIRONMENT, PROGRAM, SCRATCH, check, close, equal, finish, run, schema_errors, succeed

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
    for part in ("stop:", "serial fraction:", "Measured: time of a run", "Karp-Flatt", "Predicted by"):
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
        2) echo 'no such device' >&2; exit 3;; 4) sleep 20;; 8) echo nothing;; 16) echo t=nan;; 32) echo t=-1;; 64) echo t=1e999;;
        128) kill -SEGV $$;; 256) echo t=seven;; *) echo t=1; esac""")
    value = answer("failures", "--workers", "1,2,4,8,16,32,64,128,256", "--repeats", "1", "--timeout", "0.3s", "--result", "t=(.*)",
                   command=command, code=5)
    rows = {row["workers"]: row for row in value["rows"]}
    for workers, outcome, message in ((2, "failed", "exit status 3: no such device"), (4, "timed_out", "longer than 0.3 s"),
                                      (8, "unreadable", "matches no line"), (16, "unreadable", "no number above zero"),
                                      (32, "unreadable", "no number above zero"), (64, "unreadable", "no number above zero"),
                                      (128, "failed", "Segmentation fault"), (256, "unreadable", "'seven' is no number")):
        equal(rows[workers][outcome], 1, f"{workers} workers: {outcome}")
        check(message in rows[workers]["first_message"], f"{workers} workers: {rows[workers]['first_message']!r} has no {message!r}")
    equal((value["failures"], value["samples"], value["fit"]), (8, 9, None), "failures, samples, no fit")
    check("1 of 9 worker counts" in value["why_no_fit"], f"what is missing: {value['why_no_fit']}")
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


def grow_until_killed(name, command, options, kills):
    """Kills the program at random moments; what it loses is at most the run in flight. Returns the order of the runs."""
    log = pathlib.Path(KEPT.name) / "runs.log"
    log.touch()
    command = shell(f"{command}; echo {{workers}} >> {log}")
    full = [(run["workers"], run["repetition"]) for run in answer(name, "--dry-run", *options, command=command)["order"]]
    moments, before, killed = random.Random(20240607), 0, 0
    for _ in range(4 * kills):
        if killed == kills:
            break
        process = subprocess.Popen([PROGRAM, *words(name, *options, command=command)], cwd=SCRATCH, env=ENVIRONMENT,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(moments.uniform(0.0, 0.12))
        process.send_signal(signal.SIGKILL)
        if not check(process.wait() == -signal.SIGKILL, f"ended before it was killed the {killed + 1}. time"):
            break
        killed += 1
        if not pathlib.Path(store(name)).exists():
            continue
        plan = answer(name, "--dry-run", *options, command=command)
        there = plan["resumed_samples"]
        left = [(run["workers"], run["repetition"]) for run in plan["order"]]
        ran = len(log.read_text().splitlines())
        check(there >= before, f"kill {killed}: {there} runs are kept, {before} were before")
        check(left == full[there:], f"kill {killed}: what is left is not what was not run")
        check(ran - there <= killed, f"kill {killed}: {ran} runs were made, {there} are kept")
        before = there
    equal(killed, kills, "kills")
    check(0 < before < len(full), f"kills came while runs were made: {before} of {len(full)}")
    final = answer(name, *options, command=command)
    equal(final["resumed_samples"], before, "the last call goes on with what was kept")
    equal((final["samples"], final["state"], final["complete"]), (len(full), "done", True), "runs at the end")
    return full


def killed():
    workers = (1, 2, 3, 4)
    full = grow_until_killed("killed", "sleep 0.00{workers}", ("--workers", "1,2,3,4", "--repeats", "250", "--seed", "3"), 50)
    kept = samples("killed")
    equal(len({campaign for campaign, _, _ in kept}), 1, "campaigns")
    equal([(workers[point], repetition) for _, point, repetition in kept], full, "the same runs in the same order as without a kill")


def nothing_stays():
    """A command does not outlive the program that is killed while it runs."""
    mark = pathlib.Path(KEPT.name) / "pid"
    process = subprocess.Popen([PROGRAM, *words("orphan", "--workers", "1,2,4", command=shell(f"echo $$ > {mark}; sleep 60 & wait {{workers}}; sleep 60"))],
                               cwd=SCRATCH, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    end = time.time() + 10
    while time.time() < end and not (mark.exists() and mark.read_text().strip()):
        time.sleep(0.01)
    pid = int(mark.read_text())
    process.kill()
    process.wait()
    while time.time() < end and pathlib.Path(f"/proc/{pid}").exists():
        time.sleep(0.01)
    check(not pathlib.Path(f"/proc/{pid}").exists(), "the command outlives the program")


def interrupted():
    options = ("--workers", "1,2,4", "--repeats", "20")
    command = shell("sleep 0.1; true {workers}")
    process = subprocess.Popen([PROGRAM, *words("interrupted", "--format", "json", *options, command=command)], cwd=SCRATCH, env=ENVIRONMENT,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    out, err = (part.decode() for part in process.communicate(timeout=30))
    equal(process.returncode, 130, f"exit after Ctrl-C: {err}")
    value = json.loads(out)
    equal((value["state"], value["complete"]), ("interrupted", False), "state after Ctrl-C")
    equal(value["failures"], 0, "the run in flight is no failure")
    check("goes on where it stopped" in err, f"says how to go on: {err!r}")
    final = answer("interrupted", *options, command=command)
    equal(final["resumed_samples"], value["samples"], "runs that were there")
    equal((final["samples"], final["state"]), (60, "done"), "runs at the end")


def two_at_a_time():
    slow = shell("sleep 0.05; true {workers}")
    options = ("--workers", "1,2,4", "--repeats", "12")
    start = lambda *more: subprocess.Popen([PROGRAM, *words("two", "--format", "json", *options, *more, command=slow)], cwd=SCRATCH, env=ENVIRONMENT,
                                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    first = start()
    end = time.time() + 10
    while time.time() < end and not pathlib.Path(store("two")).exists():
        time.sleep(0.01)
    time.sleep(0.1)
    err = said("two", *options, command=slow, code=2)
    check("being measured by another process" in err, f"the same campaign twice: {err}")
    second = start("--seed", "2")
    values = []
    for process in (first, second):
        out, err = process.communicate(timeout=60)
        equal(process.returncode, 0, f"two campaigns at a time: {err.decode()}")
        values.append(json.loads(out))
    check(values[0]["campaign"] != values[1]["campaign"], "two campaigns")
    equal([value["samples"] for value in values], [36, 36], "runs of each")
    check("others_measure" in [one["kind"] for one in values[1]["warnings"]], "the second knows of the first")
    equal(len(samples("two")), 72, "runs of both")


def stores_in_trouble():
    options = ("--workers", "1,2,4", "--repeats", "40")
    command = ["true", "{workers}"]
    # no space: files of this process may not grow beyond what some samples need
    limit, long = 80 * 1024, ("--workers", "1,2,4", "--repeats", "120")
    talks = shell("head -c 300 /dev/zero | tr '\\0' y >&2; exit {workers}")
    done = subprocess.run([PROGRAM, *words("full", *long, command=talks)], cwd=SCRATCH, env=ENVIRONMENT, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=60, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
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
    process = subprocess.Popen([PROGRAM, *words("locked", "--seed", "9", *options, command=command)], cwd=SCRATCH, env=ENVIRONMENT,
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    time.sleep(0.7)
    check(process.poll() is None, "a locked store is waited for")
    other.execute("ROLLBACK")
    equal((process.wait(timeout=60), len(samples("locked"))), (0, 240), "and written when it is free")
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
    behind = answer("behind", "--workers", "1,2,4", "--repeats", "1", command=shell("sleep 30 & true {workers}"))
    check("left_behind" in [one["kind"] for one in behind["warnings"]], "processes that a command leaves behind are told")


def example():
    done = run("measure", "scaling", "--store", "none", "--workers", "1,2", "--example", PATH="/nowhere")
    check(done.code == 2 and "--example" in done.err, f"without what it needs the example is refused: {done.code} {done.err}")


for part in (known_laws, weak, failures, refusals, shell_prepare_and_words, dry_run, interrupted, two_at_a_time, stores_in_trouble,
             without_a_store, warnings, example, nothing_stays, killed):
    part()
KEPT.cleanup()
finish()
