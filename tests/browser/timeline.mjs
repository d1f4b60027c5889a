// The timeline of a trace's page as a user works with it: zoom, move, names, the file for Perfetto; and one of 100,000 intervals.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

/** What is drawn: changes when anything does. */
const picture = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => {
  done(document.querySelector("canvas").toDataURL());
}))));

/** The intervals of the page's data block, as the script decodes them. */
const intervals = (page) => page.evaluate(() => {
  const figure = JSON.parse(document.getElementById("figures").textContent).find((one) => one.kind === "spans");
  const of = (text) => {
    const numbers = text.split(" ").map(Number), list = [];
    for (let i = 0, before = 0; i < numbers.length; i += 4) {
      list.push({ begin: before + numbers[i], duration: numbers[i + 1], name: figure.names[numbers[i + 2]] });
      before += numbers[i] + numbers[i + 1];
    }
    return list;
  };
  return { end: figure.end, names: figure.names, path: of(figure.path), lanes: figure.lanes.map((lane) => of(lane.spans)), file: figure.file };
});

export async function lookAtTimeline({ page, heard, close }, fail, folder) {
  const say = (true_, words) => { if (!true_) fail(`timeline: ${words}`); };
  const button = (name) => page.locator(".tools button", { hasText: name }).first();
  const data = await intervals(page);
  const whole = await picture(page);
  const canvas = page.locator("canvas");
  await canvas.scrollIntoViewIfNeeded();

  const colours = await page.evaluate(() => {
    const canvas = document.querySelector("canvas");
    const bytes = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    const seen = new Set();
    for (let i = 0; i < bytes.length; i += 4) seen.add(`${bytes[i]} ${bytes[i + 1]} ${bytes[i + 2]}`);
    return [...seen];
  });
  say(["0 114 178", "213 94 0", "0 158 115"].some((one) => colours.includes(one)), "no interval has the colour of its kind");
  say(colours.includes("164 22 26"), "the path is not underlined in red");

  await button("+").click();
  const closer = await picture(page);
  say(closer !== whole, "zooming changes nothing");
  await page.keyboard.press("Tab");
  const box = await canvas.boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2 - 150, box.y + 60, { steps: 4 });
  await page.mouse.up();
  const moved = await picture(page);
  say(moved !== closer, "dragging changes nothing");
  await canvas.focus();
  await page.keyboard.press("ArrowLeft");
  say((await picture(page)) !== moved, "an arrow key changes nothing");
  await page.keyboard.press("0");
  say((await picture(page)) === whole, "0 does not show the whole step");
  await canvas.dblclick({ position: { x: box.width / 2, y: 60 } });
  say((await picture(page)) !== whole, "a double click changes nothing");
  await button("whole step").click();
  await page.mouse.move(box.x + box.width / 3, box.y + 60);
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, -1500);
  await page.keyboard.up("Control");
  await page.waitForTimeout(50);
  say((await picture(page)) !== whole, "Ctrl and the wheel change nothing");
  await page.screenshot({ path: path.join(folder, "trace-zoomed.png") });
  await button("whole step").click();
  say((await picture(page)) === whole, "the whole step looks different after a zoom");

  // The pointer in the middle of the longest interval of a lane: its whole name.
  const left = await page.evaluate(() => document.querySelector("canvas").left);
  let seen = false;
  for (let x = left + 1; x < box.width && !seen; x += 6) {
    await page.mouse.move(box.x + x, box.y + 32);
    const words = await page.locator(".hint").textContent();
    seen = data.path.some((one) => words.startsWith(one.name + "\n")) && words.includes("on the critical path");
  }
  say(seen, "no name under the pointer");
  await page.screenshot({ path: path.join(folder, "trace-hover.png") });

  const [download] = await Promise.all([page.waitForEvent("download"), button("write Perfetto file").click()]);
  say(download.suggestedFilename() === data.file, `the file is ${download.suggestedFilename()}`);
  const trace = JSON.parse(readFileSync(await download.path(), "utf8"));
  const written = trace.traceEvents.filter((event) => event.ph === "X");
  const all = [...data.path, ...data.lanes.flat()];
  say(written.length === all.length, `${written.length} events of ${all.length} intervals`);
  all.forEach((one, n) => {
    const event = written[n];
    say(event?.name === one.name && event.ts === one.begin / 1000 && event.dur === one.duration / 1000, `event ${n} is ${JSON.stringify(event)}`);
  });
  const arrows = trace.traceEvents.filter((event) => event.ph === "s").length;
  say(arrows === data.path.length - 1, `${arrows} arrows along ${data.path.length} parts of the path`);

  const links = page.locator("a.evidence");
  say((await links.count()) >= 2, "the verdict has no links");
  await links.first().click();
  say((await page.evaluate(() => location.hash)) === (await links.first().getAttribute("href")), "a link leads nowhere");
  heard.forEach((words) => fail(`timeline: ${words}`));
  await close();
}

/** A trace of 4 ranks with 100,000 intervals: as many boxes as the canvas has places, however far in, and how long a picture takes. */
export async function lookAtLargeTimeline(open, run, scratch, fail, folder) {
  const ranks = 4, kernels = 12_600;
  for (let rank = 0; rank < ranks; ++rank) {
    const events = [{ ph: "X", cat: "user_annotation", name: "ProfilerStep#0", pid: 9, tid: 1, ts: 0, dur: kernels * 20 + 40 }];
    for (let i = 0, at = 1; i < kernels; ++i, at += 20) {
      const args = { correlation: i + 1, stream: 7, device: 0 };
      events.push({ ph: "X", cat: "cuda_runtime", name: "cudaLaunchKernel", pid: 9, tid: 1, ts: at, dur: 4, args: { correlation: i + 1 } });
      events.push({ ph: "X", cat: "kernel", name: `kernel_${(i * 7) % 41}`, pid: 0, tid: 7, ts: at + 6, dur: 5 + ((i * 13) % 11), args });
    }
    writeFileSync(path.join(scratch, `large${rank}.json`), JSON.stringify({ distributedInfo: { rank, world_size: ranks }, traceEvents: events }));
  }
  const files = Array.from({ length: ranks }, (_, rank) => path.join(scratch, `large${rank}.json`));
  const file = path.join(scratch, "large.html");
  const done = run(["trace", ...files, "--html", file, "--quiet"]);
  if (done.status !== 0) return fail(`large timeline: exit ${done.status}: ${done.stderr}`);
  const { page, heard, close } = await open(file);
  const { lanes } = await intervals(page);
  const count = lanes.reduce((sum, lane) => sum + lane.length, 0);
  if (count < 100_000) fail(`large timeline: ${count} intervals`);
  const frames = await page.evaluate(async () => {
    const canvas = document.querySelector("canvas"), buttons = [...document.querySelectorAll(".tools button")];
    const frame = () => new Promise((next) => requestAnimationFrame(next));
    const times = [];
    let most = 0;
    for (let i = 0; i < 60; ++i) {
      buttons[i < 30 ? 0 : 1].click(); // in, and out again
      canvas.dispatchEvent(new KeyboardEvent("keydown", { key: i % 2 ? "ArrowLeft" : "ArrowRight" }));
      const before = performance.now();
      await frame(); // draws
      times.push(performance.now() - before);
      await frame();
      most = Math.max(most, canvas.boxes);
    }
    return { most, places: canvas.width * (canvas.height / 17), times: times.sort((a, b) => a - b) };
  });
  if (frames.most > frames.places) fail(`large timeline: ${frames.most} boxes on ${frames.places} places`);
  await page.locator("canvas").scrollIntoViewIfNeeded();
  await page.screenshot({ path: path.join(folder, "trace-large.png") });
  heard.forEach((words) => fail(`large timeline: ${words}`));
  await close();
  console.log(`trace-large: ${count} intervals, ${frames.most} boxes at most, a frame takes ${frames.times[30].toFixed(1)} ms in the middle, ` +
    `${frames.times[57].toFixed(1)} ms at the 95th percentile`);
}
