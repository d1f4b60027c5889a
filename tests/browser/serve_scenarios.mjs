// 200 questions on the page of `headroom serve`: every number of its answer is that of the command line, and every figure that it
// shows is made of those.
import { execFile } from "node:child_process";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { check, finish, open, program, settled } from "./serve_page.mjs";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..", "..");
const { figuresOf, shown } = await import(path.join(root, "web", "serve", "words.js"));

// ---- the questions: drawn from one seed
let seed = 34;
const random = () => { seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0; return seed / 2 ** 32; };
const pick = (list) => list[Math.floor(random() * list.length)];
const models = ["llama-3-8b", "gpt3-13b", "llama-2-7b", "mixtral-8x7b", "no-such-model"], clusters = ["dgx-h100", "dgx-a100", "8xA100"];
const makers = [
  [80, () => ["predict", { model: pick(models), cluster: pick(clusters), workers: pick(["8", "16", "32", "7"]), tp: pick(["1", "2", "4"]), "micro-batch": pick(["1", "2"]),
                           recompute: pick(["none", "full"]), precision: pick(["bf16", "fp8"]), zero: pick(["0", "1", "3"]), ...(random() < 0.3 ? { tokens: "1T" } : {}),
                           ...(random() < 0.2 ? { overlap: "off" } : {}), ...(random() < 0.2 ? { mtbf: "50000h", tokens: "1T" } : {}) }]],
  [30, () => ["plan", { model: pick(models), cluster: pick(clusters), workers: pick(["8", "8,16", "16,32"]), tokens: pick(["100B", "1T"]), "global-batch": pick(["256", "1024"]), objective: pick(["knee", "time", "cost"]) }]],
  [25, () => ["laws", { serial: random().toFixed(4), workers: pick(["1,2,4", "1..64", "1,10,100"]) }]],
  [25, () => ["queue", { arrivals: `${Math.floor(100 + 900 * random())}/s`, service: pick(["12ms", "8ms"]), replicas: pick(["8", "9", "12"]) }]],
  [20, () => ["comm", { size: pick(["1MB", "1GB", "100MB"]), ranks: pick(["8", "16", "64"]), cluster: pick(clusters) }]],
  [10, () => ["finetune", { model: pick(["llama-3-8b", "llama-2-7b"]), cluster: pick(["2x4090", "dgx-h100"]), method: pick(["qlora", "lora"]), "dataset-tokens": "50M" }]],
  [10, () => ["catalog", { action: "show", name: pick([...models, ...clusters]) }]],
];
const questions = makers.flatMap(([count, make]) => Array.from({ length: count }, make));
check(questions.length === 200, `${questions.length} questions`);

const places = { model: 0, action: 0, name: 1 };
const told = ([verb, fields]) => new Promise((done) => {
  const arguments_ = Object.keys(fields).filter((name) => name in places).map((name) => fields[name]);
  const options = Object.entries(fields).filter(([name]) => !(name in places)).flatMap(([name, value]) => [`--${name}`, value]);
  execFile(program, [verb, ...arguments_, ...options, "--format", "json", "--quiet"], { maxBuffer: 1 << 28 }, (_, out, err) => done({ out, err }));
});

/** The number that a person reads: "7.87 s (4.44 s to 17.0 s)" is 7.87, "$1.86M" is 1.86e6. */
function readNumber(text) {
  const [, number, unit] = text.match(/^\$?([\d.]+) ?(GiB|%|us|ms|s|T|B|M|k)?/);
  return Number(number) * ({ GiB: 2 ** 30, "%": 0.01, us: 1e-6, ms: 1e-3, T: 1e12, B: 1e9, M: 1e6, k: 1e3 }[unit] ?? 1);
}

/** Numbers of the JSON of training verbs, by the names that the page gives them. */
function numbersOf(answer) {
  const row = answer.curve ? answer.curve.find((one) => one.recommended) : answer;
  return { step: row?.step_seconds, days: row?.days, cost: row?.cost_dollars, MFU: row?.mfu, memory: row?.memory?.total_bytes, "tokens a second": row?.tokens_per_second };
}

const page = await open("#catalog?action=list");
await settled(page);
let answered = 0, refused = 0;
for (const question of questions) {
  const [verb, fields] = question, words = `${verb} ${JSON.stringify(fields)}`;
  const hash = `#${verb}?${new URLSearchParams(fields)}`;
  const reply = page.waitForResponse((one) => one.url().includes(`/answer/${verb}?`));
  await page.evaluate((to) => { if (location.hash === to) document.getElementById("question").requestSubmit(); else location.hash = to; }, hash);
  const [response, said] = await Promise.all([reply, told(question)]);
  const found = await response.json();
  await settled(page);
  check(await page.evaluate(() => location.hash) === hash, `${words}: the address is its own`);
  const figures = await page.locator("#figures:visible tbody tr").evaluateAll((rows) => rows.map((row) => [row.cells[0].textContent, row.cells[1].textContent]));
  const status = await page.textContent("#status");
  if (said.out === "") {
    ++refused;
    check(found.error !== undefined && said.err.includes(found.error.problem) && status.includes(found.error.problem), `${words}: refused as ${JSON.stringify(found)}, by the command line as ${said.err}`);
    continue;
  }
  ++answered;
  const answer = JSON.parse(said.out);
  check(JSON.stringify(found.answer) === JSON.stringify(answer), `${words}: another answer`);
  check(JSON.stringify(figures) === JSON.stringify(figuresOf(answer).map((one) => [one.name, shown(one)])), `${words}: shows ${JSON.stringify(figures)}`);
  if (["predict", "plan"].includes(verb)) {
    const read = new Map(figures);
    for (const [name, number] of Object.entries(numbersOf(answer))) {
      const text = read.get(name);
      check(number > 0 ? text !== undefined && Math.abs(readNumber(text) / number - 1) < 0.006 : text === undefined, `${words}: ${name} is ${number}, shown as ${text}`);
    }
  }
  check(status !== "" && status !== "answered", `${words}: says ${status}`);
}
check(answered > 120 && refused > 10, `${answered} answered, ${refused} refused`);
console.log(`${answered} scenarios answered as by the command line, ${refused} refused as by it`);
await finish("headroom serve, scenarios");
