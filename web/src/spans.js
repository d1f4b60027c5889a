// Intervals of a lane as columns. The data block has four numbers an interval: begin less the end of the one before,
// duration, name, kind.

function columns(text) {
  const numbers = text === "" ? [] : text.split(" ");
  const count = numbers.length / 4;
  const spans = { count, begin: new Float64Array(count), duration: new Float64Array(count), name: new Uint32Array(count), kind: new Uint8Array(count) };
  let before = 0;
  for (let i = 0; i < count; ++i) {
    spans.begin[i] = before + Number(numbers[4 * i]);
    spans.duration[i] = Number(numbers[4 * i + 1]);
    spans.name[i] = Number(numbers[4 * i + 2]);
    spans.kind[i] = Number(numbers[4 * i + 3]);
    before = spans.begin[i] + spans.duration[i];
  }
  return spans;
}

/** Turns the texts of a figure into columns, once. */
export function decode(figure) {
  if (typeof figure.path !== "string") return;
  figure.path = columns(figure.path);
  for (const lane of figure.lanes) lane.spans = columns(lane.spans);
}

/** The first interval that ends after a moment. */
export function firstAfter(spans, time) {
  let low = 0, high = spans.count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (spans.begin[middle] + spans.duration[middle] <= time) low = middle + 1; else high = middle;
  }
  return low;
}

/** The interval at a moment, or the longest of those within `near` of it; -1: none. */
export function spanAt(spans, time, near) {
  let best = -1;
  for (let i = firstAfter(spans, time - near); i < spans.count && spans.begin[i] <= time + near; ++i) {
    if (spans.begin[i] <= time && time < spans.begin[i] + spans.duration[i]) return i;
    if (best < 0 || spans.duration[i] > spans.duration[best]) best = i;
  }
  return best;
}
