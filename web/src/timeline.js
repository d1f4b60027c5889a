// Every interval of a step on a canvas: zoom and pan over time and lanes, the path marked, names under the pointer.
import { legendOf } from "./legend.js";
import { alarm, colourOf, faint, grid, ink, paper, resolved } from "./palette.js";
import { write } from "./perfetto.js";
import { decode, spanAt, firstAfter } from "./spans.js";
import { font, widthOf } from "./words.js";

const row = 17, axis = 24, tallest = 620, least = 10; // nanoseconds that the whole width may show

/** Nanoseconds in words: "12.3 ms". */
export function timeWords(ns) {
  if (ns === 0) return "0";
  const size = Math.abs(ns);
  const [unit, of] = size >= 1e9 ? ["s", 1e9] : size >= 1e6 ? ["ms", 1e6] : size >= 1e3 ? ["us", 1e3] : ["ns", 1];
  return `${Number((ns / of).toPrecision(4))} ${unit}`;
}

/** What is in sight: times `from` to `to`, lanes from `top` on. */
function viewOf(figure, rows) {
  const whole = { from: 0, to: Math.max(1, figure.end), top: 0 };
  const view = { ...whole };
  const keep = () => {
    const wide = Math.min(whole.to, Math.max(least, view.to - view.from));
    view.from = Math.min(Math.max(0, view.from), whole.to - wide);
    view.to = view.from + wide;
    view.top = Math.min(Math.max(0, view.top), Math.max(0, figure.lanes.length - rows));
  };
  return Object.assign(view, {
    zoom(at, factor) {
      const wide = Math.min(whole.to, Math.max(least, (view.to - view.from) * factor));
      view.from = at - ((at - view.from) / (view.to - view.from)) * wide;
      view.to = view.from + wide;
      keep();
    },
    move(time, lanes) { view.from += time; view.to += time; view.top += lanes; keep(); },
    reset() { Object.assign(view, whole); },
  });
}

/** A text that fits, cut at its end. */
function fitted(text, room) {
  if (widthOf(text) <= room) return text;
  let low = 0, high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (widthOf(text.slice(0, middle) + "..") <= room) low = middle; else high = middle - 1;
  }
  return low > 2 ? text.slice(0, low) + ".." : "";
}

/** Distances between lines of the time axis: 1, 2 or 5 of a power of ten, about 90 pixels. */
function gridOf(span, room) {
  const about = (span * 90) / room;
  const power = 10 ** Math.floor(Math.log10(about));
  return power * ([1, 2, 5, 10].find((n) => n * power >= about) ?? 10);
}

/** Black or white, whichever is read on a colour. */
function inkOn(colour) {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  return 0.3 * red + 0.59 * green + 0.11 * blue > 130 ? "#000000" : "#ffffff";
}

/** Colours of the page's light or dark sheet. */
function sheetOf(figure) {
  return {
    alarm: resolved(alarm), edge: resolved(grid), faint: resolved(faint), ink: resolved(ink), paper: resolved(paper),
    kinds: figure.kinds.map((_, kind) => resolved(colourOf(kind))),
  };
}

/** Draws `figure` into a context; returns how many boxes that took. */
function paint(context, figure, view, size) {
  const { width, height, left } = size;
  const room = width - left, scale = room / (view.to - view.from);
  const x = (time) => left + (time - view.from) * scale;
  const sheet = sheetOf(figure);
  let boxes = 0;
  context.clearRect(0, 0, width, height);
  context.font = font;
  context.textBaseline = "middle";
  const apart = gridOf(view.to - view.from, room);
  for (let at = Math.ceil(view.from / apart) * apart; at <= view.to; at += apart) {
    context.fillStyle = sheet.edge;
    context.fillRect(Math.round(x(at)), axis, 1, height - axis);
    context.fillStyle = sheet.ink;
    const label = timeWords(at), wide = widthOf(label);
    if (x(at) + wide < width) context.fillText(label, x(at) + 2, axis / 2);
  }

  // One row: boxes of one colour that touch are one; what is narrower than a pixel shares it with its neighbours.
  const drawRow = (spans, top, tall) => {
    let begin = -1, end = -1, kind = -1;
    const flush = () => {
      if (kind < 0) return;
      context.fillStyle = sheet.kinds[kind];
      context.fillRect(begin, top, Math.max(1, end - begin), tall);
      ++boxes;
    };
    for (let i = firstAfter(spans, view.from); i < spans.count && spans.begin[i] < view.to; ++i) {
      const a = Math.max(left, Math.floor(x(spans.begin[i])));
      const b = Math.min(width, Math.max(a + 1, Math.floor(x(spans.begin[i] + spans.duration[i]))));
      if (b <= end) continue;
      const wide = b - a > 3;
      if (spans.kind[i] === kind && a <= end && !wide) { end = b; continue; }
      flush();
      begin = Math.max(a, end); end = b; kind = spans.kind[i];
      if (!wide) continue;
      flush();
      context.fillStyle = sheet.paper;
      context.fillRect(end - 1, top, 1, tall); // neighbours stay apart
      end = Math.max(begin, b);
      kind = -1;
      context.fillStyle = inkOn(sheet.kinds[spans.kind[i]]);
      const label = b - begin > 36 ? fitted(figure.names[spans.name[i]], b - begin - 8) : "";
      context.fillText(label, begin + 4, top + tall / 2);
    }
    flush();
  };
  const laneName = (text, top) => { // without room the rank is a letter: the stream is what counts
    const short = widthOf(text) > left - 8 ? text.replace(/^rank /, "r") : text;
    context.fillStyle = sheet.ink;
    context.fillText(fitted(short, left - 8), 0, top + row / 2);
  };
  const rows = Math.floor((height - axis - size.head) / row);
  if (figure.path.count > 0) {
    laneName(figure.path_name, axis);
    drawRow(figure.path, axis + 1, row - 2);
    context.fillStyle = sheet.faint;
    context.fillRect(0, axis + row + 2, width, 1);
  }
  const first = Math.floor(view.top);
  for (let lane = first; lane < Math.min(figure.lanes.length, first + rows); ++lane) {
    const top = axis + size.head + (lane - first) * row, { process, name, spans } = figure.lanes[lane];
    if (lane > 0 && process !== figure.lanes[lane - 1].process) { context.fillStyle = sheet.edge; context.fillRect(0, top, width, 1); }
    laneName(`${process} ${name}`, top);
    drawRow(spans, top + 2, row - 4);
  }
  context.fillStyle = sheet.alarm; // the path, below what it runs through
  for (let i = firstAfter(figure.path, view.from); i < figure.path.count && figure.path.begin[i] < view.to; ++i) {
    const at = figure.path_lanes[i] - first;
    if (at < 0 || at >= rows) continue;
    const a = Math.max(left, x(figure.path.begin[i])), b = x(figure.path.begin[i] + figure.path.duration[i]);
    context.fillRect(a, axis + size.head + (at + 1) * row - 2, Math.max(1, Math.min(width, b) - a), 2);
    ++boxes;
  }
  return boxes;
}

/** The interval at a place of the canvas, with its words; undefined where there is none. */
function found(figure, view, size, px, py) {
  if (px < size.left || py < axis) return undefined;
  const time = view.from + ((px - size.left) / (size.width - size.left)) * (view.to - view.from);
  const near = (2 * (view.to - view.from)) / (size.width - size.left);
  const onPath = figure.path.count > 0 && py < axis + row;
  const lane = onPath ? -1 : Math.floor(view.top) + Math.floor((py - axis - size.head) / row);
  const spans = onPath ? figure.path : figure.lanes[lane]?.spans;
  const i = spans === undefined ? -1 : spanAt(spans, time, near);
  if (i < 0) return undefined;
  const home = figure.lanes[onPath ? figure.path_lanes[i] : lane];
  const step = onPath ? i : spanAt(figure.path, spans.begin[i] + spans.duration[i] / 2, 0);
  const marked = onPath || (step >= 0 && figure.path_lanes[step] === lane);
  return `${figure.names[spans.name[i]]}\n${home.process}, ${home.name}: ${figure.kinds[spans.kind[i]]}` +
    `\n${timeWords(spans.duration[i])}, from ${timeWords(spans.begin[i])} on${marked ? "; on the critical path" : ""}`;
}

function toolsOf(home, actions) {
  const tools = document.createElement("div");
  tools.className = "tools";
  for (const [name, act] of actions) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = name;
    button.addEventListener("click", act);
    tools.append(button);
  }
  const words = document.createElement("span");
  words.textContent = "Drag to move, Ctrl and wheel or a double click to zoom; keys + - 0 and arrows.";
  tools.append(words);
  home.append(tools);
}

/** Draws a timeline into `home`, a block `width` pixels wide. */
export function drawTimeline(home, figure, width) {
  decode(figure);
  const names = figure.lanes.map(({ process, name }) => widthOf(`${process} ${name}`));
  const head = figure.path.count > 0 ? row + 5 : 0;
  const rows = Math.min(figure.lanes.length, Math.floor((tallest - axis - head) / row));
  const size = {
    width, head, height: axis + head + rows * row + 2,
    left: Math.ceil(Math.min(width / 4, 190, Math.max(widthOf(figure.path_name), ...names) + 10)),
  };
  figure.view ??= viewOf(figure, rows);
  const view = figure.view;
  const canvas = document.createElement("canvas");
  const hint = document.createElement("div");
  hint.className = "hint";
  hint.hidden = true;
  canvas.tabIndex = 0;
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", figure.title);
  const dots = window.devicePixelRatio || 1;
  Object.assign(canvas, { width: Math.round(width * dots), height: Math.round(size.height * dots) });
  Object.assign(canvas.style, { width: `${width}px`, height: `${size.height}px` });
  const context = canvas.getContext("2d");
  let asked = false;
  const draw = () => {
    asked = false;
    context.setTransform(dots, 0, 0, dots, 0, 0);
    canvas.boxes = paint(context, figure, view, size);
    canvas.left = size.left;
  };
  const redraw = () => { if (!asked) { asked = true; requestAnimationFrame(draw); } };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  const act = (change) => () => { change(); hint.hidden = true; redraw(); };
  const middle = () => (view.from + view.to) / 2;
  const wide = () => view.to - view.from;
  const timeAt = (px) => view.from + ((px - size.left) / (width - size.left)) * wide();
  toolsOf(home, [
    ["+", act(() => view.zoom(middle(), 0.5))], ["-", act(() => view.zoom(middle(), 2))],
    ["whole step", act(() => view.reset())], ["write Perfetto file", () => write(figure)],
  ]);
  home.append(canvas, hint);

  const keys = {
    "+": () => view.zoom(middle(), 0.5), "=": () => view.zoom(middle(), 0.5), "-": () => view.zoom(middle(), 2), 0: () => view.reset(),
    ArrowLeft: () => view.move(-wide() / 8, 0), ArrowRight: () => view.move(wide() / 8, 0),
    ArrowUp: () => view.move(0, -3), ArrowDown: () => view.move(0, 3),
  };
  canvas.addEventListener("keydown", (event) => {
    if (!(event.key in keys) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act(keys[event.key])();
  });
  canvas.addEventListener("wheel", (event) => {
    const zooms = event.ctrlKey || event.metaKey;
    if (!zooms && !event.shiftKey) return; // the page scrolls
    event.preventDefault();
    if (zooms) view.zoom(timeAt(event.offsetX), 1.0015 ** event.deltaY);
    else view.move(((event.deltaX || event.deltaY) / width) * wide(), 0);
    act(() => {})();
  }, { passive: false });
  canvas.addEventListener("dblclick", (event) => act(() => view.zoom(timeAt(event.offsetX), 0.25))());
  let held;
  canvas.addEventListener("pointerdown", (event) => { held = { x: event.offsetX, y: event.offsetY }; canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener("pointerup", () => { held = undefined; });
  canvas.addEventListener("pointercancel", () => { held = undefined; });
  canvas.addEventListener("pointerleave", () => { hint.hidden = true; });
  canvas.addEventListener("pointermove", (event) => {
    if (held) {
      act(() => view.move(((held.x - event.offsetX) / (width - size.left)) * wide(), (held.y - event.offsetY) / row))();
      held = { x: event.offsetX, y: event.offsetY };
      return;
    }
    const words = found(figure, view, size, event.offsetX, event.offsetY);
    hint.hidden = words === undefined;
    if (words === undefined) return;
    hint.style.whiteSpace = "pre-line";
    hint.textContent = words;
    hint.style.left = `${Math.max(0, Math.min(event.offsetX + 14, width - hint.offsetWidth))}px`;
    hint.style.top = `${canvas.offsetTop + event.offsetY + 18}px`;
  });
  draw();
  const used = new Set(figure.lanes.flatMap(({ spans }) => [...new Set(spans.kind)]));
  const entries = [...used].sort((a, b) => a - b).map((kind) => ({ look: "box", colour: colourOf(kind), name: figure.kinds[kind] }));
  const notes = figure.path.count > 0 ? ["underlined red: on the critical path"] : [];
  if (rows < figure.lanes.length) notes.push(`${rows} of ${figure.lanes.length} rows; drag or arrow keys for the others`);
  home.append(legendOf(entries, notes));
}
