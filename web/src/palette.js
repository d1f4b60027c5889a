import {
  symbolCircle, symbolCross, symbolDiamond, symbolSquare, symbolStar, symbolTriangle, symbolWye,
} from "d3-shape";

// Colours that people who see few colours can tell apart (Okabe and Ito, then Tol), on white; shapes besides.
const colours = [
  "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#882255",
  "#999933", "#332288", "#44aa99", "#aa4499", "#777777", "#ddcc77", "#661100",
];
const shapes = [symbolCircle, symbolDiamond, symbolTriangle, symbolSquare, symbolWye, symbolCross];

// By the names of the page's style sheet, which has others for a dark screen.
export const ink = "var(--chart-ink, #3a4654)";
export const faint = "var(--faint, #8894a1)";
export const alarm = "var(--alarm, #a4161a)";
export const grid = "var(--grid, #e6eaef)";
export const paper = "var(--paper, white)";
export const gapColour = "var(--gap, #f4f5f7)"; // below the hatching of a gap
export const star = symbolStar;

export const colourOf = (n) => `var(--c${n % colours.length}, ${colours[n % colours.length]})`;
export const shapeOf = (n) => shapes[n % shapes.length];

/** A colour of the style sheet as a canvas takes it, which knows no variables. */
export function resolved(colour) {
  const [, name, usual] = /^var\((--[\w-]+), (.*)\)$/.exec(colour);
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim() || usual;
}
