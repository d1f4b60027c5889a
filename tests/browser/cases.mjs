// One page a row. `expects` says what the result as JSON demands of the page: of the figure whose title begins with
// `figure`, how many marks stand for points (`marks`), the values of its first series (`y`), or which rules are drawn.
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";

import { waitingCasesIn } from "./waiting_cases.mjs";

const feasible = (plan) => plan.curve.filter((row) => row.feasible);

const planned = (plan) => {
  const rows = feasible(plan);
  const rules = [/^knee/, /^ceiling/];
  return [
    { figure: "Speedup", marks: rows.length, y: rows.map((row) => row.speedup), rules },
    { figure: "Time against cost", marks: rows.filter((row) => row.cost_dollars !== null).length },
    { figure: "Memory of each size", bars: rows.length, rules: [/^usable/] },
    { figure: "The step of each size", bars: rows.length },
  ];
};

const predicted = (prediction) => [
  { figure: "The step", bars: 1 },
  { figure: "Memory", bars: 1, rules: [/^usable/],
    pieces: Object.entries(prediction.memory).filter(([key, value]) =>
      /^(weights|gradients|optimizer|activations|logits|temporaries|buffers)_bytes$/.test(key) && value > 0).length },
];

/** The pipeline of a prediction: a row a stage, every pass and every gap, unless there are too many. */
const piped = (prediction) => [
  ...predicted(prediction),
  { figure: / stages?[,:]| stages/, lanes: Math.min(64, prediction.strategy.pp),
    atLeast: prediction.strategy.pp * Math.min(64, prediction.strategy.micro_batches) },
  { figure: "The stages' memory over the passes" },
];

/** Rows of the algorithms that are drawn: five, those that win most often, then those that come closest. */
const drawnOf = (rows) => {
  const label = (row) => `${row.algorithm} ${row.priced_by}`;
  const merit = new Map(rows.map((row) => [label(row), 0]));
  for (const one of new Set(rows.map((row) => `${row.ranks} ${row.size_bytes}`))) {
    const order = rows.filter((row) => `${row.ranks} ${row.size_bytes}` === one).sort((a, b) => a.seconds - b.seconds);
    order.forEach((row, place) => merit.set(label(row), merit.get(label(row)) + (place === 0 ? 1e3 : 1 / (1 + place))));
  }
  const names = [...merit].sort((a, b) => b[1] - a[1]).slice(0, 5).map(([name]) => name);
  return rows.filter((row) => names.includes(label(row)));
};

const moved = (comm) => {
  const most = Math.max(...comm.rows.map((row) => row.ranks));
  const largest = Math.max(...comm.rows.map((row) => row.size_bytes));
  const sizes = new Set(comm.rows.map((row) => row.size_bytes));
  const measured = (comm.measured ?? []).filter((row) => row.ranks === most).length;
  const expected = [];
  if (sizes.size > 1 || measured > 0) {
    const inside = comm.crossovers.filter((one) => one.ranks === most && one.size_bytes <= largest && one.size_bytes >= Math.min(...sizes));
    const lines = sizes.size > 1 ? drawnOf(comm.rows.filter((row) => row.ranks === most)).length : measured;
    expected.push({ figure: /over size/, marks: lines + measured, rules: inside.map(() => / \| /) });
  }
  if (new Set(comm.rows.map((row) => row.ranks)).size > 1) {
    expected.push({ figure: /over (ranks|actors)/, marks: drawnOf(comm.rows.filter((row) => row.size_bytes === largest)).length });
  }
  return expected;
};

const refitted = (fitted) => {
  const drawn = fitted.fits.map((one) => one.residuals).sort((a, b) => b.length - a.length).slice(0, 3);
  return drawn.length ? [{ figure: "Residuals of", atLeast: Math.min(...drawn.map((one) => one.filter((row) => !row.outlier).length)) }] : [];
};

const comparedCollectives = (validation) => {
  const rows = validation.rows;
  return [{ figure: "Predicted over measured time",
    marks: rows.filter((row) => row.fitted_seconds > 0).length + rows.filter((row) => row.unfitted_seconds > 0).length }];
};

const compared = (validation) => {
  const known = validation.rows.filter((row) => !row.dropped_by && row.predicted_step_seconds > 0 && row.measured_step_seconds > 0).length;
  const stride = Math.ceil(known / 2000);
  return [{ figure: "Predicted against measured", marks: Math.ceil(known / stride) }];
};

const bounded = () => [{ figure: "Roofline", atLeast: 1, rules: [/ridge/] }]; // kernels of one place share a mark

const scheduled = (graph) => [
  { figure: "Speedup", marks: graph.schedules.length, rules: [/^ceiling/] },
  { figure: "Tasks by level", marks: graph.levels.profile.length },
];

/** What a rank's profiler would write of two products, an all-reduce that begins `late` microseconds late, and a wait. */
const traceOf = (rank, late, product) => {
  const kernel = (name, ts, dur, stream, correlation) => [
    { ph: "X", cat: "cuda_runtime", name: "cudaLaunchKernel", pid: 9, tid: 1, ts: ts - 20, dur: 5, args: { correlation } },
    { ph: "X", cat: "kernel", name, pid: 0, tid: stream, ts, dur, args: { device: 0, stream, correlation } }];
  return { distributedInfo: { rank, world_size: 4 }, traceEvents: [
    { ph: "X", cat: "user_annotation", name: "ProfilerStep#1", pid: 9, tid: 1, ts: 0, dur: 1000 },
    ...kernel(product, 100, 200, 7, 1), ...kernel("gemm", 300 + late, 200, 7, 2),
    ...kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 400 + late, 500 - late, 20, 3),
    { ph: "X", cat: "cuda_runtime", name: "cudaDeviceSynchronize", pid: 9, tid: 1, ts: 700, dur: 210, args: {} }] };
};

const traced = (trace) => [
  { figure: "Where each rank's time goes", bars: trace.ranks.length },
  { figure: "Step 1, lane by lane", lanes: 3 * trace.ranks.length, atLeast: 7 * trace.ranks.length },
];

/** Every page that is looked at; `scratch` is a folder for what they read. */
export function casesIn(scratch, source) {
  const hostile = path.join(scratch, "a<b>&'c\" <img src=x onerror=alert(1)>");
  mkdirSync(hostile, { recursive: true });
  writeFileSync(path.join(hostile, "config.json"), source("tests/data/configs/gpt2-xl/config.json"));
  const measured = path.join(scratch, "measured.csv");
  const times = [[1, 100], [2, 52], [4, 28.5], [8, 17.1], [16, 12.2], [32, 11.4], [64, 13.9]];
  writeFileSync(measured, "workers,seconds\n" + times.map((row) => row.join(",")).join("\n") + "\n");
  const collectives = path.join(scratch, "collectives.csv");
  const moves = [[1, 60], [4, 110], [16, 200], [64, 600], [256, 1900]];
  writeFileSync(collectives, "collective,ranks,bytes,time_us\n" + moves.map(([mib, us]) => `all_reduce,64,${mib * 1048576},${us}\n`).join(""));
  const log = path.join(scratch, "nccl.txt");
  writeFileSync(log, source("tests/data/logs/nccl_two_operations.txt"));
  const published = path.join(scratch, "published.csv");
  writeFileSync(published, source("validation/published_communication.csv"));
  const traces = path.join(scratch, "traces");
  const odd = path.join(scratch, "odd");
  for (const [folder, product] of [[traces, "gemm"], [odd, "a<b>&'c\" <img src=x onerror=alert(1)></script>"]]) {
    mkdirSync(folder);
    [0, 0, 80, 10].forEach((late, rank) => writeFileSync(path.join(folder, `rank${rank}.json`), JSON.stringify(traceOf(rank, late, product))));
  }
  const plan = ["plan", "llama-3-70b", "--cluster", "dgx-h100"];
  const predict = ["predict", "llama-3-70b", "--cluster", "dgx-h100", "--workers", "64"];
  const pipeline = ["predict", "llama-3-70b", "--cluster", "dgx-h100", "--workers", "64", "--tp", "4", "--pp", "8", "--dp", "2", "--micro-batch", "1",
                    "--global-batch", "32", "--recompute", "full"];
  return [
    { name: "plan", words: [...plan, "--workers", "8..8192", "--tokens", "2T"], expects: planned },
    { name: "plan-stop", words: ["plan", "llama-3-8b", "--cluster", "dgx-a100", "--workers", "8..4096", "--global-batch", "64", "--tokens", "2T"],
      expects: (json) => {
        const list = planned(json);
        list[0].rules.push(new RegExp(`^stop: ${json.stop.workers}$`));
        return list;
      } },
    { name: "plan-sizes", words: [...plan, "--workers", "16..512:16", "--tokens", "2T"], expects: planned },
    { name: "plan-against", words: [...plan, "--workers", "8..64", "--against", "dgx-b200", "--tokens", "2T"], expects: planned },
    { name: "predict", words: [...predict, "--what-if"], expects: predicted },
    { name: "predict-too-large", words: ["predict", "llama-3-70b", "--cluster", "dgx-h100", "--workers", "8", "--tp", "8"], code: 3, expects: predicted },
    { name: "predict-hostile", words: ["predict", hostile, "--cluster", "dgx-a100", "--workers", "8"], expects: predicted },
    { name: "predict-pipeline", words: [...pipeline, "--schedule", "zb-h1"], expects: piped },
    { name: "predict-chunks", words: [...pipeline, "--schedule", "interleaved"], expects: piped },
    { name: "predict-dualpipe", words: [...pipeline, "--schedule", "dualpipe"], expects: piped },
    { name: "predict-schedules", words: [...pipeline, "--schedule", "all", "--simulate"], expects: piped },
    { name: "predict-stages", words: ["predict", "llama-3-405b", "--cluster", "dgx-h100", "--workers", "504", "--tp", "8", "--pp", "63", "--dp", "1",
                                      "--micro-batch", "1", "--global-batch", "512", "--recompute", "full", "--schedule", "1f1b"], expects: piped },
    { name: "comm", words: ["comm", "--size", "1GB", "--ranks", "64", "--cluster", "dgx-h100"], expects: moved },
    { name: "comm-sweep", words: ["comm", "--size", "4GiB", "--ranks", "8..64", "--cluster", "dgx-h100", "--sweep"], expects: moved },
    { name: "comm-actors", words: ["comm", "--collective", "actor_learner", "--size", "2GB", "--experience", "50MB",
                                   "--ranks", "2..256", "--link", "25GB/s,5us"], expects: moved },
    { name: "comm-measured", words: ["comm", "--size", "256MB", "--ranks", "64", "--cluster", "dgx-h100", "--sweep", "--measured", collectives],
      expects: moved },
    { name: "comm-dots", words: ["comm", "--size", "256MB", "--ranks", "64", "--cluster", "dgx-h100", "--measured", collectives], expects: moved },
    { name: "comm-all", words: ["comm", "--collective", "broadcast", "--size", "1GB", "--ranks", "8..512", "--cluster", "dgx-h100", "--all"],
      expects: moved },
    { name: "comm-levers", words: ["comm", "--size", "14GB", "--ranks", "64", "--cluster", "dgx-a100", "--gradient-compression", "one_bit",
                                   "--local-steps", "50", "--buckets", "100MB", "--overlap-with", "180ms"], expects: moved },
    { name: "comm-fit", words: ["comm", "--fit", log], expects: refitted },
    { name: "comm-fit-many", words: ["comm", "--fit", published], expects: refitted },
    { name: "validate-communication", words: ["validate", "--communication"], expects: comparedCollectives },
    { name: "validate", words: ["validate"], expects: compared },
    { name: "trace", words: ["trace", traces], expects: traced },
    { name: "trace-baseline", words: ["trace", traces, "--baseline", odd], expects: traced },
    { name: "trace-odd", words: ["trace", odd], expects: traced },
    { name: "catalog-list", words: ["catalog", "list"] },
    { name: "catalog-show", words: ["catalog", "show", "dgx-h100"] },
    { name: "laws-serial", words: ["laws", "--serial", "0.5,0.1,0.02", "--workers", "1..1024"],
      expects: (json) => [{ figure: "Speedup", marks: 2 * json.rows.length, rules: [/ceiling 2x/, /ceiling 10x/, /ceiling 50x/] }] },
    { name: "laws-profile", words: ["laws", "--compute", "240ms", "--communication", "60ms", "--at-workers", "8"],
      expects: (json) => [{ figure: "Speedup", marks: json.speedup_over_k0.length, rules: [/ceiling/, /knee/] }] },
    { name: "laws-fit", words: ["laws", "--fit", measured],
      expects: () => [{ figure: "Measured and fitted", marks: times.length, y: times.map((row) => row[1]), rules: [/peak/] }] },
    { name: "graph-tree", words: ["graph", "sum-tree:1000"], expects: scheduled },
    { name: "graph-chain", words: ["graph", "sum-chain:64"], expects: (json) => [{ figure: "Speedup", marks: json.schedules.length }] },
    { name: "graph-scan", words: ["graph", "scan-blelloch:256"], expects: scheduled },
    { name: "roofline", words: ["roofline", "--machine", "h100", "--model", "llama-3-8b"], expects: bounded },
    { name: "roofline-kernel", words: ["roofline", "--machine", "h100", "--kernel", "axpy:flops=2GFLOP,bytes=12GB"],
      expects: (json) => [{ figure: "Roofline", marks: json.kernels.length, rules: [/ridge/] }] },
    { name: "measure-roofline", words: ["measure", "roofline", "--quick", "--store", "none"],
      expects: (json) => [...new Set(json.kernels.map((kernel) => kernel.threads))].map((threads) => (
        { figure: new RegExp(`^Measured roofline, ${threads} core`),
          marks: json.kernels.filter((kernel) => kernel.threads === threads).length, rules: [/ridge/] })) },
    { name: "measure-scaling", words: ["measure", "scaling", "--store", path.join(scratch, "measured.sqlite"), "--fresh", "--workers", "1,2,3",
      "--repeats", "3", "--", "sh", "-c", "sleep 0.$((6 / {workers}))"],
      expects: () => [{ figure: "Measured and fitted", marks: 9 }] },
    { name: "history", words: ["history", "show", "last", "--store", path.join(scratch, "measured.sqlite")] },
    ...waitingCasesIn(scratch, source, traces),
  ];
}
