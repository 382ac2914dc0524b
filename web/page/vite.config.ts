import { defineConfig } from "vite";

// What `blockwire serve` answers at `/`: one page and its assets, committed so that nobody who
// runs it needs Node. Names carry the hash of their content, so they may be cached for ever.
export default defineConfig({
  base: "/",
  resolve: { conditions: ["blockwire-source", "module", "browser"] },
  worker: { format: "es" },
  build: {
    outDir: "../../src/blockwire/web/static",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    sourcemap: false,
    reportCompressedSize: false,
  },
  // The gateway compares `Origin` with `Host`, so both must be those of this server.
  server: { proxy: { "/v1": { target: "http://127.0.0.1:7890", changeOrigin: false } } },
});
