"""Accuracy that the README and docs/accuracy.md state is that of `validate` today. HEADROOM_UPDATE_DOCUMENTS=1 writes it."""

import os
import re

from _harness import SOURCE, answer, check, equal, finish

UPDATE = os.environ.get("HEADROOM_UPDATE_DOCUMENTS") == "1"
found = answer("validate", "--leave-one-source-out", "--leave-one-scale")
measures = {(one["name"], one["constants"]): one for one in found["measures"]}


def percent(share, sign=""):
    return f"{100 * share:{sign}.1f}"


def compare(name, page):
    """Compares the lines of `page`, where each stands alone for what its beginning says, with a document."""
    path = SOURCE / name
    lines = path.read_text().split("\n")
    for start, line in page:
        at = [i for i, there in enumerate(lines) if there.startswith(start)]
        equal(len(at), 1, f"{name}: lines that begin with {start!r}")
        if len(at) == 1 and UPDATE:
            lines[at[0]] = line
        elif len(at) == 1:
            equal(lines[at[0]], line, f"{name}:{at[0] + 1}")
    if UPDATE:
        path.write_text("\n".join(lines))


# ---- what error to expect: a line a figure -------------------------------------------------------------------------------

expected = [(*((measure["name"], measure["constants"], str(measure["rows"])) if i == 0 else ("", "", "")), figure["name"],
             percent(figure["value"]) + " %", "" if figure["holds"] else "missed")
            for measure in found["measures"] for i, figure in enumerate(measure["figures"])]
path = SOURCE / "docs/accuracy.md"
lines = path.read_text().split("\n")
first = next(i for i, line in enumerate(lines) if line.startswith("| runs | constants | n | figure |")) + 2
table = []
while lines[first + len(table)].startswith("|"):
    table.append([cell.strip() for cell in lines[first + len(table)].split("|")[1:-1]])
equal(len(table), len(expected), "docs/accuracy.md: figures")
for i, (cells, right) in enumerate(zip(table, expected)):
    if UPDATE:
        cells[:5], cells[6] = right[:5], right[5]
        lines[first + i] = "| " + " | ".join(cells) + " |"
    else:
        equal((*cells[:5], cells[6]), right, f"docs/accuracy.md:{first + i + 1}")
if UPDATE:
    path.write_text("\n".join(lines))

# ---- families of ordinary software -----------------------------------------------------------------------------------------

families = []
for family in found["ordinary"]:
    left, unnamed = family["left_out"], family["unnamed"]
    if left["rows"] - left["skipped"] <= 0 or left["median_absolute_error"] is None:
        continue
    families.append((f"| {family['family']} |",
                     f"| {family['family']} | {left['rows'] - left['skipped']} | {percent(left['mean_error'], '+')} | "
                     f"{percent(left['median_absolute_error'])} | {percent(left['p90_absolute_error'])} | {percent(left['interval_coverage'])} | "
                     f"{percent(unnamed['median_absolute_error'])} | {percent(unnamed['interval_coverage'])} |"))
check(len(families) > 20, "families are compared")
path = SOURCE / "docs/accuracy.md"
text = path.read_text()
start, end = text.index("| family | n | sign, %"), text.index("What is missed, by cause:")
part = text[start:end]
for begin, line in families:
    here = re.search("^" + re.escape(begin) + ".*$", part, re.MULTILINE)
    check(here is not None, f"docs/accuracy.md: no line of {begin}")
    if here and UPDATE:
        part = part[:here.start()] + line + part[here.end():]
    elif here:
        equal(here.group(0), line, "docs/accuracy.md")
if UPDATE:
    path.write_text(text[:start] + part + text[end:])
equal(len(re.findall(r"^\| [a-z]", part, re.MULTILINE)) - 1, len(families), "families in docs/accuracy.md")

# ---- the README ------------------------------------------------------------------------------------------------------------


def row(label, name, constants, ends=True):
    measure = measures[(name, constants)]
    values = {one["name"]: percent(one["value"]) + " %" for one in measure["figures"]}
    last = values.get("90th", "") if ends else ""
    return (f"| {label} |", f"| {label} | {measure['rows']} | {values['median']} | {last}{' ' if last else ''}|")


compare("README.md", [
    row("dense transformers, frameworks made for large runs", "dense, tuned", "source left out"),
    row("of these, every field stated", "dense, tuned, specified", "source left out"),
    row("mixtures of experts and hybrids", "mixtures and hybrids", "model left out"),
    row("software that nobody tuned: Hugging Face, plain PyTorch, DeepSpeed, consumer cards ...", "ordinary software", "family left out"),
    row("of these, several nodes", "ordinary, several nodes", "family left out"),
    row("dense transformers, larger scales, given one measured run", "dense, tuned, larger scales", "given one run"),
    row("CNN and BERT, several workers, given the run on one", "CNN, BERT and kin, given 1 worker", "in sample")])
inside = {name: measures[(name, constants)]["figures"][0]["value"] for name, constants in
          (("90 % interval", "source left out"), ("90 % interval, ordinary software", "family left out"))}
readme = (SOURCE / "README.md").read_text()
said = re.search(r"90 % intervals contain ([0-9.]+) % of the ([0-9,]+) runs of 23 sources, and ([0-9.]+) % of software", readme)
check(said is not None, "README: what intervals contain")
if said and UPDATE:
    new = said.group(0).replace(said.group(1), percent(inside["90 % interval"]), 1)
    new = new.replace(f"and {said.group(3)} %", f"and {percent(inside['90 % interval, ordinary software'])} %")
    (SOURCE / "README.md").write_text(readme.replace(said.group(0), new))
elif said:
    equal((said.group(1), said.group(3)), tuple(percent(one) for one in inside.values()), "README: what intervals contain")
    equal(said.group(2), f"{measures[('90 % interval', 'source left out')]['rows']:,}", "README: runs of intervals")

finish()
