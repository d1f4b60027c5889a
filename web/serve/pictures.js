// Pictures of an answer: those of its report, with what they showed before, by the chart library of reports.
import { $, element } from "./state.js";
import { bytes, chosenOf, percent } from "./words.js";

/** @typedef {import("./state.js").Figure} Figure */

/** @type {{ show: (home: HTMLElement, figure: Figure, width?: number) => void } | undefined} */
const charts = /** @type {any} */ (globalThis).headroomCharts;

/** Whether this program draws: one that was built without npm has tables only. */
export const draws = charts !== undefined;

/** @param {Figure} figure @param {string} [words] below the title */
export function pictureOf(figure, words = "") {
  const home = element("div", { className: "drawing" });
  const box = element("figure", { className: "picture" }, element("h2", { textContent: figure.unit && !figure.title.endsWith(`, ${figure.unit}`) ? `${figure.title}, ${figure.unit}` : figure.title }), home);
  if (words) box.append(element("figcaption", { textContent: words }));
  const draw = (/** @type {number} */ width = box.querySelector(".drawing").clientWidth) => {
    box.querySelector(".drawing")?.replaceWith(home); // an earlier drawing that kept the place
    box.classList.remove("old");
    charts?.show(home, figure, width);
  };
  return { box, draw };
}

/** Whether a drawing has so many marks that others are shown first. @param {Figure} figure */
const slow = (figure) => figure.kind === "gantt" || (figure.kind === "chart" && figure.series.reduce((/** @type {number} */ sum, /** @type {Figure} */ one) => sum + one.x.length, 0) > 300);

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

/** Pictures of the answer, by title. @type {Map<string, { box: HTMLElement, figure: Figure }>} */
const onPage = new Map();

/** Bars of an earlier figure that a later one has, too. @param {Figure} was @param {string[]} labels @returns {Figure} */
function ofLabels(was, labels) {
  const kept = labels.map((label) => was.labels.indexOf(label)).filter((at) => at >= 0);
  return { ...was, labels: kept.map((at) => was.labels[at]), values: kept.map((at) => was.values[at]) };
}

/** Draws those bars anew that a lighter answer has, and dims the other pictures: they follow with the whole answer. @param {Figure[]} figures */
export function redrawBars(figures) {
  for (const { box } of onPage.values()) box.classList.add("old");
  const drawn = figures.flatMap((figure) => {
    const there = onPage.get(figure.title), old = there?.box.querySelector(".drawing");
    return there && old && figure.kind === "bars" ? [{ figure, there, old, width: old.clientWidth }] : [];
  });
  for (const { figure, there, old, width } of drawn) {
    const home = element("div", { className: "drawing" });
    old.replaceWith(home);
    charts?.show(home, withBefore(figure, [ofLabels(there.figure, figure.labels)]), width);
    there.box.classList.remove("old");
  }
}

const SLOW = 150; // ms: a drawing of thousands of marks waits for a slider to rest

/** Calls once the page is on the screen and a slider may rest. @param {() => void} call */
export const afterPaint = (call) => { requestAnimationFrame(() => setTimeout(call, SLOW)); };

/** @param {Figure[]} figures @param {Figure[]} earlier @param {import("./state.js").Answer} answer @param {string} [home] */
export function drawPictures(figures, earlier, answer, home = "pictures") {
  const pictures = figures.map((figure) => pictureOf(withBefore(figure, earlier), /^memory/i.test(figure.title) ? memoryWords(answer) : figure.caption ?? ""));
  const later = pictures.filter((_, n) => slow(/** @type {Figure} */ (figures[n])));
  if (home === "pictures") {
    for (const { box } of later) {
      const old = onPage.get(box.querySelector("h2").textContent)?.box.querySelector(".drawing");
      if (old?.hasChildNodes()) { box.querySelector(".drawing").replaceWith(old); box.classList.add("old"); }
    }
    onPage.clear();
    figures.forEach((figure, n) => { const one = pictures[n]; if (one) onPage.set(figure.title, { box: one.box, figure }); });
  }
  $(home).replaceChildren(...(draws ? pictures.map((one) => one.box) : []));
  const widths = pictures.map(({ box }) => box.querySelector(".drawing").clientWidth); // before any is drawn: the page is laid out once
  pictures.forEach((one, n) => { if (!later.includes(one)) one.draw(widths[n]); });
  for (const one of later) afterPaint(() => { if (one.box.isConnected) one.draw(); });
}
