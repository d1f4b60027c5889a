"""Measurements: listed, shown, compared, exported and removed; stores that are old, new, damaged, locked or
not there."""

import csv
import ctypes
import io
import os
import random
import resource
import signal
import sqlite3
import statistics
import subprocess

import _harness
from _harness import PATIENCE, PROGRAM, SCRATCH, answer, check, close, equal, finish, run, schema_errors, succeed

# The first layout, as it was written; the present one is made of it by the program itself.
FIRST_LAYOUT = """
PRAGMA application_id = 1212437069;
PRAGMA user_version = 1;
CREATE TABLE campaigns (id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, name TEXT NOT NULL,
    state TEXT NOT NULL, began_ns INTEGER NOT NULL, ended_ns INTEGER);
CREATE TABLE campaign_facts (campaign INTEGER NOT NULL, subject TEXT NOT NULL, place INTEGER NOT NULL,
    name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (campaign, subject, place)) WITHOUT ROWID;
CREATE TABLE points (campaign INTEGER NOT NULL, point INTEGER NOT NULL, label TEXT NOT NULL, unit TEXT NOT NULL,
    PRIMARY KEY (campaign, point), UNIQUE (campaign, label)) WITHOUT ROWID;
CREATE TABLE point_parameters (campaign INTEGER NOT NULL, point INTEGER NOT NULL, place INTEGER NOT NULL,
    name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (campaign, point, place)) WITHOUT ROWID;
CREATE TABLE samples (campaign INTEGER NOT NULL, place INTEGER NOT NULL, point INTEGER NOT NULL,
    repetition INTEGER NOT NULL, value REAL, outcome TEXT NOT NULL, message TEXT NOT NULL, began_ns INTEGER NOT NULL,
    PRIMARY KEY (campaign, place), UNIQUE (campaign, point, repetition)) WITHOUT ROWID;
"""
BEGAN = 1_767_225_600_000_000_000  # 2026-01-01T00:00:00Z


def campaign(database, number, kind, points, name="", machine=(), state="done"):
    """`points`: label -> (unit, samples); a sample is a number, or the words of a failure."""
    database.execute("INSERT INTO campaigns VALUES (?, ?, ?, ?, ?, ?)",
                     (number, kind, name, state, BEGAN + number * 10**9, None if state == "running" else BEGAN + number * 10**9 + 5 * 10**8))
    database.execute("INSERT INTO campaign_facts VALUES (?, 'setting', 0, 'ranks', '2')", (number,))
    for place, (fact, value) in enumerate(machine):
        database.execute("INSERT INTO campaign_facts VALUES (?, 'machine', ?, ?, ?)", (number, place, fact, value))
    place = 0
    for point, (label, (unit, samples)) in enumerate(points.items()):
        database.execute("INSERT INTO points VALUES (?, ?, ?, ?)", (number, point, label, unit))
        database.execute("INSERT INTO point_parameters VALUES (?, ?, 0, 'what', ?)", (number, point, label))
        for repetition, sample in enumerate(samples):
            good = not isinstance(sample, str)
            database.execute("INSERT INTO samples (campaign, place, point, repetition, value, outcome, message, began_ns) "
                             "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                             (number, place, point, repetition, sample if good else None, "measured" if good else "failed",
                              "" if good else sample, BEGAN + place))
            place += 1


def times(seed, count, median, tail=0.05):
    numbers = random.Random(seed)
    return [median * (1 + tail * numbers.expovariate(1)) for _ in range(count)]


store = SCRATCH / "measurements.sqlite"
database = sqlite3.connect(store, isolation_level=None)
database.executescript(FIRST_LAYOUT)
database.execute("BEGIN")
machine = [("host", "one"), ("processor", "first of its kind"), ("load", "0.1")]
first = {"a": ("seconds", times(1, 30, 1e-3)), "b": ("seconds", times(2, 30, 2e-3)), "rate": ("bytes/second", times(3, 30, 1e9)),
         "few": ("seconds", [1.0, 2.0, 3.0]), "gone": ("seconds", [1.0]), "unit": ("seconds", [1.0]),
         "drift": ("seconds", [1.0 + 0.01 * i for i in range(20)]), "bad": ("seconds", ["exit status 3", "\x1b[31mred"])}
second = {"a": ("seconds", times(4, 30, 1e-3)), "b": ("seconds", times(5, 30, 3e-3)), "rate": ("bytes/second", times(6, 30, 2e9)),
          "few": ("seconds", [1.0, 2.0, 3.0]), "new": ("seconds", [1.0]), "unit": ("flops", [1.0]),
          "drift": ("seconds", [1.0 + 0.01 * i for i in range(20)])}
campaign(database, 1, "comm", first, "before", machine)
campaign(database, 2, "comm", second, "", [machine[0], ("processor", "second of its kind"), ("load", "0.9")], "running")
campaign(database, 3, "roofline", {"triad": ("bytes/second", times(7, 12, 1e10))}, "x" * 60, machine)
campaign(database, 9, "comm", {"z": ("seconds", [])})
database.execute("COMMIT")
database.close()
stored = store.read_bytes()


def history(*arguments, code=0):
    value = answer("history", *arguments, "--store", store, code=code)
    if value:
        for error in schema_errors(value):
            check(False, f"history {arguments}: {error}")
        for action in ("list", "show", "compare", "export", "remove"):
            equal(value[action] is None, action != value["action"], f"history {arguments}: member {action}")
    return value


# ---- an old store is read and left as it is ----
rows = history()["list"]
equal([row["id"] for row in rows], [1, 2, 3, 9], "the oldest first")
equal([row["state"] for row in rows], ["done", "broken-off", "done", "done"], "states")
equal([row["samples"] for row in rows], [30 * 3 + 3 + 1 + 1 + 20 + 2, 30 * 3 + 3 + 1 + 1 + 20, 12, 0], "numbers of samples")
equal(rows[0]["began"], "2026-01-01T00:00:01Z", "time of the first")
equal([row["id"] for row in history("list", "--kind", "roofline")["list"]], [3], "of one kind")
listing = succeed("history", "--store", store)
check(all(len(line) <= 80 for line in listing.out.splitlines()), "the list fits 80 columns")
check("broken-off" in listing.out and "2026-01-01 00:00:02" in listing.out, f"the list in words: {listing.out}")

shown = history("show", "1")["show"]
by_label = {point["label"]: point for point in shown["points"]}
close(by_label["a"]["summary"]["median"], statistics.median(first["a"][1]), "a median", 1e-15)
low, high = by_label["a"]["summary"]["interval"]
equal([low, high], [sorted(first["a"][1])[9], sorted(first["a"][1])[20]], "of 30 the tenth from either end")
equal(by_label["few"]["summary"]["coverage"], 0.75, "three samples cover 3/4")
equal(by_label["few"]["drift"], None, "three samples show no drift")
close(by_label["drift"]["drift"]["change"], 0.19 / 1.095, "a drift")
check(by_label["drift"]["drift"]["adjusted_probability"] < 1e-6, "twenty rising samples are no chance")
equal(by_label["bad"]["summary"], None, "failures have no median")
equal(by_label["bad"]["outcomes"]["failed"], 2, "failures are counted")
words = succeed("history", "show", "1", "--store", store)
check("exit status 3" in words.out and "\x1b" not in words.out, "failures are told, and steer no terminal")
check("+17 %" in words.out and "fewer than six samples" in words.out, f"drift and few samples in words: {words.out}")
check(all(len(line) <= 80 for line in words.out.splitlines()), "a campaign fits 80 columns")
page = SCRATCH / "page.html"
succeed("history", "show", "1", "--store", store, "--html", page)
check("Samples in the order in which they were taken" in page.read_text(), "the page draws the samples")
for name, expected in (("last", 9), ("last-1", 3), ("last-3", 1)):
    equal(history("show", name)["show"]["id"], expected, name)
equal(history("show", "last", "--kind", "roofline")["show"]["id"], 3, "the last of a kind")
equal(history("show", "9")["show"]["points"][0]["summary"], None, "a campaign without samples")

# ---- compare ----
found = history("compare", "1", "2")["compare"]
verdicts = {point["label"]: point["verdict"] for point in found["points"]}
equal(verdicts, {"a": "no difference shown", "b": "slower", "rate": "faster", "few": "too few samples",
                 "drift": "no difference shown"}, "verdicts")
equal({point["label"]: point["verdict"] for point in history("compare", "2", "1")["compare"]["points"]},
      verdicts | {"b": "faster", "rate": "slower"}, "verdicts the other way round")
equal([found["only_first"], found["only_second"], found["other_units"]], [["gone"], ["new"], ["unit"]], "what is not compared")
equal([(row["name"], row["momentary"]) for row in found["machine"]], [("processor", False), ("load", True)], "what differs")
ratio = next(point for point in found["points"] if point["label"] == "b")["ratio"]
check(ratio["interval"][0] <= 1.5 <= ratio["interval"][1], f"a ratio of 1.5: {ratio}")
close(ratio["value"], statistics.median(y / x for x in first["b"][1] for y in second["b"][1]), "median of all ratios", 1e-4)
for point in found["points"]:
    if point["probability"] is not None:
        check(point["probability"] <= point["adjusted_probability"] <= 1, f"correction for many: {point}")
said = succeed("history", "compare", "1", "2", "--store", store).out
check("second of its kind" in said and "slower" in said, f"a comparison in words: {said}")
check(all(len(line) <= 80 for line in said.splitlines()), "a comparison fits 80 columns")

# ---- export: every sample, exactly ----
exported = history("export", "1")["export"]
equal([sample["value"] for sample in exported["samples"] if sample["point"] == 0], first["a"][1], "samples to the last digit")
equal({sample["load"] for sample in exported["samples"]}, {None}, "no load was kept by the first layout")
table = list(csv.DictReader(io.StringIO(succeed("history", "export", "1", "--store", store).out)))
equal([float(row["value"]) for row in table if row["label"] == "a"], first["a"][1], "the same as CSV, which is the default")
equal([row["message"] for row in table if row["label"] == "bad"], ["exit status 3", "?[31mred"], "messages as they were, but for what steers a terminal")
check("\x1b[31mred" in [sample["message"] for sample in exported["samples"]], "JSON keeps messages exactly")
equal(store.read_bytes(), stored, "looking changes nothing")
for arguments in (["list"], ["show", "1"], ["compare", "1", "2"], ["export", "1"]):
    for form in ("json", "csv", "markdown", "table"):
        one, other = (succeed("history", *arguments, "--store", store, "--format", form).out for _ in range(2))
        check(one == other and one, f"history {arguments} --format {form}: the same bytes twice")

# ---- remove, which brings the store to the present layout ----
removed = history("remove", "9")["remove"]
equal((removed["id"], removed["samples"]), (9, 0), "what was removed")
equal([row["id"] for row in history()["list"]], [1, 2, 3], "it is gone")
with sqlite3.connect(store) as database:
    check(database.execute("PRAGMA user_version").fetchone()[0] > 1, "the layout is the present one")
    database.execute("UPDATE samples SET load = 0.75")
database.close()
equal({sample["load"] for sample in history("export", "1")["export"]["samples"]}, {0.75}, "a load is read")
equal([sample["value"] for sample in history("export", "1")["export"]["samples"] if sample["point"] == 0], first["a"][1],
      "nothing is lost by the step")


# ---- what cannot be answered, in one line ----
def refused(code, words, *arguments, **environment):
    done = run("history", *arguments, **environment)
    what = f"{done}: exit {done.code}, said {done.err!r}"
    check(done.code == code and words in done.err and done.err.count("\n") == 1 and not done.out, f"{what}; expected {code}, {words!r}")


at = ["--store", store]
refused(2, "there is no campaign 77", "show", "77", *at)
refused(2, "which measurements?", "show", *at)
refused(2, "which measurements?", "compare", "1", *at)
refused(2, "1 compared with itself", "compare", "1", "1", *at)
refused(2, "no ID: 'first'", "show", "first", *at)
refused(2, "no ID: 'last-x'", "show", "last-x", *at)
refused(2, "no ID: 'lasting'", "show", "lasting", *at)
refused(2, "no ID: '99999999999999999999'", "show", "99999999999999999999", *at)
refused(5, "there are not so many", "show", "last-7", *at)
refused(5, "no point has samples on both sides", "compare", "1", "3", *at)
refused(2, "unexpected argument", "list", "1", *at)
refused(2, "unexpected argument", "show", "1", "2", *at)
refused(2, "did you mean 'show'", "shwo", "1", *at)
refused(2, "--kind", "--kind", "comms", *at)
refused(2, "'none' keeps nothing", "--store", "none")
refused(2, "a name is missing", "--store", "")
refused(4, "no such file", "--store", SCRATCH / "nowhere.sqlite")
refused(4, "no such file", "remove", "1", "--store", SCRATCH / "nowhere.sqlite")
check(not (SCRATCH / "nowhere.sqlite").exists(), "looking at a store makes none")
refused(4, "is a folder", "--store", SCRATCH)

# nothing was measured yet
nothing = succeed("history", XDG_DATA_HOME=str(SCRATCH / "data"))
check("Nothing was measured yet" in nothing.out and "headroom measure" in nothing.out, f"no store: {nothing.out}")
equal(run("history", "--format", "json", XDG_DATA_HOME=str(SCRATCH / "data")).json()["list"], [], "no store, no measurements")
refused(5, "nothing was measured yet", "show", "last", XDG_DATA_HOME=str(SCRATCH / "data"))
check(not (SCRATCH / "data").exists(), "and none is made")
empty = SCRATCH / "empty.sqlite"
empty.touch()
check("No measurements are in" in succeed("history", "--store", empty).out, "an empty store")
refused(5, "nothing was measured yet", "show", "last", "--store", empty)


# ---- stores that cannot be used ----
def copy(name, change):
    path = SCRATCH / name
    path.write_bytes(store.read_bytes())
    change(path)
    return path


def sql(text):
    def change(path):
        database = sqlite3.connect(path, isolation_level=None)
        database.executescript(text)
        database.close()
    return change


newer = copy("newer.sqlite", sql("PRAGMA user_version = 77"))
bytes_of_newer = newer.read_bytes()
refused(4, "belongs to a newer version", "--store", newer)
refused(4, "belongs to a newer version", "remove", "1", "--store", newer)
equal(newer.read_bytes(), bytes_of_newer, "a newer store stays as it is")
for size in (1, 99, 512, 4096, 20_000):
    damaged = copy("cut.sqlite", lambda path: os.truncate(path, size))
    done = run("history", "show", "1", "--store", damaged)
    check(done.code == 4 and done.err.count("\n") == 1, f"cut after {size} bytes: exit {done.code}, {done.err!r}")
refused(4, "is no store", "--store", copy("other.sqlite", lambda path: path.write_text("step,seconds\n" * 100)))
refused(4, "no number", "show", "1", "--store", copy("text.sqlite", sql("UPDATE samples SET value = 'one' WHERE place = 1")))
for earliest in (-2**63, 2**63 - 1):
    odd = copy("odd.sqlite", sql(f"UPDATE campaigns SET began_ns = {earliest}, ended_ns = {-1 - earliest}"))
    check(answer("history", "--store", odd)["list"][0]["began"] in ("1677-09-21T00:12:43Z", "2262-04-11T23:47:16Z"), "times at the ends")
    succeed("history", "show", "1", "--store", odd)
refused(4, "trigger", "--store",
        copy("trigger.sqlite", sql("CREATE TRIGGER t AFTER DELETE ON samples BEGIN DELETE FROM campaigns; END")))

locked = sqlite3.connect(store, isolation_level=None)
locked.execute("BEGIN EXCLUSIVE")
refused(4, "is locked by another program", "--store", store)
locked.execute("ROLLBACK")
locked.execute("BEGIN")
locked.execute("SELECT * FROM samples").fetchone()
equal([row["id"] for row in history()["list"]], [1, 2, 3], "readers do not lock each other out")
locked.close()


LIBRARY = ctypes.CDLL(None)
PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 24, 1, 2


def limited(*arguments, rights=True, most_bytes=None):
    """Without rights permissions of files hold for root too."""
    def prepare():
        if most_bytes is not None:
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
            resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))
        if not rights and os.geteuid() == 0:
            for right in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH):
                if LIBRARY.prctl(PR_CAPBSET_DROP, right, 0, 0, 0) != 0:
                    raise OSError("rights cannot be given up")
    return subprocess.run([PROGRAM, "history", *map(str, arguments)], env=_harness.ENVIRONMENT, cwd="/", capture_output=True,
                          preexec_fn=prepare, timeout=PATIENCE, text=True)


# a journal that may not grow: nothing is removed
done = limited("remove", "1", "--store", store, most_bytes=600)
check(done.returncode == 4 and "has no space left" in done.stderr and done.stderr.count("\n") == 1, f"no space: {done}")
equal([row["id"] for row in history()["list"]], [1, 2, 3], "nothing is lost without space")

# a folder and a file that may not be written are read all the same
folder = SCRATCH / "read-only"
folder.mkdir()
(folder / "m.sqlite").write_bytes(store.read_bytes())
(folder / "m.sqlite").chmod(0o444)
folder.chmod(0o555)
done = limited("list", "--store", folder / "m.sqlite", rights=False)
check(done.returncode == 0 and "before" in done.stdout, f"a store that may not be written is read: {done}")
done = limited("remove", "1", "--store", folder / "m.sqlite", rights=False)
check(done.returncode == 4 and "may not be written" in done.stderr, f"and is not written: {done}")
folder.chmod(0o755)

finish()
