"""The processes of a job share the files of a set of traces, and the result is that of one process, byte for byte."""

import gzip
import json
import os
import pathlib
import shutil
import subprocess

from _harness import ENVIRONMENT, PATIENCE, PROGRAM, SCRATCH, check, finish, skip

MPIRUN = shutil.which("mpirun")
BESIDE = pathlib.Path(os.path.realpath(PROGRAM)).parent / "headroom-mpi"
if not MPIRUN or not BESIDE.exists():
    skip("no mpirun on this machine" if not MPIRUN else f"no {BESIDE}")
    finish()

# The launcher ends a job in which a process ended with a status: it need not wait two seconds for processes that are gone.
JOB = dict(ENVIRONMENT, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_odls_base_sigkill_timeout="0")
FOLDER = SCRATCH / "mpi"
FOLDER.mkdir()


def kernel(name, begin, duration, stream):
    return {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": stream, "ts": begin, "dur": duration, "args": {"stream": stream, "device": 0}}


def write_rank(name, rank, late):
    events = [kernel("gemm", 100.0, 300.0, 7), kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 350.0 + late, 450.0 - late, 20)]
    head = {"distributedInfo": {"rank": rank, "world_size": 5}} if rank is not None else {}
    text = json.dumps(head | {"baseTimeNanoseconds": 1700000000000000000, "traceEvents": events}).encode()
    (FOLDER / name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)


def run(*words, environment=ENVIRONMENT):
    return subprocess.run([str(word) for word in words], env=environment, capture_output=True, timeout=PATIENCE)


def job(processes, *words):
    return run(MPIRUN, "--allow-run-as-root", "--oversubscribe", "-np", processes, PROGRAM, *words, environment=JOB)


# Five files: stated ranks, one that states none, one that is taken twice, one that holds no event: exit code 5.
for number, late in enumerate([0.0, 20.0, 40.0]):
    write_rank(f"trace_{number}.json{'.gz' if number % 2 else ''}", number, late)
write_rank("trace_3.json", None, 60.0)
write_rank("trace_4.json", 1, 10.0)
(FOLDER / "trace_5.json").write_text("{\"traceEvents\": [")
(FOLDER / "notes.txt").write_text("no trace\n")

for words in (["--format", "json"], ["--format", "csv"], []):
    one = run(PROGRAM, "trace", FOLDER, *words)
    check(one.returncode == 5, f"one process {words}: {one.stderr}")
    for processes in (2, 3, 7):  # the last has more processes than files
        many = job(processes, "trace", FOLDER, *words)
        check(many.returncode == 5, f"{processes} processes {words}: {many.stderr}")
        check(many.stdout == one.stdout, f"{processes} processes {words}: other bytes than one process")

# A job of 48 ranks on 6 nodes: the five that keep the others waiting longest, and what they share.
LARGE = SCRATCH / "large"
LARGE.mkdir()
for rank in range(48):
    late = 30.0 + rank % 8 if rank // 8 == 3 else 0.0  # one after the other: each is waited for by those before it
    events = []
    for step in range(8):
        at = 1000.0 * step
        mine = late if step == rank % 8 else min(late, 1.0)  # in each step another rank of the node is last
        events += [kernel("gemm", at + 100.0, 300.0, 7), kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", at + 420.0 + mine, 400.0 - mine, 20)]
    head = {"distributedInfo": {"rank": rank, "world_size": 48}, "host_name": f"node{rank // 8}"}
    (LARGE / f"rank{rank}.json").write_text(json.dumps(head | {"baseTimeNanoseconds": 1700000000000000000, "traceEvents": events}))
one = run(PROGRAM, "trace", LARGE, "--format", "json")
check(one.returncode == 0, f"48 ranks: {one.stderr}")
check(job(3, "trace", LARGE, "--format", "json").stdout == one.stdout, "48 ranks, three processes: other bytes than one")
words = " ".join(json.loads(one.stdout)["verdict"])
check("(all on node node3) arrive last in" in words, f"48 ranks: {words}")
late = sorted(json.loads(one.stdout)["waiting"], key=lambda rank: -rank["kept_waiting_seconds"])[:5]
check([rank["rank"] for rank in late] == [31, 30, 29, 28, 27], f"48 ranks: {late}")

# A baseline is read together, too.
words = ["trace", FOLDER, "--baseline", FOLDER / "trace_0.json", "--format", "json"]
check(job(2, *words).stdout == run(PROGRAM, *words).stdout, "with a baseline")

# A part of a set, by a job: what it writes merges as the same part by one process.
for maker, name in ((lambda *words: job(2, *words), "a"), (lambda *words: run(PROGRAM, *words), "b")):
    for part in (1, 2):
        made = maker("trace", FOLDER, "--shard", f"{part}/2", "--out", SCRATCH / f"{name}{part}")
        check(made.returncode == (0, 5)[part - 1], f"part {part}: {made.stderr}")
merged = [run(PROGRAM, "trace", SCRATCH / f"{name}2", SCRATCH / f"{name}1", "--format", "json").stdout for name in "ab"]
check(merged[0] == merged[1] != b"", "parts of a job")

# Refusals come once, with the code of one process, and no process is left waiting.
for words in (["trace", FOLDER / "absent"], ["trace", FOLDER, "--no-such-option"], ["trace", FOLDER / "notes.txt"]):
    one, many = run(PROGRAM, *words), job(2, *words)
    check(many.returncode == one.returncode != 0, f"{words}: {many.returncode} and not {one.returncode}")
    check(many.stdout == one.stdout and many.stderr.count(one.stderr) == 1, f"{words}: {many.stderr} and not {one.stderr}")

# Other verbs know nothing of jobs; a lone process in a job neither.
check(job(1, "trace", FOLDER, "--format", "json").stdout == run(PROGRAM, "trace", FOLDER, "--format", "json").stdout, "a job of one")

# Without headroom-mpi the first process says so and does all; the other says nothing.
alone = SCRATCH / "alone"
alone.mkdir()
shutil.copy2(os.path.realpath(PROGRAM), alone / "headroom")
for rank in ("0", "1"):
    told = run(alone / "headroom", "trace", FOLDER, "--format", "json", environment=dict(ENVIRONMENT, PMI_SIZE="2", PMI_RANK=rank))
    check(told.returncode == (5, 0)[int(rank)], f"process {rank} of a job without headroom-mpi: {told.stderr}")
    expected = run(PROGRAM, "trace", FOLDER, "--format", "json").stdout if rank == "0" else b""
    check(told.stdout == expected, f"process {rank} of a job without headroom-mpi: other bytes")
    check((b"no headroom-mpi next to headroom" in told.stderr) == (rank == "0"), f"process {rank}: {told.stderr}")

finish()
