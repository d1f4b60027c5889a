// The form: fields that are shown first, their sliders and choices, and the values that an answer used where a field is empty.
import { $, element, fieldsOf, set, state } from "./state.js";

/** @typedef {import("./state.js").Field} Field */

/** Fields that are shown first, by heading; all others are under "All options". @type {Record<string, [string, string[]][]>} */
const MAIN = {
  plan: [["", ["model", "cluster", "price", "workers", "tokens", "deadline", "budget"]],
         ["Batch and precision", ["global-batch", "sequence-length", "precision", "framework"]],
         ["Held fields of the plan", ["tp", "pp", "cp", "ep", "zero", "micro-batch", "recompute", "overlap"]],
         ["Network and failures", ["network", "mtbf", "step-spread", "congestion"]]],
  predict: [["", ["model", "cluster", "workers", "tokens", "price"]],
            ["Batch and precision", ["global-batch", "micro-batch", "sequence-length", "precision", "framework"]],
            ["Plan", ["tp", "pp", "dp", "cp", "ep", "zero", "virtual-pp", "schedule", "recompute", "overlap", "offload"]],
            ["Network, power and failures", ["network", "power-limit", "mtbf", "step-spread", "congestion"]],
            ["Measured", ["measured-step"]]],
  finetune: [["", ["model", "cluster", "method", "dataset-tokens", "epochs", "sequence-length"]]],
  inference: [["", ["model", "cluster", "tp", "arrivals", "objective", "precision"]]],
  laws: [["", ["fit", "serial", "workers", "compute", "communication"]]],
  graph: [["", ["source", "workers"]]],
  roofline: [["", ["machine", "model", "kernel"]]],
  comm: [["", ["collective", "size", "ranks", "cluster", "log"]]],
  tail: [["", ["samples", "unit", "fan-out"]]],
  queue: [["", ["arrivals", "service", "replicas", "objective"]]],
  trace: [["", ["path", "workers"]]],
  catalog: [["", ["action", "name"]]],
};

/** Exponents of two, of a slider beside the field. @type {Record<string, [number, number]>} */
const SLIDES = {
  workers: [0, 14], "global-batch": [4, 14], "sequence-length": [9, 20], tp: [0, 6], pp: [0, 6], dp: [0, 12], cp: [0, 6], ep: [0, 7],
  "micro-batch": [0, 6], "virtual-pp": [0, 4], ranks: [0, 14], replicas: [0, 10],
};

/** Fields that a switch turns on with a usual value. @type {Record<string, { value: string, words: string }>} */
const SWITCHED = { mtbf: { value: "50700h", words: "count failures" } };

const SWITCH = ["on", "off"];
/** Fields of which a value is picked. @type {Record<string, string[]>} */
const CHOICES = {
  precision: ["bf16", "fp16", "fp8", "fp32", "tf32", "mxfp8", "nvfp4"], zero: ["0", "1", "2", "3"], "sequence-parallel": SWITCH, compile: SWITCH,
  "pure-bf16": SWITCH, overlap: [...SWITCH, "tensor=off", "gradients=off"], "attention-kernel": ["unfused", "flash1", "flash2", "flash3"], "plan objective": ["knee", "time", "cost"],
};
/** Fields of which a value is suggested, and others may be typed. @type {Record<string, string[]>} */
const SUGGESTED = {
  recompute: ["none", "selective", "alternate", "full"],
  offload: ["none", "optimizer", "activations", "both", "parameters", "all"], network: ["8x NDR400", "8x HDR200", "4x 100Gb RoCE", "1x 25Gb Ethernet"],
  mtbf: ["50700h"], "step-spread": ["2%"], congestion: ["5%"], schedule: ["1f1b", "interleaved", "gpipe", "zb-h1", "zb-2p", "zbv", "dualpipe"],
};
/** Fields of which the catalog knows the values. @type {Record<string, string>} */
const LISTED = { model: "models", cluster: "clusters", machine: "accelerators", against: "clusters", framework: "frameworks" };

/** Fields whose value in use an answer tells, as they would be typed. @type {Record<string, string>} */
let used = {};

const readsFile = (/** @type {string | undefined} */ placeholder) => /^(FILE|FILE\.csv|DIR|LOG|PATH)$/.test(placeholder ?? "");

/** A list of suggestions, once. @param {string} id @param {string[]} values */
export function suggestions(id, values) {
  const list = $(id) ?? document.body.appendChild(element("datalist", { id }));
  list.replaceChildren(...values.map((value) => element("option", { value })));
  return id;
}

/** The control of a field, without its label. @param {Field} field @param {string} id @param {() => void} [after] */
export function controlOf(field, id, after = state.changed) {
  const { name } = field;
  const now = state.fields[name] ?? "";
  if (field.takes === "nothing") {
    const check = element("input", { id, type: "checkbox", checked: now !== "" });
    check.addEventListener("change", () => { set(name, check.checked ? "on" : ""); after(); });
    return check;
  }
  const choices = CHOICES[`${state.verb.name} ${name}`] ?? CHOICES[name];
  if (choices) {
    const select = element("select", { id, title: field.help }, element("option", { value: "", textContent: "as chosen" }));
    for (const value of choices.includes(now) || now === "" ? choices : [...choices, now]) select.append(element("option", { value, textContent: value }));
    select.value = now;
    select.addEventListener("change", () => { set(name, select.value); after(); });
    return select;
  }
  const input = element("input", { id, value: now, placeholder: field.placeholder ?? "", title: field.help, autocomplete: "off", spellcheck: false });
  const listed = LISTED[name];
  if (listed) input.setAttribute("list", suggestions(listed, state.names[listed] ?? []));
  else if (SUGGESTED[name]) input.setAttribute("list", suggestions(`some-${name}`, SUGGESTED[name]));
  input.addEventListener("input", () => { set(name, input.value.trim()); after(); });
  return input;
}

/** @param {Field} field */
function boxOf(field) {
  const id = `field-${field.name}`;
  const control = controlOf(field, id, () => state.changed());
  const label = element("label", { htmlFor: id, textContent: field.name.replaceAll("-", " "), title: field.help });
  const box = element("div", { className: field.takes === "nothing" ? "field switch" : "field" }, label, control);
  const range = SLIDES[field.name];
  if (range && !(state.verb.name === "plan" && field.name === "workers")) {
    const slide = element("input", { id: `slide-${field.name}`, type: "range", min: range[0], max: range[1], step: 1, ariaLabel: `${field.name}, powers of two` });
    slide.addEventListener("input", () => {
      control.value = String(2 ** Number(slide.value));
      set(field.name, control.value);
      state.changed(true);
    });
    control.addEventListener("input", () => place(slide, control.value || used[field.name]));
    place(slide, control.value || used[field.name]);
    box.append(slide);
  }
  const usual = SWITCHED[field.name];
  if (usual) box.append(switchOf(field.name, control, usual));
  return box;
}

/** A switch that fills a field in with its usual value, or empties it. @param {string} name @param {any} control @param {{ value: string, words: string }} usual */
function switchOf(name, control, { value, words }) {
  const check = element("input", { id: `switch-${name}`, type: "checkbox", checked: control.value !== "" });
  check.addEventListener("change", () => {
    control.value = check.checked ? value : "";
    set(name, control.value);
    state.changed(true);
  });
  control.addEventListener("input", () => { check.checked = control.value !== ""; });
  return element("label", { className: "switch" }, check, ` ${words}`);
}

/** Moves a slider to a value; one of no number leaves it. @param {any} slide @param {string | undefined} value */
function place(slide, value) {
  const n = Number(/^\d+k$/.test(value ?? "") ? 1024 * Number((value ?? "").slice(0, -1)) : value);
  if (n > 0) slide.value = String(Math.round(Math.log2(n)));
  slide.ariaValueText = n > 0 ? String(n) : null;
}

const wide = matchMedia("(min-width: 801px)"); // headings of a narrow page are closed until one is opened

/** Draws the form of the verb. */
export function drawForm() {
  for (const button of $("verbs").children) button.setAttribute("aria-current", String(button.value === state.verb.name));
  $("summary").textContent = state.verb.summary;
  const byName = new Map(fieldsOf(state.verb).map((field) => [field.name, field]));
  const parts = [];
  for (const [title, names] of MAIN[state.verb.name] ?? []) {
    const boxes = names.flatMap((name) => { const field = byName.get(name); byName.delete(name); return field ? [boxOf(field)] : []; });
    const inside = element("div", { className: "fields" }, ...boxes);
    const told = names.some((name) => state.fields[name] !== undefined);
    parts.push(title === "" ? inside : element("details", { open: told || wide.matches }, element("summary", { textContent: title }), inside));
  }
  const [first, ...others] = parts;
  $("first-fields").replaceChildren(...(first ? [first] : []));
  $("main-fields").replaceChildren(...others);
  /** @type {Map<string, HTMLElement>} */
  const groups = new Map();
  for (const field of byName.values()) {
    const group = groups.get(field.group) ?? element("fieldset", {}, element("legend", { textContent: field.group }));
    groups.set(field.group, group);
    group.append(boxOf(field));
  }
  $("more-fields").replaceChildren(...groups.values());
  showUsed();
}

/** Values that an answer used. @param {import("./state.js").Answer} answer */
export function noteUsed(answer) {
  const plan = answer.strategy ?? answer.recommendation?.strategy ?? {}, work = answer.workload ?? {};
  const on = (/** @type {any} */ value) => (value === undefined ? undefined : value ? "on" : "off");
  const values = {
    workers: answer.workers ?? answer.recommendation?.workers, tp: plan.tp, pp: plan.pp, dp: plan.dp, cp: plan.cp, ep: plan.ep, zero: plan.zero,
    "virtual-pp": plan.virtual_pp, "micro-batch": plan.micro_batch, recompute: plan.recompute, offload: plan.offload, schedule: plan.schedule,
    precision: plan.precision, overlap: on(plan.overlap), "sequence-parallel": on(plan.sequence_parallel), "sequence-length": work.sequence_length,
    "global-batch": work.global_batch, framework: answer.framework, price: answer.cluster?.price_dollars_per_hour,
  };
  used = Object.fromEntries(Object.entries(values).flatMap(([name, value]) => (["number", "string"].includes(typeof value) && value !== "" ? [[name, String(value)]] : [])));
  showUsed();
}

/** An empty field says which value was used, and its slider stands there. */
function showUsed() {
  for (const field of fieldsOf(state.verb)) {
    const control = $(`field-${field.name}`), value = used[field.name];
    if (!control || value === undefined) continue;
    if (control.tagName === "SELECT") control.options[0].textContent = `as chosen: ${value}`;
    else if (control.type !== "checkbox") control.placeholder = `${value} in use`;
    const slide = $(`slide-${field.name}`);
    if (slide && control.value === "") place(slide, value);
  }
}

/** Forgets the values in use: another verb. */
export function forgetUsed() { used = {}; }

export { readsFile };
