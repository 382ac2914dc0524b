// Builds the gallery of blocks into a folder, for tests in a browser that have no server of Vite.
//
// Usage: node page/test/bundle.mjs FOLDER

import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

await build({
  configFile: false,
  envFile: false,
  logLevel: "error",
  resolve: { conditions: ["blockwire-source"] },
  build: {
    outDir: resolve(process.argv[2] ?? "gallery"),
    emptyOutDir: false,
    minify: false,
    target: "es2022",
    lib: {
      entry: fileURLToPath(new URL("gallery.ts", import.meta.url)),
      formats: ["es"],
      fileName: "gallery",
    },
  },
});
