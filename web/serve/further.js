// Two questions further than the answer, asked when their part of the page is opened: what would change the step, and a map of the
// best plans over two fields.
import { drawPictures } from "./pictures.js";
import { fieldsOfCommand, send } from "./question.js";
import { $, PAGE, element, fieldsOf, state, verbOf } from "./state.js";

/** @typedef {import("./state.js").Answer} Answer */
/** @typedef {Record<string, string>} Fields */

let turn = 0;
/** @type {Answer | null} */
let answer = null;

/** Fields of an axis of the map, with values to begin with. @type {Record<string, () => string>} */
const AXES = {
  model: () => [...new Set([state.fields.model ?? "", "llama-3-8b", "llama-3-70b", "mixtral-8x7b"])].filter(Boolean).join(","),
  workers: () => "8..1024",
  cluster: () => [...new Set([state.fields.cluster ?? "", "dgx-a100", "dgx-h100", "dgx-b200"])].filter(Boolean).join(","),
  "sequence-length": () => "4k..64k", "global-batch": () => "256..4096", "micro-batch": () => "1..8", tp: () => "1..8", pp: () => "1..16", cp: () => "1..8",
  recompute: () => "none,selective,full", zero: () => "0,1,2,3", precision: () => "bf16,fp8", overlap: () => "on,off", network: () => "1x 25Gb Ethernet,4x 100Gb RoCE,8x NDR400",
};
/** @type {{ axis: string, values: string }[]} */
let axes = [];

/** The question of the page as `predict` asks it: fields that it knows. @returns {Fields} */
function asPrediction() {
  const known = new Set(fieldsOf(verbOf("predict") ?? state.verb).map((field) => field.name));
  return Object.fromEntries(Object.entries(state.fields).filter(([name]) => known.has(name)));
}

/** Asks `predict` and draws those of its figures that are wanted. @param {string} part @param {Fields} fields @param {(figure: import("./state.js").Figure) => boolean} wanted */
async function draw(part, fields, wanted) {
  turn += 1;
  const mine = turn, said = $(`${part}-said`);
  said.textContent = "asking ...";
  said.classList.remove("wrong");
  try {
    const reply = await send("answer", "predict", fields, { _page: `${PAGE}-${part}`, _turn: String(mine) });
    const found = await reply.json();
    if (reply.status === 409) return; // a later one goes first
    if (!reply.ok) {
      said.textContent = [found.error.where, found.error.problem].filter(Boolean).join(": ") + (found.error.why ? ` (${found.error.why})` : "");
      said.classList.add("wrong");
      $(`${part}-pictures`).replaceChildren();
      return;
    }
    said.textContent = found.answer.verdict ?? "";
    drawPictures(found.figures.filter(wanted), [], found.answer, `${part}-pictures`);
  } catch (fault) {
    said.textContent = `the server does not answer (${/** @type {Error} */ (fault).message})`;
  }
}

function drawLevers() {
  if (!answer || !$("levers").open) return;
  const command = answer.recommendation?.command;
  draw("levers", { ...(command ? fieldsOfCommand(command).fields : state.fields), "what-if": "" }, (figure) => typeof figure.origin === "number");
}

function drawMap() {
  if (!answer || !$("map").open) return;
  const fields = asPrediction();
  for (const { axis } of axes) delete fields[axis];
  const sweeps = [];
  for (const { axis, values } of axes) {
    if (axis === "model" || axis === "cluster") fields[axis] = values;
    else sweeps.push(`${axis}=${values}`);
  }
  if (!axes.some(({ axis }) => axis === "model")) fields.model ??= answer.model?.name;
  draw("map", { ...fields, ...(sweeps.length > 0 ? { sweep: sweeps.join(", ") } : {}) }, (figure) => figure.kind === "heat");
}

/** The two axes of the map, to choose from. */
function drawAxes() {
  $("map-fields").replaceChildren(...axes.flatMap((one, at) => {
    const side = at === 0 ? "rows" : "columns";
    const axis = element("select", { id: `map-${side}`, ariaLabel: `${side} of the map` }, ...Object.keys(AXES).map((name) => element("option", { value: name, textContent: name.replaceAll("-", " ") })));
    axis.value = one.axis;
    const values = element("input", { id: `map-${side}-values`, value: one.values, ariaLabel: `values of the ${side}`, autocomplete: "off", spellcheck: false });
    axis.addEventListener("change", () => {
      one.axis = axis.value;
      one.values = values.value = AXES[one.axis]?.() ?? "";
      drawMap();
    });
    values.addEventListener("change", () => { one.values = values.value.trim(); drawMap(); });
    return [element("div", { className: "field" }, element("label", { htmlFor: axis.id, textContent: side }), axis, values)];
  }));
}

/** Shows what can be asked further about an answer, and asks it anew where it is open. @param {Answer} found */
export function drawFurther(found) {
  const trains = found.strategy !== undefined || found.recommendation?.command !== undefined;
  const one = trains && !state.fields.sweep && !found.candidates;
  for (const id of ["levers", "map"]) $(id).hidden = !one;
  answer = one ? found : null;
  if (axes.length === 0) axes = ["model", "workers"].map((axis) => ({ axis, values: AXES[axis]?.() ?? "" }));
  drawAxes();
  drawLevers();
  drawMap();
}

/** Forgets the axes: another verb. */
export function forgetFurther() {
  axes = [];
  answer = null;
}

export function wireFurther() {
  $("levers").addEventListener("toggle", drawLevers);
  $("map").addEventListener("toggle", drawMap);
}
