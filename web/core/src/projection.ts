/**
 * Blocks to plain text: what is copied, and what a person pastes elsewhere.
 *
 * Spec: docs/spec/rendering/text.md. A projection: it derives from blocks and is never written back. The
 * text is raw, exactly what was said; labels for controls are a matter of terminals.
 */

import { BlockState } from "./blockstate.ts";
import type { Block, Message } from "./events.ts";
import { encodeJson } from "./json.ts";
import { MessageState } from "./messagestate.ts";
import { countChars } from "./names.ts";
import type { Json } from "./values.ts";

/** What parts the texts of two blocks. */
export const BLOCK_GAP = "\n\n";

/** Unicode scalar values of a tool's input, output or error in text. */
export const VALUE_CHARS_MAX = 2000;

export interface TextOptions {
  /** Whether the text of a message holds what the model thought; false where nobody asked for it. */
  readonly withReasoning?: boolean;
}

/** Returns a message, or one block of it, as text. A message without text gives "". */
export function plainText(
  thing: MessageState | BlockState | Message | Block,
  options: TextOptions = {},
): string {
  if (thing instanceof MessageState) return messageText(thing.message, options);
  if (thing instanceof BlockState) return blockText(thing.block);
  return isMessage(thing) ? messageText(thing, options) : blockText(thing);
}

function isMessage(thing: Message | Block): thing is Message {
  return Array.isArray(thing.content) && thing.type === undefined;
}

function messageText(message: Message, { withReasoning = false }: TextOptions): string {
  return message.content
    .filter((block) => withReasoning || block.type !== "reasoning")
    .map(blockText)
    .filter((text) => text !== "")
    .join(BLOCK_GAP);
}

function blockText(block: Block): string {
  return (TEXTS.get(block.type) ?? unknownText)(block);
}

/** Returns a tool's value as text: a string as it is, anything else as JSON, bounded. */
export function valueText(value: Json, charsMax: number = VALUE_CHARS_MAX): string {
  return boundedText(typeof value === "string" ? value : encodeJson(value), charsMax);
}

/** Returns `text`, or its first `charsMax` Unicode scalar values and how many are missing. */
export function boundedText(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const count = countChars(text);
  if (count <= charsMax) return text;
  return `${firstChars(text, charsMax)}\u2026 (${count - charsMax} more characters)`;
}

function firstChars(text: string, count: number): string {
  let end = 0;
  for (let left = count; left > 0; left -= 1) {
    end += (text.codePointAt(end) as number) > 0xffff ? 2 : 1;
  }
  return text.slice(0, end);
}

const textOf =
  (member: string) =>
  (block: Block): string =>
    block[member] as string;

function toolText(block: Block): string {
  const lines = [`${block.tool} (${block.status})`];
  for (const member of ["input", "output", "error"]) {
    const value = block[member];
    if (value !== undefined && value !== null) lines.push(`${member}: ${valueText(value)}`);
  }
  return lines.join("\n");
}

function unknownText(block: Block): string {
  const fallback = block.fallback_text;
  const name = `[${block.type}]`;
  return typeof fallback === "string" && fallback !== "" ? `${name} ${fallback}` : name;
}

const TEXTS: ReadonlyMap<string, (block: Block) => string> = new Map([
  ["prose", textOf("markdown")],
  ["code", textOf("text")],
  ["reasoning", textOf("text")],
  ["speech", textOf("text")],
  ["error", textOf("message")],
  ["notice", textOf("message")],
  ["tool", toolText],
  ["attachment", (block: Block) => `${block.name} (${block.media_type})`],
]);
