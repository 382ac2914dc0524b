// Makes core/src/generated/content.ts of the JSON Schemas that `blockwire schema` prints.
//
// Usage: npm run generate --workspace core
// The program is $BLOCKWIRE, or the one of the project's own environment, or the one on the path.
// tests/web/test_generated_types.py fails when the file is not what this makes of today's schemas.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { compile } from "json-schema-to-typescript";

const here = fileURLToPath(import.meta.url);
const core = join(dirname(here), "..");
const outfile = join(core, "src", "generated", "content.ts");

// Definitions that become a type of our own, or of this file, wherever a schema refers to them.
const REFERENCES = {
  json: "Json",
  id: "string",
  block: "Block",
  block_tool: "Block",
  tool_changes: "ToolChanges",
  message: "Message",
  complete_message: "Message",
  request: "Request",
  turn: "TurnInfo",
};
// Types that have another name than their schema.
const NAMES = { turn: "turn_info", message: "message_members", request: "request_members" };
// Made by hand in events.ts: they are open, and what is more, unions.
const LEFT_OUT = new Set([
  "block",
  "block_unknown",
  "complete_message",
  "event",
  "event_unknown",
  "engine-request",
]);

function program() {
  const own = join(core, "..", "..", ".venv", "bin", "blockwire");
  return process.env.BLOCKWIRE ?? (existsSync(own) ? own : "blockwire");
}

function printed(...args) {
  return execFileSync(program(), ["schema", ...args], { encoding: "utf8" });
}

function sha256(text) {
  return createHash("sha256").update(text).digest("hex");
}

/** Returns the schema in the part of the language that the compiler makes readable types of. */
function simplified(schema, definitions) {
  if (Array.isArray(schema)) return schema.map((item) => simplified(item, definitions));
  if (typeof schema !== "object" || schema === null) return schema;
  if (typeof schema.$ref === "string") {
    const name = schema.$ref.slice("#/$defs/".length);
    const type = schema.type === "object" && name === "json" ? "JsonObject" : REFERENCES[name];
    return type === undefined ? simplified(definitions[name], definitions) : { tsType: type };
  }
  // Bounds, patterns and conditions say nothing that a type could.
  const kept = {};
  for (const name of ["title", "type", "const", "enum", "required"]) {
    if (name in schema) kept[name] = schema[name];
  }
  if ("items" in schema) kept.items = simplified(schema.items, definitions);
  if ("properties" in schema) {
    kept.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([name, member]) => [
        name,
        simplified(member, definitions),
      ]),
    );
    kept.additionalProperties = false;
  }
  return kept;
}

async function typeOf(name, text) {
  const schema = JSON.parse(text);
  const simple = simplified(schema, schema.$defs);
  simple.title = NAMES[name] ?? name;
  return compile(simple, simple.title, { bannerComment: "" });
}

const names = printed()
  .split("\n")
  .filter((name) => name !== "" && !name.startsWith("terminal_"));
const texts = new Map(names.map((name) => [name, printed(name)]));
const types = await Promise.all(
  names.filter((name) => !LEFT_OUT.has(name)).map((name) => typeOf(name, texts.get(name))),
);
const body = `import type { Block, Message, Request } from "../events.ts";
import type { Json, JsonObject } from "../values.ts";

${types.join("\n")}`;
const header = `/**
 * Types of what is on the wire, made by core/build/generate.mjs. Do not edit.
 *
 * schemas: ${sha256([...texts].map(([name, text]) => `${name}\n${text}`).join(""))}
 * generator: ${sha256(readFileSync(here))}
 * types: ${sha256(body)}
 */

`;
mkdirSync(dirname(outfile), { recursive: true });
writeFileSync(outfile, header + body, "utf8");
