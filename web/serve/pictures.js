// Pictures of an answer: those of its report, with what they showed before, by the chart library of reports.
import { $, element } from "./state.js";
import { bytes, chosenOf, percent } from "./words.js";

/** @typedef {import("./state.js").Figure} Figure */

/** @type {{ show: (home: HTMLElement, figure: Figure) => void } | undefined} */
const charts = /** @type {any} */ (globalThis).headroomCharts;

/** Whether this program draws: one that was built without npm has tables only. */
export const draws = charts !== undefined;

/** @param {Figure} figure @param {string} [words] below the title */
export function pictureOf(figure, words = "") {
  const home = element("div", { className: "drawing" });
  const box = element("figure", { className: "picture" }, element("h2", { textContent: figure.title }), home);
  if (words) box.append(element("figcaption", { textContent: words }));
  return { box, draw: () => charts?.show(home, figure) };
}

/** The figure with the curve that an earlier one of the same title has. @param {Figure} figure @param {Figure[]} earlier @returns {Figure} */
export function withBefore(figure, earlier) {
  const was = earlier.find((one) => one.title === figure.title && one.kind === figure.kind);
  if (!was) return figure;
  if (figure.kind === "chart") {
    const [old, now] = [was.series[0], figure.series[0]];
    if (JSON.stringify([old.x, old.y]) === JSON.stringify([now.x, now.y])) return figure;
    return { ...figure, series: [...figure.series, { ...old, name: "before", mark: "dashed", faint: true, low: [], high: [], labels: [] }] };
  }
  if (figure.kind !== "bars" || figure.labels.length !== 1 || was.labels.length !== 1) return figure;
  const parts = [...new Set([...figure.parts, ...was.parts])];
  const row = (/** @type {Figure} */ one) => parts.map((part) => one.values[0][one.parts.indexOf(part)] ?? 0);
  const [now, then] = [row(figure), row(was)];
  if (JSON.stringify(now) === JSON.stringify(then)) return figure;
  return { ...figure, parts, labels: [...figure.labels, "before"], values: [now, then] };
}

/** With which probability the memory is enough. @param {import("./state.js").Answer} answer */
function memoryWords(answer) {
  const memory = chosenOf(answer).memory;
  if (typeof memory?.fits_probability !== "number") return "";
  return `Fits with ${percent(memory.fits_probability)}: ${bytes(memory.footprint_low_bytes)} to ${bytes(memory.footprint_high_bytes)} of ${bytes(memory.capacity_bytes)}, ` +
         "framework and fragmentation included.";
}

/** @param {Figure[]} figures @param {Figure[]} earlier @param {import("./state.js").Answer} answer @param {string} [home] */
export function drawPictures(figures, earlier, answer, home = "pictures") {
  const pictures = figures.map((figure) => pictureOf(withBefore(figure, earlier), /^memory/i.test(figure.title) ? memoryWords(answer) : ""));
  $(home).replaceChildren(...(draws ? pictures.map((one) => one.box) : []));
  pictures.forEach((one, n) => {
    if (figures[n]?.kind !== "gantt") one.draw();
    else setTimeout(() => { if (one.box.isConnected) one.draw(); }); // thousands of marks: the others are seen first
  });
}
