/** A number in a few digits, whole ones in full. */
export const number = (value) =>
  Number.isInteger(value) && Math.abs(value) < 1e15 ? String(value) : String(Number(value.toPrecision(4)));

const measure = document.createElement("canvas").getContext("2d");

/** Pixels that a text takes in a drawing. */
export function widthOf(text) {
  measure.font = font;
  return measure.measureText(text).width;
}

export const font = "12px system-ui, sans-serif";

/** Every n-th tick, so that neighbouring labels stay apart; `room` is the pixels from the first to the last. */
export function thinned(ticks, room) {
  const widest = Math.max(0, ...ticks.map((tick) => widthOf(tick.label)));
  const fit = Math.max(2, Math.floor(room / (widest + 14)) + 1);
  const stride = Math.max(1, Math.ceil((ticks.length - 1) / Math.max(1, fit - 1)));
  return ticks.filter((_, n) => n % stride === 0);
}
