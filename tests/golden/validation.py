"""Errors of the predictions of published runs: bars that can fail, and the figures behind them.

Bars are on the constants in use; the figures with each source left out are printed, too, for whoever reads the log.
"""

import statistics

from _harness import answer, check, close, equal, finish

MEDIAN_AT_MOST = {  # absolute error of the step
    ("states enough", "dense"): 0.06,
    ("kind", "moe"): 0.20,
    ("trained", "LoRA"): 0.15,
    ("given the 1-worker row", "cnn"): 0.10,
    ("given the 1-worker row", "bert"): 0.10,
    ("given the 1-worker row", "other"): 0.10,
    ("given the 1-worker row", "all"): 0.10,
}
MEMORY_MEDIAN_AT_MOST = 0.05  # absolute error of what an allocator holds
MEMORY_ROWS_AT_LEAST = 14
PREDICTED_AT_LEAST = 0.90  # of the rows that state enough
KINDS = {"dense", "moe", "cnn", "bert", "other"}


def shown(value):
    return "none" if value is None else f"{100 * value:.1f} %"


def median_of(rows):
    errors = [abs(row["relative_error"]) for row in rows if row["skipped_reason"] is None]
    errors += [1.0 for row in rows if row["skipped_reason"] is not None and row["states_enough"]]
    return statistics.median(errors) if errors else None


def members(rows, by, name):
    """The rows of a group, found again from what each row says of itself."""
    anchored = [row for row in rows if row["anchored_to"] is not None]
    return {
        "kind": [row for row in rows if row["kind"] == name],
        "states enough": [row for row in rows if row["states_enough"] and row["kind"] == name],
        "given the 1-worker row": [row for row in anchored if name in ("all", row["kind"])],
        "trained": [row for row in rows if row["strategy_kind"].startswith("lora")],
        "source": [row for row in rows if row["source"] == name],
        "accelerator": [row for row in rows if row["accelerator"] == name],
        "strategy": [row for row in rows if row["strategy_kind"] == name],
    }.get(by)


result = answer("validate")
if result:
    rows = {row["id"]: row for row in result["rows"]}
    equal(len(rows), len(result["rows"]), "every row has an id of its own")
    groups = {(group["by"], group["name"]): group for group in result["groups"]}
    counted = [row for row in result["rows"] if row["dropped_by"] is None]

    # suspect rows: none but those of a rule, with its finding, and none of them in a figure
    for row in result["rows"]:
        equal(row["dropped_because"] is None, row["dropped_by"] is None, f"what the rule found of {row['id']}")
    equal(result["summary"]["rows"], len(counted), "summary.rows")
    check(len(result["rows"]) - len(counted) <= 0.01 * len(result["rows"]), "more than a hundredth of the rows are dropped")

    for (by, name), group in groups.items():
        found = members(counted, by, name)
        if found is not None:
            equal(group["rows"], len(found), f"rows of {by} {name}")
            median = median_of(found)
            if median is None or group["median_absolute_error"] is None:
                equal(group["median_absolute_error"], median, f"median of {by} {name}")
            else:
                close(group["median_absolute_error"], median, f"median of {by} {name}", 1e-9)
    equal({name for by, name in groups if by == "kind"}, KINDS, "kinds of runs")

    # coverage
    enough = [row for row in counted if row["states_enough"]]
    share = sum(row["skipped_reason"] is None for row in enough) / len(enough)
    close(result["summary"]["predicted_of_stating_enough"], share, "summary.predicted_of_stating_enough")
    print(f"{shown(share)} of {len(enough)} rows that state enough are predicted")
    check(share >= PREDICTED_AT_LEAST, f"{shown(share)} of the rows that state enough are predicted")

    # errors
    for key, bar in MEDIAN_AT_MOST.items():
        group = groups.get(key)
        if not check(group is not None and group["rows"] >= 20, f"group {key}: {group}"):
            continue
        median = group["median_absolute_error"]
        print(f"{': '.join(key)}: {group['rows']} runs, median {shown(median)} (bar {shown(bar)}), "
              f"each source left out {shown(group['left_out_median_absolute_error'])}")
        check(median is not None and median <= bar, f"{': '.join(key)}: median {shown(median)}, bar {shown(bar)}")
        check(group["left_out_median_absolute_error"] is not None, f"{': '.join(key)}: no left-out figure")

    # memory
    memory = result["memory"]
    errors = [run["predicted_bytes"] / run["measured_bytes"] - 1 for run in memory["runs"]]
    equal(memory["rows"], len(errors), "rows of memory")
    for run, error in zip(memory["runs"], errors):
        close(run["relative_error"], error, f"error of the memory of {run['id']}", 1e-9)
    check(len(errors) >= MEMORY_ROWS_AT_LEAST, f"{len(errors)} runs measured their memory")
    median = statistics.median(abs(error) for error in errors) if errors else None
    close(memory["median_absolute_error"], median, "median of memory", 1e-9)
    print(f"memory: {len(errors)} runs, median {shown(median)} (bar {shown(MEMORY_MEDIAN_AT_MOST)})")
    check(median is not None and median <= MEMORY_MEDIAN_AT_MOST, f"memory: median {shown(median)}")

    # paces
    paces = {pace["framework"]: pace for pace in result["paces"]}
    check(paces, "no stack has a pace")
    for name, pace in paces.items():
        check(pace["factor"] > 0 and pace["runs"] > 0 and pace["sources"] > 0, f"pace of {name}: {pace}")
        check(pace["without"], f"pace of {name}: not known without its sources")
    for row in result["rows"]:
        anchor = row["anchored_to"]
        if row["skipped_reason"] is not None:
            equal((row["pace"], anchor), (None, None), f"pace and anchor of {row['id']}, which is skipped")
        elif anchor is not None:
            one = rows[anchor]
            equal((one["source"], one["accelerator"], one["framework"]), (row["source"], row["accelerator"], row["framework"]),
                  f"what {row['id']} shares with the row it is given")
            equal(one["anchored_to"], None, f"{anchor} is given none itself")
        else:
            close(row["pace"], paces.get(row["framework"], {"factor": 1.0})["factor"], f"pace of {row['id']}")

finish()
