// Up to four machines, each with its price, on one curve and in one table.
import { pictureOf } from "./pictures.js";
import { send } from "./question.js";
import { $, PAGE, element, state } from "./state.js";
import { suggestions } from "./fields.js";
import { chosenOf, figuresOf, shown } from "./words.js";

/** @typedef {import("./state.js").Answer} Answer */

const MOST = 3; // further to the first

/** The list of further machines in the form. */
export function drawMachines() {
  const here = state.verb.name === "plan";
  $("machines").hidden = !here;
  if (!here) return;
  const list = suggestions("clusters", state.names.clusters ?? []);
  const rows = state.machines.map((machine, at) => {
    const input = (/** @type {"cluster" | "price"} */ key, /** @type {Record<string, any>} */ more) => {
      const made = element("input", { value: machine[key], autocomplete: "off", spellcheck: false, ...more });
      made.addEventListener("input", () => { machine[key] = made.value.trim(); state.changed(); });
      return made;
    };
    const cluster = input("cluster", { ariaLabel: `machine ${at + 2}`, placeholder: "8xA100, dgx-a100" });
    cluster.setAttribute("list", list);
    const drop = element("button", { type: "button", textContent: "Remove", ariaLabel: `Remove machine ${at + 2}` });
    drop.addEventListener("click", () => { state.machines.splice(at, 1); drawMachines(); state.changed(); });
    return element("div", { className: "machine" }, cluster, input("price", { ariaLabel: `price of machine ${at + 2}, dollars an hour`, placeholder: "$/h" }), drop);
  });
  const add = element("button", { type: "button", textContent: "Compare with another machine", disabled: rows.length >= MOST });
  add.addEventListener("click", () => {
    state.machines.push({ cluster: "", price: "" });
    drawMachines();
    $("machines").querySelector(".machine:last-of-type input").focus();
  });
  $("machines").replaceChildren(...rows, add);
}

/** Answers for the further machines, in their order; a refusal is in words. @param {number} turn @param {AbortSignal} signal */
export async function askMachines(turn, signal) {
  const named = state.verb.name === "plan" ? state.machines.filter((machine) => machine.cluster !== "") : [];
  return Promise.all(named.map(async ({ cluster, price }, at) => {
    /** @type {Record<string, string>} */
    const fields = { ...state.fields, cluster, price };
    if (price === "") delete fields.price;
    const reply = await send("answer", "plan", fields, { _page: `${PAGE}-${at}`, _turn: String(turn) }, signal);
    const found = await reply.json();
    return { cluster, answer: /** @type {Answer | null} */ (found.answer ?? null), refused: found.error?.problem ?? "" };
  }));
}

/** @param {{ cluster: string, answer: Answer }[]} all @param {string} title @param {{ x: [string, string, boolean], y: [string, string, boolean], labels: boolean, interval?: boolean }} of */
async function figureOf(all, title, { x, y, labels, interval }) {
  const series = all.map(({ cluster, answer }) => {
    const rows = answer.curve.filter((/** @type {Answer} */ row) => row.feasible && row[x[0]] > 0 && row[y[0]] > 0);
    const tokens = (/** @type {Answer} */ row, /** @type {number} */ end) => (row.tokens_per_second * row.step_seconds) / row.interval_seconds[end];
    const ends = interval && rows.every((/** @type {Answer} */ row) => row.interval_seconds);
    return { name: cluster, mark: "line", ends, x: rows.map((/** @type {Answer} */ row) => row[x[0]]), y: rows.map((/** @type {Answer} */ row) => row[y[0]]),
             low: ends ? rows.map((/** @type {Answer} */ row) => tokens(row, 1)) : [], high: ends ? rows.map((/** @type {Answer} */ row) => tokens(row, 0)) : [],
             labels: labels ? rows.map((/** @type {Answer} */ row) => String(row.workers)) : [] };
  }).filter((one) => one.x.length > 0);
  if (series.length === 0) return null;
  const machines = series.length;
  for (const one of series.slice(0, machines)) {
    if (one.ends) series.push({ ...one, name: `${one.name}, 90 %`, mark: "band", y: [], labels: [] });
    [one.low, one.high] = [[], []];
  }
  const axis = (/** @type {[string, string, boolean]} */ [, name, logarithmic]) => ({ title: name, logarithmic });
  const chart = { title, x: axis(x), y: axis(y), series, rules: [] };
  const reply = await fetch("figure", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(chart) });
  if (!reply.ok) return null;
  const [figure] = await reply.json();
  figure.series.forEach((/** @type {Answer} */ one, /** @type {number} */ n) => { one.like = n % machines; }); // a band has the colour of its curve
  return figure;
}

/** Draws the machines side by side. @param {Answer} first @param {Awaited<ReturnType<typeof askMachines>>} others */
export async function compareMachines(first, others) {
  for (const id of ["compared", "of-first"]) $(id).hidden = others.length === 0;
  if (others.length === 0) return;
  const all = [{ cluster: state.fields.cluster ?? first.cluster?.name ?? "", answer: /** @type {Answer | null} */ (first), refused: "" }, ...others];
  $("of-first").textContent = `Of ${all[0]?.cluster}`;
  const names = ["accelerators", "days", "cost", "step", "MFU", "fits with"];
  const rows = all.map(({ cluster, answer, refused }) => {
    const price = answer?.cluster?.price_dollars_per_hour;
    const head = element("th", { scope: "row", textContent: price ? `${cluster}, $${Number(price.toPrecision(3))}/h` : cluster });
    if (!answer || !answer.recommendation) {
      return element("tr", {}, head, element("td", { colSpan: names.length, className: "wrong", textContent: refused || answer?.verdict || "nothing fits" }));
    }
    const figures = new Map(figuresOf({ ...answer, ...chosenOf(answer) }).map((one) => [one.name, one]));
    return element("tr", {}, head, ...names.map((name) => { const one = figures.get(name); const cell = element("td", { textContent: one ? shown(one) : "" }); cell.dataset.name = name; return cell; }));
  });
  const table = $("compared").querySelector("table");
  table.tHead.replaceChildren(element("tr", {}, ...["machine", ...names].map((name) => element("th", { scope: "col", textContent: name }))));
  table.tBodies[0].replaceChildren(...rows);
  const answered = all.flatMap(({ cluster, answer }) => (answer?.curve ? [{ cluster, answer }] : []));
  const figures = await Promise.all([
    figureOf(answered, "Tokens a second of each machine", { x: ["workers", "accelerators", true], y: ["tokens_per_second", "tokens a second", true], labels: false, interval: true }),
    figureOf(answered, "Time against cost of each machine", { x: ["cost_dollars", "cost, $", false], y: ["days", "time, days", true], labels: true }),
  ]);
  const pictures = figures.flatMap((figure) => (figure ? [pictureOf(figure)] : []));
  $("compared-pictures").replaceChildren(...pictures.map((one) => one.box));
  for (const one of pictures) one.draw();
}
