// node bundle.mjs WEB FOLDER: bundles WEB/src/main.js with the packages in FOLDER/node_modules into FOLDER/charts.js,
// with the licences of what is inside, and writes the hash by which a page allows this script and no other.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const [web, folder] = process.argv.slice(2);
const modules = path.join(path.resolve(folder), "node_modules");
const esbuild = createRequire(path.join(modules, "esbuild", "package.json"))("esbuild");

/** The folder of the package that a bundled file belongs to; empty for our own. */
function packageOf(file) {
  const [, inside] = file.split("node_modules/");
  if (inside === undefined) return "";
  return inside.split("/").slice(0, inside.startsWith("@") ? 2 : 1).join("/");
}

const ownership = /^copyright .*\d{4}/i; // not the "COPYRIGHT HOLDERS" of a disclaimer

/** The licences of the packages: each text once, below the names and copyright lines of those it holds for. */
function licences(packages) {
  const holders = new Map();
  for (const name of packages) {
    const home = path.join(modules, name);
    const { version, license } = JSON.parse(readFileSync(path.join(home, "package.json"), "utf8"));
    const file = readdirSync(home).find((entry) => /^licen[cs]e/i.test(entry));
    if (!file) throw new Error(`${name}: no licence text`);
    const lines = readFileSync(path.join(home, file), "utf8").trim().split("\n").map((line) => line.trim());
    const owner = lines.filter((line) => ownership.test(line)).join("; ");
    const text = lines.filter((line) => !ownership.test(line)).join("\n").replace(/\s+/g, " ").trim();
    if (!holders.has(text)) holders.set(text, []);
    holders.get(text).push(`${name} ${version} (${license}) ${owner}`);
  }
  return [...holders].map(([text, names]) => `${names.join("\n")}\n${text}`).join("\n\n");
}

const options = {
  entryPoints: [path.join(web, "src", "main.js")],
  nodePaths: [modules],
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2020",
  charset: "ascii",
  legalComments: "none", // all of them are in the banner
  metafile: true,
  write: false,
};
const { metafile } = await esbuild.build(options);
const inside = Object.values(metafile.outputs)[0].inputs;
const used = Object.keys(inside).filter((file) => inside[file].bytesInOutput > 0);
const packages = [...new Set(used.map(packageOf))].filter((name) => name !== "").sort();
const banner = `/*! ${licences(packages).replaceAll("*/", "* /")} */`;
const { outputFiles } = await esbuild.build({ ...options, metafile: false, banner: { js: banner } });
const script = outputFiles[0].text;
if (/<\/script|<!--/i.test(script)) throw new Error("the bundle would end its own script element");
if (!existsSync(folder)) throw new Error(`${folder} is gone`);
writeFileSync(path.join(folder, "charts.js"), script);
writeFileSync(path.join(folder, "charts.sha256"), "sha256-" + createHash("sha256").update(script).digest("base64"));
