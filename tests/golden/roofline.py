"""The roofline: known ridges and kernels through the program, bounds that hold, a step that agrees with predict, and
plain refusals."""

import json

from _harness import CONFIGS, SCRATCH, SOURCE, answer, check, close, equal, finish, run, schema_errors, succeed

BOOK = json.loads((SOURCE / "tests" / "data" / "textbook.json").read_text())


def roofline(*arguments):
    what = "roofline " + " ".join(map(str, arguments))
    value = answer("roofline", *arguments)
    if value is None:
        return None
    for error in schema_errors(value):
        check(False, f"{what}: {error}")
    bandwidths = {one["name"]: one["bandwidth_bytes_per_second"] for one in value["machine"]["levels"]}
    peaks = {one["precision"]: one["flops_per_second"] for one in value["ceilings"]
             if one["kind"] == "datasheet" and one["limits"] == "compute"}
    main = value["machine"]["levels"][0]["name"]
    close(value["ridge_flops_per_byte"], peaks[value["precision"]] / bandwidths[main], f"{what}: ridge")
    for one in value["ridges"]:
        close(one["flops_per_byte"], peaks[one["precision"]] / bandwidths[one["level"]], f"{what}: ridge of {one}")
    share = 0
    for kernel in value["kernels"]:
        about = f"{what}: {kernel['name']}"
        times = [one["bytes"] / bandwidths[one["level"]] for one in kernel["levels"]]
        work = kernel["flops"] / peaks[kernel["precision"]]
        close(kernel["seconds"], max(work, *times, 0), f"{about}: the longest of work and traffic")
        equal(kernel["bound"], "memory" if max(times) > work else "compute", f"{about}: bound")
        close(kernel["attainable_flops_per_second"], kernel["flops"] / kernel["seconds"], f"{about}: attainable")
        close(kernel["of_peak"], kernel["attainable_flops_per_second"] / peaks[kernel["precision"]], f"{about}: of_peak")
        if kernel["bytes"]:
            close(kernel["intensity_flops_per_byte"], kernel["flops"] / kernel["bytes"], f"{about}: intensity")
        share += kernel["share_of_time"]
        check(all(gain["speedup"] >= 1 - 1e-9 for gain in kernel["gains"]), f"{about}: a lever that hurts")
        check(kernel["advice"].startswith(kernel["bound"] + "-bound"), f"{about}: {kernel['advice']}")
    if value["kernels"]:
        total = sum(kernel["seconds"] * kernel["count"] for kernel in value["kernels"])
        close(value["attainable_seconds"], total, f"{what}: all kernels")
        if not value["step"]:
            close(share, 1, f"{what}: shares of time")
    return value


# known results
book = BOOK["roofline"]
for name, ridge in book["ridge_flops_per_byte"].items():
    machines = {"a100_sxm_80gb_bf16": ["A100-SXM-80GB", "dgx-a100"], "h100_sxm_bf16": ["H100", "dgx-h100"],
                "h200_bf16": ["h200-sxm-141gb", "dgx-h200"]}[name]
    for machine in machines:
        value = roofline("--machine", machine)
        equal(round(value["ridge_flops_per_byte"], 1), ridge, f"ridge of {machine}")
        equal(value["precision"], "bf16", f"usual precision of {machine}")
dot = roofline("--machine", "A100-SXM-80GB", "--precision", "fp32", "--kernel", "dot:1000000")["kernels"][0]
equal(dot["intensity_flops_per_byte"], book["dot_product_fp32"]["flops_per_byte"], "intensity of a dot product")
equal(dot["bound"], book["dot_product_fp32"]["bound"], "a dot product waits for memory")
for spec in ("dot:flops=2000000,bytes=8000000,precision=fp32", "dot:flops=2MFLOP,bytes=8MB,precision=fp32", "dot:1M:fp32"):
    same = roofline("--machine", "A100-SXM-80GB", "--kernel", spec)["kernels"][0]
    for key in ("flops", "bytes", "bound", "attainable_flops_per_second", "of_peak", "seconds"):
        equal(same[key], dot[key], f"{spec}: {key}")
branch = roofline("--machine", "A100", "--precision", "fp32", "--divergence", 2)
equal(branch["divergence"]["throughput"], BOOK["warp_divergence"]["two_way_branch_throughput"], "a two-way branch")
equal([one["of_roof"] for one in branch["ceilings"] if one["name"] == "2-way divergence"], [0.5], "its ceiling in fp32")

# by hand: 2 x 4096^3 operations at 312 TFLOP/s; 128 rows read the matrix for 246 TFLOP/s
value = roofline("--machine", "a100", "--kernel", "gemm:4096x4096x4096", "--kernel", "gemm:128x4096x4096")
close(value["kernels"][0]["seconds"], 2 * 4096**3 / 312e12, "a large product")
close(value["kernels"][1]["seconds"], 2 * (2 * 128 * 4096 + 4096**2) / 2039e9, "a thin product")
batch = [gain for gain in value["kernels"][1]["gains"] if gain["by"] == "batch"][0]
r = 2 * 312e12 / 2039e9
close(batch["rows_at_ridge"], r * 4096**2 / (2 * 4096**2 - 2 * r * 4096), "rows at the ridge")

# a machine of one's own, with levels
machine = SCRATCH / "server.toml"
machine.write_text("""[memory]
name = "DRAM"
bandwidth = "200 GB/s"
latency = "90 ns"
in_flight = "40 kB"
[[level]]
name = "L2"
bandwidth = "2 TB/s"
[peak]
fp64 = "1.5 TFLOP/s"
[compute]
simd_width = "512 bit"
""")
value = roofline("--machine", machine, "--kernel", "mine:flops=8GFLOP,bytes=16GB,l2=400GB", "--occupancy", "20%")
equal(value["precision"], "fp64", "the only format that it has")
equal(value["kernels"][0]["bound_by"], "L2", "the level that binds")
close(value["kernels"][0]["seconds"], 0.2, "400 GB over 2 TB/s")
lower = {one["name"]: one for one in value["ceilings"] if one["kind"] == "lower"}
close(lower["without vectors"]["flops_per_second"], 1.5e12 / 8, "one element of eight")
close(lower["without vectors and fused multiply-add"]["flops_per_second"], 1.5e12 / 16, "neither")
close(lower["occupancy of 20 %"]["bytes_per_second"], 0.2 * 40e3 / 90e-9, "Little's law")
record = SOURCE / "catalog" / "accelerators" / "h100-sxm-80gb.toml"
equal(roofline("--machine", record)["ceilings"], roofline("--machine", "h100")["ceilings"], "a record of the catalog as a file")
table = SCRATCH / "kernels.csv"
table.write_text("name,flops,bytes,precision,count,L2\ncopy,0,4GB,,3,\ntriad,2GFLOP,24GB,fp64,,100GB\n")
value = roofline("--machine", machine, "--kernel-file", table)
equal([one["count"] for one in value["kernels"]], [3, 1], "counts of a table")
equal(value["kernels"][0]["attainable_flops_per_second"], 0, "a copy computes nothing")
named = table.with_name("units.csv")
named.write_text("name,flops (GFLOP),bytes [GB]\ntriad,2,24\n")
kernel = roofline("--machine", machine, "--kernel-file", named)["kernels"][0]
equal([kernel["flops"], kernel["bytes"]], [2e9, 24e9], "units in the heads of a table")
named.write_text("Kernel,FLOPs (G),Bytes (MB)\ntriad,2,24\n")
kernel = roofline("--machine", machine, "--kernel-file", named)["kernels"][0]
equal([kernel["name"], kernel["flops"], kernel["bytes"]], ["triad", 2e9, 24e6], "a letter of thousands in a head")
named.write_text("Kernel Name,GFLOP,DRAM bytes,Calls\ntriad,2,24e6,3\n")
kernel = roofline("--machine", machine, "--kernel-file", named)["kernels"][0]
equal([kernel["flops"], kernel["bytes"], kernel["count"]], [2e9, 24e6, 3], "heads that are units, and other words")
for text in ('name,flops,bytes\n"3,000 points","2,000,000","24,000,000"\n', "name;flops;bytes\n3,000 points;2 000 000;24 000 000\n",
             "name;flops;bytes (MB)\n3,000 points;2.000.000;24,0\n", "name\tflops\tbytes\n3,000 points\t2'000'000\t24'000 kB\n"):
    named.write_text(text)
    kernel = roofline("--machine", machine, "--kernel-file", named)["kernels"][0]
    equal([kernel["name"], kernel["flops"], kernel["bytes"]], ["3,000 points", 2e6, 24e6], f"groups of digits: {text}")

# a step: its kernels are those of predict
for model, machine_name, degrees in [
    ("llama-3-8b", "dgx-h100", ["--micro-batch", 2, "--sequence-length", 4096, "--tp", 2]),
    ("gpt3-13b", "dgx-a100", ["--sequence-length", 2048, "--recompute", "full", "--dp", 2, "--zero", 3]),
    ("mixtral-8x7b", "dgx-b200", ["--sequence-length", 4096, "--dp", 8, "--ep", 8, "--precision", "fp8"]),
    ("deepseek-v3", "dgx-h200", ["--sequence-length", 4096, "--tp", 8, "--ep", 8, "--layers", 4]),
    ("resnet-50", "dgx-a100", ["--micro-batch", 64]),
    ("gpt2-xl", "dgx-v100", ["--framework", "megatron-2021"]),
]:
    value = roofline("--machine", machine_name, "--model", model, *degrees)
    step = value["step"]
    about = f"{model} on {machine_name}"
    # the step counts whole picoseconds of each kernel
    close(step["kernels_seconds"], step["compute_seconds"] + step["optimizer_seconds"], f"{about}: kernels", 1e-8)
    close(sum(kernel["predicted_seconds"] * kernel["count"] for kernel in value["kernels"]), step["kernels_seconds"], f"{about}: kernel by kernel")
    close(sum(group["predicted_seconds"] for group in step["groups"]), step["kernels_seconds"], f"{about}: groups")
    close(sum(group["attainable_seconds"] for group in step["groups"]), step["attainable_seconds"], f"{about}: groups under the roof")
    close(sum(kernel["share_of_time"] for kernel in value["kernels"]),
          1, f"{about}: shares")
    strategy = step["strategy"]
    same = [str(word) for pair in (("--dp", strategy["dp"]), ("--tp", strategy["tp"]), ("--cp", strategy["cp"]), ("--pp", 1),
                                   ("--micro-batch", strategy["micro_batch"]), ("--global-batch", step["workload"]["global_batch"])) for word in pair]
    rest = [word for word in map(str, degrees)]
    for option in ("--micro-batch", "--dp", "--tp"):
        if option in rest:
            del rest[rest.index(option):rest.index(option) + 2]
    chosen = {"--recompute": strategy["recompute"], "--zero": strategy["zero"], "--ep": strategy["ep"], "--etp": strategy["etp"],
              "--sequence-parallel": "on" if strategy["sequence_parallel"] else "off"}
    same += [str(word) for option, value in chosen.items() if option not in rest for word in (option, value)]
    predicted = answer("predict", model, "--cluster", machine_name, *same, *rest, code=run(
        "predict", model, "--cluster", machine_name, *same, *rest).code)
    close(step["compute_seconds"], predicted["breakdown"]["compute_seconds"], f"{about}: computation of predict")
    close(step["optimizer_seconds"], predicted["breakdown"]["optimizer_seconds"], f"{about}: optimizer of predict")
    close(step["step_seconds"], predicted["step_seconds"], f"{about}: step of predict")
succeed("roofline", "--machine", record, "--model", CONFIGS / "mistral-7b", "--batch", 2)

# a faster part: what memory bounds gains its bandwidth, what arithmetic bounds its peak
value = roofline("--machine", "a100", "--against", "h200", "--kernel", "dot:1000000:fp32", "--kernel", "gemm:8192x8192x8192")
against = value["against"]
close(against["bandwidth_ratio"], 4800 / 2039, "ratio of bandwidths")
close(against["kernels"][0]["speedup"], 4800 / 2039, "a dot product gains the bandwidth")
close(against["kernels"][1]["speedup"], 989 / 312, "a large product gains the peak")
alone = succeed("roofline", "--machine", "a100", "--against", "h200", "--full").out
check("2.35x the bandwidth" in alone and "nan" not in alone, f"without kernels machines alone are compared: {alone}")
value = roofline("--machine", "a100", "--against", "h200", "--model", "llama-3-8b", "--sequence-length", 4096)
check(4800 / 2039 <= value["against"]["speedup"] <= 989 / 312, f"a step gains between the two: {value['against']['speedup']}")
equal(len(value["against"]["kernels"]), len(value["kernels"]), "every kernel of the step on the other machine")

timed, plain = roofline("--machine", "h100", "--stats"), roofline("--machine", "h100")
check(timed.pop("stats")["wall_seconds"] >= 0, "--stats adds its key")
equal(timed, plain, "and changes nothing else")

# for people, for tables, for pages
CALLS = [["--machine", "h100"], ["--machine", machine, "--kernel", "a:flops=1e12,bytes=1e12,l2=1e13", "--kernel", "stencil:1000000"],
         ["--machine", "h100", "--model", "llama-3-8b", "--batch", 2, "--against", "b200"],
         ["--machine", "mi300x", "--divergence", 64, "--occupancy", 0.5, "--kernel-file", table.with_name("plain.csv")],
         ["--machine", "grace", "--kernel", "softmax:4096x4096"], ["--machine", "tpu-v5p", "--model", "resnet-50", "--batch", 32]]
(SCRATCH / "plain.csv").write_text("name,flops,bytes\n" + "".join(f"kernel {i},{2**i}GFLOP,1GB\n" for i in range(60)))
for arguments in CALLS:
    done = succeed("roofline", *arguments)
    for line in done.out.splitlines():
        check(len(line) <= 80, f"{done}: a line of {len(line)} columns: {line}")
    equal(run("roofline", *arguments).out, done.out, f"{done}: again")
    check(" nan" not in done.out and " inf" not in done.out, f"{done}: no number in {done.out}")
    csv = succeed("roofline", *arguments, "--format", "csv").out.splitlines()
    equal({line.count(",") for line in csv if '"' not in line}, {csv[0].count(",")}, f"{done}: CSV columns")
    check("|" in succeed("roofline", *arguments, "--format", "markdown").out, f"{done}: Markdown has a table")
    succeed("roofline", *arguments, "--html", SCRATCH / "roofline.html", "--quiet")
    check("<table" in (SCRATCH / "roofline.html").read_text(), f"{done}: a page")

# what "What would move them" calls A and B is found in the table, in the picture and on the page
STEP = ["roofline", "--machine", "h100", "--model", "llama-3-8b"]
done = succeed(*STEP, "--full", "--html", SCRATCH / "keys.html")
page = (SCRATCH / "keys.html").read_text()
check("<th>key</th>" in page and "<td>A</td>" in page and "<td>B</td>" in page, "a page has the keys of the kernels")
plot = done.out.split("Roofline of", 1)[1].split("Kernels left of the ridge", 1)[0]
picture = "".join(line.split("|", 1)[1] for line in plot.splitlines() if "|" in line)
check("A" in picture and "E" in picture, f"the picture has the keys of the table: {plot}")
step = answer(*STEP)["step"]
predicted = step["kernels_seconds"]
check(f"{1e3 * predicted:.0f} ms as predicted" in " ".join(done.out.split()), f"the verdict has the table's {predicted} s: {done.out[:300]}")

# options from a file; kernels as a list
options = SCRATCH / "roofline.toml"
options.write_text('[roofline]\nmachine = "h100"\nkernel = ["dot:1000:fp32", "mine:flops=1GFLOP,bytes=1GB"]\n')
equal(run("roofline", "--config", options).out,
      run("roofline", "--machine", "h100", "--kernel", "dot:1000:fp32", "--kernel", "mine:flops=1GFLOP,bytes=1GB").out, "options from a file")

# refusals: arguments, exit, what the line must contain
H = ["--machine", "h100"]
bad = SCRATCH / "bad.csv"


def csv_of(text):
    bad.write_text(text)
    return [*H, "--kernel-file", bad]


cpu = SCRATCH / "cpu.toml"
cpu.write_text('[memory]\nbandwidth = "200 GB/s"\n[peak]\nfp32 = "1 TFLOP/s"\nfp64 = "1 TFLOP/s"\n')
for arguments, code, contains in [
    ([], 2, "--machine: missing"),
    (["--machine", "h10o"], 2, "did you mean 'H100'?"),
    (["--machine", "nowhere.toml"], 4, "nowhere.toml"),
    ([*H, "--precision", "fp64"], 2, "no rate of fp64 is known"),
    ([*H, "--precision", "fp33"], 2, "did you mean 'fp32'?"),
    ([*H, "--kernel", "gemm"], 2, "gemm:MxNxK"),
    ([*H, "--kernel", "gemm:4096x4096"], 2, "has 2 sizes"),
    ([*H, "--kernel", "gemm:4096x4096x0"], 2, "--kernel gemm"),
    ([*H, "--kernel", "layernrm:1x1"], 2, "did you mean 'layernorm'?"),
    ([*H, "--kernel", "gemm:1000T"], 2, "sizes"),
    ([*H, "--kernel", "dot:1000:int8"], 2, "unknown number format 'int8'"),
    ([*H, "--kernel", "mine:flops=1"], 2, "bytes: missing"),
    ([*H, "--kernel", "mine:bytes=1"], 2, "flops: missing"),
    ([*H, "--kernel", "mine:flops=0,bytes=0"], 2, "does nothing"),
    ([*H, "--kernel", "mine:flops=1GB,bytes=1GB"], 2, "needs FLOP"),
    ([*H, "--kernel", "mine:flops=1,bytes=-1"], 2, "negative"),
    ([*H, "--kernel", "mine:flops=1,bytes=1e99"], 2, "too large"),
    ([*H, "--kernel", "mine:flops=1,bytes=1e-99"], 2, "less than one"),
    ([*H, "--kernel", "mine:flops=1,bytes=1,l2=1"], 2, "states no other memory level"),
    ([*H, "--kernel", "mine:flops=1,bytes=1,flops=2"], 2, "given twice"),
    ([*H, "--kernel", "mine:flops=1,bites=1"], 2, "did you mean 'bytes'?"),
    ([*H, "--kernel", ":flops=1,bytes=1"], 2, "without a name"),
    ([*H, "--kernel", "flops=1,bytes=1"], 2, "a colon ends the name"),
    ([*H, "--kernel", "dot:10", "--model", "llama-3-8b"], 2, "keep one"),
    ([*H, "--batch", "2"], 2, "belongs to --model"),
    ([*H, "--tp", "2"], 2, "belongs to --model"),
    ([*H, "--model", "llama-3-8b", "--batch", "2", "--micro-batch", "2"], 2, "mean the same"),
    ([*H, "--model", "llama-3-8", "--batch", "2"], 2, "llama-3-8b"),
    ([*H, "--model", "llama-3-8b", "--tp", "3"], 2, "not possible"),
    (["--machine", "a100", "--model", "llama-3-8b", "--precision", "fp8"], 2, "no fp8 arithmetic"),
    (["--machine", cpu, "--model", "llama-3-8b"], 2, "has no generation"),
    (["--machine", record, "--model", "llama-3-8b", "--tp", "2"], 2, "is one accelerator"),
    ([*H, "--divergence", "33"], 2, "32 lanes"),
    (["--machine", "tpu-v4", "--divergence", "2"], 2, "no lanes"),
    ([*H, "--occupancy", "2"], 2, "--occupancy"),
    ([*H, "--against", "h21"], 2, "--against"),
    ([*H, "--kernel", "dot:10:fp8", "--against", "a100"], 2, "no rate of fp8"),
    (["--machine", machine, "--kernel", "m:flops=1,bytes=1,l2=1", "--against", cpu], 2, "no bandwidth of 'L2'"),
    (csv_of("name,flops\na,1\n"), 2, "bad.csv:1: no column 'bytes'"),
]:
    done = run("roofline", *arguments)
    equal(done.code, code, f"{done}: exit")
    check(len(done.err.splitlines()) == 1 and done.out == "", f"{done}: one line on standard error and no result: {done.err}")
    check(contains in done.err, f"{done}: {contains!r} is not in {done.err.strip()!r}")
for text, code, contains in [
    ("name,flops,bytes\n", 5, "no kernels"),
    ("name,flops,bytes\na,1,x\n", 4, "bad.csv:2"),
    ("name,flops,bytes\na,1,\n", 4, "bad.csv:2"),
    ("name,flops,bytes\na,1 GB,1\n", 4, "bad.csv:2: 'flops'"),
    ("name,flops,bytes\na,0,0\n", 4, "does nothing"),
    ("name,flops,bytes\na,1,\"1,500\"\n", 4, "ambiguous"),
    ("name,flops,bytes\na,1,\"1,50,000\"\n", 4, "ambiguous"),
    ("name,flops,bytes\n,1,1\n", 4, "without a name"),
    ("name,flops,bytes,count\na,1,1,0\n", 4, "count"),
    ("name,flops,bytes,colour\na,1,1,red\n", 2, "unknown key 'colour'"),
    ("name,FLOPs (G),bytes (MB),time (us)\na,8,16,30\n", 2, "unknown key 'time'"),
    ("name,flops,Bytes,bytes\na,8,16,30\n", 2, "column 'bytes' twice"),
    ("name,flops,bytes,precision\na,1,1,fp64\n", 2, "no rate of fp64"),
    ("name,flops,bytes\na,1\n", 4, "bad.csv"),
]:
    done = run("roofline", *csv_of(text))
    equal(done.code, code, f"{done} of {text!r}: exit; said {done.err}")
    check(contains in done.err, f"{done} of {text!r}: {contains!r} is not in {done.err.strip()!r}")

finish()
