// The page of `headroom serve`: a form made from the verbs' own options, and the answer. The address after # holds the whole
// question, so that a link is a scenario; the server keeps nothing.

const MAIN = { // fields that are shown first; all others are under "All options"
  plan: ["model", "cluster", "workers", "tokens", "deadline", "budget", "global-batch", "sequence-length", "precision", "framework", "mtbf"],
  predict: ["model", "cluster", "workers", "tp", "pp", "dp", "micro-batch", "global-batch", "sequence-length", "zero", "recompute", "precision", "overlap", "framework", "power-limit"],
  finetune: ["model", "cluster", "method", "dataset-tokens", "epochs", "sequence-length"],
  inference: ["model", "cluster", "tp", "arrivals", "objective", "precision"],
  laws: ["fit", "serial", "workers", "compute", "communication"],
  graph: ["source", "workers"],
  roofline: ["machine", "model", "kernel"],
  comm: ["collective", "size", "ranks", "cluster", "log"],
  tail: ["samples", "unit", "fan-out"],
  queue: ["arrivals", "service", "replicas", "objective"],
  trace: ["path", "workers"],
  catalog: ["action", "name"],
};
const START = {
  plan: { model: "llama-3-70b", cluster: "dgx-h100", tokens: "2T" },
  predict: { model: "llama-3-8b", cluster: "dgx-h100", workers: "16" },
  finetune: { model: "llama-3-8b", cluster: "2x4090", method: "qlora", "dataset-tokens": "50M" },
  inference: { model: "llama-3-8b", cluster: "dgx-h100" },
  laws: { serial: "0.05", workers: "1,2,4,8,16,64,256" },
  graph: { source: "sum-tree:1000000", workers: "1,8,64" },
  roofline: { machine: "h100", model: "llama-3-8b" },
  comm: { size: "1GB", ranks: "64", cluster: "dgx-h100" },
  queue: { arrivals: "500/s", service: "12ms", replicas: "8" },
  catalog: { action: "list" },
};
const SLIDES = { // exponents of two, beside the field
  workers: [0, 14], "global-batch": [4, 14], "sequence-length": [9, 20], tp: [0, 6], pp: [0, 6], "micro-batch": [0, 6],
};
const NEEDS_FILE = ["calibrate", "tail", "trace"];
const TITLES = { plan: "Plan", predict: "Predict", finetune: "Fine-tune", inference: "Serve a model", laws: "Speedup laws", graph: "Task graph",
                 roofline: "Roofline", comm: "Collectives", tail: "Latencies", queue: "Queue", trace: "Trace", calibrate: "Calibrate",
                 validate: "Accuracy", catalog: "Catalog" };
const PAGE = crypto.getRandomValues(new Uint32Array(4)).join("");
const PAUSE = 120; // ms after the last key before a question is asked

const $ = (id) => document.getElementById(id);
const element = (name, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
};

let verbs = [], verb = null, fields = {}, files = new Map(), turn = 0, before = null, kept = [], waiting = null, running = null;

const optionName = (option) => option.name.replace(/^--/, "");
const argumentName = (argument) => argument.name.toLowerCase().replace(/[[\].]/g, "");
const readsFile = (placeholder) => /^(FILE|FILE\.csv|DIR|LOG|PATH)$/.test(placeholder);
const HIDDEN = new Set(["out", "html", "format", "config", "store", "save", "save-calibration", "timeline", "memory-timeline", "quiet",
                        "save-machine", "emit", "print-config", "no-color", "brief", "full", "stats", "help"]);

/** Fields of a verb: its arguments, then its options. */
function fieldsOf(one) {
  const list = one.arguments.map((a) => ({ name: argumentName(a), help: a.help, group: "Question", many: a.many, argument: true, placeholder: a.name }));
  for (const o of one.options) {
    const name = optionName(o);
    if (!HIDDEN.has(name)) list.push({ name, help: o.help, group: o.group, placeholder: o.placeholder, takes: o.takes });
  }
  return list;
}

function inputOf(field) {
  const id = `field-${field.name}`;
  const box = element("div", { className: "field" });
  box.append(element("label", { htmlFor: id, textContent: field.name.replaceAll("-", " "), title: field.help }));
  if (field.takes === "nothing") {
    const check = element("input", { id, type: "checkbox", checked: fields[field.name] !== undefined });
    check.addEventListener("change", () => { check.checked ? (fields[field.name] = "on") : delete fields[field.name]; changed(); });
    box.append(check);
    return box;
  }
  const input = element("input", { id, value: fields[field.name] ?? "", placeholder: field.placeholder ?? "", title: field.help, autocomplete: "off", spellcheck: false });
  if (["model", "cluster", "machine"].includes(field.name)) input.setAttribute("list", field.name === "model" ? "models" : "clusters");
  input.addEventListener("input", () => { set(field.name, input.value); changed(); });
  box.append(input);
  if (SLIDES[field.name] && !(verb.name === "plan" && field.name === "workers")) {
    const [low, high] = SLIDES[field.name];
    const slide = element("input", { type: "range", min: low, max: high, step: 1, ariaLabel: `${field.name}, powers of two`,
                                     value: Math.round(Math.log2(Number(fields[field.name]) || 2 ** low)) });
    slide.addEventListener("input", () => { input.value = String(2 ** Number(slide.value)); set(field.name, input.value); changed(); });
    input.addEventListener("input", () => { const n = Number(input.value); if (n > 0) slide.value = Math.round(Math.log2(n)); });
    box.append(slide);
  }
  return box;
}

function set(name, value) {
  if (value === "") delete fields[name]; else fields[name] = value;
}

function draw() {
  for (const button of $("verbs").children) button.setAttribute("aria-current", String(button.value === verb.name));
  $("summary").textContent = verb.summary;
  const all = fieldsOf(verb), first = MAIN[verb.name] ?? [];
  const byName = new Map(all.map((f) => [f.name, f]));
  $("main-fields").replaceChildren(...first.filter((n) => byName.has(n)).map((n) => inputOf(byName.get(n))));
  const groups = new Map();
  for (const field of all.filter((f) => !first.includes(f.name))) {
    if (!groups.has(field.group)) groups.set(field.group, element("fieldset", {}, element("legend", { textContent: field.group })));
    groups.get(field.group).append(inputOf(field));
  }
  $("more-fields").replaceChildren(...groups.values());
  drawFiles();
}

function drawFiles() {
  $("files").replaceChildren(...[...files].map(([name, one]) => {
    const drop = element("button", { type: "button", textContent: "Remove" });
    drop.addEventListener("click", () => {
      files.delete(name);
      for (const [field, value] of Object.entries(fields)) set(field, value.split(", ").filter((one) => one !== `upload:${name}`).join(", "));
      draw(); changed();
    });
    return element("li", {}, `${name} as ${one.field} `, drop);
  }));
}

/** The field and verb that a file answers to, by its name and its first characters. */
function placeOf(name, head) {
  const lower = name.toLowerCase();
  if (/"traceEvents"|"schemaVersion"/.test(head) || /\.(json\.gz|nsys-rep|sqlite|pb|pt\.trace\.json)$/.test(lower)) return ["trace", "path"];
  if (/\.json$/.test(lower) && /"(hidden_size|model_type|architectures|n_embd)"/.test(head)) return ["", "model"];
  if (/\.toml$/.test(lower) && /\[(node|scale_up|scale_out|accelerator)/.test(head)) return ["", "cluster"];
  if (/busbw|algbw|out-of-place/i.test(head)) return ["comm", "log"];
  if (/\.(sh|slurm|sbatch|ya?ml)$/.test(lower) || /deepspeed|torchrun|zero_optimization|\[job\]/i.test(head)) return ["", "from"];
  if (/iteration|loss|tokens\/s|step[_ ]time|tflop/i.test(head) && /\.(log|txt|json|jsonl|out)$/.test(lower)) return ["predict", "log"];
  if (/latenc|percentile|p99|Requests\/sec/i.test(head)) return ["tail", "samples"];
  return ["laws", "fit"];
}

async function take(list) {
  for (const file of list) {
    const head = await file.slice(0, 4096).text();
    let [wanted, field] = placeOf(file.name, head);
    const here = new Set(fieldsOf(verb).map((f) => f.name));
    const loose = verb.name === "calibrate" || NEEDS_FILE.includes(verb.name) ? { calibrate: "evidence", tail: "samples", trace: "path" }[verb.name] : null;
    if (loose) { wanted = verb.name; field = loose; }
    else if (wanted === "" && !here.has(field)) wanted = "predict";
    if (wanted !== "" && wanted !== verb.name) choose(wanted, { ...fields, model: fields.model, cluster: fields.cluster });
    files.set(file.name, { file, field });
    const several = fieldsOf(verb).find((f) => f.name === field)?.many && fields[field]?.startsWith("upload:");
    fields[field] = (several ? `${fields[field]}, ` : "") + `upload:${file.name}`;
    if (wanted === "laws") for (const other of Object.keys(START.laws)) delete fields[other];
  }
  draw();
  changed();
}

function choose(name, start) {
  verb = verbs.find((one) => one.name === name);
  const known = new Set(fieldsOf(verb).map((f) => f.name));
  fields = Object.fromEntries(Object.entries(start ?? START[name] ?? {}).filter(([n, v]) => known.has(n) && v !== undefined));
  before = null;
  draw();
}

// ---- asking ------------------------------------------------------------------------------------------------------------

function query() {
  const asked = new URLSearchParams();
  const several = new Set(fieldsOf(verb).filter((f) => f.many).map((f) => f.name));
  for (const [name, value] of Object.entries(fields)) for (const one of several.has(name) ? value.split(", ") : [value]) asked.append(name, one);
  return asked;
}

const needsUpload = () => Object.values(fields).some((value) => value.includes("upload:"));

function send(signal) {
  const asked = query();
  asked.set("_page", PAGE);
  asked.set("_turn", String(turn));
  const address = `answer/${encodeURIComponent(verb.name)}?${asked}`;
  if (!needsUpload()) return fetch(address, { signal });
  const form = new FormData();
  for (const [name, one] of files) form.append(name, one.file, name);
  return fetch(address, { method: "POST", body: form, signal });
}

/** Numbers of an answer that a person compares, in words. */
const FIGURES = [
  ["step", (a) => a.step_seconds ?? a.recommendation?.step_seconds, seconds],
  ["accelerators", (a) => a.recommendation?.workers ?? a.workers, plain],
  ["tokens a second", (a) => a.tokens_per_second ?? a.recommendation?.tokens_per_second, plain],
  ["MFU", (a) => a.mfu ?? a.recommendation?.mfu, percent],
  ["memory", (a) => a.memory?.total_bytes ?? a.recommendation?.memory_bytes ?? a.recommendation?.memory?.total_bytes, bytes],
  ["days", (a) => a.days ?? a.recommendation?.days, plain],
  ["cost", (a) => a.cost_dollars ?? a.recommendation?.cost_dollars, dollars],
  ["time an output token", (a) => a.tpot_seconds ?? a.recommendation?.tpot_seconds, seconds],
  ["first token", (a) => a.ttft_seconds ?? a.recommendation?.ttft_seconds, seconds],
  ["parameters", (a) => a.model?.parameters, plain],
];
const short = (n) => n >= 100 ? n.toFixed(0) : n.toPrecision(3);
function plain(n) { return n >= 1e12 ? short(n / 1e12) + "T" : n >= 1e9 ? short(n / 1e9) + "B" : n >= 1e6 ? short(n / 1e6) + "M" : n >= 1e4 ? short(n / 1e3) + "k" : short(n); }
function seconds(n) { return n >= 1 ? short(n) + " s" : n >= 1e-3 ? short(n * 1e3) + " ms" : short(n * 1e6) + " us"; }
function bytes(n) { return short(n / 2 ** 30) + " GiB"; }
function percent(n) { return short(100 * n) + " %"; }
function dollars(n) { return "$" + plain(n); }

function figuresOf(answer) {
  return FIGURES.map(([name, get, show]) => ({ name, show, value: get(answer) })).filter((f) => typeof f.value === "number" && f.value > 0);
}

function showFigures(answer) {
  const now = figuresOf(answer), old = new Map((before ?? []).map((f) => [f.name, f.value]));
  $("figures").hidden = now.length === 0;
  $("figures").tBodies[0].replaceChildren(...now.map((f) => {
    const was = old.get(f.name), moved = was !== undefined && was !== f.value;
    const change = moved ? `${f.value > was ? "+" : ""}${short(100 * (f.value / was - 1)).replace("-0.00", "0")} %` : "";
    return element("tr", {}, element("td", { textContent: f.name }), element("td", { textContent: f.show(f.value) }),
                   element("td", { textContent: moved ? f.show(was) : "" }), element("td", { textContent: change }));
  }));
  before = now;
}

function say(text, wrong = false) {
  $("status").textContent = text;
  $("status").classList.toggle("wrong", wrong);
}

const sentence = (error) => [error.where, error.problem].filter(Boolean).join(": ") + (error.why ? ` (${error.why})` : "") + (error.hint ? `. ${error.hint}` : "");

/** The first sentence of a report. */
function headlineOf(page) {
  const holder = document.createElement("template"); // parsed, not shown
  holder.innerHTML = page.match(/<p class="strong">.*?<\/p>/s)?.[0] ?? "answered";
  return holder.content.textContent;
}

async function ask() {
  turn += 1;
  const mine = turn;
  running?.abort();
  running = new AbortController();
  const command = ["headroom", verb.name];
  for (const one of fieldsOf(verb)) {
    const value = fields[one.name];
    if (value === undefined) continue;
    const quoted = (text) => /^[\w.,:=@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
    const words = (one.many ? value.split(", ") : [value]).map((text) => quoted(text.replace("upload:", ""))).join(" ");
    command.push(one.argument ? words : one.takes === "nothing" ? `--${one.name}` : `--${one.name} ${words}`);
  }
  $("command").textContent = command.join(" ");
  history.replaceState(null, "", `#${verb.name}?${query()}`);
  const asked = query();
  $("as-json").href = `api/${encodeURIComponent(verb.name)}?${asked}`;
  $("as-page").href = `report/${encodeURIComponent(verb.name)}?${asked}`;
  for (const id of ["as-json", "as-page"]) $(id).hidden = needsUpload();
  $("answer").classList.add("waiting");
  try {
    const reply = await send(running.signal);
    const found = await reply.json();
    const page = found.page ? await (await fetch(found.page, { signal: running.signal })).text() : "";
    if (mine !== turn) return;
    $("report").hidden = !found.page;
    if (!reply.ok) {
      say(sentence(found.error), true);
      $("figures").hidden = true;
    } else {
      say(headlineOf(page), found.exit !== 0);
      showFigures(found.answer);
      if (found.page) $("report").src = found.page;
    }
  } catch (fault) {
    if (fault.name === "AbortError" || mine !== turn) return;
    say(`the server does not answer (${fault.message}): is headroom serve running?`, true);
  }
  $("answer").classList.remove("waiting");
}

function changed() {
  clearTimeout(waiting);
  waiting = setTimeout(ask, PAUSE);
}

// ---- scenarios ---------------------------------------------------------------------------------------------------------

function drawKept() {
  $("kept").hidden = kept.length === 0;
  const names = [...new Set(kept.flatMap((k) => k.figures.map((f) => f.name)))];
  $("kept").querySelector("thead").replaceChildren(element("tr", {}, element("th", { textContent: "scenario" }), ...names.map((n) => element("th", { textContent: n })), element("th")));
  $("kept").querySelector("tbody").replaceChildren(...kept.map((one, at) => {
    const open = element("a", { href: one.link, textContent: one.name });
    const gone = element("button", { type: "button", textContent: "Remove", ariaLabel: `Remove ${one.name}` });
    gone.addEventListener("click", () => { kept.splice(at, 1); drawKept(); });
    const cells = names.map((n) => { const f = one.figures.find((x) => x.name === n); return element("td", { textContent: f ? f.show(f.value) : "" }); });
    return element("tr", {}, element("td", {}, open), ...cells, element("td", {}, gone));
  }));
}

function readAddress() {
  const [name, rest] = decodeURI(location.hash.slice(1)).split(/\?(.*)/s);
  if (!verbs.some((one) => one.name === name)) return false;
  choose(name, Object.fromEntries(new URLSearchParams(location.hash.slice(1).split(/\?(.*)/s)[1] ?? rest ?? "")));
  for (const [field, value] of Object.entries(fields)) if (value.startsWith("upload:") && !files.has(value.slice(7))) delete fields[field];
  draw();
  return true;
}

async function suggest(kind, id) {
  try {
    const found = await (await fetch(`api/catalog?action=list&name=${kind}`)).json();
    const list = found[kind] ?? Object.values(found).find((v) => Array.isArray(v)) ?? [];
    document.body.append(element("datalist", { id }, ...list.map((one) => element("option", { value: typeof one === "string" ? one : one.name }))));
  } catch { /* a form without suggestions */ }
}

async function start() {
  verbs = (await (await fetch("api")).json()).filter((one) => !one.name.startsWith("measure") && !["history", "serve", "schema"].includes(one.name));
  for (const one of verbs) {
    const button = element("button", { type: "button", value: one.name, textContent: TITLES[one.name] ?? one.name, title: one.summary });
    button.addEventListener("click", () => { choose(one.name); changed(); });
    $("verbs").append(button);
  }
  if (!readAddress()) choose("plan");
  addEventListener("hashchange", () => { if (readAddress()) changed(); });
  $("question").addEventListener("submit", (event) => { event.preventDefault(); ask(); });
  $("file").addEventListener("change", () => take($("file").files));
  for (const kind of ["dragover", "dragleave", "drop"]) {
    addEventListener(kind, (event) => {
      event.preventDefault();
      $("drop").classList.toggle("over", kind === "dragover");
      if (kind === "drop") take(event.dataTransfer.files);
    });
  }
  $("copy").addEventListener("click", () => navigator.clipboard.writeText($("command").textContent));
  $("link").addEventListener("click", () => navigator.clipboard.writeText(location.href));
  $("keep").addEventListener("click", () => {
    if (!before?.length) return;
    const name = prompt("Name of the scenario", Object.values(fields).join(", ").slice(0, 60));
    if (name) { kept.push({ name, figures: before, link: location.hash }); drawKept(); }
  });
  ask();
  suggest("models", "models");
  suggest("clusters", "clusters");
}

start();
