// Writes what was built, and of what: `src/blockwire/web/static/manifest.json`. A test of the
// Python side compares both without Node, so that built files which are older than their sources
// cannot stay unnoticed. Run after `vite build`: `node build/manifest.mjs [FOLDER]`.

import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

const PROJECT = resolve(dirname(fileURLToPath(import.meta.url)), "../../..");
const FOLDER = resolve(process.argv[2] ?? join(PROJECT, "src/blockwire/web/static"));
const NAME = "manifest.json";

// Everything that the build reads; folders stand for all that is in them.
const SOURCES = [
  "web/.npmrc",
  "web/package.json",
  "web/package-lock.json",
  "web/tsconfig.base.json",
  "web/core/package.json",
  "web/core/tsconfig.json",
  "web/core/src",
  "web/page/package.json",
  "web/page/tsconfig.json",
  "web/page/vite.config.ts",
  "web/page/index.html",
  "web/page/build",
  "web/page/src",
];

/** Yields the files at or below `path`. */
function* filesOf(path) {
  let entries;
  try {
    entries = readdirSync(path, { withFileTypes: true });
  } catch (error) {
    if (error.code !== "ENOTDIR") throw error;
    yield path;
    return;
  }
  for (const entry of entries) yield* filesOf(join(path, entry.name));
}

const nameIn = (folder, path) => relative(folder, path).split(sep).join("/");
const digestOf = (content) => createHash("sha256").update(content).digest("hex");
// By code units, as Python sorts ASCII, and not by the locale of whoever builds.
const sorted = (pairs) => Object.fromEntries(pairs.sort(([a], [b]) => (a < b ? -1 : 1)));

const assets = [...filesOf(FOLDER)]
  .map((path) => [nameIn(FOLDER, path), readFileSync(path)])
  .filter(([name]) => name !== NAME)
  .map(([name, content]) => [name, { sha256: digestOf(content), size_bytes: content.length }]);

const sources = SOURCES.flatMap((name) => [...filesOf(join(PROJECT, name))]).map((path) => [
  nameIn(PROJECT, path),
  digestOf(readFileSync(path)),
]);

const manifest = { assets: sorted(assets), sources: sorted(sources) };
writeFileSync(join(FOLDER, NAME), `${JSON.stringify(manifest, null, 1)}\n`);
