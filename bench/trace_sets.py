#!/usr/bin/env python3
"""Time and memory of `headroom trace` on large inputs, from the file to the answer.

    bench/trace_sets.py PROGRAM TRACE.json[.gz] [FOLDER]

TRACE is a Kineto trace; copies of its events, moved in time and with numbers of their own, make one file of 1 GB, the same
compressed, and a set of 64 ranks of 50 MB. Prints seconds, GB of text a second, peak memory over text and what two threads
gain, compared with the figures that Holistic Trace Analysis reached on a machine of this kind (14 to 37 MB/s; 2.4 GiB for 526 MB).

Where `bench_trace_reading_bench` stands next to PROGRAM (`cmake --build ... --target bench_trace_reading_bench`, with
simdjson), the limit is measured in the same run, before and after: reading the one file and a bare on-demand pass of
simdjson over it that takes the same members, its memory warm. By processor time: others on the machine slow both down
alike. Bars: one thread from the file to the answer at 60 % of that, two threads 1.5 times as fast for one file and
1.8 times for 64, 50 times the Python tool, memory of 0.3 of the text.

Last result: see docs/guide/traces.md.
"""

import gzip
import json
import multiprocessing
import os
import pathlib
import re
import subprocess
import sys

HTA_MB_PER_SECOND = (14.2, 35.5)
SHARE_OF_LIMIT = 0.6
RUNS = 5  # of which the best counts: others on the machine only add time
HTA_MEMORY = 2408 * 2**20 / 525.8e6  # of the text


def split(text):
    """Text before the events, the events, and text after them."""
    begin = text.index(b"[", text.index(b'"traceEvents"')) + 1
    end = text.rindex(b"]", 0, text.rindex(b'"traceName"')) if b'"traceName"' in text else text.rindex(b"]")
    return text[:begin], text[begin:end].rstrip().rstrip(b","), text[end:]


def moved(events, copy):
    """Events moved in time, with no number shared with another copy; launches stay tied to their kernels."""
    prefix = re.search(rb'"ts": (\d{8})\d{6,}', events).group(1)
    later = str(int(prefix) + copy * 10).encode()
    number = str(copy).encode()
    for old, new in ((b'"ts": ' + prefix, b'"ts": ' + later), (b'"correlation": ', b'"correlation": 1' + number),
                     (b'"id": ', b'"id": 1' + number), (b'"External id": ', b'"External id": 1' + number),
                     (b"ProfilerStep#", b"ProfilerStep#1" + number)):
        events = events.replace(old, new)
    return events


def write_file(path, head, events, tail, size):
    if path.exists() and path.stat().st_size >= 0.9 * size:
        return
    with path.open("wb") as out:
        out.write(head)
        copy = 0
        while True:
            out.write(moved(events, copy))
            copy += 1
            if out.tell() >= size:
                break
            out.write(b",")
        out.write(tail)


def run(command, **environment):
    """Output of a program, and its processor time."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, **environment})
    printed = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{command[0]} ended with {process.returncode}")
    return printed, used.ru_utime + used.ru_stime


class Best:
    """The best of some runs: wall seconds, memory, text, events; and the least processor time of them."""

    def __init__(self, program, paths, *options):
        self.command = [program, "trace", *paths, "--format", "json", "--stats", *options]
        self.row, self.used = None, None

    def run(self):
        printed, used = run(self.command)
        answer = json.loads(printed)
        row = (answer["stats"]["wall_seconds"], answer["stats"]["peak_memory_bytes"], answer["text_bytes"], answer["events"])
        self.row = row if self.row is None or row[0] < self.row[0] else self.row
        self.used = used if self.used is None else min(self.used, used)


def limit(program, path):
    """Processor seconds of reading a file and of a bare pass over it; None where the bench is not built."""
    bench = pathlib.Path(program).resolve().parent / "bench_trace_reading_bench"
    if not bench.exists():
        return None
    printed, _ = run([bench, "--benchmark_filter=bare_simdjson_again", "--benchmark_format=json"],
                     HEADROOM_TRACE=str(path))
    passes = json.loads(printed)["benchmarks"]
    return passes[0]["cpu_time"] / 1e3 if passes else None


def tell_limit(size, used, passes):
    if None in passes:
        print("limit not measured: build bench_trace_reading_bench beside the program, with simdjson installed")
        return
    best = min(passes)
    print(f"one file, one thread, by processor time: {size / used / 1e9:.2f} GB/s from the file to the answer; limit "
          f"{size / best / 1e9:.2f} GB/s (reading and a bare pass of simdjson); {100 * best / used:.0f} % of it, "
          f"bar {100 * SHARE_OF_LIMIT:.0f} %")


def make_sets(source, folder):
    """Writes the files that are not there already."""
    text = (gzip.open if source.suffix == ".gz" else open)(source, "rb").read()
    one, packed, ranks = folder / "one.json", folder / "one.json.gz", folder / "ranks"
    write_file(one, *split(text), 1_000_000_000)
    ranks.mkdir(exist_ok=True)
    for rank in range(64):
        path = ranks / f"rank{rank}.json"
        if not path.exists():
            path.write_bytes(re.sub(rb'"rank": \d+', b'"rank": %d' % rank, text, count=1))
    if not packed.exists():
        with packed.open("wb") as out:
            subprocess.run(["gzip", "-6", "-c", one], stdout=out, check=True)


def main():
    program, source = sys.argv[1], pathlib.Path(sys.argv[2])
    folder = pathlib.Path(sys.argv[3] if len(sys.argv) > 3 else "build/bench-traces")
    folder.mkdir(parents=True, exist_ok=True)
    # In a process of its own: the peak of a parent's memory counts as its children's.
    making = multiprocessing.get_context("spawn").Process(target=make_sets, args=(source, folder))
    making.start()
    making.join()
    if making.exitcode != 0:
        sys.exit("the sets could not be made")
    one, packed, ranks = folder / "one.json", folder / "one.json.gz", folder / "ranks"
    print(f"load before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    print("input                       threads   seconds     GB/s  memory/text  events/s  against the Python tool")
    for name, paths in (("one file", [one]), ("one file, gzip", [packed]), ("64 ranks", [ranks])):
        runs = {threads: Best(program, paths, "--threads", str(threads)) for threads in (1, 2)}
        passes = [limit(program, one), limit(program, one)] if paths == [one] else []
        run(runs[1].command)  # memory that the pass gave back to a virtual machine's host is had again
        for _ in range(RUNS):  # in turn: a machine that is slow for a while is so for both
            for best in runs.values():
                best.run()
        passes += [limit(program, one), limit(program, one)] if paths == [one] else []
        for threads, best in runs.items():
            seconds, memory, size, count = best.row
            rate = size / seconds
            gain = f"{rate / 1e6 / HTA_MB_PER_SECOND[1]:.0f} to {rate / 1e6 / HTA_MB_PER_SECOND[0]:.0f} x as fast"
            print(f"{name:18} {size / 1e6:6.0f} MB  {threads:7}  {seconds:8.3f}  {rate / 1e9:7.2f}  {memory / size:11.3f}  "
                  f"{count / seconds / 1e6:6.2f} M  {gain}, {HTA_MEMORY / (memory / size):.0f} x as lean"
                  + (f"; {runs[1].row[0] / seconds:.2f} x one thread" if threads > 1 else ""))
        if paths == [one]:
            tell_limit(runs[1].row[2], runs[1].used, passes)
    print(f"load after: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
