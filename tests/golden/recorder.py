"""The recorder's headers alone make a program; what the examples print and write is right."""

import json
import os
import shutil
import subprocess

from _harness import ENVIRONMENT, PATIENCE, SCRATCH, SOURCE, check, close, equal, finish, schema_errors

# Copied away from everything else: they must need nothing but the standard library and threads.
shutil.copytree(SOURCE / "probe", SCRATCH / "probe")
COMPILER = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++-14") or "c++"
CCACHE = [shutil.which("ccache")] if shutil.which("ccache") else []


def built(name):
    program = SCRATCH / name
    compiled = subprocess.run([*CCACHE, COMPILER, "-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread",
                               "-I", "probe/include", f"probe/examples/{name}.cpp", "-c", "-o", f"{name}.o"],
                              cwd=SCRATCH, capture_output=True, text=True)
    check(compiled.returncode == 0, f"{name} does not compile: {compiled.stderr[:2000]}")
    subprocess.run([COMPILER, "-pthread", f"{name}.o", "-o", name], cwd=SCRATCH, check=compiled.returncode == 0)
    return program


def called(program, *arguments, code=0):
    done = subprocess.run([program, *map(str, arguments)], cwd=SCRATCH, env=ENVIRONMENT, capture_output=True, text=True,
                          timeout=PATIENCE)
    check(done.returncode == code, f"{program.name} {arguments}: exit {done.returncode}, expected {code}: {done.stderr}")
    return done


def studied(program, *arguments):
    """A run's JSON, checked for what must hold whatever the machine did."""
    path = SCRATCH / "record.json"
    what = " ".join([program.name, *map(str, arguments)])
    done = called(program, *arguments, "--json", path)
    for line in done.stdout.splitlines():
        check(len(line) <= 80, f"{what}: {len(line)} columns: {line}")
    value = json.loads(path.read_text())
    for error in schema_errors(value):
        check(False, f"{what}: {error}")
    work, span = value["work_seconds"], value["span_seconds"]
    check(0 < span <= work <= value["elapsed_seconds"] * value["workers"], f"{what}: span {span}, work {work}")
    check(value["burdened_span_seconds"] >= span, f"{what}: burdened span")
    equal(value["strands"], 1 + 2 * value["spawns"] + value["syncs"], f"{what}: strands")
    close(value["parallelism"], work / span, f"{what}: parallelism")
    for point in value["curve"]:
        k = point["workers"]
        close(point["speedup_at_least"], work / (work / k + (1 - 1 / k) * span), f"{what}: at least, {k} workers")
        close(point["speedup_at_most"], min(k, work / span), f"{what}: at most, {k} workers")
    return value


def measured(value):
    return [point["workers"] for point in value["curve"] if point["measured_seconds"] is not None]


# 4096 numbers in pieces of 256 are a full tree of 16 leaves: 15 forks.
small = ("--size", 4096, "--grain", 256, "--repeat", 2)

add = built("parallel_sum")
value = studied(add, *small)
equal(value["spawns"], 15, "parallel_sum: spawns")
equal(value["syncs"], 15, "parallel_sum: syncs")
equal(value["repeats"], 2, "parallel_sum: repeats")
equal(measured(value), [1, 2], "parallel_sum: measured on")
equal(measured(studied(add, *small, "--workers", "3,1,4")), [1, 3, 4], "parallel_sum --workers: measured on")
equal(studied(add, *small, "--record-on", 3)["workers"], 3, "parallel_sum --record-on")
equal(studied(add, *small, "--clock", "cpu")["clock"], "cpu", "parallel_sum --clock cpu")
equal(studied(add, "--size", 100000, "--grain", 100000)["spawns"], 0, "parallel_sum of one piece: spawns")

scan = built("scan")
equal(studied(scan, *small)["spawns"], 2 * 15, "scan: spawns of two passes")
studied(scan, "--size", 10007, "--grain", 3, "--repeat", 1)  # pieces of uneven sizes

sort = built("merge_sort")
# with serial merges only the halves are spawned
serial = studied(sort, *small, "--serial-merge")
equal(serial["spawns"], 15, "merge_sort --serial-merge: spawns")
check(studied(sort, *small)["spawns"] > 15, "merge_sort: merges spawn too")
studied(sort, "--size", 10007, "--grain", 5, "--repeat", 1, "--workers", "1,2,4")

# what cannot be done is refused in one line
for arguments, said in ((("--size", "x"), "--size: 'x' is no whole number from 1 to"),
                        (("--size", "0"), "--size: '0' is no whole number"),
                        (("--grain", "-1"), "--grain: '-1' is no whole number"),
                        (("--workers", "1,,2"), "--workers: '' is no whole number"),
                        (("--workers", "9999"), "--workers: '9999' is no whole number from 1 to 256"),
                        (("--clock", "wall"), "--clock: 'wall' is neither 'steady' nor 'cpu'"),
                        (("--repeat",), "--repeat needs a value"),
                        (("--bogus",), "unknown option '--bogus'"),
                        (("--serial-merge",), "unknown option '--serial-merge'"),
                        (("--size", "64", "--json", "/nowhere/x.json"), "'/nowhere/x.json' cannot be written")):
    done = called(add, *arguments, code=2)
    check(said in done.stderr and done.stderr.count("\n") == 1, f"parallel_sum {arguments} said: {done.stderr}")

# the check of the answers can fail: a sum that forgets its left half
source = SCRATCH / "probe" / "examples" / "parallel_sum.cpp"
text = source.read_text()
check("return left + right;" in text, "parallel_sum.cpp has no line to break")
(source.parent / "broken_sum.cpp").write_text(text.replace("return left + right;", "return right;"))
broken = called(built("broken_sum"), *small, code=1)
check("the answer differs" in broken.stderr, f"broken_sum said: {broken.stderr}")

check("usage:" in called(add, "--help").stdout, "parallel_sum --help")
finish()
