// Pages about waiting: latencies, queues, and language models that are served. One page a row, as in cases.mjs.
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";

/** The same numbers between 0 and 1 in every run. */
const chanceFrom = (seed) => () => ((seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) + 0.5) / 2 ** 32;

/** When requests were sent and how long they took, in a line before `servers`; one in fifty takes ten times as long. */
function servedRows(seed, rate, servers, count) {
  const chance = chanceFrom(seed);
  const free = Array(servers).fill(0);
  let now = 0;
  return Array.from({ length: count }, () => {
    now += -Math.log(chance()) / rate;
    const first = free.indexOf(Math.min(...free));
    free[first] = Math.max(now, free[first]) + 0.008 + 0.008 * chance() + (chance() < 0.02 ? 0.12 + 0.08 * chance() : 0);
    return [now, free[first] - now];
  });
}

const table = (rows) => "sent_s,latency_ms\n" + rows.map(([at, taken]) => `${at.toFixed(6)},${(1e3 * taken).toFixed(4)}\n`).join("");

const sampled = (tail) => {
  const figures = [
    { figure: "How slow the slowest are", rules: tail.samples.count > 1000 ? [/^p90$/, /^p99$/, /^p99.9$/] : [/^p90$/] },
    { figure: "How many are faster" },
  ];
  if (tail.fan_out.length > 1) {
    figures.push({ figure: "How long the slowest of K takes",
      marks: tail.fan_out.length + tail.fan_out.filter((row) => !row.p99_beyond_samples).length });
  }
  if (tail.hedging.delays.length > 1) figures.push({ figure: "What second copies buy", marks: 2 * tail.hedging.delays.length });
  if (tail.replicas_for_slo?.missing.length === 0) figures.push({ figure: "Load and latency of", rules: [/^now$/, /^knee$/] });
  return figures;
};

const queued = (queue) => {
  const drawn = (rows) => rows.filter((row) => row.stable && row.throughput_per_second > 0);
  const objective = queue.objective ? [/^objective$/] : [];
  const figures = [{ figure: "Latency over load", marks: 3 * drawn(queue.curve).length, rules: [/^knee$/, ...objective] }];
  const rows = drawn(queue.rows);
  if (rows.length > 1) figures.push({ figure: "Latency over replicas", marks: 2 * rows.length, rules: objective });
  return figures;
};

const served = (answer) => {
  const batches = answer.decode.length;
  const figures = [
    { figure: "Throughput against latency", marks: batches, y: answer.decode.map((row) => row.seconds * 1e3) },
    { figure: "Roofline of decoding", marks: batches, rules: [/^ridge$/] },
  ];
  if (answer.load.length > 0) {
    figures.push({ figure: "What load does to the wait", rules: [/^asked$/, /^capacity$/] });
    figures.push({ figure: "Requests in time", marks: answer.load.length, y: answer.load.map((row) => row.goodput_per_second) });
  }
  return figures;
};

/** Every page that is looked at; `scratch` is a folder for what they read, `traces` one with traces. */
export function waitingCasesIn(scratch, source, traces) {
  const write = (name, text) => {
    const file = path.join(scratch, name);
    writeFileSync(file, text);
    return file;
  };
  const before = write("before.csv", table(servedRows(1, 400, 10, 20000)));
  const after = write("after.csv", table(servedRows(2, 400, 20, 20000)));
  const crowded = write("crowded.csv", table(servedRows(3, 260, 5, 20000)));
  const few = write("few.csv", "latency_ms\n" + [12, 14, 11, 13, 15, 12, 19, 11, 12, 40, 13].join("\n") + "\n");
  const folder = path.join(scratch, "<svg onload=alert(1)> & \"latencies\"");
  mkdirSync(folder);
  const hostile = path.join(folder, "b<c>.csv");
  writeFileSync(hostile, table(servedRows(4, 100, 5, 2000)).replace("latency_ms", "<img src=x onerror=alert(1)> latency_ms"));
  const digest = write("percentiles.hgrm", source("tests/data/latencies/percentiles.hgrm"));
  const requests = write("requests.csv", "arrival_ms,prompt_tokens,output_tokens\n" +
    Array.from({ length: 3000 }, (_, n) => `${n * 50},${300 + ((n * 37) % 1500)},${50 + ((n * 91) % 300)}\n`).join(""));
  const queue = ["queue", "--arrivals", "500/s", "--service", "12ms"];
  const inference = ["inference", "llama-3-70b", "--cluster", "dgx-h100", "--arrivals", "20/s"];
  return [
    { name: "tail", words: ["tail", after, "--baseline", before, "--objective", "p99<=150ms", "--replicas", "20"], code: 3, expects: sampled },
    { name: "tail-crowded", words: ["tail", crowded, "--objective", "p99<=400ms", "--replicas", "5", "--fit", "--interval", "5ms"], expects: sampled },
    { name: "tail-few", words: ["tail", few] },
    { name: "tail-digest", words: ["tail", digest, "--unit", "ms"], expects: sampled },
    { name: "tail-steps", words: ["tail", traces] },
    { name: "tail-hostile", words: ["tail", hostile, "--column", "2", "--each"], expects: sampled },
    { name: "queue", words: [...queue, "--replicas", "10"], expects: queued },
    { name: "queue-objective", words: [...queue, "--objective", "p99<=70ms", "--price", "2.5 $/h"], expects: queued },
    { name: "queue-simulated", words: [...queue, "--service-variation", "4", "--replicas", "6..12:1", "--simulate", "100s"], expects: queued },
    { name: "queue-places", words: ["queue", "--arrivals", "900/s", "--service", "12ms", "--replicas", "8", "--places", "40"] },
    { name: "queue-faster", words: ["queue", "--arrivals", "60/s", "--service", "12ms", "--replicas", "1", "--scale-up", "2x"], expects: queued },
    { name: "inference", words: [...inference, "--prompt-variation", "1", "--output-variation", "1"], expects: served },
    { name: "inference-alone", words: ["inference", "llama-3-8b", "--cluster", "dgx-h100"], expects: served },
    { name: "inference-recorded", words: ["inference", "llama-3-8b", "--cluster", "dgx-a100", "--requests", requests, "--against", "dgx-h200"],
      expects: served },
  ];
}
