// Files: where each belongs by its name and first characters, and the list of those that go along with the question.
import { $, element, fieldsOf, set, state } from "./state.js";

/** Field that a file answers to where the verb asks for one. @type {Record<string, string>} */
const LOOSE = { calibrate: "evidence", tail: "samples", trace: "path" };

/** Verb and field of a file; an empty verb is any that has the field. @param {string} name @param {string} head @returns {[string, string]} */
export function placeOf(name, head) {
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

/** Sends a file along as a field. @param {File} file @param {string} field */
export function attach(file, field) {
  state.files.set(file.name, { file, field });
  const many = fieldsOf(state.verb).find((f) => f.name === field);
  const several = (many?.many || many?.takes === "values") && state.fields[field]?.startsWith("upload:");
  state.fields[field] = (several ? `${state.fields[field]}, ` : "") + `upload:${file.name}`;
}

/** Takes files that were dropped or chosen. @param {Iterable<File>} list @param {(verb: string, fields: Record<string, string>) => void} choose */
export async function take(list, choose) {
  for (const file of list) {
    let [verb, field] = placeOf(file.name, await file.slice(0, 4096).text());
    const loose = LOOSE[state.verb.name];
    if (loose) [verb, field] = [state.verb.name, loose];
    else if (verb === "" && !fieldsOf(state.verb).some((f) => f.name === field)) verb = "predict";
    if (verb !== "" && verb !== state.verb.name) choose(verb, { ...state.fields });
    if (verb === "laws") for (const other of ["serial", "workers", "compute", "communication"]) delete state.fields[other];
    attach(file, field);
  }
}

/** @param {() => void} redraw */
export function drawFiles(redraw) {
  $("files").replaceChildren(...[...state.files].map(([name, one]) => {
    const drop = element("button", { type: "button", textContent: "Remove", ariaLabel: `Remove ${name}` });
    drop.addEventListener("click", () => {
      state.files.delete(name);
      for (const [field, value] of Object.entries(state.fields)) set(field, value.split(", ").filter((part) => part !== `upload:${name}`).join(", "));
      redraw();
      state.changed();
    });
    return element("li", {}, `${name} as ${one.field} `, drop);
  }));
}
