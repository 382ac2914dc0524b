/** What the buttons for copying give: the source of what is shown, never what was drawn of it. */
import type { BlockState, Json, MessageState } from "@blockwire/core";
import { strings } from "../strings.ts";
import { textMember } from "./blockview.ts";
import { duration } from "./moments.ts";
import { toolStatus, VALUE_PARTS } from "./toolview.ts";
import { hasValue, valueText } from "./values.ts";

const words = strings.blocks;

/** One block: prose as its Markdown source, code and other texts as they are, a tool for people. */
export function blockSource(block: BlockState): string {
  switch (block.type) {
    case "prose":
    case "reasoning":
      return block.textSince(0);
    case "code":
    case "speech":
      return textMember(block, "text");
    case "tool":
      return toolSource(block);
    case "error":
      return `${textMember(block, "message")} (${textMember(block, "code")})`;
    case "notice":
      return textMember(block, "message");
    case "attachment":
      return `${textMember(block, "name")} (${textMember(block, "media_type")})`;
    default:
      return [`[${block.type}]`, textMember(block, "fallback_text")].filter(Boolean).join(" ");
  }
}

function toolParts(block: BlockState): [string, Json][] {
  const parts: [string, Json][] = [];
  for (const part of VALUE_PARTS) {
    const value = block.block[part];
    if (hasValue(part, value)) parts.push([words.valueParts[part], value]);
  }
  return parts;
}

function toolFacts(block: BlockState): string {
  const took = duration(block.block.started_at, block.block.completed_at);
  return [toolStatus(textMember(block, "status")), took].filter(Boolean).join(", ");
}

function toolSource(block: BlockState): string {
  const head = `${textMember(block, "tool")} (${toolFacts(block)})`;
  const parts = toolParts(block).map(([label, value]) => `${label}:\n${valueText(value)}`);
  return [head, ...parts].join("\n\n");
}

/**
 * A message as Markdown: prose as it was written, code in fences, everything else as quotations
 * with a label. Reasoning is left out, as in every copy of an answer.
 */
export function messageMarkdown(message: MessageState): string {
  return message.blocks
    .map(blockMarkdown)
    .filter((text) => text.trim() !== "")
    .join("\n\n");
}

function blockMarkdown(block: BlockState): string {
  switch (block.type) {
    case "prose":
      return block.textSince(0).replace(/^\n+|\s+$/g, "");
    case "reasoning":
      return "";
    case "code":
      return fenced(textMember(block, "text"), textMember(block, "language"));
    case "tool": {
      const head = `> **${words.tool}** ${codeSpan(textMember(block, "tool"))} \u00b7 ${toolFacts(block)}`;
      const parts = toolParts(block).map(
        ([label, value]) =>
          `${label}:\n\n${fenced(valueText(value), typeof value === "string" ? "" : "json")}`,
      );
      return [head, ...parts].join("\n\n");
    }
    case "error":
      return quoted(
        `**${words.error}** ${codeSpan(textMember(block, "code"))}`,
        textMember(block, "message"),
      );
    case "notice":
      return quoted(`**${words.notice}**`, textMember(block, "message"));
    case "speech":
      return quoted(`**${words.spoken}**`, textMember(block, "text"));
    case "attachment":
      return `> **${words.attachment}** ${escaped(textMember(block, "name"))} (${escaped(textMember(block, "media_type"))})`;
    default:
      return quoted(escaped(`[${block.type}]`), textMember(block, "fallback_text"));
  }
}

/** A fence that nothing in `text` closes. */
export function fenced(text: string, language: string): string {
  let longest = 2;
  for (const [run] of text.matchAll(/`{3,}/g)) longest = Math.max(longest, run.length);
  const fence = "`".repeat(longest + 1);
  const info = language.replace(/[`\s]+/g, " ").trim();
  return `${fence}${info}\n${text.replace(/\n$/, "")}\n${fence}`;
}

function codeSpan(text: string): string {
  let longest = 0;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  const mark = "`".repeat(longest + 1);
  const pad = text.startsWith("`") || text.endsWith("`") ? " " : "";
  return `${mark}${pad}${text}${pad}${mark}`;
}

function escaped(text: string): string {
  return text.replace(/[\\`*_[\]<>#&~|!$]/g, "\\$&");
}

function quoted(head: string, text: string): string {
  const lines = text === "" ? [] : ["", ...text.split(/\r\n?|\n/).map(escaped)];
  return [head, ...lines].map((line) => `> ${line}`.trimEnd()).join("\n");
}
