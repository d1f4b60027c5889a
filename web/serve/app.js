// The page of `headroom serve`: a form made from the verbs' own options, and the answer. The address after # holds the whole
// question, so that a link is a scenario; the server keeps none.
import { drawForm, forgetUsed, noteUsed } from "./fields.js";
import { drawFiles, take } from "./files.js";
import { askMachines, compareMachines, drawMachines } from "./machines.js";
import { drawNarrows } from "./narrow.js";
import { draws, drawPictures, redrawBars } from "./pictures.js";
import { commandOf, fieldsOfCommand, linkOf, readLink, send } from "./question.js";
import { drawFurther, forgetFurther, wireFurther } from "./further.js";
import { keep, keepThis, linkOfAll, offerSizes } from "./scenarios.js";
import { $, PAGE, element, fieldsOf, state, verbOf } from "./state.js";
import { change, chosenOf, figuresOf, shown } from "./words.js";

/** Questions that the verbs begin with. @type {Record<string, Record<string, string>>} */
const START = {
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
/** @type {Record<string, string>} */
const TITLES = { plan: "Plan", predict: "Predict", support: "Support", finetune: "Fine-tune", inference: "Serve a model", laws: "Speedup laws", graph: "Task graph",
                 roofline: "Roofline", comm: "Collectives", tail: "Latencies", queue: "Queue", trace: "Trace", calibrate: "Calibrate",
                 validate: "Accuracy", catalog: "Catalog" };
const PAUSE = 120; // ms after the last key before a question is asked

let turn = 0, first = "", link = "";
/** @type {ReturnType<typeof setTimeout> | undefined} */
let waiting;
/** @type {AbortController | null} */
let running = null;

// ---- the question ------------------------------------------------------------------------------------------------------

function draw() {
  drawForm();
  drawMachines();
  drawFiles(draw);
}

/** @param {string} name @param {Record<string, string>} [start] @param {boolean} [same] whether its answer is compared with that before */
function choose(name, start, same = false) {
  if (name !== state.verb.name) {
    if (!same) state.found = null;
    forgetUsed();
    forgetFurther();
    state.machines = [];
  }
  state.verb = verbOf(name) ?? state.verb;
  START.plan ??= readLink(first).fields;
  const known = new Set(fieldsOf(state.verb).map((f) => f.name));
  state.fields = Object.fromEntries(Object.entries(start ?? START[name] ?? {}).filter(([field]) => known.has(field)));
  draw();
}

/** Opens the question of a link; false where it holds none. */
function readAddress() {
  const { name, fields, machines } = readLink(location.hash);
  if (!verbOf(name)) return false;
  const gone = (/** @type {string} */ value) => value.startsWith("upload:") && !value.split(", ").every((one) => state.files.has(one.slice(7)));
  choose(name, Object.fromEntries(Object.entries(fields).filter(([, value]) => !gone(value))));
  state.machines = machines;
  drawMachines();
  return true;
}

// ---- the answer --------------------------------------------------------------------------------------------------------

/** @param {string} text */
function say(text, wrong = false) {
  $("status").textContent = text;
  $("status").classList.toggle("wrong", wrong);
}

/** @param {{ where: string, problem: string, why: string, hint: string }} error */
const sentence = (error) => [error.where, error.problem].filter(Boolean).join(": ") + (error.why ? ` (${error.why})` : "") + (error.hint ? `. ${error.hint}` : "");

/** @param {string} html */
function textOf(html) {
  const holder = document.createElement("template"); // parsed, not shown
  holder.innerHTML = html;
  return holder.content.textContent ?? "";
}

/** @param {import("./state.js").Answer} answer @param {import("./state.js").Answer | null} before */
function showFigures(answer, before) {
  const now = figuresOf(answer), old = new Map(before ? figuresOf(before).map((f) => [f.name, f]) : []);
  $("figures").hidden = now.length === 0;
  $("figures").classList.toggle("moving", now.some((f) => (old.get(f.name)?.value ?? f.value) !== f.value));
  $("figures").tBodies[0].replaceChildren(...now.map((f) => {
    const was = old.get(f.name), moved = was !== undefined && was.value !== f.value;
    return element("tr", { className: moved ? "moved" : "" }, element("th", { scope: "row", textContent: f.name }), element("td", { textContent: shown(f) }),
                   element("td", { textContent: moved ? f.show(was.value) : "" }), element("td", { textContent: moved ? change(was.value, f.value) : "" }));
  }));
}

/** @param {import("./state.js").Found} found */
function show(found) {
  const before = state.found;
  state.found = found;
  $("answer").classList.remove("lighter");
  say(textOf(found.headline) || "answered", found.exit !== 0);
  for (const id of ["first", "pictures"]) $(id).hidden = false;
  showFigures(found.answer, before?.answer ?? null);
  drawPictures(found.figures, before?.figures ?? [], found.answer);
  drawNarrows(found.answer, before?.answer ?? null, choose);
  noteUsed(found.answer);
  offerSizes(found.answer);
  drawFurther(found.answer);
  for (const id of ["as-page", "whole"]) $(id).hidden = !found.page;
  $("as-launch").hidden = !(found.answer.strategy || found.answer.recommendation?.command);
  if (found.page) {
    $("as-page").href = found.page;
    $("report").dataset.address = found.page;
    $("report").removeAttribute("src");
    if (!draws) $("whole").open = true;
    openReport();
  }
}

/** The whole report is fetched when somebody looks at it. */
function openReport() {
  const { address } = $("report").dataset;
  if ($("whole").open && address && $("report").getAttribute("src") !== address) $("report").src = address;
}

/** The size last recommended, alone: answered in a fraction of the time of all sizes, and shown until those are there. */
function lighterQuestion() {
  const answer = state.found?.answer, workers = answer && chosenOf(answer).workers;
  return state.verb.name === "plan" && answer?.curve?.length > 1 && workers > 0 ? { ...state.fields, workers: String(workers) } : null;
}

/** Figures and pictures of that size. @param {Record<string, string>} fields @param {number} mine @param {AbortSignal} signal */
async function showLighter(fields, mine, signal) {
  const reply = await send("answer", state.verb.name, fields, { _page: `${PAGE}-light`, _turn: String(mine) }, signal);
  if (!reply.ok || mine !== turn) return;
  const { answer, figures } = await reply.json();
  if (mine !== turn || !answer.recommendation) return;
  $("answer").classList.add("lighter");
  showFigures(answer, state.found?.answer ?? null);
  redrawBars(figures);
}

/** @param {boolean} [soon] whether a slider moves: a lighter answer is shown first */
async function ask(soon = false) {
  turn += 1;
  const mine = turn;
  running?.abort();
  running = new AbortController();
  const { signal } = running;
  $("command").textContent = commandOf();
  link = linkOf();
  if (!soon) history.replaceState(null, "", link); // while a slider moves the address waits: browsers are slow at it
  $("answer").setAttribute("aria-busy", "true");
  $("answer").classList.remove("lighter");
  try {
    const lighter = soon ? lighterQuestion() : null;
    if (lighter) await showLighter(lighter, mine, signal);
    if (mine !== turn) return; // the slider has moved on: all sizes are not asked
    const others = askMachines(mine, signal);
    others.catch(() => {}); // told below, if the first is answered
    const reply = await send("answer", state.verb.name, state.fields, { _page: PAGE, _turn: String(mine) }, signal);
    const found = await reply.json();
    if (mine !== turn) return;
    if (reply.ok) {
      show(found);
      const compared = await others;
      if (mine === turn) await compareMachines(found.answer, compared);
    } else {
      say(sentence(found.error), true);
      for (const id of ["first", "pictures", "compared", "of-first", "whole", "levers", "map"]) $(id).hidden = true;
    }
  } catch (fault) {
    const { name, message } = /** @type {Error} */ (fault);
    if (name === "AbortError" || mine !== turn) return;
    say(`the server does not answer (${message}): is headroom serve running?`, true);
  }
  if (mine !== turn) return;
  if (soon) history.replaceState(null, "", link);
  $("answer").setAttribute("aria-busy", "false");
}

state.changed = (soon = false) => {
  clearTimeout(waiting);
  $("answer").setAttribute("aria-busy", "true");
  if (soon) ask(true);
  else waiting = setTimeout(ask, PAUSE);
};

// ---- exports -----------------------------------------------------------------------------------------------------------

/** Saves a form of the answer as a file. @param {string} form @param {string} ending @param {{ name: string, fields: Record<string, string> }} [question] */
async function save(form, ending, question = { name: state.verb.name, fields: state.fields }, as = "") {
  const reply = await send(form, question.name, question.fields, as ? { _as: as } : {});
  if (!reply.ok) return say(sentence((await reply.json()).error), true);
  const address = URL.createObjectURL(await reply.blob());
  element("a", { href: address, download: `headroom-${question.name}.${ending}` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

const ENDINGS = /** @type {Record<string, string>} */ ({ torchtitan: "toml", deepspeed: "json", accelerate: "yaml", nemo: "py" });

function saveLaunch() {
  const as = $("as-launch").value, command = state.found?.answer.recommendation?.command;
  $("as-launch").value = "";
  if (as) save("launch", ENDINGS[as] ?? "sh", command ? fieldsOfCommand(command) : undefined, as);
}

// ---- the page ----------------------------------------------------------------------------------------------------------

/** Names of the catalog of a kind, to choose from. @param {string} kind */
async function learn(kind) {
  try {
    const found = await (await fetch(`api/catalog?action=list&name=${kind}`)).json();
    const list = found[kind] ?? Object.values(found).find((value) => Array.isArray(value)) ?? [];
    state.names[kind] = list.map((/** @type {any} */ one) => (typeof one === "string" ? one : one.name));
    const shownList = $(kind);
    shownList?.replaceChildren(...(state.names[kind] ?? []).map((value) => element("option", { value })));
  } catch { /* a form without suggestions */ }
}

/** Scenarios of a link to several: each is asked, and kept. */
async function readScenarios() {
  if (!location.hash.startsWith("#compare?")) return;
  const asked = [...new URLSearchParams(location.hash.slice(9))].slice(0, 20);
  for (const [name, address] of asked) {
    const question = readLink(address);
    if (!verbOf(question.name)) continue;
    const reply = await send("answer", question.name, question.fields);
    if (reply.ok) {
      const found = await reply.json();
      await keep({ name, link: address, figures: figuresOf(found.answer), found });
    }
  }
  const [last] = asked.slice(-1);
  if (last) location.hash = last[1];
}

function wire() {
  addEventListener("hashchange", () => { if (location.hash !== link && readAddress()) state.changed(); });
  $("question").addEventListener("submit", (/** @type {Event} */ event) => { event.preventDefault(); ask(); });
  const taken = (/** @type {FileList} */ list) => take(list, choose).then(() => { draw(); state.changed(); });
  $("file").addEventListener("change", () => taken($("file").files));
  for (const kind of ["dragover", "dragleave", "drop"]) {
    addEventListener(kind, (event) => {
      event.preventDefault();
      $("drop").classList.toggle("over", kind === "dragover");
      if (kind === "drop") taken(/** @type {DragEvent} */ (event).dataTransfer?.files ?? new DataTransfer().files);
    });
  }
  $("copy").addEventListener("click", () => navigator.clipboard.writeText($("command").textContent));
  $("link").addEventListener("click", () => navigator.clipboard.writeText(location.href));
  $("link-all").addEventListener("click", () => navigator.clipboard.writeText(location.href.split("#")[0] + linkOfAll()));
  $("keep").addEventListener("click", keepThis);
  $("as-json").addEventListener("click", () => save("api", "json"));
  $("as-csv").addEventListener("click", () => save("csv", "csv"));
  $("as-launch").addEventListener("change", saveLaunch);
  $("print").addEventListener("click", () => print());
  $("whole").addEventListener("toggle", openReport);
  wireFurther();
}

async function start() {
  const [table, question] = await Promise.all([fetch("api"), fetch("first.txt")]);
  state.verbs = (await table.json()).filter((/** @type {{ name: string }} */ one) => !one.name.startsWith("measure") && !["history", "serve", "schema"].includes(one.name));
  first = (await question.text()).trim();
  for (const one of state.verbs) {
    const button = element("button", { type: "button", value: one.name, textContent: TITLES[one.name] ?? one.name, title: one.summary });
    button.addEventListener("click", () => { choose(one.name); state.changed(); });
    $("verbs").append(button);
  }
  wire();
  const names = Promise.all(["models", "clusters", "accelerators", "frameworks"].map(learn));
  if (readAddress()) return ask();
  choose("plan");
  if (location.hash.startsWith("#compare?")) return readScenarios();
  ask();
  await names;
}

start();
