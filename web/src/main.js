// Draws the figures of a page from its data block, at the width they have, and again when that changes. What cannot
// be drawn leaves its table open. A page without a data block (headroom serve) draws by `headroomCharts.show`.
import { drawBars } from "./bars.js";
import { drawChart } from "./chart.js";
import { drawGantt } from "./gantt.js";
import { drawTimeline } from "./timeline.js";

const drawings = { bars: drawBars, chart: drawChart, gantt: drawGantt, spans: drawTimeline };

function show(home, figure) {
  let width = 0;
  const draw = () => {
    if (home.clientWidth === width || home.clientWidth === 0) return;
    width = home.clientWidth;
    home.replaceChildren();
    drawings[figure.kind](home, figure, width);
  };
  draw();
  new ResizeObserver(() => requestAnimationFrame(draw)).observe(home);
  const table = home.closest("figure")?.querySelector("details");
  if (table) table.open = false;
}

const data = document.getElementById("figures");
if (data?.type === "application/json") {
  const figures = JSON.parse(data.textContent);
  document.querySelectorAll("figure > .drawing").forEach((home, n) => show(home, figures[n]));
}
globalThis.headroomCharts = { show };
