// Numbers of an answer that people compare, in words.

/** @typedef {import("./state.js").Answer} Answer */
/** @typedef {{ name: string, show: (n: number) => string, value: number, low?: number, high?: number }} Shown */

/** @param {number} n */
const short = (n) => (Math.abs(n) >= 100 ? n.toFixed(0) : n.toPrecision(3));
/** @param {number} n */
export function plain(n) {
  for (const [size, letter] of /** @type {[number, string][]} */ ([[1e12, "T"], [1e9, "B"], [1e6, "M"]])) if (n >= size) return short(n / size) + letter;
  return n >= 1e4 ? short(n / 1e3) + "k" : Number.isInteger(n) ? String(n) : short(n);
}
/** @param {number} n */
export const seconds = (n) => (n >= 1 ? `${short(n)} s` : n >= 1e-3 ? `${short(n * 1e3)} ms` : `${short(n * 1e6)} us`);
/** @param {number} n */
export const bytes = (n) => `${short(n / 2 ** 30)} GiB`;
/** @param {number} n */
export const percent = (n) => `${short(100 * n)} %`;
/** @param {number} n */
export const dollars = (n) => `$${plain(n)}`;
/** @param {number} n */
export const times = (n) => `x${short(n)}`;

/** The size that an answer recommends, or the answer itself. @param {Answer} answer @returns {Answer} */
export const chosenOf = (answer) => answer.curve?.find((/** @type {Answer} */ row) => row.recommended) ?? answer.recommendation ?? answer;

/** @type {[string, (c: Answer, a: Answer) => any, (n: number) => string, ((c: Answer) => any)?][]} */
const FIGURES = [
  ["step", (c) => c.step_seconds, seconds, (c) => c.interval_seconds],
  ["accelerators", (c, a) => c.workers ?? a.workers, plain],
  ["tokens a second", (c) => c.tokens_per_second, plain],
  ["MFU", (c) => c.mfu, percent],
  ["days", (c) => c.days, plain],
  ["cost", (c) => c.cost_dollars, dollars],
  ["memory", (c) => c.memory?.total_bytes ?? c.memory_bytes, bytes],
  ["memory of the device", (c) => c.memory?.footprint_bytes, bytes, (c) => [c.memory?.footprint_low_bytes, c.memory?.footprint_high_bytes]],
  ["fits with", (c) => c.memory?.fits_probability, percent],
  ["time an output token", (c) => c.tpot_seconds, seconds],
  ["first token", (c) => c.ttft_seconds, seconds],
  ["parameters", (_, a) => a.model?.parameters, plain],
];

/** @param {Answer} answer @returns {Shown[]} */
export function figuresOf(answer) {
  const chosen = chosenOf(answer);
  return FIGURES.flatMap(([name, get, show, range]) => {
    const value = get(chosen, answer);
    if (typeof value !== "number" || !(value > 0)) return [];
    const [low, high] = range?.(chosen) ?? [];
    return [{ name, show, value, ...(typeof low === "number" && typeof high === "number" ? { low, high } : {}) }];
  });
}

/** "7.87 s (4.44 s to 17.0 s)". @param {Shown} one */
export const shown = ({ show, value, low, high }) => show(value) + (low === undefined || high === undefined ? "" : ` (${show(low)} to ${show(high)})`);

/** By how much a figure moved. @param {number} was @param {number} now */
export function change(was, now) {
  const share = 100 * (now / was - 1);
  return `${share > 0 ? "+" : ""}${short(share).replace("-0.00", "0")} %`;
}

/** Half of an interval as a factor: the step is known to it either way.
 * @param {Answer} answer @returns {number | undefined} */
export function halfWidth(answer) {
  const [low, high] = chosenOf(answer).interval_seconds ?? [];
  return low > 0 && high > 0 ? Math.sqrt(high / low) : undefined;
}
