"""The training step of the example: exact whoever shares the work, its files, what it predicts, what it refuses."""

import json
import os
import pathlib
import re
import shutil
import subprocess

from _harness import ENVIRONMENT, PATIENCE, PROGRAM, SCRATCH, SOURCE, check, close, equal, finish, skip

STEP = pathlib.Path(os.path.realpath(PROGRAM)).parent / "headroom-step"
if not STEP.exists():
    skip(f"no {STEP}")
    finish()

MPIRUN = shutil.which("mpirun")
# the program may be one without MPI: all processes of a job would be first ones
LINKED = subprocess.run(["ldd", STEP], capture_output=True, text=True).stdout
if MPIRUN and "libmpi" not in LINKED:
    MPIRUN = None
JOB = dict(ENVIRONMENT, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
SMALL = ["--layers", 5, "--hidden", 64, "--sequence", 16, "--bucket", "20KB", "--steps", 3, "--warm-up", 1]


def called(words, workers=1, code=0):
    before = [MPIRUN, "--oversubscribe", "-np", workers] if workers > 1 else []
    done = subprocess.run([str(word) for word in [*before, STEP, *words]], cwd=SCRATCH, env=JOB, capture_output=True, text=True, timeout=PATIENCE)
    check(done.returncode == code, f"{workers} x headroom-step {words}: exit {done.returncode}, expected {code}: {done.stderr}")
    return done


def result(words, workers=1):
    """The JSON of a run, which follows the schema; the last line of its text says the same."""
    import jsonschema

    path = SCRATCH / "step.json"
    done = called([*words, "--json", path], workers)
    value = json.loads(path.read_text())
    schema = json.loads((SOURCE / "docs" / "schema" / "training-step.json").read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    for error in jsonschema.Draft7Validator(schema).iter_errors(value):
        check(False, f"headroom-step {words}: " + "/".join(map(str, error.absolute_path)) + ": " + error.message[:200])
    if value["kind"] != "prediction":
        last = re.fullmatch(r"step_seconds = (\S+)", done.stdout.splitlines()[-1])
        check(last is not None, f"headroom-step {words}: last line: {done.stdout[-200:]}")
        close(float(last[1]), value["step_seconds"], f"headroom-step {words}: step_seconds", 1e-8)
    for line in done.stdout.splitlines():
        check(len(line) <= 80, f"headroom-step {words}: {len(line)} columns: {line}")
    return value


# --- a result on standard output stands alone there
alone = called([*SMALL, "--batch", 4, "--json", "-"])
check(json.loads(alone.stdout)["workers"] == 1 and "step_seconds = " in alone.stderr, "--json -: the result alone")
check(not (SCRATCH / "-").exists(), "--json -: no file of that name")

# --- one worker: phases, losses, its profile
profile = SCRATCH / "one.profile"
one = result([*SMALL, "--batch", 12, "--profile", profile])
equal(one["workers"], 1, "workers")
equal(one["model"]["parameters"], 5 * 64 * 64, "parameters")
equal([mark["place"] for mark in one["finished"]], [4 * 4096, 3 * 4096, 2 * 4096, 4096, 0], "layers are finished from the last to the first")
check(0 < one["finished"][-1]["seconds"] <= one["phases"]["backward_seconds"] * 1.001, f"the last with the pass: {one['finished'][-1]}")
check(one["losses"][-1] < one["losses"][0], f"losses: {one['losses']}")
equal({key: json.loads(profile.read_text())[key] for key in ("losses", "model", "phases")}, {key: one[key] for key in ("losses", "model", "phases")}, "the profile is the result")
equal(one["model"]["gradient_bytes"], 4 * one["model"]["parameters"], "gradient bytes")
equal(one["buckets"], -(-one["model"]["parameters"] // 5000), "buckets")
equal(len(one["steps_seconds"]), 3, "steps")
equal(len(one["losses"]), 4, "losses of steps and warm-up")
check(sum(one["phases"].values()) < 2 * one["step_seconds"], f"phases against the step: {one['phases']}")
equal(one["bytes_sent_per_worker"], 0, "bytes of one worker")
double = result([*SMALL, "--batch", 12, "--precision", "double"])
equal(double["model"]["gradient_bytes"], 2 * one["model"]["gradient_bytes"], "gradient bytes, double")
for mine, single in zip(double["losses"], one["losses"], strict=True):
    close(mine, single, "losses, double", 1e-5)
equal(result([*SMALL, "--batch", 12, "--steps", 1])["losses"], one["losses"][:2], "losses are the same each time")

# --- exact: the same losses and gradients, however many share the batch
differences = re.compile(r"losses differ by (\S+), gradients by (\S+),")


def exact(words, workers):
    done = called([*SMALL, "--check", *words], workers)
    what = f"{workers} workers {words}"
    equal(done.stdout.splitlines()[-1], "check = passed", what)
    found = [float(number.rstrip(",")) for number in differences.search(done.stdout).groups()]
    limit = 1e-12 if "double" in words else 2e-5
    check(max(found) <= limit, f"{what}: differ by {found}")
    return found


equal(exact(["--batch", 12], 1), [0, 0], "one process against itself")
if MPIRUN:
    for workers in (2, 3, 4):
        for way in ("mpi", "ring"):
            found = exact(["--batch", 13, "--all-reduce", way, "--overlap", "--precision", "double"], workers)
            check(max(found) > 0, f"{workers} workers, {way}: not a bit differs: was anything added up?")
        exact(["--local-batch", 4, "--all-reduce", "ring"], workers)
    exact(["--batch", 12, "--all-reduce", "ring"], 2)
    two = result([*SMALL, "--batch", 12, "--all-reduce", "ring"], 2)
    equal(two["workers"], 2, "two workers")
    equal(two["sequences_of_the_fullest"], 6, "share of two")
    equal(two["bytes_sent_per_worker"], one["model"]["gradient_bytes"], "bytes of a ring of two: 2 (p-1)/p n")
    for mine, alone in zip(two["losses"], one["losses"], strict=True):
        close(mine, alone, "losses of two", 1e-5)
    weak = result([*SMALL, "--local-batch", 12], 2)
    equal((weak["sequences_of_the_fullest"], weak["batch_is_of"], weak["bytes_sent_per_worker"]), (12, "each worker", None), "weak scaling")
else:
    print("not run: jobs of several workers: no mpirun on this machine, or headroom-step built without MPI")

# --- replay: sleeps as long as the profile says, never much less
slow = json.loads(profile.read_text())
slow["phases"].update(forward_seconds=0.08, optimizer_seconds=0.02, backward_seconds=0.12)
for mark in slow["finished"]:
    mark["seconds"] = 0.06
(SCRATCH / "slow.profile").write_text(json.dumps(slow))
replayed = result(["--compute", "replay:slow.profile", "--steps", 3, "--bucket", "20KB"])
equal(replayed["kind"], "replay", "kind")
equal(replayed["batch"], 12, "batch of the profile")
equal(replayed["losses"], [], "losses of a replay")
check(replayed["least_step_seconds"] > 0.215, f"replay of 0.22 s took {replayed['least_step_seconds']}")
check(replayed["phases"]["forward_seconds"] >= 0.078, f"forward of 0.08 s: {replayed['phases']}")
for _ in range(50):  # other work on the machine makes a step longer, never shorter
    half = result(["--compute", "replay:slow.profile", "--steps", 3, "--batch", 6])
    if half["least_step_seconds"] < 0.2:
        break
check(0.115 < half["least_step_seconds"] < 0.2, f"replay of half of it, 0.12 s, took {half['least_step_seconds']}")
if MPIRUN:
    two = result(["--compute", "replay:slow.profile", "--steps", 3, "--all-reduce", "ring", "--overlap"], 2)
    check(two["least_step_seconds"] > 0.115, f"two replaying 0.12 s took {two['least_step_seconds']}")

# --- prediction: the ring's closed form behind what was measured
LINK = ["--compute", "replay:slow.profile", "--latency", "1ms", "--bandwidth", "1MB/s", "--bucket", "1GB"]
rows = result(["--predict", "1,2,4", *LINK])["rows"]
n = one["model"]["gradient_bytes"]
for row, workers in zip(rows, (1, 2, 4), strict=True):
    ring = 2 * (workers - 1) * 1e-3 + 2 * (workers - 1) / workers * n / 1e6
    equal(row["workers"], workers, "predicted workers")
    close(row["step_seconds"], 0.2 / workers + 0.02 + ring, f"{workers} predicted")
    close(row["gamma"], ring / (0.2 / workers + 0.02), f"gamma of {workers}") if ring else equal(row["gamma"], 0, "gamma of one")
    close(row["serial_share"], (0.02 + ring) / row["step_seconds"], f"s of {workers}")
    close(row["speedup"], 0.22 / row["step_seconds"], f"speedup of {workers}")
    close(row["ceiling"], 1 + 0.2 / (0.02 + ring), f"ceiling of {workers}")
# what headroom says itself of the same
laws = subprocess.run([PROGRAM, "laws", "--compute", "50ms", "--communication", f"{(rows[2]['exposed_all_reduce_seconds'] + 0.02) * 1e3}ms",
                       "--at-workers", "4", "--workers", "4", "--format", "json"], env=ENVIRONMENT, capture_output=True, text=True)
told = json.loads(laws.stdout)
close(told["share_at_k0"], rows[2]["serial_share"], "s of headroom laws")
doubling = result(["--predict", "4", *LINK, "--all-reduce", "recursive_doubling"])["rows"][0]
close(doubling["all_reduce_seconds"], 2e-3 + 2 * n / 1e6, "recursive doubling")

# --- what cannot be done is refused in one line
(SCRATCH / "broken.profile").write_text(json.dumps(dict(slow, batch="two")))
(SCRATCH / "old.profile").write_text("headroom-step profile 1\nbatch 64\n")
for words, code, said in (
        (["--bogus"], 2, "headroom-step: unknown option '--bogus'"),
        (["--heads", 4], 2, "headroom-step: unknown option '--heads'"),
        (["--batch", 0], 2, "--batch: Value 0 not in range 1 to 1048576"),
        (["--bucket", "5"], 2, "--bucket"),
        (["--bucket", "1B"], 2, "--bucket: makes more than a million buckets"),
        (["--predict", "64", *LINK], 2, "12 sequences for 64 workers leave some without any"),
        (["--predict", "3", *LINK, "--all-reduce", "rabenseifner", "--batch", "x"], 2, "--batch: Value x not in range 1 to 1048576"),
        (["--predict", "2", *LINK, "--all-reduce", "mpi"], 2, "--all-reduce: 'mpi' cannot be predicted"),
        (["--compute", "replay:absent"], 4, "absent: cannot be read"),
        (["--compute", "replay:broken.profile"], 4, "broken.profile: /batch: \"two\" is no whole number"),
        (["--compute", "replay:old.profile"], 4, "old.profile: is no run of one worker of headroom-step"),
        ([*SMALL, "--batch", 2, "--json", "/nowhere/x.json"], 4, "/nowhere/x.json: cannot be written")):
    done = called(words, code=code)
    check(said in done.stderr and done.stderr.count("\n") == 1 and done.stdout == "", f"headroom-step {words} said: {done.stderr}{done.stdout}")
if MPIRUN:
    done = called(["--batch", 2], workers=3, code=2)
    equal(done.stderr.count("2 sequences for 3 workers leave some without any"), 1, "too few sequences, said once")
    done = called([*SMALL, "--batch", 4, "--profile", "x"], workers=2, code=2)
    equal(done.stderr.count("--profile: is of one worker"), 1, "a profile of two")

check("Usage: headroom-step" in called(["--help"]).stdout, "--help")
finish()
