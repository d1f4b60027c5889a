"""headroom serve: hostile files through the reader of every field of every verb. The server answers or refuses in words, and stays up."""

import gzip
import http.client
import json
import os
import pathlib
import random
import signal
import urllib.parse

from _harness import ENVIRONMENT, PATIENCE, PROGRAM, SCRATCH, check, equal, finish, run, skip, start

if "\n  serve " not in run("--help").out:
    skip("this program holds no serve (cpp-httplib was not installed)")
    finish()

SOURCE = pathlib.Path(os.environ["HEADROOM_SOURCE_DIR"])
TEMPORARY = SCRATCH / "temporary"
TEMPORARY.mkdir()
nowhere = run("serve", "--port", "0", TMPDIR=str(SCRATCH / "none"))
equal((nowhere.code, nowhere.out, nowhere.err.count("\n")), (2, "", 1), "a folder for uploads that is none")
check("set TMPDIR" in nowhere.err and "internal" not in nowhere.err, nowhere.err)
server = start([PROGRAM, "serve", "--port", "0", "--time-limit", "20s"], env=ENVIRONMENT | {"TMPDIR": str(TEMPORARY)})
PORT = int(server.stdout.readline().split(":")[3].split("/")[0])
draw = random.Random(34)


def upload(verb, fields, name, content):
    """Status and body of a question with one file."""
    mark = "y" * 30
    body = f'--{mark}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'.encode() + content + f"\r\n--{mark}--\r\n".encode()
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=PATIENCE)
    connection.request("POST", urllib.parse.quote(f"/answer/{verb}?{urllib.parse.urlencode(fields)}", safe="/?&=%+"), body=body,
                       headers={"Content-Type": f"multipart/form-data; boundary={mark}"})
    reply = connection.getresponse()
    found = reply.status, reply.read()
    connection.close()
    return found


# ---- files: of the fuzzers' seeds, cut and damaged, and some that were made to hurt -------------------------------------------

seeds = [sorted(path for path in folder.iterdir() if path.stat().st_size < 100_000) for folder in sorted((SOURCE / "tests/fuzz/corpus").iterdir())]
hostile = [b"", b"\x00" * 5000, b"\xff\xfe" + b"a,b\n" * 100, b"[" * 200_000, b'{"a":' * 50_000, b"a: &a [*a, *a]\n" * 200, b"workers,seconds\n" + b"1,1e999\n-1,nan\n" * 500,
           gzip.compress(b"0" * 30_000_000), b"SQLite format 3\x00" + bytes(range(256)) * 20, b"<script>alert(1)</script>\n" * 50, b"x" * 1_000_000,
           json.dumps({"hidden_size": 10**30, "num_hidden_layers": -1, "model_type": "llama", "vocab_size": 1e300, "num_attention_heads": 0}).encode()]


def damaged(content):
    content = bytearray(content[: draw.randint(0, len(content))])
    for _ in range(min(8, len(content))):
        content[draw.randrange(len(content))] = draw.randrange(256)
    return bytes(content)


# ---- fields that take a file, from the server's own table ---------------------------------------------------------------------

CONTEXT = {"plan": {"model": "llama-3-8b", "cluster": "dgx-h100", "workers": "8"}, "predict": {"model": "llama-3-8b", "cluster": "dgx-h100", "workers": "8"},
           "finetune": {"model": "llama-3-8b", "cluster": "2x4090"}, "inference": {"model": "llama-3-8b", "cluster": "dgx-h100"},
           "roofline": {"machine": "h100"}, "comm": {"size": "1MB", "ranks": "8", "cluster": "dgx-h100"}, "queue": {"arrivals": "10/s", "replicas": "8"},
           "support": {"model": "llama-3-8b"}}
connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=PATIENCE)
connection.request("GET", "/api/openapi.json")
taken = {path: {row["name"] for row in one["parameters"]} for path, one in json.loads(connection.getresponse().read())["paths"].items() if path.startswith("/api/")}
connection.request("GET", "/api")
fields = []
for verb in json.loads(connection.getresponse().read()):
    names = taken.get("/api/" + verb["name"], set())
    fields += [(verb["name"], option["name"][2:]) for option in verb["options"] if option["name"][2:] in names
               and any(word in option["placeholder"] for word in ("FILE", "DIR", "LOG", "PATH"))]
    if names:
        fields += [(verb["name"], one["name"].lower().strip("[].")) for one in verb["arguments"] if verb["name"] not in ("catalog", "laws")]
check(len(fields) > 30, f"fields that take files: {fields}")

NAMES = ["a.csv", "a.json", "a.toml", "a.yaml", "a.log", "a.json.gz", "a.sqlite", "a.onnx", "a.dot", "a", "config.json", ".x", "a\u00e4<b>.csv"]
answered = refused = 0
for verb, field in fields:
    for content in draw.sample(hostile, 3) + [damaged(draw.choice(draw.choice(seeds)).read_bytes()) for _ in range(3)]:
        name = draw.choice(NAMES)
        status, body = upload(verb, CONTEXT.get(verb, {}) | {field: f"upload:{name}"}, name, content)
        found = json.loads(body)
        check(status in (200, 400, 422), f"{verb} --{field} {name} {content[:40]!r}: {status} {body[:300]!r}")
        check(status == 200 or found["error"]["problem"], f"{verb} --{field} {name}: refused without words")
        check(b"headroom-serve-" not in body, f"{verb} --{field} {name}: names a folder of the server: {body[:300]!r}")
        answered += status == 200
        refused += status != 200
check(refused > 3 * len(fields), f"{answered} answered, {refused} refused")
equal(server.poll(), None, "the server is up")
equal([path.name for path in TEMPORARY.glob("*/*")], ["empty"], "nothing is left of the files")
server.send_signal(signal.SIGINT)
server.communicate(timeout=PATIENCE)
equal((server.returncode, list(TEMPORARY.iterdir())), (0, []), "Ctrl-C ends it, with its folder")

finish()
