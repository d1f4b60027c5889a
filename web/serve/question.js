// A question as addresses, as a command line, and as a request.
import { fieldsOf, state, verbOf } from "./state.js";

/** @param {Record<string, string>} [fields] @param {string} [name] */
export function query(fields = state.fields, name = state.verb.name) {
  const verb = verbOf(name);
  const several = new Set(verb ? fieldsOf(verb).filter((f) => f.many || f.takes === "values").map((f) => f.name) : []);
  const asked = new URLSearchParams();
  for (const [field, value] of Object.entries(fields)) {
    for (const one of several.has(field) ? value.split(", ") : [value]) asked.append(field, one);
  }
  return asked;
}

/** What stands after # in the address: verb, fields, further machines. @param {string} [name] @param {Record<string, string>} [fields] */
export function linkOf(name = state.verb.name, fields = state.fields, machines = state.machines) {
  const all = query(fields, name);
  for (const { cluster, price } of machines) all.append("vs", price ? `${cluster}@${price}` : cluster);
  return `#${name}?${all}`;
}

/** @param {string} link @returns {{ name: string, fields: Record<string, string>, machines: import("./state.js").Machine[] }} */
export function readLink(link) {
  const [name = "", rest = ""] = link.replace(/^#/, "").split(/\?(.*)/s);
  /** @type {Record<string, string>} */
  const fields = {};
  const machines = [];
  for (const [field, value] of new URLSearchParams(rest)) {
    if (field === "vs") {
      const [cluster = "", price = ""] = value.split("@");
      if (machines.length < 3) machines.push({ cluster, price });
    } else fields[field] = fields[field] === undefined ? value : `${fields[field]}, ${value}`;
  }
  return { name: decodeURIComponent(name), fields, machines };
}

const needsUpload = (/** @type {Record<string, string>} */ fields) => Object.values(fields).some((value) => value.includes("upload:"));

/** Asks the server. `form` is answer, api, csv, launch or report; `more` are the fields `_page`, `_turn` and `_as`.
 * @param {string} form @param {string} name @param {Record<string, string>} fields @param {Record<string, string>} more @param {AbortSignal} [signal] */
export function send(form, name, fields, more = {}, signal) {
  const asked = query(fields, name);
  for (const [field, value] of Object.entries(more)) asked.set(field, value);
  const address = `${form}/${encodeURIComponent(name)}?${asked}`;
  if (!needsUpload(fields)) return fetch(address, signal ? { signal } : {});
  const body = new FormData();
  for (const [file, one] of state.files) body.append(file, one.file, file);
  return fetch(address, { method: "POST", body, ...(signal ? { signal } : {}) });
}

const quoted = (/** @type {string} */ text) => (/^[\w.,:=@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** The command line that asks the same. */
export function commandOf() {
  const command = ["headroom", state.verb.name];
  for (const field of fieldsOf(state.verb)) {
    const value = state.fields[field.name];
    if (value === undefined) continue;
    const values = (field.many || field.takes === "values" ? value.split(", ") : [value]).map((text) => quoted(text.replace("upload:", "")));
    if (field.argument) command.push(...values);
    else if (field.takes === "nothing") command.push(`--${field.name}`);
    else for (const one of values) command.push(`--${field.name}`, one);
  }
  return command.join(" ");
}

/** Fields of a command line that an answer names: "headroom predict llama-3-8b --tp 2". @param {string} command */
export function fieldsOfCommand(command) {
  const words = [...command.matchAll(/'([^']*)'|(\S+)/g)].map((found) => found[1] ?? found[2] ?? "");
  const name = words[1] ?? "", verb = verbOf(name);
  const known = verb ? fieldsOf(verb) : [];
  const places = known.filter((f) => f.argument);
  /** @type {Record<string, string>} */
  const fields = {};
  const value = (/** @type {string} */ word) => (state.files.has(word) ? `upload:${word}` : word);
  for (let n = 2; n < words.length; ++n) {
    const word = words[n] ?? "";
    if (!word.startsWith("--")) {
      const place = places.shift();
      if (place) fields[place.name] = value(word);
    } else if (known.find((f) => f.name === word.slice(2))?.takes === "nothing") fields[word.slice(2)] = "on";
    else fields[word.slice(2)] = value(words[++n] ?? "");
  }
  return { name, fields };
}
