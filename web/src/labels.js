// Names of rules and points, each where it hides nothing: no other text, no mark, and no curve where that can be.
import { alarm, colourOf, faint, ink, paper } from "./palette.js";
import { font, widthOf } from "./words.js";

const high = 13; // a line of text
const space = "http://www.w3.org/2000/svg";

const meet = (a, b) => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

/** The box of an element in the coordinates of its drawing. */
function boxIn(svg, element, grow = 0) {
  const frame = svg.getBoundingClientRect();
  const box = element.getBoundingClientRect();
  return { x: box.x - frame.x - grow, y: box.y - frame.y - grow, width: box.width + 2 * grow, height: box.height + 2 * grow };
}

/** Small boxes along a drawn path. */
function boxesAlong(svg, path) {
  const boxes = [];
  const length = path.getTotalLength();
  const shift = path.getCTM();
  const steps = Math.min(400, Math.ceil(length / 5));
  for (let n = 0; n <= steps; ++n) {
    const at = path.getPointAtLength((n / Math.max(1, steps)) * length).matrixTransform(shift);
    boxes.push({ x: at.x - 2, y: at.y - 2, width: 4, height: 4 });
  }
  return boxes;
}

/** What labels must not hide (`hard`) and had better not (`soft`), and the frame that they stay in. */
export function obstaclesOf(svg, size) {
  const hard = [...svg.querySelectorAll("text")].filter((text) => text.textContent).map((text) => boxIn(svg, text, 2));
  for (const mark of svg.querySelectorAll(".marks > *")) hard.push(boxIn(svg, mark, 1));
  const soft = [...svg.querySelectorAll(".curve path")].flatMap((path) => boxesAlong(svg, path));
  for (const rule of svg.querySelectorAll(".rule line")) soft.push(boxIn(svg, rule, 1));
  const frame = { left: size.marginLeft + 1, right: size.width - 2, top: size.marginTop - 14, bottom: size.height - size.marginBottom - 2 };
  return { hard, soft, frame };
}

function write(svg, text, box, colour, kind) {
  const label = document.createElementNS(space, "text");
  const attributes = {
    class: kind, x: box.x + 1, y: box.y + 10, fill: colour, stroke: paper, "stroke-width": 3,
    "stroke-linejoin": "round", "paint-order": "stroke", "text-anchor": "start",
  };
  for (const [key, value] of Object.entries(attributes)) label.setAttribute(key, value);
  label.style.font = font; // an attribute would need a page that allows styles of any kind
  label.textContent = text;
  svg.append(label);
}

/** A thin line from a point to a name that is not beside it. */
function lead(svg, x, y, box) {
  const [toX, toY] = [Math.min(Math.max(x, box.x), box.x + box.width), Math.min(Math.max(y, box.y), box.y + box.height)];
  if (Math.hypot(toX - x, toY - y) < 13) return;
  const line = document.createElementNS(space, "line");
  const attributes = { class: "lead", x1: x, y1: y, x2: toX, y2: toY, stroke: faint, "stroke-width": 0.75 };
  for (const [key, value] of Object.entries(attributes)) line.setAttribute(key, value);
  svg.insertBefore(line, svg.querySelector(".marks")); // below the marks
}

/** Writes the text at the first place that is free and returns its box; undefined where there is none. */
function writeAtFirst(svg, text, places, taken, colour, kind) {
  const width = widthOf(text) + 2;
  const { frame } = taken;
  for (const obstacles of [[...taken.hard, ...taken.soft], taken.hard]) {
    for (const place of places(width)) {
      const box = { ...place, width, height: high };
      const inside = box.x >= frame.left && box.x + width <= frame.right && box.y >= frame.top && box.y + high <= frame.bottom;
      if (!inside || obstacles.some((one) => meet(one, box))) continue;
      write(svg, text, box, colour, kind);
      taken.hard.push({ x: box.x - 2, y: box.y - 1, width: width + 4, height: high + 2 });
      return box;
    }
  }
  return undefined;
}

/** Names the rules; returns those that have no room. */
export function labelRules(svg, figure, taken) {
  return figure.rules.filter((rule, n) => {
    const drawn = svg.querySelector(`.rule-${n} line`);
    if (!drawn || !rule.label) return false;
    const line = boxIn(svg, drawn);
    const { frame } = taken;
    const places = (width) => {
      const found = [];
      if (rule.vertical) {
        for (let y = frame.top; y + high <= frame.bottom; y += 4) {
          found.push({ x: line.x + 5, y }, { x: line.x - width - 4, y });
        }
      } else {
        for (let x = frame.right - width; x >= frame.left; x -= 8) {
          found.push({ x, y: line.y - high - 2 }, { x, y: line.y + 3 });
        }
      }
      return found;
    };
    return !writeAtFirst(svg, rule.label, places, taken, alarm, "rule-name");
  });
}

/** Names the points that have names; returns how many have no room. */
export function labelPoints(svg, figure, taken) {
  const [toX, toY] = ["x", "y"].map((axis) => svg.scale(axis).apply);
  let left = 0;
  figure.series.forEach((series, n) => {
    const chosen = (i) => n === 0 && i === figure.chosen; // it is named first
    for (const i of [...series.points].sort((a, b) => chosen(b) - chosen(a))) {
      const label = series.labels[i];
      if (!label) continue;
      const [x, y] = [toX(series.x[i]), toY(series.y[i])];
      const box = writeAtFirst(svg, label, (width) => around(x, y, 8, width), taken, n === 0 ? ink : colourOf(n), "point-name");
      if (box) lead(svg, x, y, box);
      else ++left;
    }
  });
  return left;
}

/** Places around a point, the nearest first. */
function around(x, y, gap, width) {
  const places = [];
  for (const far of [0, 8, 18]) {
    const side = gap + far;
    places.push(
      { x: x + side, y: y - high / 2 }, { x: x - side - width, y: y - high / 2 },
      { x: x - width / 2, y: y - side - high }, { x: x - width / 2, y: y + side },
      { x: x + side - 4, y: y - side - high + 4 }, { x: x - side - width + 4, y: y - side - high + 4 },
      { x: x + side - 4, y: y + side - 4 }, { x: x - side - width + 4, y: y + side - 4 },
    );
  }
  return places;
}
