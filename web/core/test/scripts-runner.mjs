// Reads scripts of tests/web/scripts.py on its standard input and compares what this reducer makes
// of them. Prints the verdict as JSON; ends with 1 when there is a difference.
//
// Usage: node core/test/scripts-runner.mjs BUNDLE < scripts.jsonl
// BUNDLE is what core/build/bundle.mjs makes of core/test/compare.ts.

import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const { compareScripts } = await import(pathToFileURL(resolve(process.argv[2])).href);
const total = { scripts: 0, events: 0, refused: 0, states: 0, differences: [] };
for await (const line of createInterface({
  input: process.stdin,
  crlfDelay: Number.POSITIVE_INFINITY,
})) {
  const verdict = compareScripts([line]);
  for (const name of ["scripts", "events", "refused", "states"]) total[name] += verdict[name];
  total.differences.push(...verdict.differences);
}
process.stdout.write(`${JSON.stringify(total)}\n`);
process.exitCode = total.differences.length === 0 ? 0 : 1;
