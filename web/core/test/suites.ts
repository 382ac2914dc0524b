import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * The path of one file of the public suites, or null where they are not: they belong to others and
 * are read in place. With `CI=true` a missing suite is a failure.
 */
export function suitePath(relative: string): string | null {
  const root =
    process.env.BLOCKWIRE_SUITES ??
    fileURLToPath(new URL("../../../../shared/suites", import.meta.url));
  const path = `${root}/${relative}`;
  if (existsSync(path)) return path;
  if (process.env.CI === "true") throw new Error(`public suite not found: ${path}`);
  return null;
}
