"""headroom serve: the same answers as the command line, refused requests, files, other people's pages, and its end."""

import http.client
import json
import os
import random
import signal
import socket
import threading
import urllib.parse

from _harness import PATIENCE, PROGRAM, SCRATCH, check, equal, finish, processor_seconds, run, skip, start, wait_until

if "\n  serve " not in run("--help").out:
    skip("this program holds no serve (cpp-httplib was not installed)")
    finish()

SHOWN = SCRATCH / "a_folder_of_a_name_so_long_that_sentences_which_name_its_files_are_cut" / "shown"
SHOWN.mkdir(parents=True)
(SHOWN / "times.csv").write_text("workers,seconds\n1,100\n2,52\n4,28\n8,16\n16,11\n")
(SHOWN / "notes.csv").write_text("nothing\n")
(SHOWN / "../secret.csv").write_text("workers,seconds\n1,100\n2,52\n4,28\n")
(SCRATCH / "secret.csv").write_text("workers,seconds\n1,100\n2,52\n4,28\n")
os.symlink(SCRATCH / "secret.csv", SHOWN / "link.csv")

server = start([PROGRAM, "serve", "--port", "0", "--folder", SHOWN, "--name", "plans.example.org", "--time-limit", "600s"])
line = server.stdout.readline()
check(line.startswith("headroom: http://127.0.0.1:"), f"the address: {line!r}")
PORT = int(line.split(":")[3].split("/")[0])


def ask(path, fields=None, method="GET", headers=None, body=None):
    """Status, headers, body."""
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=PATIENCE)
    address = path + ("?" + urllib.parse.urlencode(fields, doseq=True) if fields else "")
    connection.request(method, urllib.parse.quote(address, safe="/?&=%+"), body=body, headers=headers or {})
    reply = connection.getresponse()
    found = reply.status, dict(reply.getheaders()), reply.read()
    connection.close()
    return found


def refused(path, fields, status, said, **more):
    code, _, body = ask(path, fields, **more)
    check(code == status and said in body.decode(), f"{path} {fields}: {code} {body[:300]!r}, expected {status} and {said!r}")


def form(**parts):
    """A multipart body: values are texts, or (file name, bytes)."""
    mark, body = "x" * 20, b""
    for name, value in parts.items():
        file, content = value if isinstance(value, tuple) else (None, value.encode())
        name = f'name="{name}"' + (f'; filename="{file}"' if file else "")
        body += f"--{mark}\r\nContent-Disposition: form-data; {name}\r\n\r\n".encode() + content + b"\r\n"
    return {"method": "POST", "body": body + f"--{mark}--\r\n".encode(), "headers": {"Content-Type": f"multipart/form-data; boundary={mark}"}}


# ---- the answers of the command line, to the byte -----------------------------------------------------------------------

draw = random.Random(34)
for _ in range(40):
    model, cluster = draw.choice(["llama-3-8b", "gpt3-13b", "mixtral-8x7b", "no-such"]), draw.choice(["dgx-h100", "dgx-a100", "8xA100"])
    questions = [
        ("predict", {"model": model, "cluster": cluster, "workers": draw.choice(["8", "16", "7"]), "sequence-length": draw.choice(["2048", "4k"])}),
        ("plan", {"model": model, "cluster": cluster, "workers": "8..32", "tokens": "1T"}),
        ("laws", {"serial": str(draw.random()), "workers": "1,2,4,8"}),
        ("queue", {"arrivals": f"{draw.randint(100, 900)}/s", "service": "12ms", "replicas": "8"}),
        ("comm", {"size": "1GB", "ranks": "8", "cluster": cluster}),
        ("catalog", {"action": "show", "name": cluster}),
    ]
    verb, fields = draw.choice(questions)
    words = [fields[name] for name in ("model", "action", "name") if name in fields]
    words += [word for name, value in fields.items() if name not in ("model", "action", "name") for word in ("--" + name, value)]
    told = run(verb, *words, "--format", "json", "--quiet")
    status, headers, body = ask("/api/" + verb, fields)
    equal(headers["X-Headroom-Exit"], str(told.code), f"{verb} {fields}: exit code")
    if told.out:
        equal((status, body.decode()), (200, told.out), f"{verb} {fields}: JSON")
    else:
        error = json.loads(body)["error"]
        check(status in (400, 422) and error["problem"] in told.err, f"{verb} {fields}: {status} {error}, said {told.err}")

# ---- pages --------------------------------------------------------------------------------------------------------------

for path, part in (("/", b"app.js"), ("/app.js", b"import "), ("/question.js", b"fetch("), ("/style.css", b"color-scheme"), ("/first.txt", b"plan?model="), ("/charts.js", b"")):
    status, headers, body = ask(path)
    check(status == 200 and part in body and "default-src 'none'" in headers["Content-Security-Policy"], f"{path}: {status} {headers}")
both = json.loads(ask("/answer/predict", {"model": "llama-3-8b", "cluster": "dgx-h100", "workers": "8"})[2])
equal(both["answer"], run("predict", "llama-3-8b", "--cluster", "dgx-h100", "--workers", 8, "--format", "json").json(), "both: the answer")
status, headers, body = ask("/" + both["page"])
check(status == 200 and b"llama-3-8b" in body and "sandbox" in headers["Content-Security-Policy"], f"its page: {status}")
check(len(both["headline"]) > 20 and "<p" not in both["headline"], f"its headline: {both['headline']!r}")
if ask("/charts.js")[2]: # a program that was built without the chart library has tables alone
    equal([figure["title"] for figure in both["figures"]], ["The step", "Memory"], "its figures")
equal(json.loads(ask("/answer/predict", {"model": "llama-3-8b", "cluster": "dgx-h100", "workers": "8"})[2]), both, "the same question again: the answer that was kept")
check("Content-Encoding" not in ask("/api", headers={"Accept-Encoding": "gzip, br"})[1], "nothing is compressed: for a large report it takes seconds")
check(b"<h1" in ask("/report/laws", {"serial": "0.1", "workers": "1,2,4"})[2], "a page alone")
refused("/page/123", None, 404, "no longer kept")
document = json.loads(ask("/api/openapi.json")[2])
check("/api/predict" in document["paths"] and "/api/history" not in document["paths"], "OpenAPI names the answered verbs")
check({"/csv/{verb}", "/report/{verb}", "/launch/{verb}", "/answer/{verb}", "/figure"} <= document["paths"].keys(), "OpenAPI names the other forms")
names = {row["name"] for row in document["paths"]["/api/predict"]["parameters"]}
check({"model", "cluster", "tp"} <= names and not {"out", "html", "config", "save-calibration"} & names, f"fields of predict: {names}")



def references(value):
    """Every reference of a JSON document."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    own = [value["$ref"]] if isinstance(value, dict) and isinstance(value.get("$ref"), str) else []
    return own + [one for part in parts for one in references(part)]


def leads(reference):
    """Whether a reference leads to a part of the document."""
    part = document
    for step in reference.removeprefix("#/").split("/"):
        part = part.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(part, dict) else None
    return reference.startswith("#/") and part is not None


found = set(references(document))
check(len(found) > 100 and all(leads(one) for one in found), f"references of OpenAPI that lead nowhere: {[one for one in found if not leads(one)][:3]}")

# ---- other forms ----------------------------------------------------------------------------------------------------------

QUESTION = {"model": "llama-3-8b", "cluster": "dgx-h100", "workers": "8"}
WORDS = ["predict", "llama-3-8b", "--cluster", "dgx-h100", "--workers", 8]
equal(ask("/csv/predict", QUESTION)[2].decode(), run(*WORDS, "--format", "csv").out, "CSV")
for name in ("megatron", "torchtitan", "deepspeed", "accelerate", "nemo", "slurm"):
    equal(ask("/launch/predict", QUESTION | {"_as": name})[2].decode(), run(*WORDS, "--emit", name).out, f"a launch file of {name}")
refused("/launch/predict", QUESTION | {"_as": "nothing"}, 400, "--emit")
refused("/launch/queue", {"arrivals": "1/s", "service": "12ms", "_as": "slurm"}, 400, "no launch file")

# ---- figures of several answers: ranges and ticks as in reports, whatever is sent ------------------------------------------

CHART = {"title": "several", "x": {"title": "workers", "logarithmic": True}, "y": {"title": "s"},
         "series": [{"name": "a", "mark": "line", "x": [1, 2, 4], "y": [4, None, 1], "low": [3, 1, 1], "high": [5, 3, 2], "labels": ["<1>"]}],
         "rules": [{"vertical": True, "at": 2, "label": "knee"}], "chosen": 2}


def figure(chart):
    return ask("/figure", method="POST", body=chart if isinstance(chart, bytes) else json.dumps(chart).encode())


status, _, body = figure(CHART)
drawn = json.loads(body)[0]
equal((status, drawn["x"]["scale"], [tick["label"] for tick in drawn["x"]["ticks"]]), (200, "log", ["1", "2", "4"]), "its axis")
equal((drawn["series"][0]["points"], drawn["chosen"], len(drawn["rules"])), ([0, 2], 2, 1), "points that can be drawn")
check(b"<" not in body, "nothing of it begins a tag")
for wrong in (b"", b"{", b"[" * 100_000, b"1e999", b"null", b"[]", CHART | {"series": []}, CHART | {"series": {}}, CHART | {"x": 1}, CHART | {"rules": [1]},
              CHART | {"series": [CHART["series"][0] | {"mark": "cake"}]}, CHART | {"series": [CHART["series"][0] | {"y": [1]}]},
              CHART | {"series": CHART["series"] * 100}, CHART | {"series": [CHART["series"][0] | {"x": [1] * 5000}]}):
    status, _, body = figure(wrong)
    check(status == 400 and b'"problem"' in body, f"{str(wrong)[:60]}: {status} {body[:200]}")
equal(figure(CHART | {"chosen": 7, "rules": None, "series": [CHART["series"][0] | {"x": [1e308, -1e308, "x"]}]})[0], 200, "odd numbers are not drawn")

# ---- files: those of the request and of shown folders, and no other --------------------------------------------------------

table = (SHOWN / "times.csv").read_text()
told = run("laws", "--fit", SHOWN / "times.csv", "--format", "json").json()
for sent in (ask("/api/laws", {"fit": "folder:shown/times.csv"}), ask("/api/laws", {"fit": "upload:times.csv"}, **form(file=("times.csv", table.encode())))):
    found = json.loads(sent[2])
    equal((sent[0], found["fits"]), (200, told["fits"]), f"a table: {sent[2][:200]}")
    check(str(SCRATCH) not in sent[2].decode() and "/tmp/" not in sent[2].decode(), "no path of the server is told")
status, _, body = ask("/api/laws", {"fit": "folder:shown/notes.csv"})
check(status != 200 and b"notes.csv" in body and b"a_folder" not in body and b".." not in body, f"a file of the folder by its name alone: {body[:300]}")
for value in ("/etc/passwd", "../secret.csv", "folder:shown/../secret.csv", "folder:shown/link.csv", "folder:other/x", "times.csv", "upload:other.csv", "-"):
    status, _, body = ask("/api/laws", {"fit": value})
    check(status == 400 and b'"problem"' in body, f"--fit {value}: {status} {body[:200]}")
for fields in ({"model": "/etc/passwd", "cluster": "dgx-h100"}, {"model": "llama-3-8b", "cluster": "../x.toml"}, {"model": "--out=x", "cluster": "dgx-h100"}):
    refused("/api/predict", fields, 400, "problem")
for name in ("out", "html", "config", "save-calibration", "timeline", "format", "store"):
    refused("/api/predict", {"model": "llama-3-8b", "cluster": "dgx-h100", name: "x"}, 400, "")
refused("/api/predict", {"model": "llama-3-8b", "cluster": "dgx-h100", "wokers": "8"}, 400, "no such field")
for value in ("folder:shown/times.csv", "upload:times.csv"):
    refused("/api/comm", {"size": "1GB", "ranks": "8", "cluster": "dgx-h100", "schedule": value}, 400, "not taken", **form(file=("times.csv", b"x")))
equal((SHOWN / "times.csv").read_text(), table, "no question writes a file that is shown")
refused("/api/tail", {"samples": "store:last"}, 400, "are not read")
hostile = form(file=("../../evil.csv", b"\x00" * 100_000))
refused("/api/laws", {"fit": "upload:../../evil.csv"}, 422, "problem", **hostile)
check(not list(SCRATCH.glob("**/evil.csv")), "a name leads nowhere")

# ---- who asks -----------------------------------------------------------------------------------------------------------

for headers, status in (({"Host": "evil.example"}, 403), ({"Host": "plans.example.org"}, 200), ({"Host": f"localhost:{PORT}"}, 200),
                        ({"Origin": "http://evil.example"}, 403), ({"Origin": f"http://127.0.0.1:{PORT}"}, 200),
                        ({"Sec-Fetch-Site": "cross-site"}, 403), ({"Sec-Fetch-Site": "same-origin"}, 200)):
    equal(ask("/api", headers=headers)[0], status, f"{headers}")
for verb in ("history", "measure comm", "serve", "nothing"):
    refused("/api/" + verb, None, 404, "no such verb")
equal(ask("/api/../../etc/passwd")[0], 404, "a path is no file")
equal(ask("/api/laws", method="PUT")[0] in (400, 404, 405), True, "PUT")


def raw(text):
    with socket.create_connection(("127.0.0.1", PORT), timeout=PATIENCE) as line:
        try:
            line.sendall(text)
            line.shutdown(socket.SHUT_WR)
            return line.recv(200)
        except OSError: # cut off
            return b""


for text in (b"\x00" * 1000, b"GET / HTTP/9.9\r\n\r\n", b"GET " + b"/" * 100_000 + b" HTTP/1.1\r\n\r\n", b"POST /api/laws HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n",
             b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 10_000 + b"\r\n", b"\r\n\r\n"):
    check(b" 200 " not in raw(text), f"{text[:40]!r} is no request")
equal(ask("/")[0], 200, "after all that it answers")

# ---- several at a time: idle and slow ones hold nobody up; a page's later question goes first -----------------------------

idle = [socket.create_connection(("127.0.0.1", PORT)) for _ in range(200)]
slow = [socket.create_connection(("127.0.0.1", PORT)) for _ in range(50)]
for line in slow:
    line.sendall(b"GET / HT")
found = []
askers = [threading.Thread(target=lambda: found.append(ask("/api/laws", {"serial": "0.1", "workers": "1,2"})[0])) for _ in range(20)]
for asker in askers:
    asker.start()
for asker in askers:
    asker.join()
equal(found, [200] * 20, "answers beside 250 connections that say nothing")
for line in idle + slow:
    line.close()

LONG = {"arrivals": "900/s", "service": "12ms", "replicas": "12", "simulate": "1000000s", "_page": "me"}
late = []
first = threading.Thread(target=lambda: late.append(ask("/api/queue", LONG | {"_turn": "1"})))
first.start()
wait_until(lambda: ask("/api/laws", {"serial": "0.1", "workers": "1,2", "_page": "me", "_turn": "2"})[0] == 200, server)
first.join()
check(late[0][0] == 409, f"a question that a later one stops: {late[0][0]} {late[0][2][:200]}")
equal(ask("/api/laws", {"serial": "0.1", "workers": "1,2", "_page": "me", "_turn": "1"})[0], 409, "an earlier question comes too late")

# ---- a long question holds no short one up, though one runs at a time; the server's processor time says that it runs

alone = start([PROGRAM, "serve", "--port", "0", "--at-once", "1", "--time-limit", "600s"])
PORT_OF_ALL, PORT = PORT, int(alone.stdout.readline().split(":")[3].split("/")[0])
equal(ask("/answer/plan", {"model": "llama-3-70b", "cluster": "dgx-h100", "tokens": "2T"})[0], 200, "the page's first question") # it is asked at the start: no other runs now
begin = processor_seconds(alone)
late.clear()
first = threading.Thread(target=lambda: late.append(ask("/api/queue", LONG | {"_turn": "1"})))
first.start()
wait_until(lambda: processor_seconds(alone) > begin + 0.5, alone)
for n in range(5):
    equal(ask("/api/laws", {"serial": f"0.{n + 1}", "workers": "1,2"})[0], 200, "a short question meanwhile")
check(first.is_alive() and not late, f"the long one goes on: {late}")
ask("/api/laws", {"serial": "0.1", "workers": "1,2", "_page": "me", "_turn": "2"})
first.join()
alone.send_signal(signal.SIGINT)
alone.communicate(timeout=PATIENCE)
PORT = PORT_OF_ALL

# ---- what it refuses to start with, and its end ---------------------------------------------------------------------------

for words, said in ((["--port", PORT], "cannot listen"), (["--port", "99999"], "is no port"), (["--folder", "nowhere"], "is no folder"), (["--time-limit", "0s"], "--time-limit")):
    done = run("serve", *words)
    check(done.code == 2 and said in done.err, f"serve {words}: {done.code}, {done.err}")
server.send_signal(signal.SIGINT)
out, err = server.communicate(timeout=PATIENCE)
check(server.returncode == 0 and "stopping" in err, f"Ctrl-C ends it: {server.returncode}, {err}")

finish()
