"""Attempts of somebody who knows only the contract: hostile files, places to write to, and the same answers in other words."""

import os
import resource
import subprocess

from _harness import ENVIRONMENT, PROGRAM, SCRATCH, answer, check, close, equal, finish, run, schema_errors, succeed


def refused(*arguments, code, contains):
    done = run(*arguments)
    check(done.code == code, f"{done}: exit {done.code}, expected {code}; said {done.err!r}")
    check(len(done.err.splitlines()) == 1 and contains in done.err, f"{done}: {contains!r} is not in {done.err!r}")
    check(done.processor_seconds < 5, f"{done}: took {done.processor_seconds:.1f} s of a processor")


# ---- files that are none -----------------------------------------------------------------------------------------

GRAPH = b'{"tasks": [{"id": "a", "cost": 2}, {"id": "b", "cost": 3}], "edges": [["a", "b"]]}'
DOT = b"digraph g { a [cost=2]; b [cost=3]; a -> b }"
MACHINE = b'name = "ours"\n[memory]\nbandwidth = "200 GB/s"\n[peak]\nfp64 = "1.5 TFLOP/s"\n'
KERNELS = b"name,flops,bytes\ndot,2,8\n"
ENTRIES = [("graph.json", GRAPH, ["graph"]), ("graph.dot", DOT, ["graph"]), ("machine.toml", MACHINE, ["roofline", "--machine"]),
           ("kernels.csv", KERNELS, ["roofline", "--machine", "a100", "--kernel-file"])]
for name, content, verb in ENTRIES:
    path = SCRATCH / name
    path.write_bytes(content)
    plain = succeed(*verb, f"./{name}", "--format", "json").out
    for what, same in (("CRLF", content.replace(b"\n", b"\r\n")), ("a byte order mark", b"\xef\xbb\xbf" + content)):
        path.write_bytes(same)
        equal(succeed(*verb, f"./{name}", "--format", "json").out, plain, f"{name} with {what}")
    for cut in range(0, len(content), 3):
        path.write_bytes(content[:cut])
        done = run(*verb, f"./{name}")
        check(done.code in (0, 2, 4, 5) and len(done.err.splitlines()) == (done.code != 0), f"{name} cut at {cut}: {done.code} {done.err!r}")
    path.write_bytes(content.decode().encode("utf-16"))
    refused(*verb, f"./{name}", code=4, contains=name)
    path.write_bytes(b"," * 3_000_000)
    refused(*verb, f"./{name}", code=4, contains=name)
    path.unlink()
    path.mkdir()
    refused(*verb, f"./{name}", code=4, contains="folder")

(SCRATCH / "unit.toml").write_bytes(MACHINE + b'fp32 = "51 TFLOP/s"\nbf16 = "756 MFLOP/s"\n')
refused("roofline", "--machine", "./unit.toml", code=2, contains="peak.bf16: 756 MFLOP/s is far below the peak of fp32")
(SCRATCH / "damaged.json").write_text("hello")
refused("graph", "./damaged.json", code=4, contains="not valid JSON")
refused("graph", "/dev/zero", code=4, contains="holds no data")
refused("graph", "/dev/null", code=4, contains="an empty file")
os.mkfifo(SCRATCH / "pipe")
refused("graph", "./pipe", code=4, contains="nothing is written into this pipe")
(SCRATCH / "graph.txt").write_bytes(GRAPH)
piped = subprocess.run(["bash", "-c", f"'{PROGRAM}' graph <(sleep 0.2; cat graph.txt) --format csv"], cwd=SCRATCH, env=ENVIRONMENT, capture_output=True)
equal(piped.stdout.decode(), succeed("graph", "./graph.txt", "--format", "csv").out, "a graph from a pipe")

# ---- places to write to ------------------------------------------------------------------------------------------

folder = SCRATCH / "places"
folder.mkdir()
refused("laws", "--serial", "0.1", "--out", "places/a", "--html", "places/../places/a", code=2, contains="is where the result goes too")
refused("graph", "sum-tree:8", "--timeline", "places/t.json", "--html", "places/none/x", code=2, contains="there is no folder")
refused("graph", "sum-tree:8", "--timeline", "places/t.json", "--out", "places/none/x", code=2, contains="there is no folder")
refused("graph", "sum-tree:8", "--timeline", "places/t.json", "--out", "places/./t.json", code=2, contains="is where the result goes too")
small = subprocess.run([PROGRAM, "graph", "sum-tree:8", "--html", "places/page.html"], cwd=SCRATCH, env=ENVIRONMENT, capture_output=True,
                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024)))
equal(small.returncode, 2, "a file that may not grow")
check(b"page.html: cannot be written" in small.stderr, f"said: {small.stderr!r}")
equal(sorted(os.listdir(folder)), [], "nothing is left behind by what was refused")
succeed("laws", "--serial", "0.1", "--out", "/dev/null", "--html", "/dev/null")

# ---- the same answers in other words -----------------------------------------------------------------------------

refused("laws", "--efficiency", "0.8", "--overhead", "8..4", code=2, contains="at '.4'")
ridge = answer("roofline", "--machine", "a100")["ridge_flops_per_byte"]
for name in ("A100-SXM4-80GB", "a100_sxm_80gb", "a100-sxm-80gb", "dgx-a100"):
    close(answer("roofline", "--machine", name)["ridge_flops_per_byte"], ridge, name)
for name in ("sum_tree:16", "SUM-TREE:16"):
    equal(answer("graph", name)["depth"], 4, name)
listing = answer("graph", "--list", "--stats")
check(listing["stats"]["wall_seconds"] >= 0, "the list of builders has its time with --stats")
equal(schema_errors(listing), [], "the list of builders with its time")

# a square of equal kernels: operations and bytes with and without units
for flops, size in (("2e12", "3e9"), ("2TFLOP", "3GB"), ("2000 GFLOP", "3000MB")):
    kernel = answer("roofline", "--machine", "a100", "--kernel", f"gemm:flops={flops},bytes={size}")["kernels"][0]
    close(kernel["intensity_flops_per_byte"], 2e12 / 3e9, f"{flops} over {size}")
    equal(kernel["bound"], "compute", f"{flops} over {size}")

finish()
