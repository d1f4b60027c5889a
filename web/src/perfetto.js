// The timeline as a Chrome trace, which Perfetto opens: a process a rank, the critical path as a process of its own.

const micro = (ns) => ns / 1000;

/** The trace as an object. */
export function traceOf(figure) {
  const events = [], places = [];
  const processes = new Map();
  const name = (pid, tid, what, text) => events.push({ ph: "M", name: what, pid, tid, args: { name: text } });
  const add = (spans, pid, tid, i) => events.push({
    ph: "X", name: figure.names[spans.name[i]], cat: figure.kinds[spans.kind[i]], pid, tid,
    ts: micro(spans.begin[i]), dur: micro(spans.duration[i]), args: {},
  });
  if (figure.path.count > 0) {
    name(0, 0, "process_name", figure.path_name);
    for (let i = 0; i < figure.path.count; ++i) add(figure.path, 0, 0, i);
  }
  figure.lanes.forEach((lane, n) => {
    if (!processes.has(lane.process)) {
      processes.set(lane.process, processes.size + 1);
      name(processes.size, 0, "process_name", lane.process);
    }
    const pid = processes.get(lane.process);
    places.push(pid);
    name(pid, n, "thread_name", lane.name);
    for (let i = 0; i < lane.spans.count; ++i) add(lane.spans, pid, n, i);
  });
  for (let i = 0; i + 1 < figure.path.count; ++i) {
    const [from, to] = [figure.path_lanes[i], figure.path_lanes[i + 1]];
    const arrow = { name: figure.path_name, cat: figure.path_name, id: i };
    const ends = Math.max(figure.path.begin[i], figure.path.begin[i] + figure.path.duration[i] - 1);
    events.push({ ph: "s", ...arrow, pid: places[from], tid: from, ts: micro(ends) });
    events.push({ ph: "f", bp: "e", ...arrow, pid: places[to], tid: to, ts: micro(figure.path.begin[i + 1]) });
  }
  return { displayTimeUnit: "ns", traceEvents: events };
}

/** Hands the trace to the browser as a file. */
export function write(figure) {
  const url = URL.createObjectURL(new Blob([JSON.stringify(traceOf(figure))], { type: "application/json" }));
  const link = document.createElement("a");
  Object.assign(link, { href: url, download: figure.file });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
