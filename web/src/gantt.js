// Who works on what, and when: a row a lane, time across, gaps hatched. What is drawn is bounded before it comes here.
import { axisX, gridX, plot, rect, text } from "@observablehq/plot";

import { legendOf } from "./legend.js";
import { colourOf, gapColour, grid, ink, paper } from "./palette.js";
import { font, number, thinned, widthOf } from "./words.js";

const space = "http://www.w3.org/2000/svg";
let drawings = 0; // each has patterns of its own

function element(name, attributes, ...children) {
  const made = document.createElementNS(space, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// Kinds are told apart without colour too: plain, dotted, lined, crossed; a gap is hatched.
const white = { stroke: "white", "stroke-width": 1, "stroke-opacity": 0.4 };
const patterns = [
  () => [],
  () => [element("circle", { cx: 3, cy: 3, r: 1, fill: "white", "fill-opacity": 0.4 })],
  () => [element("path", { d: "M0,3H6", ...white })],
  () => [element("path", { d: "M0,3H6M3,0V6", ...white })],
  () => [element("path", { d: "M3,0V6", ...white })],
];
const hatching = () => [element("path", { d: "M-1,1L1,-1M0,6L6,0M5,7L7,5", stroke: "#8894a1", "stroke-width": 1 })];

const patternOf = (id, kind) => `url(#${id}-${kind})`;

function definitions(id, figure) {
  const one = (kind, inside) => element("pattern", { id: `${id}-${kind}`, width: 6, height: 6, patternUnits: "userSpaceOnUse" }, ...inside);
  const kinds = figure.kinds.map((_, kind) => one(kind, patterns[kind % patterns.length]()));
  return element("defs", {}, ...kinds, one(figure.kinds.length, hatching()));
}

/** The pieces as objects; `y1` and `y2` count lanes from the top. */
function piecesOf(figure) {
  const pad = 0.08;
  return figure.pieces.map(([lane, kind, begin, end, low, high, tone, label]) => ({
    lane, kind, begin, end, tone, label, whole: low === 0 && high === 1,
    y1: lane + 1 - pad - low * (1 - 2 * pad), y2: lane + 1 - pad - high * (1 - 2 * pad), share: high - low,
  }));
}

/** What a pointer over a piece is told. */
function titleOf(figure) {
  return ({ lane, kind, begin, end, tone, label, whole, share }) => {
    const what = figure.kinds[kind] ?? figure.idle;
    const of = label ? ` of ${figure.label_name} ${label}`.replace("  ", " ") : "";
    const which = figure.tones > 1 && kind < figure.kinds.length && whole ? `, ${figure.tone_name} ${tone + 1}` : "";
    const much = whole ? "" : `, ${number(100 * share)} % of the time`;
    return `${figure.lanes[lane]}: ${what}${of}${which}${much}\n${number(begin)} to ${number(end)} ${figure.unit}`;
  };
}

/** Lanes are as high as there is room for, names of every so many of them where they would touch. */
function layoutOf(figure, width) {
  const count = figure.lanes.length;
  const pitch = count <= 16 ? 26 : count <= 32 ? 18 : 12;
  const stride = pitch < 16 ? 2 : 1;
  const last = figure.x.ticks.at(-1)?.label ?? "";
  const size = {
    width, marginTop: 8, marginBottom: 40, marginLeft: Math.ceil(Math.max(...figure.lanes.map(widthOf))) + 10,
    marginRight: Math.ceil(widthOf(last) / 2 + 6),
  };
  size.height = size.marginTop + size.marginBottom + pitch * count;
  const names = figure.lanes.map((name, lane) => ({ name, at: lane + 0.5 })).filter((_, lane) => lane % stride === 0);
  return { size, pitch, names, room: width - size.marginLeft - size.marginRight };
}

/** The pieces whose labels are written: of the kinds of which nearly all have room. */
function readable(pieces, fits) {
  const kinds = new Map();
  for (const piece of pieces) {
    if (!kinds.has(piece.kind)) kinds.set(piece.kind, []);
    kinds.get(piece.kind).push(piece);
  }
  return [...kinds.values()].filter((some) => some.filter(fits).length >= 0.9 * some.length).flat().filter(fits);
}

/** Draws a schedule into `home`, a block `width` pixels wide. */
export function drawGantt(home, figure, width) {
  const { size, pitch, names, room } = layoutOf(figure, width);
  const id = `gantt-${++drawings}`;
  const gap = figure.kinds.length;
  const pieces = piecesOf(figure);
  const tones = 1 + Math.max(0, ...pieces.map((piece) => piece.tone));
  const title = titleOf({ ...figure, tones });
  const span = figure.x.high - figure.x.low;
  const pixels = (piece) => ((piece.end - piece.begin) / span) * room;
  const fits = (piece) => pitch > 13 && pixels(piece) > widthOf(piece.label) + 4;
  const labelled = readable(pieces.filter((piece) => piece.label), fits);
  const colour = ({ kind }) => (kind === gap ? gapColour : colourOf(kind));
  const pale = ({ kind, tone }) => (kind === gap ? 1 : 1 - (0.5 * tone) / Math.max(1, tones - 1 || 1));
  const box = { x1: "begin", x2: "end", y1: "y1", y2: "y2" };
  const edge = pieces.length > 3000 ? {} : { stroke: paper, strokeWidth: 0.6 };
  const ticks = thinned(figure.x.ticks, room).map((tick) => tick.at);
  const words = new Map(figure.x.ticks.map((tick) => [tick.at, tick.label]));
  const overlays = [...new Set(pieces.map((piece) => piece.kind))].filter((kind) => kind === gap || kind % patterns.length !== 0);
  const svg = plot({
    ...size, style: { font, color: ink, background: "none" },
    x: { domain: [figure.x.low, figure.x.high] }, y: { domain: [figure.lanes.length, 0], axis: null },
    marks: [
      gridX(ticks, { stroke: grid, strokeOpacity: 1 }),
      axisX(ticks, { text: (at) => words.get(at), label: figure.x.title, labelAnchor: "center", labelArrow: "none", color: ink }),
      text(names, { text: "name", y: "at", frameAnchor: "left", dx: -6, textAnchor: "end", fill: ink, className: "lanes" }),
      rect(pieces, { ...box, fill: colour, fillOpacity: pale, ...edge, className: "marks pieces", title, ariaLabel: title }),
      ...overlays.map((kind) => rect(pieces.filter((piece) => piece.kind === kind && pixels(piece) > 2),
        { ...box, fill: patternOf(id, kind), className: "pattern", pointerEvents: "none" })),
      text(labelled, { x: ({ begin, end }) => (begin + end) / 2, y: ({ lane }) => lane + 0.5, text: "label", fill: "black",
                       stroke: "white", strokeWidth: 3, strokeOpacity: 0.85, fontSize: 11, className: "inside", pointerEvents: "none" }),
    ],
  });
  svg.setAttribute("role", "graphics-document");
  svg.setAttribute("aria-label", figure.title);
  svg.prepend(definitions(id, figure));
  home.append(svg);
  const used = [...new Set(pieces.map((piece) => piece.kind))].sort((a, b) => a - b);
  const entries = used.map((kind) => ({
    look: "pattern", colour: colour({ kind }), pattern: patternOf(id, kind), name: figure.kinds[kind] ?? figure.idle,
  }));
  const notes = [...figure.notes];
  if (labelled.length > 0 && figure.label_name) notes.push(`numbers: ${figure.label_name}`);
  if (tones > 1) notes.push(`paler: later ${figure.tone_name}`);
  home.append(legendOf(entries, notes));
}
