// Opens the page of every verb at two widths and says what is wrong with it; then breaks a page on purpose, to see that
// each kind of fault is noticed.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import { faults, faultsOf } from "./broken.mjs";
import { casesIn } from "./cases.mjs";
import { inspect } from "./inspect.mjs";
import { lookAtTimeline, lookAtLargeTimeline } from "./timeline.mjs";

const { HEADROOM_PROGRAM: program, HEADROOM_BROWSER: executablePath, HEADROOM_BROWSER_FOLDER: folder } = process.env;
const { chromium } = createRequire(path.join(folder, "package.json"))("playwright-core");
const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..", "..");
const source = (file) => readFileSync(path.join(root, file), "utf8");
const widths = [1280, 390];
let failures = 0;

function fail(words) {
  ++failures;
  console.log("FAILED:", words);
}

const run = (words) => spawnSync(program, words, { encoding: "utf8", maxBuffer: 1 << 28 });

/** Runs the program; undefined where the verb is not there yet. */
function pageOf(one, scratch) {
  if (run([one.words[0]]).stderr.includes("not there yet")) return undefined;
  const file = path.join(scratch, `${one.name}.html`);
  const cut = one.words.includes("--") ? one.words.indexOf("--") : one.words.length; // a command of the user's comes last
  const done = run([...one.words.slice(0, cut), "--html", file, "--format", "json", "--quiet", ...one.words.slice(cut)]);
  if (done.status !== (one.code ?? 0)) throw new Error(`headroom ${one.words.join(" ")}: exit ${done.status}: ${done.stderr.trim()}`);
  return { file, json: JSON.parse(done.stdout), title: one.name };
}

/** Opens a file so that whatever it says or asks for is noted. */
async function open(browser, file, width, options = {}) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, ...options });
  const page = await context.newPage();
  const heard = [];
  const url = pathToFileURL(file).href;
  page.on("console", (message) => heard.push(`says ${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => heard.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => { heard.push("opens a dialog"); dialog.dismiss(); });
  await page.route("**/*", (route) => {
    if (route.request().url() === url) return route.continue();
    heard.push(`asks for ${route.request().url().slice(0, 100)}`);
    return route.abort();
  });
  await page.goto(url);
  if (options.javaScriptEnabled !== false) await settled(page);
  return { page, heard, close: () => context.close() };
}

/** Two frames: the drawing follows the width in the next. */
const settled = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))).catch(() => {});

/** What the result as JSON demands of the figures that were found. */
function compare(expectations, summary) {
  const wrong = [];
  for (const want of expectations) {
    const title = want.figure;
    const found = summary.find((one) => (title instanceof RegExp ? title.test(one.title) : one.title.startsWith(title)));
    if (!found) { wrong.push(`no figure ${title}`); continue; }
    for (const key of ["marks", "bars", "pieces", "lanes"]) {
      if (want[key] !== undefined && want[key] !== found[key]) wrong.push(`'${found.title}': ${found[key]} ${key}, the result has ${want[key]}`);
    }
    if (want.atLeast > (found.marks ?? found.pieces ?? 0)) wrong.push(`'${found.title}': ${found.marks ?? found.pieces} marks, the result has ${want.atLeast}`);
    if (want.y && JSON.stringify(want.y) !== JSON.stringify(found.y)) wrong.push(`'${found.title}': other values than the result`);
    for (const rule of want.rules ?? []) if (!found.rules.some((label) => rule.test(label))) wrong.push(`'${found.title}': no rule ${rule}`);
  }
  return wrong;
}

async function look(browser, one, made) {
  for (const width of widths) {
    const { page, heard, close } = await open(browser, made.file, width);
    const { wrong, summary } = await page.evaluate(inspect);
    wrong.push(...heard, ...compare(one.expects?.(made.json) ?? [], summary));
    await page.screenshot({ path: path.join(folder, `${one.name}-${width}.png`), fullPage: true });
    await page.setViewportSize({ width: widths.find((other) => other !== width), height: 900 });
    await page.waitForTimeout(120);
    await settled(page);
    wrong.push(...(await page.evaluate(inspect)).wrong.map((words) => `after a change of width: ${words}`));
    wrong.forEach((words) => fail(`${one.name} at ${width}: ${words}`));
    await close();
    if (width === widths[0]) console.log(`${one.name}: ${summary.length} figures, ${summary.reduce((sum, figure) => sum + (figure.marks ?? figure.pieces ?? 0), 0)} marks`);
  }
}

/** Without scripts the numbers are open to read. */
async function lookWithoutScripts(browser, made) {
  const { page, close } = await open(browser, made.file, widths[0], { javaScriptEnabled: false });
  const open_ = await page.locator("figure details[open] table").count();
  if (open_ === 0 || open_ !== (await page.locator("figure").count())) fail(`${made.title} without scripts: not every table is open`);
  if (!(await page.locator("noscript").count())) fail(`${made.title} without scripts: nothing says so`);
  await close();
}

/** Every fault that is put into a page must be noticed. */
async function breakIt(browser, made, faults) {
  for (const fault of faults) {
    const { page, heard, close } = await open(browser, made.file, widths[0]);
    await page.evaluate(fault.make);
    await page.waitForTimeout(60);
    const { wrong } = await page.evaluate(inspect);
    if (![...wrong, ...heard].some((words) => fault.noticed.test(words))) fail(`a broken page passes: ${fault.name}`);
    await close();
  }
  console.log(`${faults.length} faults put into a page, ${faults.length} looked for`);
}

const scratch = mkdtempSync(path.join(tmpdir(), "headroom-browser-"));
const browser = await chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] });
try {
  let first;
  const wanted = process.env.HEADROOM_PAGES?.split(",");
  for (const one of casesIn(scratch, source).filter((one) => !wanted || wanted.includes(one.name))) {
    const made = pageOf(one, scratch);
    if (!made) { console.log(`${one.name}: skipped, the verb is not there yet`); continue; }
    if (!first && !readFileSync(made.file, "utf8").includes('id="figures"')) throw new Error("the program was built without the chart library");
    first ??= made;
    await look(browser, one, made);
    if (one.name === "trace") await lookAtTimeline(await open(browser, made.file, widths[0], { acceptDownloads: true }), fail, folder);
    if (faultsOf[one.name]) await breakIt(browser, made, faultsOf[one.name](made.json));
  }
  await lookWithoutScripts(browser, first);
  if (!wanted || wanted.includes("trace-large")) await lookAtLargeTimeline((file) => open(browser, file, widths[0]), run, scratch, fail, folder);
  if (!wanted) await breakIt(browser, first, faults);
} finally {
  await browser.close();
  rmSync(scratch, { recursive: true, force: true });
}
console.log(failures > 0 ? `${failures} failed` : "all as expected");
process.exitCode = failures > 0 ? 1 : 0;
