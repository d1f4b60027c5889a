"""Errors of the prices of published collectives: bars that can fail, and every figure found again from its rows."""

import csv
import math
import statistics

from _harness import SOURCE, SCRATCH, answer, check, close, equal, finish, run, schema_errors

FITTED_AT_MOST = 0.05
FACTOR_ABOVE_AT_MOST, FACTOR_UP_TO_AT_MOST = 1.3, 2.0
MEGABYTE = 1 << 20
LEAST_SIZES = 6
SOURCES = SOURCE / "validation" / "published_communication.csv"


def median_factor(rows):
    logs = [abs(math.log(row["unfitted_seconds"] / row["measured_seconds"])) for row in rows if row["unfitted_seconds"] is not None]
    return math.exp(statistics.median(logs)) if logs else None


def median_error(rows):
    errors = [abs(row["fitted_seconds"] / row["measured_seconds"] - 1) for row in rows if row["fitted_seconds"] is not None]
    return statistics.median(errors) if errors else None


def same(found, expected, what):
    if found is None or expected is None:
        equal(found, expected, what)
    else:
        close(found, expected, what)


def agrees(summary, rows, what):
    same(summary["median_absolute_error_fitted"], median_error(rows), f"{what}: median error, fitted")
    same(summary["median_factor_unfitted"], median_factor(rows), f"{what}: median factor")
    above = [row for row in rows if row["size_bytes"] > MEGABYTE]
    below = [row for row in rows if row["size_bytes"] <= MEGABYTE]
    same(summary["median_factor_above_1_mb"], median_factor(above), f"{what}: median factor above 1 MB")
    same(summary["median_factor_up_to_1_mb"], median_factor(below), f"{what}: median factor up to 1 MB")
    equal(summary["rows_fitted"], sum(row["fitted_seconds"] is not None for row in rows), f"{what}: rows fitted")
    equal(summary["rows_unfitted"], sum(row["unfitted_seconds"] is not None for row in rows), f"{what}: rows unfitted")


result = answer("validate", "--communication")
if result:
    for error in schema_errors(result):
        check(False, f"schema: {error}")
    rows, summary = result["rows"], result["summary"]
    with open(SOURCES, newline="", encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    equal(summary["rows"], len(table), "every row of the table is counted")
    equal(summary["rows"], len(rows) + sum(trouble["count"] for trouble in result["not_read"]), "rows read and not read")
    agrees(summary, rows, "all")

    for index, group in enumerate(result["groups"]):
        members = [row for row in rows if row["group"] == index]
        what = f"{group['system']}, {group['collective']}"
        equal(group["rows"], len(members), f"{what}: rows")
        agrees(group, members, what)
        sizes = sorted({row["size_bytes"] for row in members})
        equal(group["sizes"], len(sizes), f"{what}: sizes")
        equal(group["fit_skipped_reason"] is None, len(sizes) >= LEAST_SIZES, f"{what}: fitted from {LEAST_SIZES} sizes on")
        used = set(sizes[::2]) if group["fit_skipped_reason"] is None else set()
        for row in members:
            equal(row["fitted_on"], row["size_bytes"] in used, f"{what}: {row['size_bytes']:g} B is fitted on")
            check(row["fitted_seconds"] is None or not row["fitted_on"], f"{what}: a row is predicted by a fit that has seen it")
            equal(row["unfitted_seconds"] is None, row["skipped_reason"] is not None, f"{what}: a price or a reason")

    # the measured times are those of the table, found by the program's own line numbers
    for row in rows:
        printed = table[row["line"] - 2]
        if printed["time_us"]:
            close(row["measured_seconds"], float(printed["time_us"]) * 1e-6, f"time of line {row['line']}")

    print(f"fitted {100 * summary['median_absolute_error_fitted']:.2f} % of {summary['rows_fitted']} rows; unfitted {summary['rows_unfitted']} rows, "
          f"factor {summary['median_factor_above_1_mb']:.3f} above 1 MB, {summary['median_factor_up_to_1_mb']:.3f} up to it")
    check(summary["median_absolute_error_fitted"] <= FITTED_AT_MOST, f"fitted: {summary['median_absolute_error_fitted']}")
    check(summary["median_factor_above_1_mb"] <= FACTOR_ABOVE_AT_MOST, f"above 1 MB: {summary['median_factor_above_1_mb']}")
    check(summary["median_factor_up_to_1_mb"] <= FACTOR_UP_TO_AT_MOST, f"up to 1 MB: {summary['median_factor_up_to_1_mb']}")

# a table of one's own: three sizes cannot be fitted, and nobody knows the machine
mine = SCRATCH / "mine.csv"
mine.write_text("system,interconnect,gpus,nodes,collective,bytes,time_us\n" + "".join(f"a box,wires,4,1,all_reduce,{size},{size / 1000 + 5}\n" for size in (1024, 4096, 16384)))
own = answer("validate", "--communication", mine)
if own:
    equal(own["summary"]["median_absolute_error_fitted"], None, "three sizes are not fitted")
    equal(own["summary"]["median_factor_unfitted"], None, "an unknown machine has no price")
    equal(own["summary"]["skipped"], 3, "three rows skipped")

equal(run("validate", "--communication", "--require", "median_absolute_error_fitted<=5%,median_factor_unfitted<=1.5").code, 0, "gates that hold")
equal(run("validate", "--communication", "--require", "median_absolute_error_fitted<=0.01%").code, 99, "a gate that fails")
equal(run("validate", "--communication", "--require", "median_absolute_error<=5%").code, 2, "a gate of runs")
equal(run("validate", "--communication", "--leave-one-source-out").code, 2, "options of runs are refused")
equal(run("validate", "--communication", SCRATCH / "nothing.csv").code, 4, "a file that is not there")
for form in ("markdown", "csv"):
    out = run("validate", "--communication", "--format", form)
    check(out.code == 0 and "all_reduce" in out.out, f"{form} output")
finish()
