"""Bad input: the exit code, exactly one line on standard error, the place and the way out; nothing on standard output."""

import re

from _harness import CONFIGS, SCRATCH, SOURCE, check, equal, finish, run

H100 = ["--cluster", "dgx-h100"]
EIGHT = ["predict", "llama-3-8b", *H100, "--workers", "8"]
PLAN = ["plan", "llama-3-8b", *H100, "--workers", "8..32"]
BAD = CONFIGS / "bad"

(SCRATCH / "empty.csv").write_text("")
(SCRATCH / "header.csv").write_text((SOURCE / "validation" / "published_runs.csv").read_text().splitlines()[0] + "\n")
(SCRATCH / "key.toml").write_text("[plan]\nworkerz = \"8\"\n")
(SCRATCH / "broken.toml").write_text("[plan\nworkers = ")
(SCRATCH / "plain.toml").write_text("formt = \"json\"\n")
(SCRATCH / "table.toml").write_text("[plam]\nworkers = 8\n")
(SCRATCH / "twice.toml").write_text("top = 1\ntop = 2\n")
(SCRATCH / "binary.toml").write_bytes(bytes(range(256)))
(SCRATCH / "deep.toml").write_text("[" + ".".join("a" * 50000) + "]\nx = 1\n")
(SCRATCH / "constants.toml").write_text("name = \"mine\"\n[constants.gemm_hopper]\nvalue = \"fast\"\n")

# arguments, exit code, what the line must contain
TABLE = [
    # verbs and options
    (["plna", "llama-3-8b"], 2, "did you mean 'plan'?"),
    (["--workers", "8"], 2, "'--workers'"),
    ([*PLAN, "--grobal-batch", "12"], 2, "did you mean '--global-batch'?"),
    ([*EIGHT, "--tensor", "2"], 2, "unknown option '--tensor'"),
    ([*EIGHT, "again"], 2, "unexpected argument 'again'"),
    ([*EIGHT, "--tp"], 2, "--tp"),
    ([*EIGHT, "--tp", "1", "--tp", "2"], 2, "--tp"),
    ([*EIGHT, "--format", "jsn"], 2, "did you mean 'json'?"),
    ([*PLAN, "--objective", "speed"], 2, "--objective"),
    (["catalog", "lits"], 2, "did you mean 'list'?"),
    (["catalog", "list", "modle"], 2, "did you mean 'model'?"),
    (["catalog", "show", "dgx-h10"], 2, "did you mean 'dgx-h100'?"),
    (["plan"], 2, "MODEL"),
    (["plan", "llama-3-8b"], 2, "--cluster"),
    (["predict", "llama-3-8b", *H100], 2, "--workers"),
    # names
    (["plan", "llama-3-8", *H100], 2, "did you mean 'llama-3-8b'?"),
    (["plan", "llama-3-8b", "--cluster", "dgx-h10"], 2, "did you mean 'dgx-h100'?"),
    ([*EIGHT, "--framework", "megatrom-core"], 2, "did you mean 'megatron-core'?"),
    ([*EIGHT, "--precision", "bf17"], 2, "did you mean 'bf16'?"),
    ([*EIGHT, "--recompute", "sometimes"], 2, "--recompute"),
    ([*EIGHT, "--schedule", "zbv"], 2, "not modelled yet"),
    ([*EIGHT, "--schedule", "zigzag"], 2, "--schedule"),
    ([*PLAN, "--fix", "tp=2,pq=4"], 2, "'pq'"),
    ([*PLAN, "--fix", "tp"], 2, "'tp'"),
    ([*EIGHT, "--explain", "step_second"], 2, "did you mean 'step_seconds'?"),
    ([*EIGHT, "--what-if", "bandwith=2x"], 2, "did you mean 'bandwidth'?"),
    ([*EIGHT, "--what-if", "bandwidth=fast"], 2, "bandwidth=2x"),
    # numbers and units
    ([*EIGHT, "--workers", "8..4"], 2, "--workers"),
    (["predict", "llama-3-8b", *H100, "--workers", "8..4"], 2, "runs backwards"),
    (["predict", "llama-3-8b", *H100, "--workers", "8,16"], 2, "--workers"),
    (["predict", "llama-3-8b", *H100, "--workers", "0"], 2, "--workers"),
    (["predict", "llama-3-8b", *H100, "--workers", "-8"], 2, "--workers"),
    (["predict", "llama-3-8b", *H100, "--workers", "8.5"], 2, "--workers"),
    (["predict", "llama-3-8b", *H100, "--workers", "many"], 2, "'many'"),
    (["predict", "llama-3-8b", *H100, "--workers", "8", "--nodes", "1"], 2, "--nodes"),
    ([*EIGHT, "--global-batch", "1e30"], 2, "--global-batch"),
    ([*EIGHT, "--zero", "4"], 2, "--zero"),
    ([*EIGHT, "--price", "3 GB/s"], 2, "--price"),
    ([*PLAN, "--tokens", "2T", "--deadline", "30"], 2, "--deadline"),
    ([*PLAN, "--tokens", "2T", "--deadline", "30 GB"], 2, "--deadline"),
    ([*PLAN, "--tokens", "2X"], 2, "--tokens"),
    ([*PLAN, "--deadline", "30d"], 2, "tokens"),
    ([*EIGHT, "--require", "step<=900"], 2, "--require"),
    ([*EIGHT, "--require", "mfv>=0.4"], 2, "did you mean 'mfu'?"),
    ([*EIGHT, "--require", "mfu"], 2, "--require"),
    ([*PLAN, "--tokens", "2T", "--deadline", "0d"], 2, "not above zero"),
    ([*PLAN, "--tokens", "2T", "--budget", "0"], 2, "not above zero"),
    (["plan", "llama-3-8b", *H100, "--workers", "8,,16"], 2, "'8,,16'"),
    (["plan", "llama-3-8b", *H100, "--workers", "8:16"], 2, "8..64:8"),
    (["plan", "llama-3-8b", *H100, "--workers", "1..4096:1,4097..5000:1"], 2, "at most 4096"),
    ([*PLAN, "--fix", "tp=2,tp=4"], 2, "'tp' twice"),
    ([*PLAN, "--against", "dgx-h10"], 2, "--against: unknown cluster"),
    ([*PLAN, "--against-price", "3"], 2, "--against"),
    ([*EIGHT, "--what-if", "bandwidth=1e-320"], 2, "bandwidth=2x"),
    ([*EIGHT, "--what-if", "bandwidth"], 2, "bandwidth=2x"),
    ([*EIGHT, "--what-if", "dp=64"], 2, "8 workers"),
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
