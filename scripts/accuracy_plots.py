#!/usr/bin/python3
"""Draws docs/plots/*.svg of docs/accuracy.md from what `headroom validate --format json` prints.

    accuracy_plots.py PROGRAM FOLDER
"""

import json
import math
import subprocess
import sys
from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

# the same bytes every time: no date, no random ids
matplotlib.rcParams.update(
    {
        "svg.hashsalt": "headroom",
        "svg.fonttype": "none",
        "font.size": 9,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "grid.alpha": 0.25,
        "figure.constrained_layout.use": True,
        "figure.facecolor": "white",
    }
)
KINDS = {"dense": "#1f6fb2", "moe": "#d1602b", "bert": "#4a9a5b", "cnn": "#8a63b5", "other": "#7a7a7a"}
IN_SAMPLE, LEFT_OUT = "#9bbcd8", "#1f6fb2"


def validate(program, *options):
    done = subprocess.run([program, "validate", "--quiet", "--format", "json", *options], check=True, capture_output=True)
    return json.loads(done.stdout)


def save(figure, folder, name):
    figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
    plt.close(figure)
    print(folder / f"{name}.svg")


def predicted(rows):
    return [row for row in rows if row["relative_error"] is not None and row["dropped_by"] is None]


def draw_predicted_against_measured(rows, folder):
    figure, axes = plt.subplots(figsize=(6.4, 5.2))
    for kind, colour in KINDS.items():
        points = [(r["measured_step_seconds"], r["measured_step_seconds"] * (1 + r["left_out_relative_error"]))
                  for r in predicted(rows) if r["kind"] == kind and r["left_out_relative_error"] is not None]
        if points:
            axes.scatter(*zip(*points), s=9, alpha=0.55, linewidths=0, color=colour, label=f"{kind} ({len(points)})")
    ends = [1e-2, 3e3]
    axes.plot(ends, ends, color="black", linewidth=0.8)
    for factor in (1.25, 1 / 1.25):
        axes.plot(ends, [end * factor for end in ends], color="black", linewidth=0.6, linestyle=":")
    axes.set(xscale="log", yscale="log", xlim=ends, ylim=ends, xlabel="measured step, s", ylabel="predicted step, s")
    axes.set_title("Predicted by constants that never saw the source; dotted: 25 % off")
    axes.legend(frameon=False)
    save(figure, folder, "predicted-measured")


def draw_residuals_by_source(rows, folder):
    sources = {}
    for row in predicted(rows):
        sources.setdefault(row["source"], []).append(row)
    names = sorted((name for name in sources if len(sources[name]) >= 5),
                   key=lambda name: sorted(abs(r["left_out_relative_error"]) for r in sources[name])[len(sources[name]) // 2])
    figure, axes = plt.subplots(figsize=(7.2, 0.42 * len(names) + 1.2))
    for shift, key, colour, label in ((-0.18, "relative_error", IN_SAMPLE, "fitted with it"),
                                      (0.18, "left_out_relative_error", LEFT_OUT, "fitted without it")):
        boxes = axes.boxplot([[100 * r[key] for r in sources[name]] for name in names], vert=False, whis=(5, 95),
                             positions=[i + shift for i in range(len(names))], widths=0.3, showfliers=False,
                             patch_artist=True, medianprops={"color": "black"})
        for box in boxes["boxes"]:
            box.set(facecolor=colour, edgecolor=colour)
        boxes["boxes"][0].set_label(label)
    axes.set_yticks(range(len(names)), [f"{name} ({len(sources[name])})" for name in names])
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set(xlim=(-80, 80), xlabel="predicted over measured - 1, %; box: half of the runs, whiskers: 5 to 95 %")
    axes.set_title("Residuals by source")
    axes.legend(frameon=False, loc="lower right")
    save(figure, folder, "residuals-by-source")


def draw_error_by_stated(rows, folder):
    """Absolute errors by how many fields of the plan a row leaves to assumption."""
    groups = {"0": [], "1": [], "2": [], "3": [], "4 and more": []}
    for row in predicted(rows):
        if row["kind"] != "dense" or row["left_out_relative_error"] is None:
            continue
        count = len(row["assumed"])
        groups[list(groups)[min(count, 4)]].append(100 * abs(row["left_out_relative_error"]))
    groups = {name: errors for name, errors in groups.items() if errors}
    figure, axes = plt.subplots(figsize=(6.4, 3.4))
    boxes = axes.boxplot(list(groups.values()), whis=(10, 90), showfliers=False, patch_artist=True,
                         medianprops={"color": "black"}, widths=0.5)
    for box in boxes["boxes"]:
        box.set(facecolor=IN_SAMPLE, edgecolor=LEFT_OUT)
    axes.set_xticks(range(1, len(groups) + 1), [f"{name}\n({len(errors)} runs)" for name, errors in groups.items()])
    axes.set(ylim=(0, None), xlabel="fields that are assumed", ylabel="absolute error, source left out, %")
    axes.set_title("Dense runs by what they leave unsaid; box: half of the runs, whiskers: 10 to 90 %")
    save(figure, folder, "error-by-stated")


def draw_coverage(bands, folder):
    """Share of runs inside 90 % intervals that were made without their source, by what the fit had not seen."""
    bands = bands[::-1]
    figure, (axes, widths) = plt.subplots(1, 2, figsize=(7.6, 0.4 * len(bands) + 1.2), width_ratios=(2, 1), sharey=True)
    axes.barh(range(len(bands)), [100 * band["coverage"] for band in bands], color=LEFT_OUT, height=0.6)
    axes.axvspan(85, 95, color="black", alpha=0.08)
    axes.axvline(90, color="black", linewidth=0.8)
    axes.set_yticks(range(len(bands)), [f"{band['kind'].replace('_', ' ')} ({band['rows']})" for band in bands])
    axes.set(xlim=(50, 100), xlabel="inside, %; grey: 85 to 95 %")
    widths.barh(range(len(bands)), [band["median_half_width"] for band in bands], left=0, color=IN_SAMPLE, height=0.6)
    widths.set(xlim=(1, 2.5), xlabel="median half-width, times")
    save(figure, folder, "coverage")


def draw_given_one_run(scales, folder):
    """Errors of larger runs before and after the smallest run of their family was measured."""
    figure, axes = plt.subplots(figsize=(6.4, 3.6))
    for key, colour, label in (("relative_error", IN_SAMPLE, "not measured"),
                               ("warm_relative_error", LEFT_OUT, "smallest run of the family measured")):
        errors = sorted(100 * abs(row[key]) for row in scales["rows"])
        axes.plot(errors, [100 * (i + 1) / len(errors) for i in range(len(errors))], color=colour, label=label)
    axes.set(xlim=(0, 50), ylim=(0, 100), xlabel="absolute error of larger runs, %", ylabel="share of runs, %")
    axes.legend(frameon=False, loc="lower right")
    save(figure, folder, "given-one-run")


def draw_regret(sweeps, folder):
    sweeps = sorted(sweeps, key=lambda sweep: sweep["regret"])
    figure, axes = plt.subplots(figsize=(7.2, 0.27 * len(sweeps) + 1.1))
    axes.barh(range(len(sweeps)), [100 * sweep["regret"] for sweep in sweeps], color=LEFT_OUT, height=0.6)
    axes.set_yticks(range(len(sweeps)),
                    [f"{s['model']}, {s['accelerators']} {s['accelerator']} ({s['plans']} plans)" for s in sweeps])
    axes.axvline(6, color="black", linewidth=0.8, linestyle=":")
    axes.set(xlabel="regret of the chosen plan, % of the best; dotted: 6 %")
    save(figure, folder, "regret")


def main(program, folder):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    result = validate(program, "--leave-one-scale")
    draw_predicted_against_measured(result["rows"], folder)
    draw_residuals_by_source(result["rows"], folder)
    draw_error_by_stated(result["rows"], folder)
    draw_coverage(result["bands"], folder)
    draw_given_one_run(result["leave_one_scale"], folder)
    draw_regret(result["regret"]["rows"], folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
