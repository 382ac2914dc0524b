/** Where the vectors and the public suites are, and how their lines are read. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { decodeJson, type JsonObject } from "../src/index.ts";

const project = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..");
const suites = process.env.BLOCKWIRE_SUITES ?? join(project, "..", "shared", "suites");

/** The records of one file of `vectors/content`; those of one kind, where it has several. */
export function vectors(name: string, kind?: string): JsonObject[] {
  const text = readFileSync(join(project, "vectors", "content", `${name}.jsonl`), "utf8");
  const records = text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => decodeJson(line) as JsonObject);
  return kind === undefined ? records : records.filter((record) => record.kind === kind);
}

/** The names of all files of `vectors/content`, without their ending. */
export function vectorNames(): string[] {
  return readdirSync(join(project, "vectors", "content"))
    .filter((name) => name.endsWith(".jsonl"))
    .map((name) => name.slice(0, -".jsonl".length));
}

/**
 * The path of a public suite, or undefined where this machine has none. Like the tests in Python:
 * with `CI=true` a missing suite is a failure.
 */
export function suitePath(relative: string): string | undefined {
  const path = join(suites, relative);
  if (existsSync(path)) return path;
  if (process.env.CI === "true") throw new Error(`public suite not found: ${path}`);
  return undefined;
}
