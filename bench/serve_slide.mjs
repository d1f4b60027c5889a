// From the move of a slider to the picture on the screen, in headless Chromium, for 16,384 accelerators: `make serve-slide`. Every
// question is new to the server. Times are printed, for they are those of this machine; tests assert order and counts.
import os from "node:os";

import { check, finish, headline, open, settled } from "../tests/browser/serve_page.mjs";

/** Moves a slider; milliseconds until the first picture is painted, of its request, and until the answer is whole. */
function move([name, value]) {
  const slide = document.getElementById(`slide-${name}`), home = document.getElementById("pictures"), answer = document.getElementById("answer");
  const painted = () => new Promise((done) => requestAnimationFrame(() => { const one = new MessageChannel(); one.port1.onmessage = done; one.port2.postMessage(0); }));
  performance.clearResourceTimings();
  const begin = performance.now();
  const first = new Promise((done) => {
    const seen = new MutationObserver(() => { seen.disconnect(); const drawn = performance.now(); painted().then(() => done([drawn - begin, performance.now() - begin])); });
    seen.observe(home, { childList: true, subtree: true });
  });
  const whole = new Promise((done) => {
    const seen = new MutationObserver(() => { if (answer.getAttribute("aria-busy") === "false") { seen.disconnect(); done(performance.now() - begin); } });
    seen.observe(answer, { attributes: true });
  });
  slide.value = String(value);
  slide.dispatchEvent(new Event("input"));
  return Promise.all([first, whole]).then(([[drawn, shown], all]) => {
    const asked = performance.getEntriesByType("resource").filter((one) => one.name.includes("/answer/")).map((one) => one.responseEnd - one.requestStart);
    return { drawn, shown, all, request: Math.min(...asked) };
  });
}

const QUESTIONS = {
  predict: ["#predict?model=llama-3-70b&cluster=dgx-h100&workers=16384&tokens=15T", "global-batch", [11, 12, 13, 14], "sequence-length", [11, 12, 13]],
  plan: ["#plan?model=llama-3-70b&cluster=dgx-h100&workers=8..16384&tokens=15T", "global-batch", [11, 12, 13, 14], "sequence-length", [11, 12, 13]],
};
console.log(`load ${os.loadavg()[0].toFixed(1)}, ${os.cpus().length} cores; milliseconds from the slider's event`);
for (const [name, [hash, one, values, other, others]] of Object.entries(QUESTIONS)) {
  const page = await open(hash);
  await headline(page);
  const times = [];
  for (const second of others) {
    await page.evaluate(move, [other, second]);
    await settled(page);
    for (const first of values) {
      times.push(await page.evaluate(move, [one, first]));
      await settled(page);
    }
  }
  const at = (key, share) => times.map((time) => time[key]).sort((a, b) => a - b)[Math.min(times.length - 1, Math.floor(share * times.length))].toFixed(0);
  check(times.length === values.length * others.length, `${name}: every move is answered`);
  console.log(`${name}: picture on the screen after ${at("shown", 0.5)} (median of ${times.length}), ${at("shown", 0.95)} (95th percentile); its request took ${at("request", 0.5)}, ` +
              `the answer was whole after ${at("all", 0.5)}`);
}
await finish("headroom serve, slider");
