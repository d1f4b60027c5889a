"""Bad input: the exit code, exactly one line on standard error, the place and the way out; nothing on standard output."""

import re

from _harness import CONFIGS, SCRATCH, SOURCE, check, equal, finish, run

H100 = ["--cluster", "dgx-h100"]
EIGHT = ["predict", "llama-3-8b", *H100, "--workers", "8"]
MIXTURE = ["predict", "mixtral-8x7b", *H100, "--workers", "64"]
PLAN = ["plan", "llama-3-8b", *H100, "--workers", "8..32"]
BAD = CONFIGS / "bad"

(SCRATCH / "empty.csv").write_text("")
(SCRATCH / "header.csv").write_text((SOURCE / "validation" / "published_runs.csv").read_text().splitlines()[0] + "\n")
(SCRATCH / "no-model.csv").write_text("model,gpu,gpus,seq_len,gbs,step time (s)\nno-such-8b,H100,8,4096,64,2.5\n")
(SCRATCH / "key.toml").write_text("[plan]\nworkerz = \"8\"\n")
(SCRATCH / "broken.toml").write_text("[plan\nworkers = ")
(SCRATCH / "plain.toml").write_text("formt = \"json\"\n")
(SCRATCH / "table.toml").write_text("[plam]\nworkers = 8\n")
(SCRATCH / "twice.toml").write_text("top = 1\ntop = 2\n")
(SCRATCH / "binary.toml").write_bytes(bytes(range(256)))
(SCRATCH / "deep.toml").write_text("[" + ".".join("a" * 50000) + "]\nx = 1\n")
(SCRATCH / "constants.toml").write_text("name = \"mine\"\n[constants.gemm_hopper]\nvalue = \"fast\"\n")

(SCRATCH / "records" / "strategies").mkdir(parents=True)
for name, line in (("wrong", "zero = 7"), ("unknown", "zer0 = 1\ntp = 1"), ("hollow", "")):
    (SCRATCH / "records" / "strategies" / f"{name}.toml").write_text(f"name = \"{name}\"\n{line}\n")
(SCRATCH / "misspelt.toml").write_text("name = \"misspelt\"\n[dimensions]\nlayers = 4\nhiden = 512\nheads = 8\n")
(SCRATCH / "window.toml").write_text("""name = "window"
[dimensions]
layers = 4
hidden = 512
heads = 8
ffn = 2048
vocab = 1000
max_positions = 2048

[layers]
window = 4096
""")

# arguments, exit code, what the line must contain
TABLE = [
    # verbs and options
    (["plna", "llama-3-8b"], 2, "did you mean 'plan'?"),
    (["--workers", "8"], 2, "'--workers'"),
    ([*PLAN, "--grobal-batch", "12"], 2, "did you mean '--global-batch'?"),
    ([*EIGHT, "--tensor", "2"], 2, "unknown option '--tensor'"),
    ([*EIGHT, "again"], 2, "unexpected argument 'again'"),
    (["plan", "llama-2-13b", "dgx-a100"], 2, "did you mean '--cluster dgx-a100'?"),
    (["finetune", "llama-2-13b", "2x4090"], 2, "did you mean '--cluster 2x4090'?"),
    ([*EIGHT, "megatron-core"], 2, "did you mean '--framework megatron-core'?"),
    (["plan", "llama-3-8b", *H100, "64"], 2, "did you mean '--workers 64'?"),
    ([*EIGHT, "dgx-a100"], 2, "see headroom predict --help"),  # it has a cluster
    # amounts, with an example that fits the option
    ([*PLAN, "--tokens", "2T", "--deadline", "30"], 2, "for example '30d'"),
    ([*EIGHT, "--mtbf", "50700"], 2, "for example '50700h'"),
    ([*EIGHT, "--checkpoint-interval", "20"], 2, "for example '20min'"),
    (["comm", "--size", "1GB", "--ranks", "8", "--link", "450GB/s,1"], 2, "for example '5us'"),
    (["plan", "llama-3-8b", *H100, "--workers", "8-64"], 2, "did you mean '8..64' (doubling)"),
    (["plan", "llama-3-8b", *H100, "--workers", "8:64"], 2, "did you mean '8..64' (doubling)"),
    (["plan", "llama-3-8b", *H100, "--workers", "8 to 64"], 2, "did you mean '8..64' (doubling)"),
    (["plan", "llama-3-8b", *H100, "--workers", "8,16-64"], 2, "did you mean '16..64' (doubling)"),
    (["comm", "--size", "1GB", "--ranks", "8-64", "--link", "450GB/s,1us"], 2, "did you mean '8..64' (doubling)"),
    ([*EIGHT, "--global-batch", "8-64"], 2, "'8-64' is not one count"),
    ([*EIGHT, "--tp"], 2, "--tp"),
    ([*EIGHT, "--tp", "1", "--tp", "2"], 2, "--tp"),
    (["plan", "llama-3-8b", *H100, "--workers", "8", "--dry-run=no"], 2, "--dry-run: takes no value"),
    ([*EIGHT, "--full=0"], 2, "--full: takes no value"),
    ([*EIGHT, "--format", "jsn"], 2, "did you mean 'json'?"),
    ([*PLAN, "--objective", "speed"], 2, "--objective"),
    (["catalog", "lits"], 2, "did you mean 'list'?"),
    (["catalog", "list", "modle"], 2, "did you mean 'model'?"),
    (["catalog", "list", "models", "--kind", "node"], 2, "keep one of the two"),
    (["catalog", "show", "dgx-h10"], 2, "did you mean 'dgx-h100'?"),
    (["plan"], 2, "MODEL"),
    (["inference"], 2, "MODEL"),
    (["inference", "llama-3-8b"], 2, "--cluster"),
    (["inference", "llama-3-8b", *H100, "--arivals", "20/s"], 2, "did you mean '--arrivals'?"),
    (["inference", "llama-3-8b", *H100, "--arrivals", "20ms"], 2, "--arrivals"),
    (["inference", "llama-3-8b", *H100, "--arrivals", "1/s", "--dispatch", "shortest"], 2, "did you mean 'shortest-line'?"),
    (["inference", "llama-3-8b", *H100, "--tp", "3"], 2, "head"),
    (["inference", "llama-3-8b", *H100, "--require", "ttft<=1s"], 2, "unknown quantity 'ttft'"),
    (["plan", "llama-3-8b"], 2, "--cluster"),
    (["predict", "llama-3-8b", *H100], 2, "--workers"),
    # names
    (["plan", "llama-3-8", *H100], 2, "did you mean 'llama-3-8b'?"),
    (["plan", "llama-13b-awq", *H100], 2, "did you mean 'llama-13b'?"),
    (["plan", "llama-3-8b", "--cluster", "dgx-h10"], 2, "did you mean 'dgx-h100'?"),
    ([*EIGHT, "--framework", "megatrom-core"], 2, "did you mean 'megatron-core'?"),
    ([*EIGHT, "--precision", "bf17"], 2, "did you mean 'bf16'?"),
    ([*EIGHT, "--recompute", "sometimes"], 2, "--recompute"),
    ([*EIGHT, "--pp", "1", "--schedule", "zbv"], 2, "the schedule zbv needs a pipeline (pp > 1)"),
    ([*EIGHT, "--pp", "2", "--virtual-pp", "2", "--schedule", "zbv"], 2, "zbv is not interleaved, and virtual_pp is 2"),
    ([*EIGHT, "--pp", "2", "--virtual-pp", "2", "--schedule", "1f1b"], 2, "1f1b is not interleaved"),
    ([*EIGHT, "--pp", "2", "--virtual-pp", "1", "--schedule", "interleaved"], 2, "two chunks a stage or more"),
    ([*EIGHT, "--tp", "1", "--pp", "2", "--layers", "18", "--schedule", "zbv"], 2, "2 pp = 4 equal chunks"),
    ([*EIGHT, "--pp", "1", "--what-if", "schedule=gpipe"], 2, "needs a pipeline"),
    ([*EIGHT, "--schedule", "zigzag"], 2, "--schedule"),
    ([*PLAN, "--fix", "tp=2,pq=4"], 2, "'pq'"),
    ([*PLAN, "--fix", "tp"], 2, "'tp'"),
    ([*PLAN, "--fix", "schedule=interleaved,virtual-pp=1"], 2, "two chunks a stage or more"),
    ([*PLAN, "--fix", "schedule=zb-h1,pp=1"], 2, "needs a pipeline"),
    ([*PLAN, "--fix", "schedule=zb-h"], 2, "did you mean 'zb-h1'?"),
    (["plan", "llama-3-8b", "--cluster", "4xdgx-h100", "--workers", "64"], 2, "contradicts --cluster 4xdgx-h100"),
    ([*EIGHT, "--explain", "step_second"], 2, "did you mean 'step_seconds'?"),
    ([*EIGHT, "--explain", "traffic"], 2, "close: elementwise_traffic"),
    ([*EIGHT, "--explain", "zzz"], 2, "--explain alone lists the parts of the step and of memory"),
    ([*EIGHT, "--what-if", "bandwith=2x"], 2, "did you mean 'bandwidth'?"),
    ([*EIGHT, "--what-if", "bandwidth=fast"], 2, "bandwidth=2x"),
    # numbers and units
    (["queue", "--arrivals", "500", "--service", "12ms"], 2, "for example '500/s'"),
    (["queue", "--arrivals", "500/s", "--service-samples", "empty.csv"], 5, "no sample"),
    (["queue", "--arrivals", "500/s", "--service-samples", "nowhere.csv"], 4, "nowhere.csv"),
    ([*EIGHT, "--workers", "8..4"], 2, "--workers"),
    (["predict", "llama-3-8b", *H100, "--workers", "1,024"], 2, "'1,024' names two counts ('024' begins with a zero). for one count write 1024"),
    (["plan", "llama-3-8b", *H100, "--workers", "8,1000001"], 2, "it must be from 1 to 1000000"),
    (["laws", "--serial", "0,1", "--workers", "8"], 2, "'0,1' may be one number or two"),
    (["predict", "llama-3-8b", *H100, "--workers", "8..4"], 2, "runs backwards"),
    (["predict", "llama-3-8b", *H100, "--workers", "8,16"], 2, "--workers"),
    (["predict", "llama-3-8b", *H100, "--workers", "0"], 2, "--workers"),
    (["predict", "llama-3-8b", *H100, "--workers", "-8"], 2, "--workers"),
    (["predict", "llama-3-8b", *H100, "--workers", "8.5"], 2, "--workers"),
    (["predict", "llama-3-8b", *H100, "--workers", "many"], 2, "'many'"),
    (["predict", "llama-3-8b", *H100, "--workers", "8", "--nodes", "2"], 2, "--nodes"),
    ([*EIGHT, "--global-batch", "1e30"], 2, "--global-batch"),
    ([*EIGHT, "--zero", "4"], 2, "--zero"),
    ([*EIGHT, "--price", "3 GB/s"], 2, "--price"),
    ([*PLAN, "--tokens", "2T", "--deadline", "30"], 2, "--deadline"),
    ([*PLAN, "--tokens", "2T", "--deadline", "30 GB"], 2, "--deadline"),
    ([*PLAN, "--tokens", "2X"], 2, "--tokens"),
    ([*PLAN, "--deadline", "30d"], 2, "tokens"),
    ([*EIGHT, "--require", "step<=900"], 2, "--require"),
    ([*EIGHT, "--require", "mfv>=0.4"], 2, "did you mean 'mfu'?"),
    ([*EIGHT, "--require", "mfu<=40"], 2, "write mfu<=40%"),
    (["validate", "--require", "median_absolute_error<=10"], 2, "write median_absolute_error<=10%"),
    ([*EIGHT, "--host-memory", "0"], 2, "--host-memory"),
    ([*EIGHT, "--require", "mfu"], 2, "--require"),
    ([*PLAN, "--tokens", "2T", "--deadline", "0d"], 2, "not above zero"),
    ([*PLAN, "--tokens", "2T", "--budget", "0"], 2, "not above zero"),
    (["plan", "llama-3-8b", *H100, "--workers", "8,,16"], 2, "'8,,16'"),
    (["plan", "llama-3-8b", *H100, "--workers", "8:16"], 2, "8..16:8"),
    (["plan", "llama-3-8b", *H100, "--workers", "1..4096:1,4097..5000:1"], 2, "at most 4096"),
    ([*PLAN, "--fix", "tp=2,tp=4"], 2, "'tp' twice"),
    ([*PLAN, "--against", "dgx-h10"], 2, "--against: unknown cluster"),
    ([*PLAN, "--against-price", "3"], 2, "--against"),
    ([*EIGHT, "--what-if", "bandwidth=1e-320"], 2, "bandwidth=2x"),
    ([*EIGHT, "--what-if", "bandwidth"], 2, "bandwidth=2x"),
    ([*EIGHT, "--what-if", "dp=64"], 2, "8 workers"),
    ([*EIGHT, "--checkpoint", "1e308s"], 2, "'1e308s' is too long"),
    ([*EIGHT, "--checkpoint-interval", "1e308s"], 2, "'1e308s' is too long"),
    ([*EIGHT, "--restart", "1e300s"], 2, "'1e300s' is too long"),
    ([*EIGHT, "--mtbf", "1e300s"], 2, "'1e300s' is too long"),
    (["predict", "llama-3-8b", *H100, "--nodes", "2147483647"], 2, "counted up to"),
    # strategies that cannot be
    ([*EIGHT, "--tp", "3"], 2, "8 workers"),
    ([*EIGHT, "--tp", "2", "--dp", "8", "--pp", "1"], 2, "not 8 workers"),
    ([*EIGHT, "--dp", "8", "--global-batch", "4"], 2, "batch"),
    ([*EIGHT, "--dp", "8", "--global-batch", "12"], 2, "batch"),
    ([*EIGHT, "--pp", "3"], 2, "8 workers"),
    ([*EIGHT, "--dp", "8", "--global-batch", "20"], 2, "--global-batch 16 or 24"),
    (["predict", "llama-3-8b", *H100, "--dp", "65536", "--tp", "1", "--pp", "1", "--micro-batch", "65536"], 2, "4.29B"),
    (["predict", "llama-3-8b", *H100, "--dp", "65536", "--tp", "65536", "--pp", "1"], 2, "4.29B workers"),
    (["predict", "llama-3-8b", "--cluster", "dgx-v100", "--workers", "8", "--precision", "fp8"], 2, "fp8"),
    (["predict", "llama-3-8b", "--cluster", "dgx-v100", "--workers", "8", "--precision", "bf16"], 2, "fp16"),
    (["plan", "llama-3-8b", "--cluster", "dgx-a100", "--workers", "8", "--precision", "fp8"], 2, "fp8"),
    # fields of a strategy that exclude each other, the model or the workload
    ([*EIGHT, "--ep", "2"], 2, "needs a mixture of experts"),
    ([*EIGHT, "--etp", "2"], 2, "needs a mixture of experts"),
    ([*MIXTURE, "--ep", "3"], 2, "ep 3 does not divide 8 experts"),
    ([*MIXTURE, "--ep", "8", "--tp", "4", "--etp", "2"], 2, "etp 2 is neither 1 nor tp 4"),
    (["predict", "mixtral-8x7b", *H100, "--workers", "4", "--ep", "8"], 2, "4 ranks of a stage"),
    (["predict", "llama-3-70b", *H100, "--workers", "48", "--tp", "24"], 2, "tp 24 does not divide 64 attention heads"),
    ([*EIGHT, "--cp", "8", "--tp", "1", "--sequence-length", "100"], 2, "2 cp = 16 segments"),
    (["predict", "llama-3-8b", *H100, "--workers", "64", "--cp", "64", "--tp", "1", "--exchange", "ulysses"], 2, "cp 64 x tp 1"),
    ([*EIGHT, "--servers", "4", "--zero", "1"], 2, "ZeRO 0"),
    ([*EIGHT, "--compression", "low-rank", "--zero", "2"], 2, "ZeRO 0"),
    ([*EIGHT, "--local-steps", "10", "--zero", "1"], 2, "local updates"),
    ([*EIGHT, "--local-steps", "10", "--zero", "3"], 2, "shard groups"),
    ([*EIGHT, "--compression", "low-rank", "--servers", "2"], 2, "exclude each other"),
    ([*EIGHT, "--shard", "4", "--zero", "0"], 2, "shard group"),
    ([*EIGHT, "--train", "last:99"], 2, "of 32 layers 99"),
    ([*EIGHT, "--recompute", "none", "--recompute-layers", "4"], 2, "recomputation of 4 layers"),
    ([*EIGHT, "--recompute-layers", "99"], 2, "no more layers than the model's 32"),
    ([*EIGHT, "--layers", "99"], 2, "llama-3-8b has 32"),
    ([*EIGHT, "--documents", "100000"], 2, "longer than the sequence"),
    ([*EIGHT, "--expert-skew", "2"], 2, "no experts"),
    ([*MIXTURE, "--expert-skew", "9"], 2, "8 experts"),
    (["predict", SCRATCH / "misspelt.toml", *H100, "--workers", "8"], 2, "is 'hiden' meant to be it?"),
    (["predict", SCRATCH / "window.toml", *H100, "--workers", "8"], 2, "window.toml:11"),
    (["predict", "resnet-50", *H100, "--workers", "8", "--tp", "2"], 2, "data parallel only"),
    (["predict", "resnet-50", *H100, "--workers", "8", "--layers", "2"], 2, "list of operators"),
    (["predict", "resnet-50", *H100, "--workers", "8", "--sequence-length", "7"], 2, "size of a sample"),
    ([*PLAN, "--fix", "ep=4"], 2, "needs a mixture of experts"),
    ([*PLAN, "--fix", "compression=low-rank,zero=2"], 2, "ZeRO 0"),
    ([*PLAN, "--fix", "tp=3"], 2, "tp 3 does not divide 32"),
    ([*PLAN, "--fix", "train=last:99"], 2, "--fix"),
    (["plan", "mixtral-8x7b", *H100, "--workers", "8", "--fix", "ep=3"], 2, "ep 3 does not divide 8 experts"),
    # values of these fields
    ([*EIGHT, "--compression", "low-rnk"], 2, "did you mean 'low-rank'?"),
    ([*EIGHT, "--compression", "low-rank:"], 2, "behind the colon"),
    ([*EIGHT, "--compression", "low-rank:0"], 2, "from 1 to 65536"),
    ([*EIGHT, "--compression", "top-k:2"], 2, "to 1"),
    ([*EIGHT, "--compression", "quantised:64"], 2, "from 1 to 32"),
    ([*EIGHT, "--compression", "one-bit:x"], 2, "'x'"),
    ([*EIGHT, "--compression", "none:1"], 2, "none takes no parameter"),
    ([*EIGHT, "--train", "lra"], 2, "did you mean 'lora'?"),
    ([*EIGHT, "--train", "last"], 2, "last:2"),
    ([*EIGHT, "--train", "all:3"], 2, "'all' takes no number"),
    ([*EIGHT, "--offload", "optimiser-state"], 2, "--offload"),
    ([*EIGHT, "--exchange", "rng"], 2, "did you mean 'ring'?"),
    ([*EIGHT, "--local-steps", "0"], 2, "--local-steps"),
    ([*MIXTURE, "--capacity", "-1"], 2, "from 0 to 1024"),
    ([*EIGHT, "--fill", "120%"], 2, "from 0.01 to 1"),
    ([*MIXTURE, "--expert-skew", "0.5"], 2, "from 1 to"),
    ([*EIGHT, "--strategy", "fsdpp"], 2, "did you mean 'fsdp'?"),
    ([*EIGHT, "--what-if", "offlod=both"], 2, "did you mean 'offload'?"),
    ([*MIXTURE, "--what-if", "ep=3"], 2, "ep 3 does not divide 8 experts"),
    ([*PLAN, "--fix", "exchnge=ring"], 2, "did you mean 'exchange'?"),
    ([*PLAN, "--fix", "offload=optimzer"], 2, "did you mean 'optimizer'?"),
    (["predict", "llama-3-8b", *H100, "--workers", "8", "--catalog", SCRATCH / "records", "--strategy", "wrong"], 2, "wrong.toml:2"),
    (["predict", "llama-3-8b", *H100, "--workers", "8", "--catalog", SCRATCH / "records", "--strategy", "unknown"], 2, "did you mean 'zero'?"),
    (["predict", "llama-3-8b", *H100, "--workers", "8", "--catalog", SCRATCH / "records", "--strategy", "hollow"], 2, "at least one"),
    # nothing fits, gates
    (["predict", "llama-3-70b", *H100, "--workers", "8", "--tp", "1", "--dp", "8"], 3, "does not fit"),
    (["plan", "gpt3-175b", "--cluster", "dgx-v100", "--workers", "8"], 3, "fits"),
    ([*PLAN, "--tokens", "2T", "--deadline", "1s"], 3, "deadline"),
    ([*PLAN, "--tokens", "2T", "--budget", "1 $"], 3, "budget"),
    ([*EIGHT, "--require", "mfu>=0.99"], 99, "mfu>=0.99"),
    ([*PLAN, "--require", "step<=1us"], 99, "step<=1us"),
    # files
    (["predict", "./no/config.json", *H100, "--workers", "8"], 4, "no such file"),
    (["predict", BAD / "truncated.json", *H100, "--workers", "8"], 4, "truncated.json"),
    (["predict", BAD / "not-json.json", *H100, "--workers", "8"], 4, "not-json.json"),
    (["predict", BAD / "empty.json", *H100, "--workers", "8"], 4, "empty.json"),
    (["predict", BAD / "huge.json", *H100, "--workers", "8"], 2, "huge.json"),
    (["predict", BAD / "negative-heads.json", *H100, "--workers", "8"], 2, "num_attention_heads"),
    (["predict", BAD / "missing-key.json", *H100, "--workers", "8"], 2, "hidden_size"),
    (["predict", BAD / "nan.json", *H100, "--workers", "8"], 2, "nan.json"),
    (["predict", BAD / "indivisible.json", *H100, "--workers", "8"], 2, "indivisible.json"),
    (["plan", "llama-3-8b", "--cluster", "./no.toml"], 4, "no.toml"),
    ([*EIGHT, "--calibration", "./no.toml"], 4, "no.toml"),
    ([*EIGHT, "--calibration", SCRATCH / "constants.toml"], 2, "constants.toml"),
    ([*EIGHT, "--catalog", "./no"], 4, "--catalog"),
    ([*EIGHT, "--config", "./no.toml"], 4, "no.toml"),
    ([*PLAN, "--config", SCRATCH / "key.toml"], 2, "did you mean '--workers'?"),
    ([*PLAN, "--config", SCRATCH / "plain.toml"], 2, "did you mean '--format'?"),
    ([*PLAN, "--config", SCRATCH / "table.toml"], 2, "did you mean 'plan'?"),
    ([*PLAN, "--config", SCRATCH / "broken.toml"], 4, "broken.toml:1"),
    ([*PLAN, "--config", SCRATCH / "twice.toml"], 4, "twice.toml:2"),
    ([*PLAN, "--config", SCRATCH / "binary.toml"], 4, "binary.toml:1"),
    ([*PLAN, "--config", SCRATCH / "deep.toml"], 4, "deep.toml:1"),
    ([*EIGHT, "--out", ""], 2, "--out"),
    ([*EIGHT, "--html", "-"], 2, "--out FILE"),
    ([*EIGHT, "--html", SCRATCH / "alone.html", "--out", "./no/result.json"], 2, "no/result.json"),
    ([*EIGHT, "--out", "./no/result.json"], 2, "no/result.json"),
    (["validate", "--runs", "./no.csv"], 4, "no.csv"),
    (["validate", "--runs", SCRATCH / "empty.csv"], 4, "empty.csv"),
    (["validate", "--runs", SCRATCH / "header.csv"], 5, "header.csv"),
    (["validate", "--runs", SCRATCH / "no-model.csv"], 5, "no run that can be predicted"),
    (["validate", "--require", "median_absolute_error<=0.0001%"], 99, "median_absolute_error"),
]

for arguments, code, contains in TABLE:
    done = run(*arguments)
    check(done.code == code, f"{done}: exit {done.code}, expected {code}; said: {done.err.strip()}")
    lines = done.err.splitlines()
    check(len(lines) == 1, f"{done}: {len(lines)} lines on standard error, expected one: {done.err}")
    check(contains in done.err, f"{done}: {contains!r} is not in {done.err.strip()!r}")
    check(code in (3, 99) or done.out == "", f"{done}: an error, yet a result on standard output")
    check(code not in (3, 99) or done.out != "", f"{done}: no result beside the exit code {code}")
    check(not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", done.err), f"{done}: control characters in {done.err!r}")
    check("what():" not in done.err and "terminate" not in done.err, f"{done}: an exception got through: {done.err}")

for path in sorted(BAD.glob("*.json")):
    done = run("predict", path, *H100, "--workers", "8")
    check(done.code in (2, 4) and len(done.err.splitlines()) == 1, f"{path.name}: exit {done.code}, said {done.err!r}")

check(not (SCRATCH / "alone.html").exists(), "a page is left behind although the result had no place")

# a file that was there stays as it was when the call fails, and is written whole when it does not
kept = SCRATCH / "kept.json"
kept.write_text("as it was")
run(*EIGHT, "--tp", "3", "--format", "json", "--out", kept)
equal(kept.read_text(), "as it was", "--out of a failed call")
direct = run(*EIGHT, "--format", "json")
run(*EIGHT, "--format", "json", "--out", kept)
equal(kept.read_text(), direct.out, "--out against standard output")
equal(run(*EIGHT, "--format", "json", "--out", "-").out, direct.out, "--out - against standard output")

finish()
