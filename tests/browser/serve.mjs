// The page of `headroom serve` in headless Chromium: asked, changed, dropped on, kept, narrow, dark, by keyboard, printed.
import { spawn, spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";

const { HEADROOM_PROGRAM: program, HEADROOM_BROWSER: executablePath, HEADROOM_BROWSER_FOLDER: folder } = process.env;
const { chromium } = createRequire(path.join(folder, "package.json"))("playwright-core");
const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..", "..");
const patience = 120_000;
let failures = 0;

function check(holds, words) {
  if (holds) return;
  ++failures;
  console.log("FAILED:", words);
}

const server = spawn(program, ["serve", "--port", "0"]);
const address = await new Promise((done) => {
  let said = "";
  server.stdout.on("data", (part) => { said += part; const found = said.match(/http:\/\/[^/]+\//); if (found) done(found[0]); });
});
const browser = await chromium.launch({ executablePath });

/** A page that notes what goes wrong on it, and what it asks for elsewhere. */
async function open(hash = "", options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(patience);
  page.on("pageerror", (error) => check(false, `error: ${error.message}`));
  page.on("console", (message) => { if (message.type() === "error" && !/status of 4\d\d/.test(message.text())) check(false, `says: ${message.text()}`); });
  page.on("request", (request) => check(request.url().startsWith(address) || request.url().startsWith("data:"), `asks for ${request.url()}`));
  await page.goto(address + hash);
  return page;
}

/** The headline, once the answer to the last change is there. */
async function headline(page, other = "") {
  await page.waitForFunction((was) => {
    const said = document.getElementById("status").textContent;
    return said !== "" && said !== was && !document.getElementById("answer").classList.contains("waiting");
  }, other);
  return page.textContent("#status");
}

const picture = (page, name) => page.screenshot({ path: path.join(folder, `serve-${name}.png`), fullPage: true });

// ---- the first answer, and that of a change
const page = await open();
const first = await headline(page);
check(/llama-3-70b/.test(first), `the first answer: ${first}`);
check(await page.locator("#figures tbody tr").count() >= 3, "its figures");
check(await page.frameLocator("#report").locator("h1").textContent() !== "", "its report");
await picture(page, "plan");
await page.fill("#field-model", "llama-3-8b");
const second = await headline(page, first);
check(/llama-3-8b/.test(second), `another model: ${second}`);
check(/%/.test(await page.textContent("#figures tbody")), "figures that moved show by how much");

// ---- the answers of the command line
for (const [name, fields, words] of [
  ["predict", "model=llama-3-8b&cluster=dgx-h100&workers=8", ["predict", "llama-3-8b", "--cluster", "dgx-h100", "--workers", "8"]],
  ["predict", "model=gpt3-13b&cluster=dgx-a100&workers=64", ["predict", "gpt3-13b", "--cluster", "dgx-a100", "--workers", "64"]],
]) {
  const said = JSON.parse(spawnSync(program, [...words, "--format", "json", "--quiet"], { encoding: "utf8" }).stdout);
  const told = await page.evaluate((url) => fetch(url).then((reply) => reply.json()), `answer/${name}?${fields}`);
  check(JSON.stringify(told.answer) === JSON.stringify(said), `${words.join(" ")}: the page's answer is another`);
}

// ---- a slider, a link, a scenario, an error
await page.click("button[value=predict]");
const predicted = await headline(page, second);
await page.locator("#field-workers + input[type=range]").evaluate((slide) => { slide.value = "6"; slide.dispatchEvent(new Event("input")); });
const slid = await headline(page, predicted);
check(/64 accelerators/.test(slid), `after the slider: ${slid}`);
page.on("dialog", (dialog) => dialog.accept("64 of them"));
await page.click("#keep");
check(await page.locator("#kept tbody tr").count() === 1, "a kept scenario");
const again = await open(await page.evaluate(() => location.hash));
check(await headline(again) === slid, "a link asks the same");
await page.fill("#field-cluster", "dgx-h1000");
check(/dgx-h1000/.test(await headline(page, slid)) && await page.locator("#status.wrong").count() === 1, "an unknown cluster is said");
await picture(page, "error");

// ---- files
for (const [file, words] of [["config.json", /parameters|tiny|fit|step/], ["table.csv", /fits best|workers/]]) {
  const text = file === "config.json"
    ? '{"model_type":"llama","hidden_size":2048,"num_hidden_layers":16,"num_attention_heads":16,"intermediate_size":8192,"vocab_size":32000}'
    : "workers,seconds\n1,100\n2,52\n4,28\n8,16\n16,11\n";
  const dropped = await open("#predict?model=llama-3-8b&cluster=dgx-h100&workers=8");
  const was = await headline(dropped);
  await dropped.setInputFiles("#file", { name: file, mimeType: "text/plain", buffer: Buffer.from(text) });
  const said = await headline(dropped, was);
  check(words.test(said) && await dropped.locator("#status.wrong").count() === 0, `${file}: ${said}`);
  await picture(dropped, file.split(".")[0]);
}

// ---- narrow, dark, large, by keyboard, printed
for (const [name, options] of [["narrow", { viewport: { width: 390, height: 844 } }], ["dark", { colorScheme: "dark" }], ["large", { viewport: { width: 320, height: 256 } }]]) {
  const one = await open("", options);
  await headline(one);
  const [inside, outside] = await one.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  check(inside <= outside, `${name}: ${inside} pixels wide in a window of ${outside}`);
  await picture(one, name);
}
const keys = await open();
const plain = await headline(keys);
await keys.focus("#field-tokens");
await keys.keyboard.press("Control+A");
await keys.keyboard.type("1T");
check(await headline(keys, plain) !== plain, "by keyboard alone");
const unnamed = await keys.evaluate(() => [...document.querySelectorAll("input, button, select")].filter((one) => !one.labels?.length && !one.ariaLabel && !one.textContent).length);
check(unnamed === 0, `${unnamed} controls without a name`);
await keys.pdf({ path: path.join(folder, "serve.pdf") });

await browser.close();
server.kill("SIGINT");
const code = await new Promise((done) => server.on("exit", done));
check(code === 0, `headroom serve ended with ${code}`);
console.log(failures === 0 ? "headroom serve: all as expected" : `headroom serve: ${failures} failed`);
process.exit(failures === 0 ? 0 : 1);
