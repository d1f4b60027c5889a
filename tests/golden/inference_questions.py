"""Bursts, users, prefixes, stages, drafts and commands of engines through the program: figures that follow from each other, and
plain refusals."""

import shlex

from _harness import SCRATCH, SOURCE, answer, check, close, equal, finish, run, schema_errors, succeed

SMALL = ["llama-3-8b", "--cluster", "dgx-h100", "--engine", "vllm"]


def inference(*arguments, code=0):
    value = answer("inference", *arguments, code=code)
    if value:
        for error in schema_errors(value):
            check(False, f"inference {arguments}: {error}")
    return value


# ---- a burst: all requests are answered, and its rate is what came out in that time ----
burst = inference(*SMALL, "--burst", 1000, "--tp", "1,2")
if burst:
    row = burst["choices"][0]
    equal((row["requests"], row["replicas"], burst["traffic"]["burst"]), (1000, 1, True), "a burst on one replica")
    close(row["output_tokens_per_second"] * row["span_seconds"], 1000 * 256, "all tokens come out", 1e-6)
    best = [one for one in burst["choices"] if one["tp"] == burst["recommendation"]["tp"]][0]
    check(all(best["accelerators"] * best["span_seconds"] <= one["accelerators"] * one["span_seconds"] for one in burst["choices"]), "the cheapest burst")
    interval = burst["uncertainty"]["finish_interval_seconds"]
    close(interval["value"], best["span_seconds"], "an interval of the whole time")
    check(interval["low"] < interval["value"] < interval["high"], f"{interval}")
    check("1000 requests at once" in burst["recommendation"]["verdict"] and "queue" in burst["recommendation"]["verdict"], burst["recommendation"]["verdict"])
    equal((burst["load"], burst["uncertainty"]["margins"], burst["traffic"]["requests_per_second"]), ([], [], None), "a burst has no rate")
    two = inference(*SMALL, "--burst", 1000, "--tp", 1, "--replicas", 2)
    check(two and 0.4 < two["choices"][0]["span_seconds"] / row["span_seconds"] < 0.7, "two replicas take about half as long")

# ---- users: Little's law, and no more of them in a batch than there are ----
users = inference(*SMALL, "--concurrency", 32, "--tp", 1, "--replicas", 1, "--output-variation", 1)
if users:
    row = users["choices"][0]
    rate = row["requests"] / row["span_seconds"]
    close(rate * row["latency_seconds"]["mean"], 32, "requests present are the users", 0.1)
    check(16 < row["mean_batch"] <= 32, f"a batch of the users: {row['mean_batch']}")
    equal(users["traffic"]["concurrency"], 32, "users")

# ---- a cache of prefixes shortens the first token, not the memory ----
plain, hits = inference(*SMALL, "--tp", 1), inference(*SMALL, "--tp", 1, "--prefix-hits", "50%")
if plain and hits:
    check(hits["plans"][0]["prompt_alone_seconds"] < plain["plans"][0]["prompt_alone_seconds"], "half a prompt is computed sooner")
    equal(hits["plans"][0]["largest_batch"], plain["plans"][0]["largest_batch"], "requests that memory holds")
    check(hits["plans"][0]["steady_requests_per_second"] > plain["plans"][0]["steady_requests_per_second"], "a higher rate")

# ---- stages: a model that one node does not hold ----
alone = inference("llama-3-405b", "--cluster", "dgx-h100", "--tp", 8, code=3)
staged = inference("llama-3-405b", "--cluster", "dgx-h100", "--tp", 8, "--pp", 2)
if alone and staged:
    equal((alone["plans"][0]["memory"]["fits"], staged["plans"][0]["memory"]["fits"]), (False, True), "two nodes hold it")
    equal(staged["plans"][0]["accelerators"], 16, "accelerators of two stages")

# ---- replicas for prompts alone: they are paid for, and tokens wait for no prompt ----
mixed = inference(*SMALL, "--tp", 1, "--arrivals", "16/s", "--duration", "200s", "--replicas", 3, "--prompt-variation", 1)
apart = inference(*SMALL, "--tp", 1, "--arrivals", "16/s", "--duration", "200s", "--replicas", 2, "--prefill-replicas", 1, "--prompt-variation", 1)
if mixed and apart:
    equal([one["choices"][0]["accelerators"] for one in (mixed, apart)], [3, 3], "accelerators of both sorts")
    check(apart["choices"][0]["tpot_seconds"]["p99"] < mixed["choices"][0]["tpot_seconds"]["p99"], "tokens wait for no prompt")
    check("1 prefill and 2 replicas" in apart["recommendation"]["verdict"], apart["recommendation"]["verdict"])

# ---- drafts: what is accepted is gained at small batches ----
drafts = inference(*SMALL, "--tp", 1, "--draft-tokens", 4, "--acceptance", "75%", "--draft-model", "llama-3.2-1b")
if plain and drafts:
    close(drafts["engine"]["tokens_per_iteration"], sum(0.75**i for i in range(5)), "tokens of an iteration")
    check(drafts["decode"][0]["tokens_per_second"] > plain["decode"][0]["tokens_per_second"], "faster at a batch of one")
    check(drafts["decode"][0]["draft_seconds"] > 0 and drafts["memory"]["weights_bytes"] > plain["memory"]["weights_bytes"], "the draft model's time and weights")

# ---- weights in few bits: read in few, computed in sixteen ----
four = inference(*SMALL, "--tp", 1, "--weights", "int4")
if plain and four:
    check(four["memory"]["weights_bytes"] < 0.45 * plain["memory"]["weights_bytes"], "a quarter, but for the embedding and the output projection")
    check(four["decode"][0]["seconds"] < 0.7 * plain["decode"][0]["seconds"], "a batch of one reads them")
    close(four["plans"][0]["prompt_alone_seconds"], plain["plans"][0]["prompt_alone_seconds"], "prompts compute in sixteen bits", 0.1)

# ---- a batch beyond published runs is less sure ----
if plain:
    def width(value):
        interval = value["uncertainty"]["decode_interval_seconds"]
        return interval["high"] / interval["low"]

    published = plain["uncertainty"]["largest_published_batch"]
    inside = inference(*SMALL, "--tp", 1, "--max-batch", int(published))
    check(inside and width(inside) < width(plain), f"batches beyond {published} widen the interval")
    check("published runs end at a batch" in plain["uncertainty"]["statement"], plain["uncertainty"]["statement"])
    check("published runs end at a batch" not in inside["uncertainty"]["statement"], "nothing to say inside")

# ---- memory that does not hold the batch: others queue ----
long = run("inference", *SMALL, "--tp", 1, "--prompt-tokens", "7000", "--max-batch", 256)
check("Memory holds" in " ".join(long.out.split()) and "others queue" in " ".join(long.out.split()), long.out)
far = run("inference", *SMALL, "--tp", 1, "--prompt-tokens", "9000")
check(far.code == 0 and "longer than the 8192 positions" in far.err, f"positions are a note: {far.err}")
check("positions" not in run("inference", "meta-llama/Llama-3.1-8B-Instruct", "--cluster", "dgx-h100", "--tp", 1, "--prompt-tokens", "9000").err, "Llama 3.1 has its own")

# ---- commands: read, overruled, written, read back ----
read = inference("--cluster", "dgx-h100", "--from", SOURCE / "examples" / "vllm.sh")
if read:
    equal((read["model"]["name"], read["engine"]["name"], read["recommendation"]["tp"], read["engine"]["max_batch"], read["engine"]["cache_precision"]),
          ("llama-3.1-70b", "vllm", 4, 128, "fp8"), "a command of vLLM")
    check(any("--enable-prefix-caching" in note and "--prefix-hits" in note for note in read["notes"]), f"{read['notes']}")
over = run("inference", "--cluster", "dgx-h100", "--from", SOURCE / "examples" / "vllm.sh", "--tp", 8, "--format", "json")
check(over.code == 0 and "the command line has --tp 8" in over.err, over.err)
for name in ("vllm", "sglang", "trtllm"):
    file = SCRATCH / f"{name}.sh"
    written = run("inference", "llama-3-70b", "--cluster", "dgx-h100", "--tp", 4, "--arrivals", "5/s", "--duration", "300s", "--emit", name, "--out", file)
    check(written.code == 0 and "note: predicted by headroom inference llama-3-70b" in written.err, f"{name}: {written.err}")
    text = file.read_text()
    check("meta-llama/Meta-Llama-3-70B" in text, f"the name of the hub: {text}")
    again = inference("--cluster", "dgx-h100", "--from", file, *([] if name == "vllm" else ["--engine", "vllm", "--memory-share", 0.9]))
    command = shlex.split([line for line in text.splitlines() if line.startswith("# headroom")][0][2:])
    same = inference(*command[2:])
    if again and same:
        equal(again["decode"], same["decode"], f"{name}: read back")

# ---- what contradicts itself ----
for code, words, arguments in (
        (2, "given with --burst", ["--burst", 10, "--concurrency", 4]),
        (2, "given with --burst", ["--burst", 10, "--arrivals", "2/s"]),
        (2, "given with --concurrency", ["--concurrency", 10, "--duration", "10s"]),
        (2, "given with --concurrency", ["--concurrency", 10, "--prefill-replicas", 1]),
        (2, "belongs to --arrivals", ["--prefill-replicas", 1]),
        (2, "needs --acceptance", ["--draft-tokens", 4]),
        (2, "belongs to --draft-tokens", ["--acceptance", "70%"]),
        (2, "both need one vocabulary", ["--draft-tokens", 4, "--acceptance", 0.7, "--draft-model", "llama-2-7b"]),
        (2, "is too many", ["--draft-tokens", 65, "--acceptance", 0.7]),
        (2, "they are widened to 16 bits", ["--weights", "int4", "--precision", "fp8"]),
        (2, "--weights", ["--weights", "int3"]),
        (2, "33 stages are more than 32 layers", ["--pp", 33]),
        (2, "--prefix-hits", ["--prefix-hits", "130%"]),
        (2, "--emit", ["--emit", "megatron"]),
        (5, "needs 100 at least", ["--burst", 50, "--objective", "latency_p99<=10min"])):
    done = run("inference", *SMALL, *arguments)
    equal(done.code, code, f"{done}: exit ({done.err.strip()})")
    check(words in done.err and done.err.count("\n") == 1, f"{done}: said {done.err!r}, expected {words!r}")
finish_gate = run("inference", *SMALL, "--tp", 1, "--burst", 100, "--require", "finish<=1ms")
equal(finish_gate.code, 99, "a gate on the time of a burst")
for arguments in (["--burst", 500], ["--concurrency", 16], ["--pp", 2, "--draft-tokens", 3, "--acceptance", 0.6]):
    wide = [line for line in succeed("inference", *SMALL, *arguments, "--full").out.splitlines() if len(line) > 80]
    check(not wide, f"lines over 80 columns: {wide}")

# ---- requests of one token have no time per token
for arguments in (["--arrivals", "5/s", "--objective", "ttft_p99<=1s"], ["--arrivals", "5/s", "--replicas", 1, "--objective", "ttft_p99<=1ms"],
                  ["--arrivals", "5/s", "--against", "dgx-a100"]):
    one = run("inference", "llama-3-8b", "--cluster", "dgx-h100", "--output-tokens", 1, "--full", *arguments)
    text = " ".join(one.out.split())
    check("p99 of TTFT" in text and "TPOT -" not in text and "per token (-" not in text, f"{one}: {text[:400]}")

finish()
