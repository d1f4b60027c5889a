#!/usr/bin/env python3
"""Time and memory of `headroom trace` on the traces of a large job, shared by the processes of `mpirun`.

    bench/trace_job.py PROGRAM SET [RANKS] [MB] [FOLDER]

SET is a folder of Kineto traces, a file a rank (8 ranks, say). RANKS ranks (1,024) of MB megabytes of text each (50) are made of
it: rank r has the events of rank r mod 8, its steps one after the other until the text is that long, and a node name for every
8 ranks. The ranks of one node are late in every collective. Files are gzip with two members: a head of the rank's own, and
events that are compressed once for all ranks that share them.

Prints time, and the most memory that one process had, for an eighth of the ranks and for all: the difference is the memory of a
rank. Fails where the verdict does not name the late node, where the memory of a rank exceeds a fifth of its text, or where two
processes do not print what one does (of 16 ranks). Says so and passes without mpirun, SET or room on the disk.

Last result: see docs/guide/traces.md.
"""

import gzip
import json
import multiprocessing
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import time

NODE = 8  # ranks
LATE_NODE, LATE_BY = 1, 5000.0  # microseconds, of what the collective takes
OFTEN = 1_000_000  # numbers of one copy


def copies_of(events, size, late):
    """Text of a step's events, again and again: later, with numbers of its own, until it has `size` bytes."""
    begin = min(e["ts"] for e in events if "ts" in e)
    period = max(e["ts"] + e.get("dur", 0) for e in events if "ts" in e) - begin + 1000
    parts, length, copy = [], 0, 0
    while length < size:
        rows = []
        for event in events:
            event = dict(event)
            if "ts" in event:
                event["ts"] += copy * period
            if "ProfilerStep#" in event.get("name", ""):
                event["name"] = f"ProfilerStep#{copy}"
            if "id" in event and event["ph"] in "sf":
                event["id"] += copy * OFTEN
            arguments = event.get("args", {})
            if "correlation" in arguments:
                event["args"] = arguments | {"correlation": arguments["correlation"] + copy * OFTEN}
            if late and event.get("cat") == "kernel" and "nccl" in event["name"]:
                by = min(LATE_BY, 0.9 * event["dur"])
                event["ts"], event["dur"] = event["ts"] + by, event["dur"] - by
            rows.append(json.dumps(event))
        parts.append(",\n".join(rows))
        length += len(parts[-1])
        copy += 1
    return ('"traceEvents": [\n' + ",\n".join(parts) + "]}").encode(), copy


def write_tails(sources, folder, size):
    """The compressed events of each source, and of each with late collectives; text and steps of the last."""
    for number, source in enumerate(sources):
        text = (gzip.open if source.suffix == ".gz" else open)(source, "rb").read()
        events = [event for event in json.loads(text)["traceEvents"] if event.get("ph") in ("X", "s", "f", "M")]
        for late in (False, True):
            text, steps = copies_of(events, size, late)
            (folder / f"tail{number}{late:d}.gz").write_bytes(gzip.compress(text, 4))
    (folder / "size.json").write_text(json.dumps({"text": len(text), "steps": steps}))


def write_ranks(folder, sources, ranks):
    """A folder of so many ranks."""
    job = folder / f"job{ranks}"
    job.mkdir(exist_ok=True)
    for rank in range(ranks):
        node = rank // NODE
        head = {"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": ranks}, "host_name": f"node{node:03d}"}
        tail = folder / f"tail{rank % len(sources)}{node == LATE_NODE:d}.gz"
        with (job / f"rank{rank}.json.gz").open("wb") as out:
            out.write(gzip.compress((json.dumps(head)[:-1] + ",\n").encode()))
            out.write(tail.read_bytes())
    return job


def call(command):
    """Output, seconds, and the most memory that a process below this one had."""
    begin = time.monotonic()
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True,
                          env=os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
    return done.stdout, time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024


def in_own_process(command):
    """As `call`, in a process whose children are these alone: the peak of others would count."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(call, (command,))


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    sources = sorted(pathlib.Path(sys.argv[2]).glob("*.json*"))
    ranks = int(sys.argv[3]) if len(sys.argv) > 3 else 1024
    size = int(float(sys.argv[4]) * 1e6) if len(sys.argv) > 4 else 50_000_000
    folder = pathlib.Path(sys.argv[5] if len(sys.argv) > 5 else "build/bench-traces/large-job")
    if not sources:
        print(f"trace_job: left out, no traces in {sys.argv[2]}")
        return
    if not shutil.which("mpirun"):
        print("trace_job: left out, no mpirun")
        return
    folder.mkdir(parents=True, exist_ok=True)
    making = multiprocessing.get_context("spawn").Process(target=write_tails, args=(sources, folder, size))
    making.start()
    making.join()
    if making.exitcode != 0:
        sys.exit("the traces could not be made")
    made = json.loads((folder / "size.json").read_text())
    packed = max(tail.stat().st_size for tail in folder.glob("tail*.gz"))
    if shutil.disk_usage(folder).free < 1.5 * packed * ranks:
        print(f"trace_job: left out, {1.5 * packed * ranks / 1e9:.1f} GB of disk are needed")
        shutil.rmtree(folder)
        return
    job = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", "2", program, "trace"]
    few = write_ranks(folder, sources, 2 * NODE)
    same = in_own_process([program, "trace", few, "--format", "json"])[0] == in_own_process([*job, few, "--format", "json"])[0]
    print(f"{2 * NODE} ranks: two processes print {'the same as' if same else 'OTHER BYTES than'} one")
    wrong = [] if same else ["two processes differ from one"]
    peaks = {}
    for count in (max(2 * NODE, ranks // 8), ranks):
        printed, seconds, peak = in_own_process([*job, write_ranks(folder, sources, count), "--format", "json", "--threads", "1"])
        answer = json.loads(printed)
        peaks[count] = peak
        verdict = " ".join(answer["verdict"])
        late = re.search(r"Ranks? [^.]*arrives? last.*?\.(?= |$)", verdict)
        print(f"{count} ranks of {made['text'] / 1e6:.1f} MB ({made['steps']} steps, {answer['events'] / 1e6:.0f} million events, "
              f"{answer['text_bytes'] / 1e9:.1f} GB in all): {seconds:.1f} s, {answer['text_bytes'] / seconds / 1e9:.2f} GB/s with two processes; "
              f"most memory of a process {peak / 2**30:.2f} GiB, {peak / answer['text_bytes']:.3f} of the text")
        print(f"  {late[0].strip() if late else verdict}")
        if f"all on node node{LATE_NODE:03d}" not in verdict:
            wrong.append(f"{count} ranks: the late node is not named")
    low, high = sorted(peaks)
    if high > low:
        each = (peaks[high] - peaks[low]) / (high - low)
        print(f"memory of a rank more: {each / 1e6:.2f} MB, {each / made['text']:.3f} of its text")
        if each > made["text"] / 5:
            wrong.append("memory of a rank")
    shutil.rmtree(folder)
    if wrong:
        sys.exit("; ".join(wrong))


if __name__ == "__main__":
    main()
