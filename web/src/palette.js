import {
  symbolCircle, symbolCross, symbolDiamond, symbolSquare, symbolStar, symbolTriangle, symbolWye,
} from "d3-shape";

// Colours that people who see few colours can tell apart (Okabe and Ito, then Tol), on white; shapes besides.
const colours = [
  "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#882255",
  "#999933", "#332288", "#44aa99", "#aa4499", "#777777", "#ddcc77", "#661100",
];
const shapes = [symbolCircle, symbolDiamond, symbolTriangle, symbolSquare, symbolWye, symbolCross];

export const ink = "#3a4654";
export const faint = "#8894a1";
export const alarm = "#a4161a";
export const star = symbolStar;

export const colourOf = (n) => colours[n % colours.length];
export const shapeOf = (n) => shapes[n % shapes.length];
