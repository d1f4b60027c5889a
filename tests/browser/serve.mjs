// The page of `headroom serve` in headless Chromium: asked, changed, given facts, dropped on, compared, kept, exported, narrow, dark,
// by keyboard, printed.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

import { address, check, finish, folder, headline, open, picture, program, settled } from "./serve_page.mjs";

const told = (...words) => JSON.parse(spawnSync(program, [...words, "--format", "json", "--quiet"], { encoding: "utf8" }).stdout);

// ---- the first screen: verdict, curve with ceiling, knee and band, time against cost, memory, what to tell next
const page = await open();
const first = await headline(page);
check(/llama-3-70b/.test(first) && /\(\d.* to \d/.test(first), `the first answer, with its interval: ${first}`);
check(await page.locator("#figures tbody tr").count() >= 8, "its figures");
const titles = await page.locator("#pictures h2").allTextContents();
check(titles.length === 4 && await page.locator("#pictures .drawing svg").count() >= 4, `its pictures: ${titles}`);
check(titles.filter((one) => /, (GiB|%)$/.test(one)).length === 2, `bars with their units: ${titles}`);
const curve = page.locator("#pictures figure").first();
check(await curve.locator(".rule").count() >= 2 && await curve.locator(".band").count() >= 1, "the curve has ceiling, knee and band");
check(/Fits with 9\d/.test(await page.textContent("#pictures")), "the memory has its probability");
check(await page.locator("#facts li").count() >= 2, "what to tell next");
check(await page.getAttribute("#field-precision option", "value") === "" && /bf16/.test(await page.textContent("#field-precision option")), "an empty field names the value in use");
await picture(page, "plan");

// ---- a fact told in place: the interval narrows
const width = () => page.textContent("#known");
const wide = await width();
await page.selectOption("#tell-framework", "megatron-core").catch(() => page.fill("#tell-framework", "megatron-core"));
await page.locator("#tell-framework").dispatchEvent("change");
await page.waitForFunction((was) => document.getElementById("known").textContent !== was, wide);
await settled(page);
const factor = (text) => Number(text.match(/x([\d.]+) either way/)[1]);
check(factor(await width()) < factor(wide) && /before, to x/.test(await width()), `told the framework: ${wide} ${await width()}`);
check(/framework=megatron-core/.test(page.url()) && await page.inputValue("#field-framework") === "megatron-core", "the fact is a field of the question");
await settled(page);
await picture(page, "told");
await page.fill("#tell-measured-step", "9s");
await page.locator("#tell-measured-step").dispatchEvent("change");
await page.waitForFunction(() => location.hash.startsWith("#predict?") && /before, to x/.test(document.getElementById("known").textContent));
check(/measured-step=9s/.test(page.url()) && factor(await width()) < 1.5, `told a measured step, in the plan's own prediction: ${await width()}`);

// ---- another model: what moved shows by how much
await page.click("button[value=plan]");
await headline(page, "");
await settled(page);
const again = await page.textContent("#status");
await page.fill("#field-model", "llama-3-8b");
const second = await headline(page, again);
check(/llama-3-8b/.test(second), `another model: ${second}`);
check(await page.locator("#figures tr.moved").count() >= 3 && /%/.test(await page.textContent("#figures tbody")), "figures that moved show by how much");
check(/before/.test(await page.textContent("#pictures figure:first-child")), "the curve shows that of before");

// ---- several machines on one curve
await page.click("#machines button:last-of-type");
await page.fill("input[aria-label='machine 2']", "dgx-a100");
await page.fill("input[aria-label^='price of machine 2']", "1.5");
await page.waitForFunction(() => document.querySelectorAll("#compared-pictures figure svg").length >= 2);
await settled(page);
const other = told("plan", "llama-3-8b", "--cluster", "dgx-a100", "--tokens", "2T", "--price", "1.5");
const row = await page.locator("#compared tbody tr").nth(1).textContent();
check(row.includes("dgx-a100, $1.5/h") && row.includes(String(other.recommendation.workers)), `the other machine: ${row}`);
await picture(page, "machines");
const shared = await open(await page.evaluate(() => location.hash));
await headline(shared);
await shared.waitForFunction(() => document.querySelectorAll("#compared tbody tr").length === 2);
await shared.fill("input[aria-label='machine 2']", "no-such");
await shared.waitForFunction(() => /no-such/.test(document.querySelector("#compared td.wrong")?.textContent ?? ""));

// ---- a slider from the value in use, a link, scenarios, an error
await page.click("button[value=predict]");
await page.waitForFunction(() => location.hash.startsWith("#predict?"));
await settled(page);
const predicted = await page.textContent("#status");
const used = told("predict", "llama-3-8b", "--cluster", "dgx-h100", "--workers", "16");
check(await page.inputValue("#slide-tp") === String(Math.log2(used.strategy.tp)), "a slider begins at the value in use");
check(await page.inputValue("#slide-sequence-length") === String(Math.log2(used.workload.sequence_length)), "and so does that of the length");
await page.locator("#slide-workers").evaluate((slide) => { slide.value = "6"; slide.dispatchEvent(new Event("input")); });
const slid = await headline(page, predicted);
check(/64 accelerators/.test(slid), `after the slider: ${slid}`);
await picture(page, "slid");
page.on("dialog", (dialog) => dialog.accept("64 of them"));
await page.click("#keep");
check(await page.locator("#kept tbody tr").count() === 1, "a kept scenario");
const copied = await open(await page.evaluate(() => location.hash));
check(await headline(copied) === slid, "a link asks the same");
const both = new URLSearchParams([["small", "#predict?model=llama-3-8b&cluster=dgx-h100&workers=8"], ["large", "#predict?model=llama-3-8b&cluster=dgx-h100&workers=16"]]);
const compared = await open(`#compare?${both}`);
await headline(compared);
check(await compared.locator("#kept tbody tr").count() === 2 && /%/.test(await compared.textContent("#kept tbody tr:nth-child(2)")), "a link to several scenarios compares them");
await picture(compared, "compared");
await page.fill("#field-cluster", "dgx-h1000");
check(/dgx-h1000/.test(await headline(page, slid)) && await page.locator("#status.wrong").count() === 1, "an unknown cluster is said");
check(await page.locator("#pictures").isHidden(), "without pictures of another answer");
await picture(page, "error");

// ---- a slider: asked at once, the recommended size first, all sizes where the slider rests
const sliding = await open("#plan?model=llama-3-8b&cluster=dgx-h100&workers=8..64&tokens=1T");
await headline(sliding);
const ends = await sliding.evaluate(() => {
  const usual = window.fetch, slide = document.getElementById("slide-global-batch");
  window.asked = [];
  window.fetch = (address, options) => { window.asked.push({ address, signal: options?.signal, light: document.getElementById("answer").className }); return usual(address, options); };
  return [9, 10, 11].map((value) => { slide.value = String(value); slide.dispatchEvent(new Event("input")); return window.asked.length; });
});
check(ends.join() === "1,2,3", `a slider asks at once: ${ends} requests`);
await settled(sliding);
const asked = await sliding.evaluate(() => window.asked.filter((one) => one.address.startsWith("answer/")).map(({ address, signal, light }) => ({ address, light, gone: signal.aborted })));
check(asked.length === 4 && asked.map((one) => one.gone).join() === "true,true,false,false", `and stops what it asked before: ${JSON.stringify(asked)}`);
check(asked.slice(0, 3).every((one) => /workers=64&/.test(one.address)) && /workers=8\.\.64/.test(asked[3].address) && asked[3].light === "lighter", `the recommended size is shown, then all are asked: ${JSON.stringify(asked)}`);
await settled(sliding);
check(/global-batch=2048/.test(sliding.url()) && /headroom plan .*--global-batch 2048/.test(await sliding.textContent("#command")), "the address follows");
check(await sliding.locator("#pictures .old").count() === 0 && await sliding.locator("#pictures .drawing svg").count() >= 4, "and all pictures are there");
check(await sliding.getAttribute("#answer", "class") === "", "the last that is drawn is the whole answer");

// ---- failures by a switch, levers, a map, plans side by side
await sliding.check("#switch-mtbf");
await settled(sliding);
check(/mtbf=50700h/.test(sliding.url()) && await sliding.inputValue("#field-mtbf") === "50700h", "failures are counted by a switch");
await sliding.uncheck("#switch-mtbf");
await settled(sliding);
check(!/mtbf/.test(sliding.url()), "and not counted again");
await sliding.click("#levers summary");
await sliding.waitForSelector("#levers-pictures svg");
check(await sliding.locator("#levers-pictures .pieces > *").count() === 5 && await sliding.locator("#levers-pictures .rule").count() >= 1, "levers from the step as it is");
await sliding.click("#map summary");
await sliding.fill("#map-rows-values", "llama-3-8b,gpt3-13b");
await sliding.locator("#map-rows-values").dispatchEvent("change");
await sliding.fill("#map-columns-values", "8..32");
await sliding.locator("#map-columns-values").dispatchEvent("change");
await sliding.waitForFunction(() => document.querySelectorAll("#map-pictures td").length === 6);
const cells = await sliding.locator("#map-pictures td").allTextContents();
const single = told("predict", "llama-3-8b", "--cluster", "dgx-h100", "--workers", "16", "--tokens", "1T", "--global-batch", "2048");
check(cells[1].startsWith(String(Number((100 * single.mfu).toPrecision(3)))) && cells[1].endsWith(single.strategy.name), `a cell is the answer of its own question: ${cells[1]}, ${single.mfu}`);
await sliding.fill("#map-rows-values", "no-such");
await sliding.locator("#map-rows-values").dispatchEvent("change");
await sliding.waitForFunction(() => /no-such/.test(document.querySelector("#map-said.wrong")?.textContent ?? ""));
for (const size of ["16", "64"]) {
  await sliding.selectOption("#keep-size", size);
  await sliding.waitForFunction((name) => [...document.querySelectorAll("#kept tbody th")].some((one) => one.textContent === name), `${size} accelerators`);
}
check(await sliding.locator("#kept-pictures svg").count() >= 2 && await sliding.locator("#kept tbody tr").count() === 2, "two plans side by side");
await picture(sliding, "further");

// ---- exports
const exporting = await open("#predict?model=llama-3-8b&cluster=dgx-h100&workers=8");
await headline(exporting);
const words = ["predict", "llama-3-8b", "--cluster", "dgx-h100", "--workers", "8"];
async function saved(act) {
  const [download] = await Promise.all([exporting.waitForEvent("download"), act()]);
  return [download.suggestedFilename(), readFileSync(await download.path(), "utf8")];
}
const out = (...more) => spawnSync(program, [...words, ...more, "--quiet"], { encoding: "utf8" }).stdout;
for (const [act, name, content] of [[() => exporting.click("#as-json"), "headroom-predict.json", out("--format", "json")], [() => exporting.click("#as-csv"), "headroom-predict.csv", out("--format", "csv")],
                                    [() => exporting.selectOption("#as-launch", "slurm"), "headroom-predict.sh", out("--emit", "slurm")]]) {
  const [found, text] = await saved(act);
  check(found === name && text === content, `${name}: saved ${found}, ${text.slice(0, 100)}`);
}
const [report] = await Promise.all([exporting.context().waitForEvent("page"), exporting.click("#as-page")]);
await report.waitForSelector("h1");
check(/llama-3-8b/.test(await report.textContent("h1")), "the report as a page of its own");
await exporting.click("#whole summary");
check(/llama-3-8b/.test(await exporting.frameLocator("#report").locator("h1").textContent()), "the whole report below the answer");

// ---- files
const samples = {
  "config.json": [/parameters|tiny|fit|step/, '{"model_type":"llama","hidden_size":2048,"num_hidden_layers":16,"num_attention_heads":16,"intermediate_size":8192,"vocab_size":32000}'],
  "table.csv": [/fits best|workers/, "workers,seconds\n1,100\n2,52\n4,28\n8,16\n16,11\n"],
  "run.sh": [/step|fit/, "torchrun pretrain_gpt.py --num-layers 32 --hidden-size 4096 --num-attention-heads 32 --seq-length 2048 --max-position-embeddings 2048 --global-batch-size 256 --tensor-model-parallel-size 2\n"],
};
for (const [file, [expected, text]] of Object.entries(samples)) {
  const dropped = await open("#predict?model=llama-3-8b&cluster=dgx-h100&workers=8");
  const was = await headline(dropped);
  await dropped.setInputFiles("#file", { name: file, mimeType: "text/plain", buffer: Buffer.from(text) });
  const said = await headline(dropped, was);
  check(expected.test(said) && await dropped.locator("#status.wrong").count() === 0, `${file}: ${said}`);
  await picture(dropped, file.split(".")[0]);
}

// ---- narrow, dark, large, by keyboard, printed
for (const [name, options] of [["narrow", { viewport: { width: 390, height: 844 } }], ["dark", { colorScheme: "dark" }], ["large", { viewport: { width: 320, height: 256 } }]]) {
  const one = await open("#plan?model=llama-3-70b&cluster=dgx-h100&tokens=2T&vs=dgx-a100", options);
  await headline(one);
  await one.waitForFunction(() => document.querySelectorAll("#compared-pictures svg").length > 0);
  const [inside, outside] = await one.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  check(inside <= outside, `${name}: ${inside} pixels wide in a window of ${outside}`);
  const cut = await one.evaluate(() => [...document.querySelectorAll("#compared td")].filter((cell) => cell.getBoundingClientRect().right > innerWidth).length);
  check(cut === 0, `${name}: ${cut} figures of machines beyond the window`);
  await picture(one, name);
}
const keys = await open("", { acceptDownloads: true });
const plain = await headline(keys);
/** Goes on by the tabulator until an element has the focus; false where none of so many has. */
async function tabTo(selector, most = 200) {
  for (let n = 0; n < most; ++n) {
    await keys.keyboard.press("Tab");
    if (await keys.evaluate((one) => document.activeElement?.matches(one), selector)) return true;
  }
  return false;
}
check(await tabTo("#field-tokens"), "the tabulator reaches a field");
await keys.keyboard.press("Control+A");
await keys.keyboard.type("1T");
const typed = await headline(keys, plain);
check(typed !== plain, "a field by keyboard alone");
check(await tabTo("#slide-global-batch"), "and a slider");
await keys.keyboard.press("ArrowRight");
await headline(keys, typed);
check(/global-batch=2048/.test(keys.url()), `a slider by keyboard: ${keys.url()}`);
check(await tabTo("#as-csv"), "and an export");
const [download] = await Promise.all([keys.waitForEvent("download"), keys.keyboard.press("Enter")]);
check(download.suggestedFilename() === "headroom-plan.csv", "an export by keyboard alone");
const unnamed = await keys.evaluate(() => [...document.querySelectorAll("input, button, select, summary")].filter((one) => !one.labels?.length && !one.ariaLabel && !one.textContent).map((one) => one.outerHTML));
check(unnamed.length === 0, `controls without a name: ${unnamed}`);
await keys.pdf({ path: path.join(folder, "serve.pdf") });

// ---- the pictures of the guide: HEADROOM_GUIDE=docs/guide/pictures writes them
if (process.env.HEADROOM_GUIDE) {
  const guide = await open("#plan?model=llama-3-70b&cluster=dgx-h100&tokens=2T&deadline=60d&framework=megatron-core&vs=dgx-a100@1.5");
  await headline(guide);
  await guide.waitForFunction(() => document.querySelectorAll("#compared-pictures svg[role]").length === 2);
  const drawings = await guide.locator("#compared-pictures svg[role]").evaluateAll((all) => all.map((one) => new XMLSerializer().serializeToString(one)));
  ["rate", "cost"].forEach((name, n) => writeFileSync(path.join(process.env.HEADROOM_GUIDE, `serve-machines-${name}.svg`), `${drawings[n]}\n`));
  const base = "#predict?model=llama-3-8b&cluster=dgx-h100&workers=64&framework=megatron-core", slow = `${base}&network=1x+25Gb+Ethernet`;
  const networks = new URLSearchParams([["dgx-h100", base], ["1x 25 Gb", slow], ["1x 25 Gb, 8 local steps", `${slow}&local-steps=8`], ["4x 100 Gb", `${base}&network=4x+100Gb+RoCE`]]);
  const side = await open(`#compare?${networks}`);
  await headline(side);
  await side.waitForFunction(() => document.querySelectorAll("#kept-pictures svg[role]").length >= 2);
  writeFileSync(path.join(process.env.HEADROOM_GUIDE, "serve-networks.svg"), `${await side.locator("#kept-pictures svg[role]").first().evaluate((one) => new XMLSerializer().serializeToString(one))}\n`);
}

check((await page.evaluate((url) => fetch(url).then((reply) => reply.headers.get("Content-Security-Policy")), address)).includes("default-src 'none'"), "a strict policy");
await finish("headroom serve");
