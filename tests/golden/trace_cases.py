"""Traces that people had, reduced to small inputs: the answers that are right, where the inputs are there."""

import os
import pathlib

from _harness import SOURCE, answer, check, close, equal, finish, run

FOLDER = pathlib.Path(os.environ.get("HEADROOM_SHARED", SOURCE.parent / "shared")) / "cases" / "traces"
PARTS = ["compute", "communication", "exposed_communication", "wall", "idle", "memory"]
BASE = {"compute": 150, "communication": 60, "exposed_communication": 30, "wall": 200, "idle": 20}


def issues(value):
    counts = {}
    for one in value["issues"]:
        counts[one["kind"]] = counts.get(one["kind"], 0) + one["count"]
    return counts


def times(value, what, rank=0, **expected):
    for part in PARTS:
        if part in expected:
            close(value["ranks"][rank][f"{part}_seconds"], expected[part] * 1e-6, f"{what}: {part}")


def speedup(value, what):
    return next(one["speedup"] for one in value["critical_path"]["what_if"] if one["what"] == what)


def case(name):
    found = sorted(FOLDER.glob(name + "*"))
    equal(len(found), 1, f"{name} is there")
    return answer("trace", found[0])


def tell_times():
    for name in ["01", "02", "04", "06", "10", "11", "13", "24"]:
        times(case(name), name, **BASE)
    equal(issues(case("01"))["event without time"], 100, "01: events without time")
    equal(issues(case("02"))["event without time"], 1, "02: an event without time")
    value = case("03")
    times(value, "03", compute=400, communication=50, exposed_communication=50, wall=500, idle=50)
    equal(issues(value)["kernels overlap on one stream"], 1, "03: overlaps")
    times(case("05"), "05", compute=300, communication=120, exposed_communication=60, wall=500)
    equal(case("06")["ranks"][0]["without_launch"], 1, "06: without launch")
    times(case("07"), "07", compute=720, communication=100, exposed_communication=100, wall=900)
    value = case("09")
    equal(issues(value)["device work outside of all steps"], 5, "09: outside of all steps")
    check(any("100 % of the device's work lies outside of all steps" in note for note in value["notes"]), f"09: {value['notes']}")
    for rank in case("18")["ranks"]:
        close(rank["compute_seconds"], 80e-6, "18: compute")
        equal(rank["communication_seconds"], 0, "18: communication")
    times(case("19"), "19", compute=150)
    times(case("20"), "20", compute=80, memory=10, wall=100, idle=10)
    times(case("21"), "21", compute=0, communication=105)
    times(case("22"), "22", compute=280, communication=100, exposed_communication=100, wall=400, idle=20)
    times(case("23"), "23", compute=100, communication=100, exposed_communication=50, memory=20, wall=180, idle=10)
    times(case("36"), "36", compute=150, communication=60, exposed_communication=30)
    check("text after the end" in issues(case("40")), "40: what was appended")


def tell_tables():
    value = case("25")
    times(value, "25", compute=150, communication=60)
    check("rows that the table does not show" not in issues(value), f"25: {issues(value)}")
    for name in ["26", "45", "47"]:
        times(case(name), name, compute=150, communication=60)
    value = case("27")
    place = next(one["first_at"] for one in value["issues"] if one["kind"] == "rows that the table does not show")
    check(" 667 us" in place, f"27: {place}")
    equal(value["serial_fraction"], None, "27: no serial fraction")
    text = run("trace", next(FOLDER.glob("27*"))).out
    check("at most" not in text, f"27: a bound that rows not there would break: {text}")
    value = case("29")
    kernels = {one["name"]: one["seconds"] for one in value["kernels"]}
    close(kernels["gemm"], 150e-6, "29: gemm")
    close(kernels["relu"], 60e-6, "29: relu")


def tell_paths():
    for name, kernel, factor in [("31", "gemm", 2200 / 1200), ("34", "gemm", 2200 / 1200), ("57h", "gemm", 1100 / 600)]:
        close(speedup(case(name), f"{kernel} twice as fast"), factor, name)
    close(speedup(case("57c"), "gemm twice as fast"), 1.475, "57c", 1e-3)
    value = case("31")
    close(value["critical_path"]["by_kind"]["compute"] / value["critical_path"]["depth_seconds"], 0.91, "31: share of the path", 2e-3)
    value = case("35")
    equal(issues(value)["launches without device work"], 990, "35: launches without device work")
    equal(value["critical_path"]["what_if"], [], "35: no advice")
    equal(value["speedup_ceiling"], None, "35: no ceiling")


def tell_ranks():
    value = case("16")
    close(value["clocks"][1]["offset_seconds"], 5.0, "16: clocks")
    close(value["waiting"][1]["kept_waiting_seconds"], 240e-6, "16: kept waiting")
    for name in ["38", "42"]:
        value = case(name)
        equal(value["clocks"][1]["offset_seconds"], 0, f"{name}: clocks")
        check("clock off" not in issues(value), f"{name}: {issues(value)}")
    value = case("53")
    equal(len(value["ranks"]), 1, "53: one rank")
    equal(issues(value)["same content in another file, left out"], 1, "53: the same twice")
    for name in ["13", "35"]:
        equal(case(name)["bytes_read"], next(FOLDER.glob(name + "*")).stat().st_size, f"{name}: bytes read")


if FOLDER.is_dir():
    tell_times()
    tell_tables()
    tell_paths()
    tell_ranks()
else:
    print(f"skipped: no {FOLDER}")
finish()
