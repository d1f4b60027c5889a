"""Messages between the processes of a job: what is measured, that it is kept, that its table is fitted, and how it ends."""

import csv
import io
import json
import math
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess

from _harness import ENVIRONMENT, PATIENCE, PROGRAM, SCRATCH, check, equal, finish, run, schema_errors, skip, start, wait_until

# One process is refused with words, with or without MPI on this machine.
alone = run("measure", "comm")
equal(alone.code, 2, "one process")
check("mpirun" in alone.err and alone.err.count("\n") == 1 and not alone.out, f"one process is told what to do: {alone.err!r}")
for words, said in ((["--sizes", "8"], "--sizes"), (["--sizes", "0B"], "--sizes"), (["--sizes", "1MiB..8B"], "empty"),
                    (["--sizes", "2GiB"], "1 GiB"), (["--sizes", "8B..1MiB:1"], "factor"), (["--sizes", "1.5B"], "whole"),
                    (["--collectives", "all_redcue"], "all_reduce"), (["--parts", "pears"], "pairs"), (["--time", "0s"], "--time"),
                    (["--time", "5"], "--time"), (["--patience", "-1s"], "--patience"), (["--save", "-"], "--save"),
                    (["--save", ""], "--save"), (["--seed", "x"], "--seed"), (["--no-such"], "--no-such"),
                    (["--save", "a.csv", "--out", "a.csv"], "a.csv")):
    told = run("measure", "comm", *words)
    equal(told.code, 2, f"{words}")
    check(said in told.err and told.err.count("\n") == 1, f"{words}: {told.err!r}")
check("mpirun" in run("measure", "comm", "--help").out, "help shows how it is started")

MPIRUN = shutil.which("mpirun")
BESIDE = pathlib.Path(os.path.realpath(PROGRAM)).parent / "headroom-mpi"
if not MPIRUN or not BESIDE.exists():
    skip("no mpirun on this machine" if not MPIRUN else f"no {BESIDE}")
    finish()

STORE = SCRATCH / "store.sqlite"
JOB = dict(ENVIRONMENT, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_mpi_yield_when_idle="1",
           OMPI_MCA_rmaps_base_oversubscribe="1")


def launched(processes, *words):
    return [MPIRUN, "--allow-run-as-root", "--oversubscribe", "-np", str(processes), PROGRAM, "measure", "comm",
            *map(str, words), "--store", str(STORE)]


def job(processes, *words):
    return subprocess.run(launched(processes, *words), cwd=SCRATCH, env=JOB, capture_output=True, timeout=PATIENCE, text=True)


def measured(processes, *words):
    done = job(processes, *words, "--format", "json")
    if not check(done.returncode == 0, f"{processes} ranks {words}: exit {done.returncode}: {done.stderr[-1500:]}"):
        return None
    value = json.loads(done.stdout)
    for error in schema_errors(value):
        check(False, f"{processes} ranks {words}: {error}")
    return value


def pattern(value, name):
    return [point for point in value["points"] if point["parameters"]["pattern"] == name]


def kept(value):
    """Samples of this campaign in the store: {label: values that count}."""
    rows = sqlite3.connect(STORE).execute("select name from sqlite_master where type = 'table'").fetchall()
    check({"campaigns", "samples"} <= {name for name, in rows}, f"tables of the store: {rows}")
    return sqlite3.connect(STORE).execute("select count(*) from samples where campaign = ?", (value["campaign"],)).fetchone()[0]


def samples_of_the_latest():
    """(campaign, samples kept) of the campaign that began last."""
    try:
        with sqlite3.connect(STORE) as store:
            latest = store.execute("select coalesce(max(id), 0) from campaigns").fetchone()[0]
            return latest, store.execute("select count(*) from samples where campaign = ?", (latest,)).fetchone()[0]
    except sqlite3.OperationalError:  # being written
        return 0, 0


def measuring(process, before):
    """Waits until the job keeps samples of a campaign after `before`."""
    return wait_until(lambda: samples_of_the_latest()[0] > before and samples_of_the_latest()[1] > 0, process)


# Two ranks: every part that two can do; numbers agree with each other.
SIZES = (8, 32768, 262144)
value = measured(2, "--sizes", ",".join(f"{size}B" for size in SIZES), "--time", "1s", "--save", "two.csv", "--name", "two")
if value:
    equal(value["world"]["ranks"], 2, "ranks")
    equal((value["complete"], value["failures"]), (True, []), "all was measured and every result is right")
    equal({point["parameters"]["pattern"] for point in value["points"]},
          {"one_way", "both_ways", "shifted", "computing", "train", "adding", "collective"}, "patterns of two ranks")
    for point in value["points"]:
        check(0 < point["least_seconds"] <= point["median_low_seconds"] <= point["median_seconds"]
              <= point["median_high_seconds"] <= point["most_seconds"] < 60, f"order of {point}")
    collectives = {point["parameters"]["collective"] for point in pattern(value, "collective")}
    equal(collectives, {"all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "all_to_all", "barrier"}, "collectives")
    state = lambda point: (int(point["parameters"]["bytes"]), point["parameters"]["buffers"])
    one_way = {state(point): point for point in pattern(value, "one_way") if "buffers" in point["parameters"]}
    for ratio in value["ratios"]:
        equal(ratio["one_way_seconds"], one_way[ratio["bytes"], ratio["buffers"]]["median_seconds"], "a ratio is of medians")
    check({(ratio["bytes"], ratio["buffers"]) for ratio in value["ratios"]}
          >= {(bytes, buffers) for bytes in SIZES for buffers in ("hot", "cold")}, "both ways of every size")
    limit = int(value["machine"]["largest hot message"])
    for point in pattern(value, "one_way") + pattern(value, "collective"):
        bytes, buffers = state(point)
        equal(point["usual_buffers"], buffers == ("hot" if bytes <= limit else "cold"), f"buffers of programs: {point['label']}")
    check(any("hot buffers" in note and "cold buffers" in note for note in value["notes"]), f"which goes where: {value['notes']}")
    equal(len(value["loggp"]), 1, "LogGP of the one link")
    check({(load["load"], load["bytes"]) for load in value["load"]} == {("cores compute", 8), ("cores compute", 1 << 20)}, "load of two")
    check(value["predictions"], "collectives are predicted from the probes")
    for one in value["predictions"]:
        point = next(point for point in value["points"] if point["label"] == one["point"])
        check(math.isclose(one["least_ratio"], one["least_seconds"] / point["least_seconds"], rel_tol=1e-9), f"ratio of {one}")
    check(kept(value) >= sum(point["count"] for point in value["points"]), "every sample is in the store")
    # the table is what `comm --fit` reads, and its fits are the same
    fitted = run("comm", "--fit", SCRATCH / "two.csv", "--format", "json")
    equal(fitted.code, 0, f"fit of the table: {fitted.err}")
    ours = {(one["collective"], one["algorithm"].replace("library", "").replace("one_way", "")): one for one in value["fits"]}
    theirs = {(one["collective"], one["algorithm"] or ""): one for one in fitted.json()["fits"]}
    equal(set(theirs), {name for name in ours if name[1] not in ("both_ways", "shifted")}, "groups of the table")
    for name, other in theirs.items():
        one = ours[name]
        check(math.isclose(one["segments"][0]["alpha_seconds"]["value"], other["alpha_seconds"]["value"], rel_tol=1e-6, abs_tol=1e-15),
              f"alpha of {name}: {one['segments'][0]} and {other['alpha_seconds']}")

    # and one measurement has one answer, from the store and from the table
    answers = [run("calibrate", *words, "--format", "json") for words in
               ([f"store:{value['campaign']}", "--store", STORE], [SCRATCH / "two.csv"])]
    if check(all(one.code == 0 for one in answers), f"calibrate: {[one.err for one in answers]}"):
        stored, table = (one.json() for one in answers)
        for key in ("latency_seconds", "bytes_per_second"):
            for end in ("value", "low", "high"):
                one, other = (links["scale_up"][key] and links["scale_up"][key][end] for links in (stored, table))
                check(one == other or math.isclose(one, other, rel_tol=1e-6), f"{key}.{end}: {one} of the store, {other} of the table")
        equal([links["scale_up"]["interconnect"] for links in (stored, table)], ["host memory"] * 2, "the link is that of a host's memory")

# Three ranks: pairs in rounds, a forced algorithm, sizes that do not divide.
value = measured(3, "--sizes", "10B,3000B,40000B", "--time", "1s", "--algorithms", "library,ring", "--collectives", "all_reduce,all_gather,barrier")
if value:
    equal(value["failures"], [], "no result is wrong")
    for name in ("pairs_small", "pairs_large"):
        equal([(one["first"], one["second"]) for one in sorted(value[name]["times"], key=lambda one: (one["first"], one["second"]))],
              [(0, 1), (0, 2), (1, 2)], f"{name}: every pair once")
    check(pattern(value, "all_at_once"), "three ranks send to all at once")
    for point in pattern(value, "collective"):
        if point["parameters"]["collective"] == "all_gather":
            equal(int(point["parameters"]["bytes"]) % 12, 0, "an all-gather of three has whole floats of each")
    forced = {point["parameters"]["algorithm"] for point in pattern(value, "collective")}
    if value["world"]["algorithms_that_can_be_forced"]:
        equal(forced, {"library", "ring"}, "forced algorithms")
        ring = [one for one in value["predictions"] if not one["chosen_as_cheapest"]]
        equal({one["algorithm"] for one in ring}, {"ring"}, "a forced ring is priced as a ring")
    else:
        check(any("forced" in note for note in value["notes"]), "says that nothing can be forced")

# What does not exist is refused once, and no rank is left waiting.
JOB["OMPI_MCA_odls_base_sigkill_timeout"] = "0"  # the launcher need not wait two seconds for ranks that are gone
told = job(2, "--algorithms", "no-such-way")
check(told.returncode == 2 and told.stderr.count("no-such-way") == 1, f"an unknown algorithm: {told.returncode} {told.stderr[-800:]}")
told = job(2, "--parts", "pairs")
check(told.returncode == 2 and "three ranks" in told.stderr, f"pairs of two ranks: {told.returncode} {told.stderr[-800:]}")
told = job(1)
check(told.returncode == 2 and "nobody to send to" in told.stderr, f"a job of one: {told.returncode} {told.stderr[-800:]}")

del JOB["OMPI_MCA_odls_base_sigkill_timeout"]

# Tables for people stay within 80 columns; CSV has a row a point; a page has its charts.
quick = ["--parts", "messages,collectives", "--collectives", "all_reduce", "--sizes", "8B,8KiB,64KiB", "--time", "1s"]
text = job(2, *quick, "--html", "page.html")
equal(text.returncode, 0, f"text: {text.stderr[-800:]}")
check(max(map(len, text.stdout.splitlines())) <= 80, "80 columns")
check("2 ranks on 1 host" in text.stdout, "says who took part")
check("all_reduce" in (SCRATCH / "page.html").read_text(), "page")
sheet = list(csv.DictReader(io.StringIO(job(2, *quick, "--format", "csv").stdout)))
equal(len(sheet), 2 * (3 * 3 + 3) + 1, "rows of the sheet: one way, both ways, shifted, all_reduce, hot and cold, and adding")
sheet = list(csv.DictReader(io.StringIO(job(2, *quick, "--buffers", "hot", "--format", "csv").stdout)))
equal({row["buffers"] for row in sheet}, {"hot", ""}, "buffers that were asked for, and adding")

# Ctrl-C: launchers end ranks by SIGTERM; what was measured is written and kept, and the same command goes on.
SHORT = ["--parts", "messages", "--sizes", "8B,1KiB", "--name", "long", "--format", "json"]
LONG = [*SHORT, "--time", "50s"]
latest = samples_of_the_latest()[0]
process = start(launched(2, *LONG, "--out", "long.json"), env=JOB)
check(measuring(process, latest), "the job measures")
process.send_signal(signal.SIGINT)
out, err = process.communicate(timeout=PATIENCE)
check(process.returncode != 0, f"an interrupted job: exit {process.returncode}")
if check((SCRATCH / "long.json").exists(), f"Ctrl-C keeps what was measured: {err[-1000:]}"):
    value = json.loads((SCRATCH / "long.json").read_text())
    equal(schema_errors(value), [], "schema of an interrupted result")
    equal(value["complete"], False, "an interrupted result says so")
    state = sqlite3.connect(STORE).execute("select state from campaigns where id = ?", (value["campaign"],)).fetchone()
    equal(state, ("interrupted",), "state in the store")
    before = kept(value)
    check(before > 0, "samples before Ctrl-C are kept")
    again = json.loads(job(2, *SHORT, "--time", "1s").stdout)
    equal((again["campaign"], again["resumed_samples"]), (value["campaign"], before), "the same command goes on")
    check(kept(again) > before, "and adds to it")

# A rank that dies or hangs ends the job, soon, and what was measured stays.
def children():
    """Ranks of the running job, by /proc: {rank: pid}."""
    found = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            environment = (folder / "environ").read_bytes().split(b"\0")
            name = os.path.basename(os.readlink(folder / "exe"))
        except OSError:
            continue
        mine = any(item == b"HEADROOM_GOLDEN_JOB=" + str(os.getpid()).encode() for item in environment)
        rank = [item.split(b"=")[1] for item in environment if item.startswith(b"OMPI_COMM_WORLD_RANK=")]
        if mine and rank and name == "headroom-mpi":
            found[int(rank[0])] = int(folder.name)
    return found


for how, words in ((signal.SIGKILL, []), (signal.SIGSTOP, ["--patience", "3s"])):
    latest = samples_of_the_latest()[0]
    process = start(launched(2, *LONG, "--fresh", *words), env=dict(JOB, HEADROOM_GOLDEN_JOB=str(os.getpid())))
    check(measuring(process, latest), "the job measures")
    ranks = children()
    if check(len(ranks) == 2, f"ranks of the job: {ranks}"):
        os.kill(ranks[1], how)
    try:
        out, err = process.communicate(timeout=PATIENCE)
        check(process.returncode != 0, f"a rank that gets {how.name}: exit {process.returncode}")
        check(how != signal.SIGSTOP or "no answer for 3 s" in err, f"a rank that hangs is told: {err[-600:]}")
    except subprocess.TimeoutExpired:
        check(False, f"a rank that gets {how.name} leaves the job waiting")
        process.kill()
        process.communicate()

# Without headroom-mpi beside it nothing is measured, said once.
lonely = SCRATCH / "lonely"
lonely.mkdir()
shutil.copy2(os.path.realpath(PROGRAM), lonely / "headroom")
for rank in ("0", "1"):
    told = subprocess.run([lonely / "headroom", "measure", "comm"], env=dict(ENVIRONMENT, PMI_SIZE="2", PMI_RANK=rank), capture_output=True, timeout=PATIENCE)
    equal(told.returncode, 2, f"process {rank} without headroom-mpi")
    check((b"no headroom-mpi next to headroom" in told.stderr) == (rank == "0"), f"process {rank}: {told.stderr}")

finish()
