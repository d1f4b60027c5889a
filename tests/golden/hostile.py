"""Files of one byte over and over, as a power loss leaves them: every verb that reads a file refuses them in a line, with little memory."""

import gzip
import resource

from _harness import SCRATCH, check, finish, processor_seconds_of_children, run

SIZE = 1 << 20
BYTES = [0x00, 0x20, 0x22, 0x23, 0x2C, 0x30, 0x5B, 0x7B, 0x7C, 0xFF]
MEMORY = 256 << 20  # of a process; one that reads nothing holds a tenth of it
STEP = ["--workers", 8, "--global-batch", 8]


def verbs(name):
    """A call of every verb that reads a file, by the ending that the file should have."""
    return {
        "json": [["trace", name], ["graph", name], ["predict", name, "--cluster", "dgx-h100", *STEP]],
        "csv": [["tail", name], ["laws", "--fit", name], ["comm", "--fit", name], ["validate", "--runs", name],
                ["queue", "--service-samples", name, "--rate", "1/s", "--replicas", 2], ["roofline", "--machine", "h100-sxm", "--kernel-file", name],
                ["inference", "llama-3-8b", "--cluster", "dgx-h100", "--requests", name], ["calibrate", name, "--out", SCRATCH / "out.toml"]],
        "toml": [["predict", "llama-3-8b", "--cluster", name, *STEP], ["predict", "llama-3-8b", "--cluster", "dgx-h100", "--calibration", name, *STEP],
                 ["roofline", "--machine", name], ["laws", "--serial", "0.1", "--workers", 2, "--config", name]],
    }


def refused(arguments, what):
    before = processor_seconds_of_children()
    called = run(*arguments)
    used = processor_seconds_of_children() - before
    check(called.code in (2, 4, 5), f"{what}: exit {called.code}: {called.err[:300]}")
    check(len(called.err.strip().splitlines()) <= 3, f"{what}: {called.err[:300]}")
    check(used < 1.0, f"{what}: {used:.2f} s of a processor")


for byte in BYTES:
    for ending in ["json", "csv", "toml"]:
        path = SCRATCH / f"byte{byte:02x}.{ending}"
        path.write_bytes(bytes([byte]) * SIZE)
        for arguments in verbs(path)[ending]:
            refused(arguments, f"{' '.join(map(str, arguments[:2]))} of {byte:#04x}")
    packed = SCRATCH / f"byte{byte:02x}.gz"
    packed.write_bytes(gzip.compress(bytes([byte]) * (16 * SIZE)))
    for arguments in [["trace", packed], ["graph", packed], ["tail", packed], ["trace", SCRATCH / "folder"]]:
        (SCRATCH / "folder").mkdir(exist_ok=True)
        (SCRATCH / "folder" / "rank0.json.gz").write_bytes(packed.read_bytes())
        refused(arguments, f"{arguments[0]} of {byte:#04x}, compressed")
held = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
check(held < MEMORY, f"a process held {held >> 20} MiB")
finish()
