"""Schedules and the simulated step as people see them: the comparison, the drawing, the timeline, and refusals."""

import json
import re

from _harness import PROGRAM, SCRATCH, answer, check, close, equal, finish, interrupted, run, schema_errors, succeed

PIPED = ["predict", "llama-3-70b", "--cluster", "dgx-h100", "--workers", "64", "--tp", "4", "--pp", "8", "--cp", "1", "--recompute", "full",
         "--micro-batch", "1", "--zero", "1", "--sequence-parallel", "on"]
BASE = [*PIPED, "--global-batch", "64"]
NAMES = {"1f1b", "interleaved", "gpipe", "zb-h1", "zb-2p", "zbv", "v-half", "v-min", "dualpipe", "dualpipe-v", "pipedream"}
LETTERS = {"forward": "F", "backward": "B", "input gradient": "b", "weight gradient": "W"}


def conforms(value, what):
    for error in schema_errors(value) if value else []:
        check(False, f"{what}: {error}")
    return value


# ---- every schedule beside the others ---------------------------------------------------------------------------------

alone = answer(*BASE)
value = conforms(answer(*BASE, "--schedule", "all"), "--schedule all")
if value and alone:
    rows = value.pop("schedules")
    equal(value, alone, "the rest of the answer is for the strategy's own schedule")
    equal({row["schedule"] for row in rows}, NAMES, "every schedule has a row")
    rank = [(not row["fits"], not row["possible"], row["step_seconds"] or 0.0) for row in rows]
    equal(rank, sorted(rank), "best first: what fits by time, then what does not fit, then what is not possible")
    equal([row["best"] for row in rows], [row["fits"] and i == 0 for i, row in enumerate(rows)], "the best is the first that fits")
    own = [row for row in rows if row["of_strategy"]]
    equal([row["schedule"] for row in own], [value["strategy"]["schedule"]], "the strategy's own schedule")
    close(own[0]["step_seconds"], value["step_seconds"], "the step of its own schedule")
    close(own[0]["memory_bytes"], value["memory"]["total_bytes"], "the memory of its own schedule")
    close(own[0]["bubble_seconds"], value["breakdown"]["pipeline_bubble_seconds"], "the bubble of its own schedule")
    by_name = {row["schedule"]: row for row in rows}
    for row in rows:
        check(row["possible"] or (row["why_not"] and row["step_seconds"] is None), f"what is not possible says why: {row}")
        if not row["possible"]:
            continue
        close(row["bubble_fraction"], row["bubble_seconds"] / row["step_seconds"], f"share of the bubble of {row['schedule']}")
        # the same configuration with that schedule asked for alone
        chunks = ["--virtual-pp", row["virtual_pp"]] if row["schedule"] == "interleaved" else []
        one = answer(*BASE, "--schedule", row["schedule"], *chunks, code=0 if row["fits"] else 3)
        if one:
            equal(one["strategy"]["schedule"], row["schedule"], "the schedule that was asked for")
            close(one["step_seconds"], row["step_seconds"], f"{row['schedule']} alone and beside the others")
            close(one["memory"]["total_bytes"], row["memory_bytes"], f"memory of {row['schedule']} alone and beside the others")
    if by_name["gpipe"]["possible"] and by_name["zb-h1"]["possible"]:
        m, p = value["strategy"]["micro_batches"], 8
        equal(by_name["gpipe"]["micro_batches_in_flight"], m, "GPipe holds every micro-batch")
        equal(by_name["1f1b"]["micro_batches_in_flight"], min(m, p), "1F1B holds as many as there are stages")
        check(by_name["zb-h1"]["bubble_seconds"] < by_name["1f1b"]["bubble_seconds"], "ZB-H1 has less of a bubble than 1F1B")
        equal(by_name["dualpipe"]["weight_copies"] if by_name["dualpipe"]["possible"] else 2, 2, "DualPipe has the weights twice")

text = succeed(*BASE, "--schedule", "all").out
check("Schedules of the pipeline, best first" in text and "\n* " in text, "the fastest that fits is marked")
odd = answer(*PIPED, "--global-batch", "24", "--dp", "2", "--schedule", "all")
if odd:
    reasons = {row["schedule"]: row["why_not"] for row in odd["schedules"] if not row["possible"]}
    check("interleaved" in reasons and "multiple" in reasons["interleaved"], f"12 micro-batches over 8 stages do not interleave: {reasons}")


# ---- the drawing ------------------------------------------------------------------------------------------------------

def drawing(*arguments, stages=8):
    """The rows between the frames and the share that idles, of a drawing in characters."""
    what = " ".join(arguments)
    done = succeed("predict", *arguments)
    lines = done.out.splitlines()
    check(all(len(line) <= 80 for line in lines), f"{what}: 80 columns")
    rows = [re.fullmatch(r" *stage (\d+) \|(.*)\| +([\d.]+)", line) for line in lines]
    rows = [(int(row[1]), row[2], float(row[3])) for row in rows if row]
    equal([row[0] for row in rows], list(range(stages)), f"{what}: a row a stage")
    return rows, done.out


for schedule in sorted(NAMES):
    small = ["llama-3-70b", "--cluster", "dgx-h100", "--workers", "64", "--tp", "4", "--pp", "8", "--dp", "2", "--micro-batch", "1",
             "--global-batch", "64", "--recompute", "full", "--zero", "1", "--layers", "32"]
    done = run("predict", *small, "--schedule", schedule, "--format", "json")
    if done.code not in (0, 3):
        check("strategy" in done.err or "schedule" in done.err, f"{schedule}: {done.err}")
        continue
    if done.code == 3:
        continue
    rows, text = drawing(*small, "--schedule", schedule)
    for stage, row, idle in rows:
        cells = len(row)
        close(100.0 * row.count(".") / cells, idle, f"{schedule}, stage {stage}: dots in proportion to the bubble", 0.2 if idle > 20 else 1.0)
        check(abs(row.count(".") - idle / 100 * cells) <= 2.5, f"{schedule}, stage {stage}: {row.count('.')} dots of {cells} for {idle} %")
    check("F forward" in text and ". bubble" in text, f"{schedule}: a legend")
    if schedule == "gpipe":
        check(re.fullmatch(r"\.*F[F.]*B[B.]*", rows[3][1]) is not None, f"GPipe: forward, then backward: {rows[3][1]}")
    if schedule.startswith("zb") and schedule != "zbv":
        check("W weight gradient" in text and "b input gradient" in text, f"{schedule} splits the backward pass")

labelled, text = drawing("llama-3-8b", "--cluster", "dgx-h100", "--workers", "8", "--tp", "1", "--pp", "2", "--dp", "4", "--micro-batch", "1",
                         "--global-batch", "16", "--recompute", "full", "--virtual-pp", "1", "--gantt", stages=2)
check("digits: micro-batch" in text, "few passes carry their micro-batches")
equal(re.findall(r"F(\d)", labelled[0][1]), ["0", "1", "2", "3"], "the first stage works on them in order")
equal(re.findall(r"B(\d)", labelled[0][1]), ["0", "1", "2", "3"], "and takes them back in order")
plain = succeed(*BASE).out
check("bubble\n" not in plain and "|" not in plain.split("Memory of")[0].split("The step, s")[0], "nothing is drawn unasked")
check("Gantt" not in plain, "no word of it")


# ---- the timeline -----------------------------------------------------------------------------------------------------

def timeline(*arguments, code=0):
    file = SCRATCH / "step.json"
    file.unlink(missing_ok=True)
    value = conforms(answer("predict", *arguments, "--timeline", file, code=code), "predict --timeline")
    trace = json.loads(file.read_text(), parse_float=str)
    what = "timeline of " + " ".join(map(str, arguments))
    equal(set(trace) >= {"traceEvents", "displayTimeUnit"}, True, f"{what}: the object format")
    picoseconds = lambda text: int(str(text).split(".")[0]) * 10**6 + int((str(text).split(".") + ["0"])[1].ljust(6, "0"))
    lanes, processes, threads = {}, {}, {}
    for event in trace["traceEvents"]:
        if event["ph"] == "M":
            if event["name"] == "process_name":
                processes[event["pid"]] = event["args"]["name"]
            if event["name"] == "thread_name":
                threads[event["pid"], event["tid"]] = event["args"]["name"]
            continue
        equal(event["ph"], "X", f"{what}: complete events")
        begin, length = picoseconds(event["ts"]), picoseconds(event["dur"])
        lanes.setdefault((event["pid"], event["tid"]), []).append((begin, begin + length, event))
    for lane, events in lanes.items():
        check(lane in threads and lane[0] in processes, f"{what}: lane {lane} has names")
        events.sort(key=lambda event: event[:2])
        check(all(a[1] <= b[0] for a, b in zip(events, events[1:])), f"{what}: events of lane {lane} overlap")
    equal(sorted(processes.values()), sorted(f"stage {n}" for n in range(len(processes))), f"{what}: a process a stage")
    return value, lanes, processes, threads


value, lanes, processes, threads = timeline("llama-3-8b", "--cluster", "dgx-h100", "--workers", "16", "--tp", "2", "--pp", "4", "--dp", "2",
                                            "--micro-batch", "1", "--global-batch", "16", "--virtual-pp", "1")
if value:
    simulation = value["simulation"]
    equal(sum(len(events) for events in lanes.values()), simulation["tasks"], "an event a task")
    equal(len(processes), value["strategy"]["pp"], "stages")
    end = max(event[1] for events in lanes.values() for event in events)
    equal(min(event[0] for events in lanes.values() for event in events), 0, "it begins at nothing")
    close(end / 1e12, simulation["makespan_seconds"], "its end is the makespan", 1e-12)
    close(sum(simulation["critical_path"]["by_kind"].values()), simulation["makespan_seconds"], "the critical path is as long")
    computing = [sum(e[1] - e[0] for e in events) for lane, events in lanes.items() if threads[lane] == "compute"]
    for stage, busy in zip(simulation["stages"], computing):
        check(busy / 1e12 <= stage["computing_seconds"] * 1.000001, "kernels of a stage are what it computes")
        total = stage["computing_seconds"] + stage["idle_seconds"] + sum(stage["exposed_by_kind"].values())
        check(total <= simulation["makespan_seconds"] * (1 + 1e-9), f"a stage does nothing twice: {total}")
    kernels = [e[2] for lane, events in lanes.items() if threads[lane] == "compute" for e in events]
    of_passes = [e for e in kernels if "micro_batch" in e["args"]]
    equal({e["args"]["micro_batch"] for e in of_passes}, set(range(8)), "every micro-batch")
    equal({e["args"]["layer"] for e in kernels if "layer" in e["args"]}, set(range(32)), "every layer")
    equal({e["args"]["phase"] for e in of_passes}, {"forward", "backward"}, "phases of 1F1B")
    check(all(e["args"]["kind"] == e["cat"] and e["name"] for e in kernels), "kinds and names")
    close(simulation["difference"], simulation["step_seconds"] / value["step_seconds"] - 1, "the difference", 1e-6)
    # a third transfer by the same NIC is not priced
    check(abs(simulation["difference"]) <= 0.01, f"price and simulation agree: {simulation['difference']}")

text = succeed(*BASE, "--simulate").out
check(re.search(r"Priced [\d.]+ m?s, simulated [\d.]+ m?s: [\d.]+ %\s+apart", text) is not None, f"agreement in words: {text[:1500]}")
check("The critical path by kind" in text, "the critical path in the text")

# ---- collectives by messages ------------------------------------------------------------------------------------------

BY_WAY = ["predict", "llama-3-8b", "--cluster", "dgx-h100", "--workers", "16", "--tp", "8", "--dp", "2", "--pp", "1", "--global-batch", "16"]
answers = {way: succeed(*BY_WAY, "--simulate", *way, "--format", "json").json()["simulation"] for way in ((), ("operation",), ("messages",))}
equal(answers[()], answers[("operation",)], "operations unless asked otherwise")
equal((answers[()]["collectives"], answers[()]["stood_in"]), ("operation", []), "how collectives are priced")
messages = answers[("messages",)]
equal((messages["collectives"], messages["stood_in"]), ("messages", []), "every collective by its messages")
close(messages["makespan_seconds"], answers[()]["makespan_seconds"], "on adapters of their own groups do not meet", 1e-6)

# 64 neighbours in domains of 72: the closed form takes them to be placed within one, messages as they come
GAPS = ["predict", "llama-3-8b", "--cluster", "gb200-nvl72", "--workers", "576", "--tp", "8", "--cp", "8", "--pp", "1", "--micro-batch", "1",
        "--global-batch", "144", "--sequence-length", "32768"]
value = succeed(*GAPS, "--simulate", "messages", "--format", "json").json()
check(value["simulation"]["exposed_by_kind"]["context_seconds"] > 2 * value["exposed_communication"]["context_seconds"], "groups across domains are slower")
gaps = [one["reason"] for one in value["assumed"] if one["field"] == "domain"]
check(len(gaps) == 1 and "groups of 64 ranks in domains of 72" in gaps[0] and "8 accelerators" in gaps[0], f"unused accelerators are named: {gaps}")
stands_in = succeed("predict", "llama-3-8b", "--cluster", "dgx-h100", "--workers", "16", "--tp", "2", "--pp", "4", "--dp", "2", "--micro-batch", "1",
                    "--global-batch", "16", "--simulate", "messages").out
check("stood in:" in stands_in and "pipeline: some neighbouring stages" in re.sub(r"\s+", " ", stands_in), "collectives that stand in are named")

first, second = (succeed(*BASE, "--timeline", SCRATCH / name).out for name in ("a.json", "b.json"))
equal(first, second, "the same result twice")
equal((SCRATCH / "a.json").read_bytes(), (SCRATCH / "b.json").read_bytes(), "the same timeline twice")
to_stdout = run(*BASE, "--timeline", "-", "--out", SCRATCH / "result.txt")
check(to_stdout.code == 0 and "traceEvents" in json.loads(to_stdout.out), "a timeline to standard output")


# ---- refusals ---------------------------------------------------------------------------------------------------------

HUGE = ["predict", "llama-3-8b", "--cluster", "dgx-h100", "--workers", "8", "--pp", "8", "--tp", "1", "--dp", "1", "--micro-batch", "1",
        "--global-batch", "4000000"]
for arguments, words in (
    (["predict", "llama-3-8b", "--cluster", "dgx-h100", "--workers", "8", "--pp", "1", "--gantt"], "one stage"),
    (["predict", "llama-3-8b", "--cluster", "dgx-h100", "--workers", "8", "--pp", "1", "--schedule", "all"], "one stage"),
    ([*BASE, "--timeline", "-"], "where the result goes too"),
    ([*BASE, "--timeline", ""], "names no file"),
    ([*BASE, "--timeline", SCRATCH / "same", "--out", SCRATCH / "same"], "where the result goes too"),
    ([*BASE, "--schedule", "zb-h2"], "zb-h1"),
    ([*BASE, "--simulate", "mesages"], "choose from operation, messages"),
    (["predict", "--simulate", "llama-3-8b", "--cluster", "dgx-h100", "--workers", "8"], "a model goes before --simulate"),
    ([*HUGE, "--timeline", SCRATCH / "huge.json"], "no timeline"),
):
    done = run(*arguments)
    equal(done.code, 2, f"{done}: exit")
    equal(len(done.err.splitlines()), 1, f"{done}: one line: {done.err!r}")
    check(words in done.err, f"{done}: {words!r} in {done.err!r}")
    check(done.processor_seconds < 5, f"{done}: took {done.processor_seconds} s of a processor")
check(not (SCRATCH / "huge.json").exists(), "a refused timeline leaves no file")
done = run(*BASE, "--timeline", SCRATCH / "no" / "where.json")
check(done.code != 0 and "where.json" in done.err, f"a folder that is not there: {done.err!r}")
drawn = run(*HUGE, "--gantt", "--format", "table")
check(drawn.code in (0, 3) and "too many" in drawn.out, f"millions of micro-batches are not drawn, and it is said: {drawn.code} {drawn.err!r}")
simulated = run(*HUGE, "--simulate", "--format", "json")
check(simulated.code in (0, 3) and simulated.json()["simulation"]["refused"], "nor simulated")
check(drawn.processor_seconds + simulated.processor_seconds < 10, "and quickly")

# Ctrl-C keeps the closed form
LONG = [PROGRAM, "predict", "llama-3-70b", "--cluster", "dgx-h100", "--workers", "320", "--tp", "4", "--pp", "80", "--dp", "1", "--micro-batch", "1",
        "--global-batch", "1600", "--simulate", "--format", "json"]
if found := interrupted(LONG, lambda value: value["step_seconds"] > 0):
    kept, err = found
    check("simulation" not in kept, "the closed form alone is kept")
    check("interrupted" in err, f"says that it was interrupted: {err!r}")

finish()
