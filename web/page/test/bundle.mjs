// Builds what tests show in a browser into a folder: the gallery of blocks, or another module beside
// this one by its name. They have no server of Vite.
//
// Usage: node page/test/bundle.mjs FOLDER [NAME]

import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const name = process.argv[3] ?? "gallery";

await build({
  configFile: false,
  envFile: false,
  logLevel: "error",
  resolve: { conditions: ["blockwire-source", "module", "browser"] },
  build: {
    outDir: resolve(process.argv[2] ?? "gallery"),
    emptyOutDir: false,
    minify: false,
    target: "es2022",
    lib: {
      entry: fileURLToPath(new URL(`${name}.ts`, import.meta.url)),
      formats: ["es"],
      fileName: name,
    },
  },
});
