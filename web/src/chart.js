// A figure on two axes: series, rules, labels. Ranges, ticks and what can be drawn come with the data.
import { areaY, axisX, axisY, dot, gridX, gridY, line, plot, rect, ruleX, ruleY } from "@observablehq/plot";

import { labelRules, labelPoints, obstaclesOf } from "./labels.js";
import { legendOf } from "./legend.js";
import { alarm, colourOf, faint, grid, ink, paper, shapeOf, star } from "./palette.js";
import { font, number, thinned, widthOf } from "./words.js";

/** The points of a series that can be drawn, as objects. */
function pointsOf(series) {
  return series.points.map((i) => ({
    i, x: series.x[i], y: series.y[i], low: series.low[i], high: series.high[i], label: series.labels[i] ?? "",
  }));
}

/** The lower end of an interval as it is drawn: down to the end of a logarithmic axis that has no place for it. */
function lowOf(figure, { low, high }) {
  return figure.y.scale === "log" && low <= 0 ? Math.min(figure.y.low, high) : low;
}

/** What a pointer over a mark is told. */
function titleOf(figure, series) {
  return ({ x, y, low, high, label }) => {
    const between = low == null || high == null ? "" : ` (${number(low)} to ${number(high)})`;
    const value = y == null ? between : number(y) + between;
    return `${label ? label + ", " : ""}${series.name}\n${figure.x.title}: ${number(x)}\n${figure.y.title}: ${value}`;
  };
}

/** Bars on a continuous axis: as wide as their nearest neighbour allows. */
function barEdges(figure, points) {
  const log = figure.x.scale === "log";
  const to = log ? Math.log : (x) => x;
  const from = log ? Math.exp : (x) => x;
  const places = points.map(({ x }) => to(x)).sort((a, b) => a - b);
  let gap = (to(figure.x.high) - to(figure.x.low)) / 10;
  for (let n = 1; n < places.length; ++n) if (places[n] > places[n - 1]) gap = Math.min(gap, places[n] - places[n - 1]);
  const foot = figure.y.scale === "log" ? figure.y.low : 0;
  return points.map((p) => ({ ...p, x1: from(to(p.x) - 0.4 * gap), x2: from(to(p.x) + 0.4 * gap), y1: foot, y2: p.y }));
}

/** A single reference is grey, and so is what a page adds as `faint`; of several references each has its colour. */
function colourOfSeries(figure, n) {
  const series = figure.series[n];
  const dashed = figure.series.filter((one) => one.mark === "dashed" && !one.faint).length;
  return series.faint || (series.mark === "dashed" && dashed === 1) ? faint : colourOf(series.like ?? n);
}

/** The marks of one series; those that stand for points have the class `marks`. */
function marksOf(figure, series, n) {
  const points = pointsOf(series);
  const colour = colourOfSeries(figure, n);
  const common = { x: "x", y: "y", clip: true };
  const title = titleOf(figure, series);
  const named = { ...common, className: `marks series-${n}`, title, ariaLabel: title };
  const curve = (more) => line(points, { ...common, className: `curve series-${n}`, stroke: colour, ariaLabel: () => series.name, ...more });
  const errors = ruleX(points.filter((p) => p.low != null && p.high != null), {
    x: "x", y1: (p) => lowOf(figure, p), y2: "high", stroke: colour, clip: true, className: `interval series-${n}`,
  });
  const dots = () => {
    const chosen = n === 0 ? figure.chosen : null;
    const look = { ...named, clip: false, fill: colour, stroke: paper, strokeWidth: 0.75 };
    return [
      dot(points.filter((p) => p.i !== chosen), { ...look, symbol: shapeOf(n), r: points.length > 200 ? 2.5 : 4.5 }),
      dot(points.filter((p) => p.i === chosen), { ...look, symbol: star, r: 9, fill: alarm }),
    ];
  };
  switch (series.mark) {
    case "band": return [areaY(points, { x: "x", y1: (p) => lowOf(figure, p), y2: "high", fill: colour, fillOpacity: 0.18, clip: true,
                                         className: `band series-${n}`, ariaLabel: () => series.name })];
    case "dashed": return [curve({ strokeDasharray: "5 4", strokeWidth: 1.5 })];
    case "smooth": return [curve({ strokeWidth: 2 })];
    case "bars": return [rect(barEdges(figure, points), { ...named, x1: "x1", x2: "x2", y1: "y1", y2: "y2",
                                                          x: undefined, y: undefined, fill: colour })];
    case "line": return [curve({ strokeWidth: 2 }), errors, ...dots()];
    default: return [errors, ...dots()];
  }
}

const looks = { band: "area", dashed: "dashed", smooth: "line", bars: "box", line: "marked", points: "points" };

function legendEntries(figure) {
  const entries = figure.series.map((series, n) => ({
    look: looks[series.mark], colour: colourOfSeries(figure, n), shape: shapeOf(n), name: series.name,
  }));
  if (figure.chosen != null) entries.push({ look: "points", colour: alarm, shape: star, name: "chosen" });
  return entries;
}

function axesOf(figure, size) {
  const labels = new Map([...figure.x.ticks.map((t) => ["x" + t.at, t.label]), ...figure.y.ticks.map((t) => ["y" + t.at, t.label])]);
  const places = (ticks) => ticks.map((tick) => tick.at);
  const x = places(thinned(figure.x.ticks, size.width - size.marginLeft - size.marginRight));
  const y = places(figure.y.ticks);
  const quiet = { stroke: grid, strokeOpacity: 1 };
  return [
    gridX(x, quiet), gridY(y, quiet),
    axisX(x, { text: (at) => labels.get("x" + at), label: figure.x.title, labelAnchor: "center", labelArrow: "none", color: ink }),
    axisY(y, { text: (at) => labels.get("y" + at), label: figure.y.title, labelArrow: "none", color: ink }),
  ];
}

function sizeOf(figure, width) {
  const widest = Math.max(0, ...figure.y.ticks.map((tick) => widthOf(tick.label)));
  const last = figure.x.ticks.at(-1)?.label ?? "";
  return {
    width, height: Math.round(Math.min(440, Math.max(300, 0.55 * width))),
    marginTop: 30, marginBottom: 40, marginLeft: Math.ceil(widest) + 16, marginRight: Math.ceil(Math.max(14, widthOf(last) / 2 + 4)),
  };
}

/** Draws a chart into `home`, a block `width` pixels wide. */
export function drawChart(home, figure, width) {
  const size = sizeOf(figure, width);
  const order = ["band", "dashed", "bars", "smooth", "line", "points"];
  const rank = (series) => order.indexOf(series.mark);
  const drawn = figure.series.map((series, n) => ({ series, n })).sort((a, b) => rank(a.series) - rank(b.series) || b.n - a.n);
  const marks = (chosen) => drawn.filter(({ series }) => chosen(series)).flatMap(({ series, n }) => marksOf(figure, series, n));
  const marksUpTo = (mark) => marks((series) => rank(series) <= order.indexOf(mark));
  const marksAfter = (mark) => marks((series) => rank(series) > order.indexOf(mark));
  const rules = figure.rules.map((rule, n) => {
    const look = { stroke: alarm, strokeDasharray: "2 3", className: `rule rule-${n}`, ariaLabel: () => rule.label };
    return rule.vertical ? ruleX([rule.at], look) : ruleY([rule.at], look);
  });
  const scale = (axis) => ({ type: axis.scale, domain: [axis.low, axis.high] });
  const svg = plot({
    ...size, inset: 7, style: { font, color: ink, background: "none" },
    x: scale(figure.x), y: scale(figure.y),
    marks: [...axesOf(figure, size), ...marksUpTo("bars"), ...rules, ...marksAfter("bars")],
  });
  svg.setAttribute("role", "graphics-document");
  svg.setAttribute("aria-label", figure.title);
  home.append(svg);
  const taken = obstaclesOf(svg, size);
  const unnamed = labelRules(svg, figure, taken);
  const left = labelPoints(svg, figure, taken);
  const notes = left > 0 ? [`${left} more named in the table`] : [];
  for (const rule of figure.beyond) notes.push(`beyond the axes: ${rule.label}`);
  const entries = [...legendEntries(figure), ...unnamed.map((rule) => ({ look: "rule", colour: alarm, name: rule.label }))];
  if (entries.length > 1 || notes.length > 0) home.append(legendOf(entries, notes));
}
