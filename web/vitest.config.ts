import { defineConfig } from "vitest/config";

// Tests read the sources of the core, not what was built of them last.
const conditions = ["blockwire-source", "module"];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
});
