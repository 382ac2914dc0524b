import { defineConfig, type Plugin } from "vite";

/**
 * Leaves out dialects that nobody imports. A module of colours makes all of its own when it is loaded, by calls
 * that nobody has called pure: SQL alone has thirteen, each with lists of words.
 */
const unusedDialects: Plugin = {
  name: "unused-dialects",
  transform(code, id) {
    if (!id.includes("/legacy-modes/mode/")) return null;
    const pure = "/* @__PURE__ */";
    return code
      .replace(/^(export const \w+ = )(?=\w+\()/gm, `$1${pure} `)
      .replace(/(?<![\w.]|function )(?=(?:set|words)\()/g, `${pure} `);
  },
};

// What `blockwire serve` answers at `/`: one page and its assets, committed so that nobody who
// runs it needs Node. Names carry the hash of their content, so they may be cached for ever.
export default defineConfig({
  base: "/",
  plugins: [unusedDialects],
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
