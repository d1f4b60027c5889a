// A running `headroom serve` and pages of it in headless Chromium, for serve.mjs and serve_scenarios.mjs.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import path from "node:path";

export const { HEADROOM_PROGRAM: program, HEADROOM_BROWSER: executablePath, HEADROOM_BROWSER_FOLDER: folder } = process.env;
const { chromium } = createRequire(path.join(folder, "package.json"))("playwright-core");
const patience = 120_000;
let failures = 0;

export function check(holds, words) {
  if (holds) return;
  ++failures;
  console.log("FAILED:", words);
}

const server = spawn(program, ["serve", "--port", "0"]);
export const address = await new Promise((done) => {
  let said = "";
  server.stdout.on("data", (part) => { said += part; const found = said.match(/http:\/\/[^/]+\//); if (found) done(found[0]); });
});
const browser = await chromium.launch({ executablePath });

/** A page that notes what goes wrong on it, and what it asks for elsewhere. */
export async function open(hash = "", options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(patience);
  page.on("pageerror", (error) => check(false, `error: ${error.message}`));
  page.on("console", (message) => { if (message.type() === "error" && !/status of 4\d\d/.test(message.text())) check(false, `says: ${message.text()}`); });
  page.on("request", (request) => check(/^(data|blob):/.test(request.url()) || request.url().startsWith(address), `asks for ${request.url()}`));
  await page.goto(address + hash);
  return page;
}

/** The headline, once the answer to the last change is there. */
export async function headline(page, other = "") {
  await page.waitForFunction((was) => {
    const said = document.getElementById("status").textContent;
    return said !== "" && said !== was && document.getElementById("answer").getAttribute("aria-busy") === "false";
  }, other);
  return page.textContent("#status");
}

/** Waits for the answer to a change that may leave the headline as it is. */
export async function settled(page) {
  await page.waitForFunction(() => document.getElementById("answer").getAttribute("aria-busy") === "false");
}

export const picture = (page, name) => page.screenshot({ path: path.join(folder, `serve-${name}.png`), fullPage: true });

/** Ends the server and the browser, and the test with them. */
export async function finish(name) {
  await browser.close();
  server.kill("SIGINT");
  const code = await new Promise((done) => server.on("exit", done));
  check(code === 0, `headroom serve ended with ${code}`);
  console.log(failures === 0 ? `${name}: all as expected` : `${name}: ${failures} failed`);
  process.exit(failures === 0 ? 0 : 1);
}
