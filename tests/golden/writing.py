"""Where answers are written to: links, pipes, who may read them, and what a signal leaves."""

import os
import signal
import stat
import threading

from _harness import PROGRAM, SCRATCH, check, equal, finish, processor_seconds, run, start, wait_until

LAWS = ["laws", "--serial", "0.05", "--workers", "1..64", "--format", "csv"]
expected = run(*LAWS).out
folder = SCRATCH / "writing"
folder.mkdir()


def refused(*arguments, contains):
    done = run(*arguments)
    check(done.code == 2 and done.err.count("\n") == 1 and contains in done.err, f"{done}: {done.code} {done.err!r}")


# ---- symbolic links: what they lead to is written, there or not, and they stay ----
(folder / "inner").mkdir()
(folder / "there.csv").write_text("old")
for name, target in (("to_file", "there.csv"), ("to_nothing", "inner/new.csv"), ("to_link", "to_nothing2"), ("to_nothing2", folder / "far.csv")):
    (folder / name).symlink_to(target)
for name, target in (("to_file", "there.csv"), ("to_nothing", "inner/new.csv"), ("to_link", "far.csv")):
    equal(run(*LAWS, "--out", folder / name).code, 0, f"--out {name}")
    equal((folder / target).read_text(), expected, f"what {name} leads to")
    check((folder / name).is_symlink() and not (folder / target).is_symlink(), f"{name} stays a link")
(folder / "circle").symlink_to("circle")
refused(*LAWS, "--out", folder / "circle", contains="symbolic links")

# ---- a pipe is waited for as long in writing as in reading ----
os.mkfifo(folder / "pipe")
refused(*LAWS, "--out", folder / "pipe", contains="nothing reads from this pipe")
got = []
reader = threading.Thread(target=lambda: got.append((folder / "pipe").read_text()))
reader.start()
equal(run(*LAWS, "--out", folder / "pipe").code, 0, "--out of a pipe that is read")
reader.join()
equal(got, [expected], "what came through the pipe")

# ---- a store is its owner's ----
store = folder / "runs.sqlite"
done = run("measure", "scaling", "--store", store, "--workers", "1", "--repeats", "1", "--", "true", "{workers}")
check(store.exists(), f"{done}: {done.err}")
for file in folder.glob("runs.sqlite*"):
    equal(stat.S_IMODE(file.stat().st_mode), 0o600, f"mode of {file.name}")

# ---- a signal leaves a whole file or none ----
graph = ["graph", "sum-tree:20000", "--timeline", folder / "large.json"]
whole = run(*graph)
size = (folder / "large.json").stat().st_size
for signal_number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    for share in range(1, 13):
        (folder / "large.json").unlink(missing_ok=True)
        process = start([PROGRAM, *graph])
        wait_until(lambda: processor_seconds(process) >= whole.processor_seconds * share / 12, process)
        process.send_signal(signal_number)
        process.communicate()
        left = [one.name for one in folder.iterdir() if one.name.startswith("large.json")]
        check(left in ([], ["large.json"]), f"{signal_number.name} after {share}/12 of the time left {left}")
        check(not left or (folder / "large.json").stat().st_size == size, f"{signal_number.name}: a part of a file")

finish()
