// How sure an answer is, and what to tell next to make it surer: asked and answered in one place.
import { attach } from "./files.js";
import { controlOf } from "./fields.js";
import { fieldsOfCommand } from "./question.js";
import { $, drawn, element, fieldsOf, state, verbOf } from "./state.js";
import { chosenOf, halfWidth, seconds, times } from "./words.js";

/** @typedef {import("./state.js").Answer} Answer */

/** The interval now and before, on one logarithmic line. @param {Answer} answer @param {Answer | null} before */
function intervals(answer, before) {
  const all = [{ name: "now", of: chosenOf(answer) }, ...(before ? [{ name: "before", of: chosenOf(before) }] : [])]
    .filter(({ of }) => of.interval_seconds?.[0] > 0 && of.step_seconds > 0);
  const ends = all.flatMap(({ of }) => of.interval_seconds);
  const [low, high] = [Math.min(...ends) / 1.05, Math.max(...ends) * 1.05];
  const at = (/** @type {number} */ value) => 10 + (300 * Math.log(value / low)) / Math.log(high / low);
  const words = all.map(({ name, of }) => `${name}: ${seconds(of.step_seconds)}, ${seconds(of.interval_seconds[0])} to ${seconds(of.interval_seconds[1])}`);
  const lines = all.flatMap(({ name, of }, n) => {
    const y = 9 + 16 * n, colour = { class: name };
    return [drawn("line", { ...colour, x1: at(of.interval_seconds[0]), x2: at(of.interval_seconds[1]), y1: y, y2: y }), drawn("circle", { ...colour, cx: at(of.step_seconds), cy: y, r: 4 })];
  });
  const picture = drawn("svg", { viewBox: `0 0 320 ${2 + 16 * all.length}`, role: "img", "aria-label": words.join("; "), class: "interval" }, ...lines);
  return element("div", {}, picture, ...words.map((text) => element("span", { textContent: text })));
}

/** @typedef {(verb: string, fields: Record<string, string>, same?: boolean) => void} Choose chooses a question; `same`: its answer is compared with the last */

/** The control that tells a fact. @param {string} option @param {Answer} answer @param {Choose} choose */
function tellOf(option, answer, choose) {
  const name = option.split(" ")[0]?.slice(2) ?? "", id = `tell-${name}`;
  const here = fieldsOf(state.verb).find((field) => field.name === name);
  const command = answer.recommendation?.command;
  const there = !here && command ? fieldsOf(verbOf("predict") ?? state.verb).find((field) => field.name === name) : undefined;
  const field = here ?? there;
  if (!field) return null;
  /** The recommended plan, in `predict`. */
  const plan = () => (here ? { name: state.verb.name, fields: state.fields } : fieldsOfCommand(command));
  if (/FILE/.test(option)) {
    const file = element("input", { id, type: "file", ariaLabel: `--${name}` });
    file.addEventListener("change", () => {
      const { name: verb, fields } = plan();
      choose(verb, fields, true);
      attach(file.files[0], name);
      choose(verb, { ...state.fields }, true);
      state.changed();
    });
    return file;
  }
  if (here) {
    const control = controlOf(field, id, () => {
      const usual = $(`field-${name}`);
      if (usual) usual.value = state.fields[name] ?? "";
    });
    control.ariaLabel = `--${name}`;
    if (control.type !== "checkbox" && control.tagName !== "SELECT") control.placeholder = field.placeholder ?? "";
    control.addEventListener("change", () => state.changed()); // told when it is whole, for the answer draws this anew
    return control;
  }
  const input = element("input", { id, placeholder: field.placeholder ?? "", ariaLabel: `--${name}`, autocomplete: "off" });
  input.addEventListener("change", () => {
    const { name: verb, fields } = plan();
    choose(verb, { ...fields, [name]: input.value.trim() }, true);
    state.changed();
  });
  return input;
}

/** @param {Answer} answer @param {Answer | null} before @param {Choose} choose */
export function drawNarrows(answer, before, choose) {
  const width = halfWidth(answer), was = before ? halfWidth(before) : undefined;
  $("narrow").hidden = width === undefined;
  if (width === undefined) return;
  const moved = was !== undefined && Math.abs(Math.log(was / width)) > 1e-3;
  $("known").textContent = `The step is known to ${times(width)} either way` + (moved ? `; before, to ${times(was)}.` : ".");
  $("interval").replaceChildren(intervals(answer, moved ? before : null));
  const facts = answer.narrows ?? [];
  if ($("facts").contains(document.activeElement)) $("known").focus(); // what was told there is gone
  $("facts").hidden = facts.length === 0;
  $("facts").replaceChildren(...facts.map((/** @type {Answer} */ one) => element("li", {},
    element("span", { textContent: `Tell ${one.fact}: ` }),
    element("b", { textContent: `${times(one.half_width_before)} to ${times(one.half_width_after)}` }),
    tellOf(one.option, answer, choose) ?? element("code", { textContent: one.option }))));
}
