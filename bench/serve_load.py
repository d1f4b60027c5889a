#!/usr/bin/env python3
"""Load on `headroom serve`: the first answer, mixed questions at a rate, memory over many, idle and slow connections.

    bench/serve_load.py PROGRAM [REQUESTS [RATE]]

Motivation: a team has one server open all day. What must hold on any machine is checked (every question answered, memory flat,
idle and slow connections in nobody's way) and decides the exit code; times are printed, for they are those of this machine.
Defaults: 20,000 requests; for the figures of the guide 100,000, at 200 a second, on a quiet machine.
"""

import http.client
import os
import random
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.parse

PROGRAM = sys.argv[1]
REQUESTS = int(sys.argv[2]) if len(sys.argv) > 2 else 20_000
RATE = float(sys.argv[3]) if len(sys.argv) > 3 else 200.0
CLIENTS, SECONDS, IDLE, SLOW, GROWTH = 8, 10.0, 1000, 100, 1.15
failures = []


def check(holds, words):
    if not holds:
        failures.append(words)
        print(f"FAILED: {words}")


def question(draw):
    """Path of one request. Of ten: pages and tables, laws and queues never asked before, predictions of which some are asked again."""
    kind = draw.randrange(10)
    if kind < 2:
        return draw.choice(["/", "/app.js", "/api", "/charts.js"])
    if kind < 5:
        return "/api/laws?" + urllib.parse.urlencode({"serial": f"{draw.random():.6f}", "workers": "1,2,4,8,16"})
    if kind < 7:
        return "/api/queue?" + urllib.parse.urlencode({"arrivals": f"{draw.randint(100, 600)}/s", "service": "12ms", "replicas": "8"})
    if kind < 8:
        return "/api/catalog?action=list&name=models"
    fields = {"model": draw.choice(["llama-3-8b", "gpt3-13b"]), "cluster": draw.choice(["dgx-h100", "dgx-a100"]), "workers": draw.choice(["8", "16", "32"])}
    return "/api/predict?" + urllib.parse.urlencode(fields | {"tp": draw.choice(["1", "2", "4"]), "zero": "1", "micro-batch": "1", "recompute": "full", "pp": "1"})


class Client:
    """One connection that is kept."""

    def __init__(self, port):
        self.port, self.line = port, http.client.HTTPConnection("127.0.0.1", port, timeout=600)

    def ask(self, path):
        for last in (False, True):
            try:
                self.line.request("GET", path)
                reply = self.line.getresponse()
                reply.read()
                return reply.status
            except (http.client.HTTPException, ConnectionError):  # the server ends a connection after some requests
                self.line.close()
                if last:
                    raise


def start(cores=None):
    """A server on at most `cores` cores, and its port."""
    own = sorted(os.sched_getaffinity(0))[:cores]
    server = subprocess.Popen([PROGRAM, "serve", "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, preexec_fn=lambda: os.sched_setaffinity(0, own))
    return server, int(server.stdout.readline().split(":")[3].split("/")[0])


def memory_of(server):
    with open(f"/proc/{server.pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) / 1024


def ask_first(port):
    """Asks the page's first question, which the server answers at its start."""
    line = http.client.HTTPConnection("127.0.0.1", port)
    line.request("GET", "/first.txt")
    first = line.getresponse().read().decode().strip()
    check(Client(port).ask("/answer/" + first) == 200, "the page's first question is answered")


def first_answer():
    """Seconds from the start of a server to the first answer of its page, the least of three."""
    times = []
    for _ in range(3):
        begin = time.monotonic()
        server, port = start()
        Client(port).ask("/")
        ask_first(port)
        times.append(time.monotonic() - begin)
        server.send_signal(signal.SIGINT)
        server.wait()
    return min(times)


def at_rate(port, requests, rate):
    """Times of as many questions as are asked at a rate by some clients, counted from when each was due, seconds; 0: as fast as they go."""
    times, wrong = [], []
    begin = time.monotonic()

    def work(number):
        client, draw = Client(port), random.Random(number)
        for n in range(number, requests, CLIENTS):
            due = begin + n / rate if rate > 0 else time.monotonic()
            time.sleep(max(0.0, due - time.monotonic()))
            path = question(draw)
            status = client.ask(path)
            times.append(time.monotonic() - due)
            if status not in (200, 422):
                wrong.append((path, status))

    workers = [threading.Thread(target=work, args=(number,)) for number in range(CLIENTS)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    check(not wrong, f"every question is answered: {wrong[:3]}")
    check(len(times) == requests, f"{len(times)} of {requests} questions came back")
    return sorted(times), time.monotonic() - begin


def crowd(port):
    """Connections that say nothing, and some that say one letter a while."""
    lines = [socket.create_connection(("127.0.0.1", port)) for _ in range(IDLE + SLOW)]
    over = threading.Event()

    def trickle():
        while not over.wait(0.5):
            for line in lines[IDLE:]:
                try:
                    line.sendall(b"G")
                except OSError:
                    pass

    thread = threading.Thread(target=trickle)
    thread.start()
    return lines, over, thread


def main():
    if "  serve " not in subprocess.run([PROGRAM, "--help"], capture_output=True, text=True, check=True).stdout:
        print("this program holds no serve: cpp-httplib was not installed")
        return 0
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")
    print(f"first answer            {first_answer() * 1e3:8.0f} ms after the start")
    server, port = start(cores=1)
    ask_first(port)
    times, _ = at_rate(port, int(RATE * SECONDS), RATE)
    server.send_signal(signal.SIGINT)
    server.wait()
    print(f"{RATE:.0f} requests a second on one core: median {times[len(times) // 2] * 1e3:6.1f} ms, p99 {times[int(0.99 * len(times))] * 1e3:.1f} ms")
    server, port = start()
    at_rate(port, max(2000, REQUESTS // 10), 0)
    before = memory_of(server)
    _, seconds = at_rate(port, REQUESTS, 0)
    after = memory_of(server)
    print(f"{REQUESTS} requests: {REQUESTS / seconds:8.0f} a second; memory {before:.0f} MiB before, {after:.0f} MiB after")
    check(after < GROWTH * before, f"memory grew from {before:.0f} to {after:.0f} MiB")
    lines, over, thread = crowd(port)
    times, _ = at_rate(port, 400, 0)
    print(f"with {IDLE} idle and {SLOW} slow connections: median {times[len(times) // 2] * 1e3:.1f} ms, p99 {times[int(0.99 * len(times))] * 1e3:.1f} ms")
    over.set()
    thread.join()
    for line in lines:
        line.close()
    check(server.poll() is None, "the server is up")
    server.send_signal(signal.SIGINT)
    check(server.wait(timeout=600) == 0, "Ctrl-C ends it")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
