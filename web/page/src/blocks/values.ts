import { encodeJson, isObject, type Json, member, memberNames } from "@blockwire/core";
import { normaliseBreaks, shownLine } from "./shown.ts";

/** Longest text of a value that is shown at first, in UTF-16 units. */
export const VALUE_CHARS_MAX = 8 * 1024;
/** Most lines of a value that are shown at first. */
export const VALUE_LINES_MAX = 200;
/** How much more of a value one press of the button shows: a megabyte of text is laid out at a time. */
export const VALUE_STEP_CHARS = 1024 * 1024;
/** Longest summary of a tool's input, in UTF-16 units. */
export const SUMMARY_CHARS_MAX = 160;

/** Whether there is something to show of a tool's member; an empty input says nothing. */
export function hasValue(name: string, value: Json | undefined): value is Json {
  if (value === undefined || value === null) return false;
  if (name !== "input") return true;
  return value !== "" && !(isObject(value) && memberNames(value).length === 0);
}

/** A value for people: a string as it is, with its line breaks; anything else as indented JSON. */
export function valueText(value: Json): string {
  return typeof value === "string" ? normaliseBreaks(value) : jsonText(value);
}

/**
 * JSON with two spaces for each level; integers are exact at any size. Depth is bounded by the
 * door at which the value came in (64 levels).
 *
 * @param charsMax Stops soon after so many characters: what is cut off anyway is not written.
 */
export function jsonText(value: Json, charsMax = Number.POSITIVE_INFINITY): string {
  const parts: string[] = [];
  let length = 0;
  const put = (text: string): void => {
    parts.push(text);
    length += text.length;
  };
  const write = (item: Json, indent: string): void => {
    if (length > charsMax) return;
    const inner = `${indent}  `;
    if (Array.isArray(item)) {
      if (item.length === 0) {
        put("[]");
        return;
      }
      put("[");
      for (const [index, member] of item.entries()) {
        if (length > charsMax) return;
        put(`${index === 0 ? "" : ","}\n${inner}`);
        write(member, inner);
      }
      put(`\n${indent}]`);
    } else if (isObject(item)) {
      const names = memberNames(item);
      if (names.length === 0) {
        put("{}");
        return;
      }
      put("{");
      for (const [index, name] of names.entries()) {
        if (length > charsMax) return;
        put(`${index === 0 ? "" : ","}\n${inner}${encodeJson(name)}: `);
        write(member(item, name) ?? null, inner);
      }
      put(`\n${indent}}`);
    } else {
      put(encodeJson(item));
    }
  };
  write(value, "");
  return parts.join("");
}

/** How many UTF-16 units of `text` fit within both bounds; never between the halves of a pair. */
export function boundedLength(
  text: string,
  charsMax: number = VALUE_CHARS_MAX,
  linesMax: number = VALUE_LINES_MAX,
): number {
  let end = Math.min(text.length, charsMax);
  let at = -1;
  for (let lines = 0; lines < linesMax; lines += 1) {
    at = text.indexOf("\n", at + 1);
    if (at < 0 || at >= end) {
      at = -1;
      break;
    }
  }
  if (at >= 0) end = at;
  return end < text.length && isHighSurrogate(text.charCodeAt(end - 1)) ? end - 1 : end;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

/**
 * One line that says what a tool was asked: its one text where it has one, else its members.
 * Bounded by {@link SUMMARY_CHARS_MAX}; the whole input is in the card.
 */
export function summaryLine(input: Json | undefined): string {
  if (!hasValue("input", input)) return "";
  if (!isObject(input)) return oneLine(shortText(input));
  const names = memberNames(input);
  const first = names[0];
  if (names.length === 1 && first !== undefined)
    return oneLine(shortText(member(input, first) ?? null));
  const pieces: string[] = [];
  let length = 0;
  for (const name of names) {
    if (length > SUMMARY_CHARS_MAX) break;
    const piece = `${name}: ${shortText(member(input, name) ?? null)}`;
    pieces.push(piece);
    length += piece.length;
  }
  return oneLine(pieces.join(", "));
}

function shortText(value: Json): string {
  // Cut first: an input of megabytes has a summary, too.
  const text = typeof value === "string" ? value : compactText(value);
  return text.length > 4 * SUMMARY_CHARS_MAX ? text.slice(0, 4 * SUMMARY_CHARS_MAX) : text;
}

/** The beginning of a value as JSON in one line. */
function compactText(value: Json): string {
  // Line breaks stand between tokens only: those of texts are escaped.
  return jsonText(value, SUMMARY_CHARS_MAX)
    .replace(/([[{])\n\s*/g, "$1")
    .replace(/\n\s*([\]}])/g, "$1");
}

function oneLine(text: string): string {
  const line = shownLine(text.replace(/\s+/g, " "));
  if (line.length <= SUMMARY_CHARS_MAX) return line;
  return `${line.slice(0, boundedLength(line, SUMMARY_CHARS_MAX, 1))}\u2026`;
}
