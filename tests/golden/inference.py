"""Serving through the program: parts that agree with each other, laws that hold whatever the constants are, recorded
arrivals, and plain refusals."""

import math

from _harness import SCRATCH, SOURCE, answer, check, close, equal, finish, run, schema_errors, succeed

CORPUS = SOURCE / "tests" / "fuzz" / "corpus" / "request_trace"


def consistent(row, what, output=None):
    """Checks one simulated fleet: times in order, shares between 0 and 1, Little's law of tokens."""
    for times in ("ttft_seconds", "tpot_seconds", "latency_seconds"):
        if row[times]:
            one = row[times]
            check(0 <= one["p50"] <= one["p90"] <= one["p99"] <= one["max"], f"{what}: {times} in order: {one}")
    if row["ttft_seconds"]:
        check(row["ttft_seconds"]["p50"] <= row["latency_seconds"]["p50"], f"{what}: the first token before the last")
    for share in ("share_in_time", "busy", "cache_use", "cache_peak"):
        check(0 <= row[share] <= 1 + 1e-9, f"{what}: {share} {row[share]}")


def inference(*arguments, code=0):
    what = "inference " + " ".join(map(str, arguments))
    value = answer("inference", *arguments, code=code)
    if value is None:
        return None
    for error in schema_errors(value):
        check(False, f"{what}: {error}")
    for row in value["decode"]:
        given = value["engine"]["pp"] * value["engine"]["tokens_per_iteration"]
        close(row["tokens_per_second"], row["batch"] * given / row["seconds"], f"{what}: tokens of batch {row['batch']}")
        check(row["bound"] in ("compute", "memory", "communication", "host"), f"{what}: {row['bound']}")
    times = [row["seconds"] for row in value["decode"]]
    check(times == sorted(times), f"{what}: a larger batch is never faster")
    rates = [row["tokens_per_second"] for row in value["decode"]]
    # The last batch is what memory holds, no power of two: it may begin a further tile of each product.
    check(rates[:-1] == sorted(rates[:-1]), f"{what}: a larger batch gives more tokens")
    check(not rates or rates[-1] > 0.9 * max(rates), f"{what}: the largest batch gives few of the most tokens: {rates[-2:]}")
    lengths = [row["seconds"] for row in value["prefill"]]
    check(lengths == sorted(lengths), f"{what}: a longer prompt is never faster")
    for row in value["choices"] + value["same_accelerators"] + value["load"]:
        consistent(row, what)
    for row in value["choices"]:
        equal(row["accelerators"], row["tp"] * row["pp"] * (row["replicas"] + row["prefill_replicas"]), f"{what}: accelerators")
        if row["dollars_per_million_output_tokens"] is not None and row["output_tokens_per_second"]:
            close(row["dollars_per_million_output_tokens"], row["dollars_per_hour"] / 3600 / row["output_tokens_per_second"] * 1e6, f"{what}: cost")
    uncertainty = value["uncertainty"]
    equal(uncertainty["validated"], value["engine"]["name"] != "sglang", f"{what}: engines with published runs are validated")
    for name in ("decode_interval_seconds", "prefill_interval_seconds", "output_rate_interval_tokens_per_second"):
        interval = uncertainty[name]
        check(interval is None or interval["low"] < interval["value"] < interval["high"], f"{what}: {name}: {interval}")
    check(value["uncertainty"]["statement"] and value["uncertainty"]["guesses"], f"{what}: it says what it does not know")
    equal(value["recommendation"]["feasible"], code != 3, f"{what}: feasible")
    return value


# memory by hand: Llama-3-8B in 16 bits, 2 x 32 layers x 8 heads x 128 x 2 bytes a token
value = inference("llama-3-8b", "--cluster", "dgx-h100", "--tp", 1)
if value:
    memory = value["memory"]
    equal(memory["cache_bytes_per_token"], 131072, "cache of a token")
    close(memory["weights_bytes"], 16.06e9, "weights in 16 bits", 0.01)
    close(memory["cache_tokens"], memory["cache_bytes"] / 131072, "tokens in the cache", 1e-3)
    check(memory["weights_bytes"] + memory["activations_bytes"] + memory["cache_bytes"] <= memory["usable_bytes"] * (1 + 1e-9), "parts of the memory")
    # a token cannot come faster than the weights are read once at the datasheet's bandwidth (3.35 TB/s), nor ten times slower
    floor = memory["weights_bytes"] / 3.35e12
    first = value["decode"][0]["seconds"]
    check(floor * 0.9 < first < 3 * floor, f"a batch of one: {first}, the floor is {floor}")
    equal(value["decode"][0]["bound"], "memory", "a batch of one reads weights")
    # a prompt of n tokens computes 2 P n operations: not above 989 TFLOP/s, not below a fifth of it
    prompt = [row for row in value["prefill"] if row["tokens"] == 1024][0]
    least = 2 * 7.5e9 * 1024 / 989e12
    check(least < prompt["seconds"] < 5 * least, f"a prompt of 1024: {prompt['seconds']}, the floor is {least}")
    interval = value["uncertainty"]["decode_interval_seconds"]
    check(interval["low"] < interval["value"] < interval["high"], f"interval of decoding: {interval}")
# what a replica gives at most never falls where a batch may be larger, and names the objective that bounds it
rates = []
for largest in (100, 140, 153, 154, 170, 200):
    one = inference("qwen2.5-72b", "--cluster", "dgx-h100", "--tp", 4, "--max-batch", largest)
    rates.append(one["plans"][0]["steady_requests_per_second"] if one else 0)
check(rates == sorted(rates) and rates[0] > 0, f"larger batches give no less: {rates}")
said = " ".join(run("inference", "llama-3-70b", "--cluster", "dgx-h100", "--tp", 4).out.split())
check("within TPOT <= 100 ms" in said, f"the objective that bounds the rate: {said[:200]}")
half = inference("llama-3-8b", "--cluster", "dgx-h100", "--tp", 1, "--cache-precision", "fp8")
if value and half:
    close(half["memory"]["cache_bytes_per_token"], 65536, "a cache of 8 bits is half")
    check(half["plans"][0]["largest_batch"] >= value["plans"][0]["largest_batch"], "it holds as many at least")

# an engine that is named is surer than one that is assumed; one without published runs says so, and takes the mean engine
named = inference("llama-3-8b", "--cluster", "dgx-h100", "--tp", 1, "--engine", "vllm")
unseen = inference("llama-3-8b", "--cluster", "dgx-h100", "--tp", 1, "--engine", "sglang")
if value and named and unseen:
    def width(answer_, name):
        interval = answer_["uncertainty"][name]
        return interval["high"] / interval["low"]

    for name in ("decode_interval_seconds", "prefill_interval_seconds", "output_rate_interval_tokens_per_second"):
        check(width(named, name) < width(value, name), f"a named engine is surer: {name}")
        check(width(unseen, name) > width(named, name), f"an engine without runs is less sure than one with: {name}")
    first = "prefill_interval_seconds"  # which no batch widens
    close(width(unseen, first), width(value, first), "an engine without runs is as unsure as none")
    equal(named["decode"], value["decode"], "vLLM is what is assumed")
    check(any(one["field"] == "engine" for one in value["assumptions"]), "an assumed engine is said")
    check(not any(one["field"] == "engine" for one in named["assumptions"]), "a named one is no assumption")
    check("not checked against SGLang" in unseen["uncertainty"]["statement"], unseen["uncertainty"]["statement"])
    check(unseen["engine"]["memory_share"] < value["engine"]["memory_share"], "the share of memory is the engine's")
    # overheads by hand: 32 layers and the sequences of the batch
    for row in named["decode"]:
        engine = named["engine"]
        close(row["gaps_seconds"], 32 * engine["layer_overhead_seconds"] + row["batch"] * engine["sequence_overhead_seconds"], f"overhead at batch {row['batch']}")

# far below capacity nobody waits: a prompt alone is the first token, a small batch every further one
calm = inference("llama-3-8b", "--cluster", "dgx-h100", "--tp", 1, "--arrivals", "0.2/s", "--replicas", 1, "--burstiness", 0, "--duration", "3000s")
if calm:
    row = calm["choices"][0]
    close(row["ttft_seconds"]["p50"], calm["plans"][0]["prompt_alone_seconds"], "the first token of one alone", 0.05)
    close(row["tpot_seconds"]["p50"], calm["decode"][0]["seconds"], "a token of one alone", 0.05)
    close(row["output_tokens_per_second"], 0.2 * 256, "all tokens come out", 0.02)
    close(row["latency_seconds"]["p50"], row["ttft_seconds"]["p50"] + 255 * row["tpot_seconds"]["p50"], "first and further tokens make the whole", 0.01)

# far beyond capacity a replica gives what the steady state gives: simulation and closed form, two ways
# ---- a limit that a prompt alone nearly takes ----
near = ["qwen2.5-72b", "--cluster", "dgx-a100", "--tp", 8, "--prompt-tokens", 3000, "--prompt-variation", 1, "--arrivals", "30/s", "--duration", "120s"]
check("Careful: twice as many replicas" in inference(*near, "--objective", "ttft_p99<=2s")["recommendation"]["verdict"], "the number is chance")
check("Careful" not in inference(*near, "--objective", "ttft_p99<=4s")["recommendation"]["verdict"], "and is not with more time")

full = inference("llama-3-8b", "--cluster", "dgx-h100", "--tp", 1, "--arrivals", "200/s", "--replicas", 1, "--duration", "300s", "--objective", "tpot_p99<=1min", code=3)
if full:
    row = full["choices"][0]
    check(not row["stable"] and not row["meets"], "a line that grows is told")
    close(row["output_tokens_per_second"] / 256, full["recommendation"]["capacity_requests_per_second"], "capacity against simulation", 0.15)

# more replicas never keep less; an answer is the fewest that do
served = inference("llama-3-70b", "--cluster", "dgx-h100", "--arrivals", "20/s", "--price", "2.5 $/h", "--output-variation", 1)
if served:
    best = served["recommendation"]
    chosen = [row for row in served["choices"] if row["tp"] == best["tp"]][0]
    check(chosen["meets"] and chosen["share_in_time"] >= 0.99, "what is recommended keeps the objectives")
    for row in served["choices"]:
        check(not row["meets"] or row["accelerators"] >= chosen["accelerators"], "nothing smaller keeps them")
    if best["replicas"] > 1:
        fewer = inference("llama-3-70b", "--cluster", "dgx-h100", "--arrivals", "20/s", "--output-variation", 1, "--tp", best["tp"],
                          "--replicas", best["replicas"] - 1, code=3)
        check(fewer and not fewer["choices"][0]["meets"], "one replica fewer does not")
    for row in served["same_accelerators"]:
        equal(row["accelerators"], chosen["accelerators"], "the same accelerators")
    rates = [row["requests_per_second"] for row in served["load"]]
    check(rates == sorted(rates) and 20 in rates, f"a load curve with the rate asked about: {rates}")
    check(served["load"][-1]["ttft_seconds"]["p99"] > served["load"][0]["ttft_seconds"]["p99"], "load lengthens the wait")
    equal(sum(row["requests"] for row in served["load"] if row["requests_per_second"] == 20), chosen["requests"], "the rate asked about is the choice itself")
    needed = [row["replicas"] for row in served["uncertainty"]["margins"] if row["replicas"]]
    check(needed == sorted(needed) and (not needed or needed[0] >= best["replicas"]), f"slower machines need as many: {needed}")
    equal(succeed("inference", "llama-3-70b", "--cluster", "dgx-h100", "--arrivals", "20/s", "--price", "2.5 $/h", "--output-variation", 1, "--threads", 2, "--format", "json").out,
          succeed("inference", "llama-3-70b", "--cluster", "dgx-h100", "--arrivals", "20/s", "--price", "2.5 $/h", "--output-variation", 1, "--format", "json").out, "two threads, the same bytes")

# a machine of twice the price rents half as many, and has the p99 of that many
against = inference("llama-3-8b", "--cluster", "dgx-h100", "--arrivals", "30/s", "--price", "1 $/h", "--against", "dgx-h200")
if against:
    other = against["against"]
    paid = against["recommendation"]["accelerators"] * 1.0
    equal(other["accelerators"], math.floor(paid / other["cluster"]["price_dollars_per_hour"]), "accelerators for the same money")
    check("dgx-h200" in other["verdict"], other["verdict"])

# recorded requests: what was read, what was left out
trace = SCRATCH / "trace.csv"
lines = ["TIMESTAMP,ContextTokens,GeneratedTokens"]
lines += [f"2023-11-16 18:{i // 120:02d}:{i // 2 % 60:02d}.{'0' if i % 2 == 0 else '5'}00,{200 + i % 300},{50 + i % 100}" for i in range(1200)]
trace.write_text("\n".join(lines + ["2023-11-16 19:00:00,0,5"]) + "\n")
recorded = inference("llama-3-8b", "--cluster", "dgx-a100", "--requests", trace, "--tp", 1)
if recorded:
    equal(recorded["trace"]["rows"], 1201, "rows of the trace")
    equal([(one["kind"], one["count"], one["first_line"]) for one in recorded["trace"]["left_out"] if one["first_line"]], [("prompt without tokens", 1, 1202)],
          "what was left out")
    check(any(one["kind"] == "prompt without tokens" and one["first_at"].endswith(":1202") for one in recorded["issues"]), f"issues: {recorded['issues']}")
    close(recorded["traffic"]["requests_per_second"], 2, "two a second", 1e-3)
    faster = inference("llama-3-8b", "--cluster", "dgx-a100", "--requests", trace, "--tp", 1, "--arrivals", "8/s")
    close(faster["traffic"]["requests_per_second"], 8, "scaled to eight a second", 1e-3)
    close(faster["traffic"]["duration_seconds"], recorded["traffic"]["duration_seconds"] / 4, "in a quarter of the time", 1e-3)

# what is no answer, and why
misfit = inference("llama-3-405b", "--cluster", "dgx-a100", "--tp", 1, code=3)
check(misfit is None or (not misfit["plans"][0]["memory"]["fits"] and misfit["plans"][0]["why_not"]), "a model that does not fit says so")
inference("llama-3-70b", "--cluster", "dgx-h100", "--arrivals", "5/s", "--objective", "tpot_p99<=1ms", "--duration", "100s", code=3)
inference("llama-3-8b", "--cluster", "dgx-h100", "--tp", 1, "--arrivals", "1/s", "--require", "ttft_p99<=1us", code=99)
for code, words, arguments in (
        (2, "unknown engine", ["llama-3-8b", "--cluster", "dgx-h100", "--engine", "nobody"]),
        (2, "no unit", ["llama-3-8b", "--cluster", "dgx-h100", "--arrivals", "20"]),
        (2, "given with --requests", ["llama-3-8b", "--cluster", "dgx-h100", "--requests", trace, "--prompt-tokens", 5]),
        (2, "belongs to --arrivals", ["llama-3-8b", "--cluster", "dgx-h100", "--replicas", 4]),
        (2, "generates no text", ["resnet-50", "--cluster", "dgx-h100"]),
        (2, "did you mean 'ttft'", ["llama-3-8b", "--cluster", "dgx-h100", "--objective", "tttf<=1s"]),
        (2, "two shares", ["llama-3-8b", "--cluster", "dgx-h100", "--objective", "ttft_p99<=1s,tpot_p95<=1s"]),
        (2, "--tp: 3 does not divide 32 heads", ["llama-3-8b", "--cluster", "dgx-h100", "--tp", 3]),
        (2, "--prefill-chunk: 5000000 is too many", ["llama-3-8b", "--cluster", "dgx-h100", "--prefill-chunk", "5000000"]),
        (2, "share a scale-up link", ["llama-3-8b", "--cluster", "dgx-h100", "--tp", 16]),
        (2, "has no unit", ["llama-3-8b", "--cluster", "dgx-h100", "--requests", CORPUS / "dirty.csv", "--time-column", "output_tokens", "--output-column", "arrival (ms)"]),
        (4, "no such file", ["llama-3-8b", "--cluster", "dgx-h100", "--requests", "missing.csv"]),
        (5, "needs 100 at least", ["llama-3-8b", "--cluster", "dgx-h100", "--requests", CORPUS / "azure.csv"]),
        (5, "a line that grows", ["llama-3-8b", "--cluster", "dgx-h100", "--arrivals", "200/s", "--duration", "120s", "--objective", "latency_p99<=10min"]),
        (2, "nothing arrives", ["llama-3-8b", "--cluster", "dgx-h100", "--arrivals", "20/s", "--duration", "1ns"]),
        (2, "belongs to --arrivals", ["llama-3-8b", "--cluster", "dgx-h100", "--against", "dgx-h200"]),
        (5, "simulate longer", ["llama-3-8b", "--cluster", "dgx-h100", "--arrivals", "1/s", "--duration", "60s"])):
    done = run("inference", *arguments)
    equal(done.code, code, f"{done}: exit ({done.err.strip()})")
    check(words in done.err and done.err.count("\n") == 1, f"{done}: said {done.err!r}, expected {words!r}")

# for people: at most 80 columns, the verdict first, and the page has its figures
for arguments in (["llama-3-8b", "--cluster", "dgx-h100"], ["llama-3-70b", "--cluster", "dgx-h100", "--arrivals", "10/s"]):
    page = SCRATCH / "page.html"
    text = succeed("inference", *arguments, "--html", page).out
    wide = [line for line in text.splitlines() if len(line) > 80]
    check(not wide, f"lines over 80 columns: {wide}")
    check("checked against published runs" in " ".join(text.split()), "the verdict, then how sure it is")
    equal(page.read_text().count("<figure>"), 4 if len(arguments) > 3 else 2, "figures of the page")
    check("nan" not in text.split(), "a NaN in the text")

finish()
