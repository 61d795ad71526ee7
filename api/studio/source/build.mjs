// Builds the page into a folder, by default ../static: `node build.mjs [folder]`.
//
// The build is deterministic: `make test-services` compares its output with the committed files.

import { mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { build } from "esbuild";

const folder = process.argv[2] ?? "../static";
await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });

const { metafile } = await build({
  entryPoints: ["main.tsx", "docs.tsx", "site.tsx", "style/main.css", "style/docs.css", "style/site.css", "icon.svg"],
  outdir: folder,
  bundle: true,
  splitting: true,
  format: "esm",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  minify: true,
  charset: "utf8",
  legalComments: "none", // licenses.txt has the notices of all packages
  loader: { ".svg": "copy" },
  entryNames: "[name]-[hash]",
  chunkNames: "[name]-[hash]",
  metafile: true,
});

const outputs = Object.entries(metafile.outputs);
const find = (entry) => outputs.find(([, output]) => output.entryPoint === entry);
const icon = outputs.find(([path]) => path.endsWith(".svg"))[0];
await writePage("index.html", "main.tsx", "style/main.css");
await writePage("docs.html", "docs.tsx", "style/docs.css");
await writePage("site.html", "site.tsx", "style/site.css");
await writeFile(join(folder, "licenses.txt"), await gatherLicenses());

/** Write a page with its icon, style sheet and script. */
async function writePage(name, entry, style) {
  const [script, { imports }] = find(entry);
  const [sheet] = find(style);
  const preloaded = imports.filter((each) => each.kind === "import-statement").map((each) => each.path);
  const page = (await readFile(name, "utf8"))
    .replace("<!-- icon -->", `<link rel="icon" href="/studio/${basename(icon)}">`)
    .replace("<!-- style -->", `<link rel="stylesheet" href="/studio/${basename(sheet)}">`)
    .replace(
      "<!-- script -->",
      [
        ...preloaded.map((path) => `<link rel="modulepreload" href="/studio/${basename(path)}">`),
        `<script type="module" src="/studio/${basename(script)}"></script>`,
      ].join("\n"),
    );
  await writeFile(join(folder, name), page);
}

/** Gather the license of each package of which something is in the page. */
async function gatherLicenses() {
  const packages = new Set();
  for (const path of Object.keys(metafile.inputs)) {
    const found = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path);
    if (found) packages.add(found[1]);
  }
  const texts = [];
  for (const name of [...packages].sort()) {
    const { version } = JSON.parse(await readFile(`node_modules/${name}/package.json`, "utf8"));
    const file = (await readdir(`node_modules/${name}`)).find((each) => /^licen[sc]e/i.test(each));
    const text = await readFile(`node_modules/${name}/${file}`, "utf8");
    texts.push(`${name} ${version}\n\n${text.trim()}\n`);
  }
  return texts.join(`\n${"-".repeat(80)}\n\n`);
}
