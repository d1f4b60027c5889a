// Looks at pages where they are read: on paper, on a dark screen, on a phone, under a pointer. Pictures go to build/browser.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const { HEADROOM_PROGRAM: program, HEADROOM_BROWSER: executablePath, HEADROOM_BROWSER_FOLDER: folder } = process.env;
const { chromium } = createRequire(path.join(folder, "package.json"))("playwright-core");
const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..", "..");
const sample = (name) => path.join(root, "examples", name);
const scratch = mkdtempSync(path.join(tmpdir(), "headroom-looks-"));
let failures = 0, checks = 0;

function check(holds, words) {
  ++checks;
  if (holds) return;
  ++failures;
  console.log("FAILED:", words);
}

const run = (words, env = {}) => spawnSync(program, words, { encoding: "utf8", maxBuffer: 1 << 28, env: { ...process.env, ...env } });

const written = (name, text) => {
  const file = path.join(scratch, name);
  writeFileSync(file, text);
  return file;
};

/** Six levels, of which one has 400 tasks and the others one each. */
const fan = () => {
  const tasks = Array.from({ length: 400 }, (_, n) => `b${n}`);
  return `digraph { ${tasks.map((task) => `a -> ${task}; ${task} -> c;`).join(" ")} c -> d; d -> e; e -> f; }\n`;
};

const pages = {
  plan: ["plan", "llama-3-70b", "--cluster", "dgx-h100", "--workers", "8..8192", "--tokens", "2T"],
  predict: ["predict", "llama-3-70b", "--cluster", "dgx-h100", "--workers", "64", "--tp", "4", "--pp", "8", "--what-if"],
  finetune: ["finetune", "llama-3-8b", "--cluster", "2x4090", "--method", "qlora", "--dataset-tokens", "50M"],
  sweep: ["predict", "llama-3-8b", "--cluster", "dgx-h100", "--workers", "8", "--sweep", "sequence-length=4k..32k", "--sweep", "micro-batch=1,2,4"],
  validate: ["validate"],
  comm: ["comm", "--size", "4GiB", "--ranks", "8..64", "--cluster", "dgx-h100", "--sweep"],
  trace: ["trace", sample("profiler"), "--baseline", sample("profiler-before")],
  tail: ["tail", sample("after.csv")],
  roofline: ["roofline", "--machine", "h100", "--model", "llama-3-8b"],
  laws: ["laws", "--fit", sample("measured.csv")],
  graph: ["graph", written("fan.dot", fan())],
  two: ["tail", written("two.csv", "latency_ms\n12\n14\n")],
};

function fileOf(name) {
  const file = path.join(scratch, `${name}.html`);
  const done = run([...pages[name], "--html", file, "--quiet"]);
  if (done.status !== 0) throw new Error(`headroom ${pages[name].join(" ")}: exit ${done.status}: ${done.stderr}`);
  return file;
}

async function opened(name, width, look, options = {}) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, ...options });
  const page = await context.newPage();
  await page.goto(pathToFileURL(files[name]).href);
  if (options.media) await page.emulateMedia({ media: options.media });
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  await page.screenshot({ path: path.join(folder, `look-${name}-${look}.png`), fullPage: true });
  return { page, close: () => context.close() };
}

/** Elements that stick out of the paper, or whose content is cut. */
const cutOnPaper = () => {
  const wrong = [];
  for (const one of document.querySelectorAll("table, pre, figure, .drawing > svg, p, h1, h2")) {
    if (one.closest("details:not([open])")) continue;
    const box = one.getBoundingClientRect();
    if (box.right > innerWidth + 1) wrong.push(`${one.tagName} ends at ${Math.round(box.right)} of ${innerWidth}`);
  }
  for (const one of document.querySelectorAll(".scroll, pre")) {
    if (one.closest("details:not([open])")) continue;
    const cut = one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 1;
    if (cut && getComputedStyle(one).overflowX !== "visible") wrong.push(`${one.className || one.tagName} is cut`);
  }
  return wrong;
};

/** Texts that are hard to read before what is behind them: less contrast than 3 to 1. */
const faintTexts = () => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgb = (colour) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
  const light = (colour) => {
    const [r, g, b] = rgb(colour).map((part) => (part / 255 <= 0.03928 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (one) => {
    for (let at = one; at; at = at.parentElement) { const colour = getComputedStyle(at).backgroundColor; if (rgb(colour)[3] > 200) return colour; }
    return "white";
  };
  const wrong = [];
  for (const one of document.querySelectorAll("h1, h2, p, th, td, li, pre, figcaption, summary, .legend span, footer, svg text:not(.inside)")) {
    if (!one.textContent.trim() || one.closest(".inside")) continue;
    const style = getComputedStyle(one);
    const [a, b] = [light(one instanceof SVGElement ? style.fill : style.color), light(behind(one))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 3) wrong.push(`'${one.textContent.trim().slice(0, 30)}' has a contrast of ${contrast.toFixed(1)}`);
  }
  return wrong;
};

const browser = await chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] });
const files = Object.fromEntries(Object.keys(pages).map((name) => [name, fileOf(name)]));
try {
  for (const name of Object.keys(pages)) {
    // on A4 paper, without its margins
    const paper = await opened(name, 688, "paper", { media: "print" });
    (await paper.page.evaluate(cutOnPaper)).forEach((words) => check(false, `${name} on paper: ${words}`));
    await paper.close();
    const dark = await opened(name, 1280, "dark", { colorScheme: "dark" });
    check(await dark.page.evaluate(() => /rgb\((\d+), (\d+), (\d+)\)/.exec(getComputedStyle(document.body).backgroundColor).slice(1).every((part) => part < 60)),
          `${name}: the dark page is light`);
    (await dark.page.evaluate(faintTexts)).slice(0, 5).forEach((words) => check(false, `${name} in the dark: ${words}`));
    await dark.close();
    const light = await opened(name, 1280, "light");
    (await light.page.evaluate(faintTexts)).slice(0, 5).forEach((words) => check(false, `${name} in the light: ${words}`));
    await light.close();
  }

  // the page begins as the terminal does
  for (const name of ["plan", "predict", "finetune"]) {
    const { page, close } = await opened(name, 1280, "first");
    const above = (await page.evaluate(() => {
      const range = document.createRange();
      range.setStart(document.body, 0);
      range.setEndBefore(document.querySelector("figure, footer"));
      return range.toString();
    })).replace(/\s+/g, " ");
    const blocks = run(pages[name], { COLUMNS: "160" }).stdout.trim().split("\n\n").map((block) => block.replace(/ ?\\\n/g, " ").replace(/\s+/g, " ").trim());
    const [answer] = blocks;
    check(above.includes(answer.slice(0, 80)), `${name}: the page does not begin with '${answer.slice(0, 80)}'`);
    const command = blocks.find((block) => block.startsWith("headroom predict"));
    if (command) check(above.replace(/\\ /g, "").includes(command), `${name}: the command is not above the figures: ${command}`);
    for (const label of ["why:", "step:", "rate:", "memory:", "assumed:"]) {
      const line = blocks.join(" ").split(label)[1];
      if (line && label !== "why:" && name !== "finetune") check(above.includes(label) || above.includes("Assumed"), `${name}: '${label}' is not above the figures`);
      if (line && label === "why:") check(above.includes(line.trim().slice(0, 40)), `${name}: the first reason is not above the figures`);
    }
    await close();
  }

  // names in full under a pointer
  {
    const { page, close } = await opened("plan", 1280, "hover");
    const hints = await page.evaluate(() => [...document.querySelector("table").querySelectorAll("tbody tr")].map((row) => row.title));
    check(hints.length > 0 && hints.every((hint) => hint.length > 10), `plan: rows without their strategy in words: ${hints}`);
    check(hints.some((hint) => /tensor \d+.*data \d+, ZeRO \d, micro-batch \d/.test(hint)), `plan: ${hints[0]}`);
    await close();
  }

  // days and cost on a phone
  {
    const { page, close } = await opened("plan", 390, "phone");
    const heads = await page.evaluate(() => [...document.querySelector("table").querySelectorAll("th")].map((one) => {
      const box = one.getBoundingClientRect();
      return [one.textContent, box.width > 0 && box.right <= innerWidth];
    }));
    const seen = heads.filter(([, visible]) => visible).map(([text]) => text);
    for (const wanted of ["workers", "plan", "step s", "days", "cost $"]) check(seen.includes(wanted), `plan on a phone: no '${wanted}' among ${seen}`);
    const note = await page.locator(".narrow").first().textContent();
    check(/MFU %/.test(note) && await page.locator(".narrow").first().isVisible(), `plan on a phone: what is left out: ${note}`);
    await close();
  }

  const figuresOf = (name) => JSON.parse(/id="figures">\n(.*?)<\/script>/s.exec(readFileSync(files[name], "utf8"))?.[1] ?? "[]");
  // predicted kernels stand under the roof
  {
    const roofline = figuresOf("roofline").find((one) => one.title.startsWith("Roofline"));
    const points = roofline.series.find((one) => one.name.includes("predicted"));
    const roofs = roofline.series.filter((one) => one.mark === "smooth");
    const roof = Math.max(...roofs.flatMap((one) => one.y));
    const slope = Math.max(...roofs.map((one) => one.y[0] / one.x[0]));
    check(points?.x.length > 2, "roofline: no predicted kernels");
    const shares = (points?.x ?? []).map((x, n) => points.y[n] / Math.min(roof, slope * x));
    check(shares.every((share) => share <= 1.0001), `roofline: a predicted kernel above the roof: ${shares}`);
    check(shares.some((share) => share < 0.9), `roofline: all predicted kernels on the roof: ${shares}`);
  }
  // one wide level does not flatten the others: each bar is seen
  {
    const { page, close } = await opened("graph", 1280, "outlier");
    const heights = await page.evaluate((n) => [...document.querySelectorAll("figure")[n].querySelectorAll(".marks rect, .marks path")].map((one) => one.getBoundingClientRect().height),
      figuresOf("graph").findIndex((one) => one.title.startsWith("Tasks by level")));
    check(heights.length === 6 && Math.min(...heights) > 10, `graph: the axis is owned by one outlier: bars of ${heights} pixels`);
    await close();
  }
  check(figuresOf("two").length === 0, `two samples are drawn as ${figuresOf("two").length} charts`);
  check(figuresOf("tail").length > 0, "2,000 samples are not drawn");
} finally {
  await browser.close();
  rmSync(scratch, { recursive: true, force: true });
}
console.log(failures > 0 ? `${failures} failed` : `looks: ${checks} checks as expected`);
process.exitCode = failures > 0 ? 1 : 0;
