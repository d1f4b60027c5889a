// Draws the figures of a page from its data block, at the width they have, and again when that changes. What cannot
// be drawn leaves its table open. A page without a data block (headroom serve) draws by `headroomCharts.show`.
import { drawBars } from "./bars.js";
import { drawChart } from "./chart.js";
import { drawGantt } from "./gantt.js";
import { drawHeat } from "./heat.js";
import { drawTimeline } from "./timeline.js";

const drawings = { bars: drawBars, chart: drawChart, gantt: drawGantt, spans: drawTimeline, heat: drawHeat };

/** Draws a figure; `room` is the width of its home, where the caller has read it: each reading lays the page out. */
function show(home, figure, room = home.clientWidth) {
  let width = 0;
  const draw = (now) => {
    if (now === width || now === 0) return;
    width = now;
    home.replaceChildren();
    drawings[figure.kind](home, figure, width);
  };
  draw(room);
  new ResizeObserver(() => requestAnimationFrame(() => draw(home.clientWidth))).observe(home);
  const table = home.closest("figure")?.querySelector("details");
  if (table) table.open = false;
}

const data = document.getElementById("figures");
if (data?.type === "application/json") {
  const figures = JSON.parse(data.textContent);
  document.querySelectorAll("figure > .drawing").forEach((home, n) => show(home, figures[n]));
}
globalThis.headroomCharts = { show };
