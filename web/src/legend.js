import { symbol } from "d3-shape";

const space = "http://www.w3.org/2000/svg";

function shape(name, attributes) {
  const made = document.createElementNS(space, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

/** A small picture of how a series is drawn. */
function swatch({ look, colour, pattern, shape: form }) {
  const box = shape("svg", { width: 22, height: 12, "aria-hidden": "true" });
  const line = (more) => box.append(shape("line", { x1: 0, x2: 22, y1: 6, y2: 6, stroke: colour, "stroke-width": 2, ...more }));
  if (look === "area") box.append(shape("rect", { width: 22, height: 12, fill: colour, "fill-opacity": 0.18 }));
  if (look === "pattern") {
    box.append(shape("rect", { x: 0.5, y: 0.5, width: 21, height: 11, fill: colour, stroke: "#c3cad2", "stroke-width": 0.5 }));
    box.append(shape("rect", { width: 22, height: 12, fill: pattern }));
  }
  if (look === "box") box.append(shape("rect", { x: 4, width: 12, height: 12, fill: colour }));
  if (look === "dashed") line({ "stroke-dasharray": "5 4" });
  if (look === "rule") line({ "stroke-dasharray": "2 3" });
  if (look === "line" || look === "marked") line({});
  if (look === "points" || look === "marked") {
    box.append(shape("path", { d: symbol(form, 45)(), transform: "translate(11,6)", fill: colour }));
  }
  return box;
}

/** Below a drawing: what its marks are. `notes` are sentences without a picture. */
export function legendOf(entries, notes = []) {
  const legend = document.createElement("div");
  legend.className = "legend";
  for (const entry of entries) {
    const item = document.createElement("span");
    item.append(swatch(entry), entry.name);
    legend.append(item);
  }
  for (const note of notes) {
    const item = document.createElement("span");
    item.append(note);
    legend.append(item);
  }
  return legend;
}
