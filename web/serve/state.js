// What the page knows, and short names for what it does to its elements.

/** @typedef {{ name: string, help: string, group: string, placeholder?: string, takes?: string, many?: boolean, argument?: boolean }} Field */
/** @typedef {{ name: string, summary: string, arguments: { name: string, help: string, many: boolean }[],
 *              options: { name: string, help: string, group: string, placeholder: string, takes: string }[] }} Verb */
/** @typedef {{ cluster: string, price: string }} Machine */
/** @typedef {Record<string, any>} Answer of a verb: docs/schema has its fields */
/** @typedef {{ kind: string, title: string, [more: string]: any }} Figure */
/** @typedef {{ exit: number, page: string | null, headline: string, figures: Figure[], answer: Answer }} Found */

export const state = {
  /** @type {Verb[]} */ verbs: [],
  /** @type {Verb} */ verb: { name: "", summary: "", arguments: [], options: [] },
  /** @type {Record<string, string>} */ fields: {},
  /** @type {Machine[]} further to the field `cluster`, of plan */ machines: [],
  /** @type {Map<string, { file: File, field: string }>} */ files: new Map(),
  /** @type {Record<string, string[]>} names of the catalog, by kind */ names: {},
  /** @type {Found | null} */ found: null,
  /** Asks again, a moment after the last change; `soon`: at once, for a slider that moves. @param {boolean} [soon] */
  changed(soon) { void soon; },
};

export const PAGE = crypto.getRandomValues(new Uint32Array(4)).join("");

/** @param {string} id @returns {any} */
export const $ = (id) => document.getElementById(id);

/** @param {string} name @param {Record<string, any>} [properties] @param {(Node | string)[]} children @returns {any} */
export function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

/** @param {string} name @param {Record<string, string | number>} attributes @param {Node[]} children */
export function drawn(name, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  made.append(...children);
  return made;
}

const HIDDEN = new Set(["out", "html", "format", "config", "store", "save", "save-calibration", "timeline", "memory-timeline", "quiet",
                        "save-machine", "emit", "print-config", "no-color", "brief", "full", "stats", "help"]);

/** Fields of a verb: its arguments, then its options. @param {Verb} verb @returns {Field[]} */
export function fieldsOf(verb) {
  /** @type {Field[]} */
  const list = verb.arguments.map((a) => ({ name: a.name.toLowerCase().replace(/[[\].]/g, ""), help: a.help, group: "Question", many: a.many,
                                            argument: true, placeholder: a.name }));
  for (const { name, help, group, placeholder, takes } of verb.options) {
    if (!HIDDEN.has(name.slice(2))) list.push({ name: name.slice(2), help, group, placeholder, takes });
  }
  return list;
}

/** @param {string} name */
export const verbOf = (name) => state.verbs.find((one) => one.name === name);

/** @param {string} name @param {string} value */
export function set(name, value) {
  if (value === "") delete state.fields[name]; else state.fields[name] = value;
}
