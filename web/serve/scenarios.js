// Kept scenarios side by side, and a link that holds them all.
import { linkOf } from "./question.js";
import { $, element, state } from "./state.js";
import { change, figuresOf } from "./words.js";

/** @typedef {{ name: string, link: string, figures: import("./words.js").Shown[] }} Scenario */
/** @type {Scenario[]} */
const kept = [];

function draw() {
  $("kept").hidden = kept.length === 0;
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

/** @param {Scenario} one */
export function keep(one) {
  kept.push(one);
  draw();
}

/** Keeps what is on the page under a name that a person gives. */
export function keepThis() {
  if (!state.found) return;
  const name = prompt("Name of the scenario", Object.values(state.fields).join(", ").slice(0, 60));
  if (name) keep({ name, figures: figuresOf(state.found.answer), link: linkOf() });
}

/** A link to all kept scenarios: each by its own question. */
export function linkOfAll() {
  const all = new URLSearchParams(kept.map((one) => [one.name, one.link]));
  return `#compare?${all}`;
}
