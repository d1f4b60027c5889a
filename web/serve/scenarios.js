// Kept scenarios side by side: their figures, the parts and the drawing of each plan, and a link that holds them all.
import { afterPaint, pictureOf } from "./pictures.js";
import { fieldsOfCommand, linkOf, send } from "./question.js";
import { $, element, state } from "./state.js";
import { change, figuresOf } from "./words.js";

/** @typedef {import("./state.js").Figure} Figure */
/** @typedef {import("./state.js").Found} Found */
/** @typedef {{ name: string, link: string, figures: import("./words.js").Shown[], drawings: Figure[] }} Scenario */
/** @type {Scenario[]} */
const kept = [];

function drawTable() {
  const names = [...new Set(kept.flatMap((one) => one.figures.map((f) => f.name)))];
  const [head, body] = [$("kept").querySelector("thead"), $("kept").querySelector("tbody")];
  head.replaceChildren(element("tr", {}, ...["scenario", ...names, ""].map((name) => element("th", { scope: "col", textContent: name }))));
  body.replaceChildren(...kept.map((one, at) => {
    const open = element("a", { href: one.link, textContent: one.name });
    const gone = element("button", { type: "button", textContent: "Remove", ariaLabel: `Remove ${one.name}` });
    gone.addEventListener("click", () => { kept.splice(at, 1); draw(); });
    const cells = names.map((name) => {
      const [here, first] = [one, kept[0]].map((scenario) => scenario?.figures.find((f) => f.name === name));
      const moved = here && first && at > 0 && here.value !== first.value ? ` (${change(first.value, here.value)})` : "";
      return element("td", { textContent: here ? here.show(here.value) + moved : "" });
    });
    return element("tr", {}, element("th", { scope: "row" }, open), ...cells, element("td", {}, gone));
  }));
}

const SIZES = /** @type {Record<string, number>} */ ({ s: 1, ms: 1e-3, us: 1e-6 });

/** One picture of the bars that scenarios have under one title: a bar each, in the unit of the first. @param {string} title @returns {Figure | null} */
function together(title) {
  const all = kept.flatMap(({ name, drawings }) => drawings.filter((one) => one.title === title && one.kind === "bars" && one.labels.length === 1).map((figure) => ({ name, figure })));
  const [first] = all;
  if (!first || all.length < 2) return null;
  const parts = [...new Set(all.flatMap(({ figure }) => figure.parts))];
  const values = all.map(({ figure }) => {
    const factor = (SIZES[figure.unit] ?? 1) / (SIZES[first.figure.unit] ?? 1);
    return parts.map((part) => factor * (figure.values[0][figure.parts.indexOf(part)] ?? 0));
  });
  const same = all.every(({ figure }) => figure.limit === first.figure.limit);
  return { ...first.figure, title: `${title}, ${first.figure.unit}`, labels: all.map(({ name }) => name), parts, values, limit: same ? first.figure.limit : null };
}

function drawPlans() {
  const bars = ["The step", "Memory"].flatMap((title) => { const figure = together(title); return figure ? [pictureOf(figure)] : []; });
  const schedules = kept.length < 2 ? [] : kept.flatMap(({ name, drawings }) => drawings.filter((one) => one.kind === "gantt").map((one) => pictureOf({ ...one, title: `${name}: ${one.title}` })));
  $("kept-pictures").replaceChildren(...[...bars, ...schedules].map((one) => one.box));
  for (const one of bars) one.draw();
  for (const one of schedules) afterPaint(() => { if (one.box.isConnected) one.draw(); }); // thousands of marks
}

function draw() {
  $("kept").hidden = kept.length === 0;
  drawTable();
  drawPlans();
}

/** Pictures of the plan of an answer: of `plan` those of the size that it recommends. @param {Found} found @returns {Promise<Figure[]>} */
async function drawingsOf(found) {
  const command = found.answer.recommendation?.command;
  if (!command) return found.figures;
  const reply = await send("answer", "predict", fieldsOfCommand(command).fields);
  return reply.ok ? (await reply.json()).figures : [];
}

/** @param {{ name: string, link: string, figures: import("./words.js").Shown[], found: Found }} one */
export async function keep({ found, ...one }) {
  kept.push({ ...one, drawings: await drawingsOf(found) });
  draw();
}

/** Keeps what is on the page under a name that a person gives. */
export function keepThis() {
  const { found } = state;
  if (!found) return;
  const name = prompt("Name of the scenario", Object.values(state.fields).join(", ").slice(0, 60));
  if (name) keep({ name, figures: figuresOf(found.answer), link: linkOf(), found });
}

/** A link to all kept scenarios: each by its own question. */
export function linkOfAll() {
  const all = new URLSearchParams(kept.map((one) => [one.name, one.link]));
  return `#compare?${all}`;
}

/** The plan of a size as `predict` asks it: the command of the recommended one with other values. @param {import("./state.js").Answer} row @param {string} command */
function fieldsOfSize(row, command) {
  const { fields } = fieldsOfCommand(command);
  fields.workers = String(row.workers);
  for (const [key, value] of Object.entries(row.strategy)) {
    const name = key.replaceAll("_", "-");
    if (fields[name] !== undefined) fields[name] = typeof value === "boolean" ? (value ? "on" : "off") : String(value);
  }
  return fields;
}

/** Offers the plans of the sizes of an answer, to be kept side by side. @param {import("./state.js").Answer} answer */
export function offerSizes(answer) {
  const rows = (answer.curve ?? []).filter((/** @type {import("./state.js").Answer} */ row) => row.feasible && row.strategy), command = answer.recommendation?.command;
  $("keep-size").hidden = rows.length < 2 || !command;
  if (rows.length < 2 || !command) return;
  const nameOf = (/** @type {import("./state.js").Answer} */ row) => `${row.workers}: ${row.strategy.name}`;
  $("keep-size").replaceChildren(element("option", { value: "", textContent: "Keep the plan of ..." }), ...rows.map((/** @type {import("./state.js").Answer} */ row) => element("option", { value: String(row.workers), textContent: nameOf(row) })));
  $("keep-size").onchange = async () => {
    const row = rows.find((/** @type {import("./state.js").Answer} */ one) => String(one.workers) === $("keep-size").value);
    $("keep-size").value = "";
    if (!row) return;
    const fields = fieldsOfSize(row, command), reply = await send("answer", "predict", fields);
    const found = await reply.json();
    if (reply.ok) keep({ name: `${row.workers} accelerators`, figures: figuresOf(found.answer), link: linkOf("predict", fields, []), found });
  };
}
