// Bundles one module of this workspace, with what it imports, into one ES module.
//
// Usage: node core/build/bundle.mjs ENTRY OUTFILE

import { mkdir, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "vite";

/** Returns the text of the bundle of `entry`; it runs in Node and in a browser. */
export async function bundled(entry) {
  const result = await build({
    configFile: false,
    envFile: false,
    logLevel: "error",
    resolve: { conditions: ["blockwire-source"] },
    build: {
      write: false,
      minify: false,
      target: "es2022",
      lib: { entry: resolve(entry), formats: ["es"], fileName: "bundle" },
    },
  });
  const outputs = (Array.isArray(result) ? result : [result]).flatMap((one) => one.output);
  const chunks = outputs.filter((output) => output.type === "chunk");
  if (chunks.length !== 1) throw new Error(`${entry} makes ${chunks.length} chunks, not one`);
  return chunks[0].code;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const [entry, outfile] = process.argv.slice(2);
  await mkdir(dirname(resolve(outfile)), { recursive: true });
  await writeFile(outfile, await bundled(entry), "utf8");
}
