"""The recommendation follows from the curve: every rule of the planner, worked out again from its rows."""

import math

from _harness import answer, check, close, equal, finish

BASE = ["llama-3-70b", "--cluster", "dgx-h100", "--global-batch", "1024", "--sequence-length", "4096", "--tokens", "2T"]
SMALL = ["llama-3-8b", "--cluster", "dgx-a100", "--global-batch", "256", "--sequence-length", "4096", "--tokens", "1T"]


def plan(arguments, *more, code=0):
    return answer("plan", *arguments, *more, code=code)


def feasible(value):
    return [row for row in value["curve"] if row["feasible"]]


def check_curve(value, tokens):
    price = value["cluster"]["price_dollars_per_hour"]
    work = value["workload"]
    rows = feasible(value)
    first = rows[0]
    for before, row in zip([None, *rows], rows):
        what = f"{row['workers']} workers"
        close(sum(row["breakdown"].values()), row["step_seconds"], what + ": breakdown")
        close(row["tokens_per_second"], work["global_batch"] * work["sequence_length"] / row["step_seconds"], what + ": tokens_per_second")
        close(row["speedup"], first["step_seconds"] / row["step_seconds"], what + ": speedup")
        close(row["efficiency"], row["speedup"] * first["workers"] / row["workers"], what + ": efficiency")
        close(row["days"], tokens / row["tokens_per_second"] / 86400, what + ": days")
        close(row["optimizer_steps"], tokens / (work["global_batch"] * work["sequence_length"]), what + ": optimizer steps")
        close(row["cost_dollars"], row["workers"] * price * 24 * row["days"], what + ": cost")
        close(row["dollars_per_million_tokens"], row["cost_dollars"] / tokens * 1e6, what + ": dollars a million tokens")
        close(row["tokens_per_dollar"], tokens / row["cost_dollars"], what + ": tokens a dollar")
        s = row["strategy"]
        equal(s["dp"] * s["tp"] * s["pp"] * s["cp"], row["workers"], what + ": product of degrees")
        if before is None:
            equal(row["marginal_speedup_per_doubling"], None, what + ": marginal speed-up of the smallest")
        else:
            doublings = math.log2(row["workers"] / before["workers"])
            close(row["marginal_speedup_per_doubling"], (before["step_seconds"] / row["step_seconds"]) ** (1 / doublings), what + ": marginal speed-up")


def check_counts(value):
    for name, search in [("total", value["search"])] + [(row["workers"], row["search"]) for row in value["curve"]]:
        equal(search["evaluated"] + search["pruned"], search["legal"], f"search {name}: evaluated and pruned")
        equal(search["feasible"] + sum(search["infeasible_by_reason"].values()), search["evaluated"], f"search {name}: feasible and not")
    for key in ("legal", "evaluated", "feasible"):
        equal(sum(row["search"][key] for row in value["curve"]), value["search"][key], f"search.{key} over the sizes")


def knee(rows):
    """The largest size whose last doubling still gave 1.6x; never one that is slower than a smaller one."""
    best = rows[0]
    for i, row in enumerate(rows[1:], 1):
        faster = all(row["step_seconds"] < smaller["step_seconds"] for smaller in rows[:i])
        if faster and row["marginal_speedup_per_doubling"] >= 1.6:
            best = row
    return best["workers"]


def stop(rows):
    """The first size after which no larger one improves the step by more than 2 %."""
    for i, row in enumerate(rows):
        if all(later["step_seconds"] >= 0.98 * row["step_seconds"] for later in rows[i + 1:]):
            return row["workers"]
    return None


def pareto(rows):
    def beaten(row):
        return any(other["step_seconds"] <= row["step_seconds"] and other["cost_dollars"] <= row["cost_dollars"]
                   and (other["step_seconds"] < row["step_seconds"] or other["cost_dollars"] < row["cost_dollars"]) for other in rows)

    return [row["workers"] for row in rows if not beaten(row)]


def recommended(value):
    return value["recommendation"]["workers"] if value and value["recommendation"] else None


for arguments, tokens, counts in ((BASE, 2e12, "8..1024"), (SMALL, 1e12, "8..2048"), (SMALL, 1e12, "16,48,64,512,1024"),
                                  (SMALL[:-2] + ["--tokens", "1T", "--fix", "tp=1,pp=1"], 1e12, "8..256")):
    value = plan(arguments, "--workers", counts)
    if value is None:
        continue
    what = f"{arguments[0]} {counts}"
    rows = feasible(value)
    check_curve(value, tokens)
    check_counts(value)
    equal(recommended(value), knee(rows), what + ": knee")
    equal(value["stop"]["workers"], stop(rows), what + ": stop")
    equal([point["workers"] for point in value["pareto"]], pareto(rows), what + ": pareto")
    check(str(value["recommendation"]["workers"]) in value["verdict"], what + ": the verdict names the size: " + value["verdict"])
    equal(recommended(plan(arguments, "--workers", counts, "--objective", "time")), min(rows, key=lambda row: row["step_seconds"])["workers"], what + ": fastest")
    equal(recommended(plan(arguments, "--workers", counts, "--objective", "cost")), min(rows, key=lambda row: row["cost_dollars"])["workers"], what + ": cheapest")

    days = sorted(row["days"] for row in rows)
    deadline = (days[0] + days[-1]) / 2
    met = [row for row in rows if row["days"] <= deadline]
    equal(recommended(plan(arguments, "--workers", counts, "--deadline", f"{deadline:.6f}d")), min(met, key=lambda row: row["cost_dollars"])["workers"], what + ": deadline")
    plan(arguments, "--workers", counts, "--deadline", "1s", code=3)
    costs = sorted(row["cost_dollars"] for row in rows)
    budget = (costs[0] + costs[-1]) / 2
    met = [row for row in rows if row["cost_dollars"] <= budget]
    equal(recommended(plan(arguments, "--workers", counts, "--budget", f"{budget:.2f} $")), min(met, key=lambda row: row["cost_dollars"])["workers"], what + ": budget")
    soonest = min(met, key=lambda row: row["days"])
    equal(recommended(plan(arguments, "--workers", counts, "--budget", f"{budget:.2f} $", "--objective", "time")), soonest["workers"], what + ": the soonest within the budget")
    for value_of_hour in (1, 100, 10000):
        best = min(rows, key=lambda row: row["cost_dollars"] + value_of_hour * 24 * row["days"])
        equal(recommended(plan(arguments, "--workers", counts, "--value-of-time", f"{value_of_hour} $/h")), best["workers"], f"{what}: {value_of_hour} $/h")

# the sizes of --dry-run are those of the search
dry, full = plan(BASE, "--workers", "8..64", "--dry-run"), plan(BASE, "--workers", "8..64", "--top", "4")
if dry and full:
    equal([(size["workers"], size["legal"]) for size in dry["sizes"]], [(row["workers"], row["search"]["legal"]) for row in full["curve"]], "legal plans")
    for row in feasible(full):
        steps = [other["step_seconds"] for other in row["alternatives"]]
        equal(steps, sorted(steps), f"{row['workers']} workers: alternatives in order")
        check(row["step_seconds"] <= 1.02 * steps[0], f"{row['workers']} workers: {row['step_seconds']} s is no tie with {steps[0]} s")

# what plan recommends, predict answers with the same numbers
if full:
    for row in feasible(full):
        s = row["strategy"]
        same = answer("predict", *BASE, "--workers", row["workers"], "--dp", s["dp"], "--tp", s["tp"], "--pp", s["pp"], "--cp", s["cp"],
                      "--virtual-pp", s["virtual_pp"], "--zero", s["zero"], "--shard", s["shard"], "--micro-batch", s["micro_batch"],
                      "--sequence-parallel", "on" if s["sequence_parallel"] else "off", "--recompute", s["recompute"], "--precision", s["precision"])
        if same:
            equal(same["step_seconds"], row["step_seconds"], f"{s['name']}: step of predict against plan")
            equal(same["memory"]["total_bytes"], row["memory_bytes"], f"{s['name']}: memory of predict against plan")

# fixed degrees hold
held = plan(SMALL, "--workers", "32..128", "--fix", "tp=4,pp=2,recompute=full")
if held:
    for row in feasible(held):
        s = row["strategy"]
        equal((s["tp"], s["pp"], s["recompute"]), (4, 2, "full"), f"{row['workers']} workers: fixed degrees")

# two clusters tie where a token costs the same
duel = plan(SMALL, "--workers", "8..128", "--price", "2", "--against", "dgx-h100", "--against-price", "4")
if duel:
    comparison, mine, other = duel["comparison"], duel["recommendation"], duel["comparison"]["recommendation2"]
    per_token = 2 * mine["workers"] * mine["step_seconds"]
    close(comparison["tie_price_dollars_per_hour"], per_token / (other["workers"] * other["step_seconds"]), "tie price", 1e-6)
    for row, mine in zip(comparison["rows"], duel["curve"]):
        equal(row["step_seconds"], mine["step_seconds"], f"{row['workers']} workers: step in the comparison")

finish()
