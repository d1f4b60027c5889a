"""validate --simulation: random legal plans priced and simulated; the table follows from its rows."""


from _harness import PROGRAM, answer, check, close, equal, finish, interrupted, run, schema_errors

PLANS = 150
BAR = 0.01
ROUNDING = 1e-6  # relative: times are whole picoseconds


def at(values, share):
    """The nearest of the sorted values, halves away from zero."""
    return sorted(values)[int(share * (len(values) - 1) + 0.5)]


def check_spread(spread, rows, key, what):
    found = [abs(row[key]) for row in rows if row["refused"] is None]
    equal(spread["plans"], len(found), f"plans of {what}")
    for name, value in (("median", at(found, 0.5)), ("p99", at(found, 0.99)), ("worst", max(found)),
                        ("within_1_percent", sum(one <= BAR for one in found) / len(found))):
        close(spread[name], value, f"{name} of {what}", 1e-12)


def check_agreement(part, rows, what):
    equal(part["plans"], len(rows), f"plans of {what}")
    check_spread(part["difference"], rows, "difference", what)
    check_spread(part["difference_unshared"], rows, "difference_unshared", f"{what}, each transfer with its own NIC")


ASKED = ["validate", "--simulation", "--plans", PLANS]
result = answer(*ASKED, "--require", "plans>=150,refused<=0,worst_unshared<=0.001%")
if result:
    for error in schema_errors(result):
        check(False, error)
    rows = result["rows"]
    equal([row["index"] for row in rows], list(range(PLANS)), "plans in order")
    for row in rows:
        close(row["difference"], row["simulated_seconds"] / row["priced_seconds"] - 1, f"difference of {row['index']}", 1e-9)
        check(abs(row["difference_unshared"]) < ROUNDING, f"price of {row['index']} is not that of its tasks: {row['difference_unshared']}")
    check_agreement(result["summary"], rows, "all plans")
    equal({kind["name"] for kind in result["kinds"]}, {name for row in rows for name in row["kinds"]}, "kinds")
    for kind in result["kinds"]:
        check_agreement(kind, [row for row in rows if kind["name"] in row["kinds"]], kind["name"])

    # the same on any number of threads; fewer plans are the first of more; another seed has others
    equal(answer(*ASKED, "--threads", 1)["rows"], rows, "rows on one thread")
    equal(answer("validate", "--simulation", "--plans", 30)["rows"], rows[:30], "the first 30 plans")
    other = answer("validate", "--simulation", "--plans", 30, "--seed", 7)
    if other:
        equal(other["simulation"], {"plans": 30, "seed": 7}, "question")
        check([row["strategy"] for row in other["rows"]] != [row["strategy"] for row in rows[:30]], "another seed draws the same plans")

# a gate that does not hold, and what is refused
answer("validate", "--simulation", "--plans", 12, "--require", "within_1_percent>100%", code=99)
for arguments, said in ((["--simulation", "--runs", "mine.csv"], "belongs to runs"),
                        (["--simulation", "--communication"], "another question"),
                        (["--plans", "10"], "belongs to --simulation"),
                        (["--communication", "--seed", "1"], "belongs to --simulation"),
                        (["--simulation", "--plans", "0"], "--plans"),
                        (["--simulation", "--plans", "2000000"], "at most 1000000"),
                        (["--simulation", "--require", "worst_unshard<=1"], "worst_unshared")):
    process = run("validate", *arguments)
    equal(process.code, 2, f"exit of {arguments}")
    check(said in process.err, f"{arguments}: {process.err!r}")
    equal(len(process.err.splitlines()), 1, f"lines of {arguments}")

# Ctrl-C keeps what is finished
if found := interrupted([PROGRAM, "validate", "--simulation", "--plans", "100000", "--format", "json"], lambda value: value["rows"]):
    kept, err = found
    equal(kept["complete"], False, "complete")
    equal([row["index"] for row in kept["rows"]], list(range(len(kept["rows"]))), "plans that are kept")
    check("interrupted" in err, f"says that it was interrupted: {err!r}")

finish()
