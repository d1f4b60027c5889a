// Parts of a whole, one bar a label, and a limit that they should stay below.
import { axisX, axisY, barX, gridX, plot, ruleX, text } from "@observablehq/plot";

import { legendOf } from "./legend.js";
import { alarm, colourOf, grid, ink, paper } from "./palette.js";
import { font, number, widthOf } from "./words.js";

const pitch = 30; // pixels from bar to bar

/** One rectangle for each bar, from the origin of the figure to its sum. */
function changes(figure, sums) {
  const { origin } = figure;
  return sums.map((end, bar) => ({ bar, part: end > origin ? 1 : 2, value: end, begin: Math.min(origin, end), end: Math.max(origin, end) }));
}

/** Where an axis begins: at 0, or so that changes are seen. */
function leastOf(figure, sums, most) {
  if (figure.origin == null) return 0;
  const least = Math.min(figure.origin, ...sums);
  return Math.max(0, least - 0.25 * (most - least));
}

/** One rectangle for each part that is not nothing. */
function pieces(figure) {
  return figure.values.flatMap((row, bar) => {
    let end = 0;
    return row.flatMap((value, part) => {
      if (!(value > 0)) return [];
      const begin = end;
      end += value;
      return [{ bar, part, value, begin, end }];
    });
  });
}

/** A label cut where it would take more than its share of the drawing. */
function shortened(label, room) {
  if (widthOf(label) <= room) return label;
  let kept = label;
  while (kept && widthOf(kept + "…") > room) kept = kept.slice(0, -1);
  return kept + "…";
}

/** Tells the whole of a label that was cut to a pointer over it. */
function nameInFull(svg, whole, cut) {
  svg.querySelectorAll("[aria-label='y-axis tick label'] text").forEach((text, bar) => {
    if (whole[bar] === cut[bar]) return;
    const title = document.createElementNS("http://www.w3.org/2000/svg", "title");
    title.textContent = whole[bar];
    text.append(title);
  });
}

/** Draws bars into `home`, a block `width` pixels wide. */
export function drawBars(home, figure, width) {
  const labels = figure.labels.map((label) => shortened(label, width / 3));
  const sums = figure.values.map((row) => row.reduce((sum, value) => sum + Math.max(0, value ?? 0), 0));
  const most = Math.max(figure.limit ?? 0, figure.origin ?? 0, ...sums);
  if (!(most > 0)) return;
  const drawn = figure.origin == null ? pieces(figure) : changes(figure, sums);
  const least = leastOf(figure, sums, most);
  const words = sums.map((sum) => number(Number(sum.toPrecision(3))));
  const size = {
    width, marginTop: figure.limit == null ? 8 : 26, marginBottom: 30,
    marginLeft: Math.ceil(Math.max(...labels.map(widthOf))) + 12, marginRight: Math.ceil(Math.max(...words.map(widthOf))) + 14,
  };
  size.height = size.marginTop + size.marginBottom + pitch * labels.length;
  const room = width - size.marginLeft - size.marginRight;
  const at = (value) => ((value - least) / (most - least)) * room;
  const limit = figure.limit == null ? null : at(figure.limit);
  // a sum keeps clear of the line of the limit
  const shift = (sum) => (limit != null && limit >= at(sum) - 1 && limit < at(sum) + 50 ? limit - at(sum) + 6 : 6);
  const besides = (sum) => (figure.origin != null && sum < figure.origin ? { textAnchor: "end", dx: -6 } : { textAnchor: "start", dx: shift(sum) });
  const title = ({ bar, part, value }) => `${figure.labels[bar]}${figure.origin == null ? `, ${figure.parts[part]}` : ""}: ${number(value)} ${figure.unit}`;
  const marks = [
    gridX({ ticks: Math.max(2, Math.floor(room / 90)), stroke: grid, strokeOpacity: 1 }),
    axisX({ ticks: Math.max(2, Math.floor(room / 90)), label: null, color: ink }),
    axisY({ tickFormat: (bar) => labels[bar], label: null, tickSize: 0, color: ink }),
    barX(drawn, {
      x1: "begin", x2: "end", y: "bar", fill: (piece) => colourOf(piece.part), stroke: paper, strokeWidth: 0.75,
      inset: 0.2, className: "marks pieces", title, ariaLabel: title,
    }),
    ...sums.map((sum, bar) => text([bar], { x: [sum], y: [bar], text: [words[bar]], ...besides(sum), fill: ink, className: "sum" })),
  ];
  if (figure.limit != null) {
    marks.push(
      ruleX([figure.limit], { stroke: alarm, strokeDasharray: "4 3", className: "rule rule-0", ariaLabel: () => figure.limit_name }),
      text([figure.limit], { x: [figure.limit], text: [`${figure.limit_name} ${number(Number(figure.limit.toPrecision(3)))}`],
        frameAnchor: "top", dy: -14, textAnchor: limit > room / 2 ? "end" : "start", fill: alarm, className: "rule-name" }),
    );
  }
  const svg = plot({
    ...size, style: { font, color: ink, background: "none" },
    x: { domain: [least, most] }, y: { type: "band", domain: labels.map((_, bar) => bar), padding: 0.25 }, marks,
  });
  svg.setAttribute("role", "graphics-document");
  svg.setAttribute("aria-label", figure.title);
  nameInFull(svg, figure.labels, labels);
  home.append(svg);
  if (figure.origin != null) return;
  const used = [...new Set(drawn.map((piece) => piece.part))].sort((a, b) => a - b);
  home.append(legendOf(used.map((part) => ({ look: "box", colour: colourOf(part), name: figure.parts[part] }))));
}
