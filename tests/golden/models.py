"""Parameters of the catalog's models: against what publishers print, and counted again from the records alone."""

import json
import tomllib

from _harness import SCRATCH, SOURCE, answer, check, close, equal, finish, run, succeed

listing = answer("catalog", "list", "models")
models = {record["name"]: record["model"] for record in listing["records"]}
published = {name: model for name, model in models.items() if model["published_parameters"]}
check(len(published) >= 60, f"{len(published)} models have a published total")
for name, model in published.items():
    ratio = model["parameters"] / model["published_parameters"] - 1
    close(model["relative_difference"], ratio, f"relative difference of {name}", 1e-6) if ratio else None
    check(abs(ratio) <= 0.005, f"{name}: counted {model['parameters']:.0f}, published {model['published_parameters']:.0f}")
    check(model["published_source"], f"{name}: where is its total printed?")
for name, model in models.items():
    check(0 < model["active_parameters"] <= model["parameters"], f"{name}: active {model['active_parameters']}")


# Written from the architectures, not from the program: dense, latent attention with experts, hybrid.
def dense(record):
    size, hidden = record["dimensions"], record["dimensions"]["hidden"]
    queries, keys = size["heads"] * size["head_dim"], size["kv_heads"] * size["head_dim"]
    layer = hidden * (2 * queries + 2 * keys) + 3 * hidden * size["ffn"] + 2 * hidden
    return 2 * size["vocab"] * hidden + size["layers"] * layer + hidden


def latent_with_experts(record):
    size, moe, mla = record["dimensions"], record["moe"], record["latent_attention"]
    hidden, heads, inner = size["hidden"], size["heads"], mla["q_rank"]
    query = hidden * inner + inner + inner * heads * (mla["nope_dim"] + mla["rope_dim"])
    keys = hidden * (mla["kv_rank"] + mla["rope_dim"]) + mla["kv_rank"]
    values = mla["kv_rank"] * heads * (mla["nope_dim"] + mla["value_dim"]) + heads * mla["value_dim"] * hidden
    expert = 3 * hidden * moe["expert_ffn"]
    routed = (moe["experts"] + moe["shared_experts"]) * expert + moe["experts"] * (hidden + 1)
    layers = size["layers"] * (query + keys + values + 2 * hidden)
    layers += moe["first_dense"] * 3 * hidden * size["ffn"] + (size["layers"] - moe["first_dense"]) * routed
    return 2 * size["vocab"] * hidden + layers + hidden


def hybrid(record):
    size, moe, scan = record["dimensions"], record["moe"], record["state_space"]
    hidden, width = size["hidden"], scan["heads"] * scan["head_dim"]
    mixed = width + 2 * scan["groups"] * scan["state"]  # channels that pass the convolution
    each = {
        "M": hidden * (width + mixed + scan["heads"]) + mixed * (scan["convolution"] + 1) + 3 * scan["heads"] + width + width * hidden,
        "*": 2 * hidden * size["head_dim"] * (size["heads"] + size["kv_heads"]),
        "E": moe["experts"] * (2 * hidden * moe["expert_ffn"] + hidden + 1) + 2 * hidden * moe["shared_ffn"],
    }
    return 2 * size["vocab"] * hidden + hidden + sum(each[letter] + hidden for letter in record["layers"]["pattern"])


for name, count in (("llama-3-70b", dense), ("deepseek-v3", latent_with_experts), ("nemotron-3-nano", hybrid)):
    record = tomllib.loads((SOURCE / "catalog" / "models" / f"{name}.toml").read_text())
    equal(models[name]["parameters"], count(record), f"parameters of {name}, counted again")

shown = answer("catalog", "show", "DeepSeekV3 (w/o MTP)")["record"]
equal(shown["name"], "deepseek-v3", "alias of deepseek-v3")
equal(shown["model"], models["deepseek-v3"], "the same counts in show and list")
for arguments in (["catalog", "list", "models"], ["catalog", "show", "mixtral-8x7b"]):
    head = succeed(*arguments).out.split("origin:")[0]
    check("published" in head and "diff %" in head, f"{arguments}: the counts are shown")
    for line in head.splitlines():
        check(len(line) <= 80, f"{arguments}: a line of {len(line)} columns: {line}")
sheet = succeed("catalog", "list", "models", "--format", "csv").out.splitlines()
equal(len(sheet), len(models) + 1, "CSV: a header and a row a model")

# what a file was read as: parameters, each kind of layer, what its class filled in, and what was not read
record = answer("catalog", "show", SOURCE / "tests" / "data" / "config_families" / "kimi-linear-48b.json")["record"]
equal(record["model"]["parameters"], 49122681728, "Kimi Linear, as its checkpoint")
equal(record["reading"]["read_as"], "kimi_linear", "its architecture")
equal(sum(kind["count"] for kind in record["reading"]["layers"]), 27, "every layer is of one kind")
layers = sum(kind["count"] * kind["parameters"] for kind in record["reading"]["layers"])
equal(layers + record["reading"]["embedding_parameters"] + record["reading"]["head_parameters"], 49122681728, "the parts are the whole")
check(record["reading"]["understood"] and not record["reading"]["issues"], "nothing of it is open")
page = succeed("catalog", "show", SOURCE / "tests" / "data" / "config_families" / "kimi-linear-48b.json").out
check("Kimi" in page and "latent" in page and "256" in page, f"the layers are shown: {page}")
check(all(len(line) <= 80 for line in page.splitlines()), "80 columns")

USUAL = {"hidden_size": 512, "intermediate_size": 2048, "num_hidden_layers": 8, "num_attention_heads": 8, "vocab_size": 32000,
         "max_position_embeddings": 4096, "rope_theta": 1e4, "hidden_act": "silu", "tie_word_embeddings": False}


def written(name, **keys):
    path = SCRATCH / f"{name}.json"
    path.write_text(json.dumps(USUAL | keys))
    return path


unknown = written("unknown", model_type="brandnew")
reading = answer("catalog", "show", unknown)["record"]["reading"]
check(not reading["understood"] and reading["parameters_low"] <= reading["parameters_high"], "an unknown architecture is bounded")
first = succeed("catalog", "show", unknown).out.splitlines()[0]
check(first.startswith("Architecture not understood: between "), f"and the first line says so: {first}")
PREDICT = ["--cluster", "dgx-h100", "--workers", 8, "--global-batch", 64, "--sequence-length", 1024]
known = answer("predict", written("known", model_type="llama"), *PREDICT)
guess = answer("predict", unknown, *PREDICT)
equal(guess["step_seconds"], known["step_seconds"], "read as a common decoder")
check(guess["interval_seconds"][1] > known["interval_seconds"][1], "its interval is wider")
check(any(one["field"] == "architecture" for one in guess["assumed"]), "it is listed as assumed")
page = succeed("predict", unknown, *PREDICT).out
check("architecture is not understood: parameters may be off by" in " ".join(page.split())[:200], f"the first lines say by what: {page[:300]}")
done = run("catalog", "show", written("odd", model_type="brandnew", ssm_rank=3))
check(done.code == 2 and "may change what is counted: ssm_rank" in done.err, f"a key that could change the count is no guess: {done.err}")
extra = written("extra", model_type="llama", num_local_experts=8)
equal([one["column"] for one in answer("catalog", "show", extra)["record"]["reading"]["issues"]], ["num_local_experts"], "an issue of a known type")
check(any(one["field"] == "num_local_experts" for one in answer("predict", extra, *PREDICT)["assumed"]), "which predict lists, too")

finish()
