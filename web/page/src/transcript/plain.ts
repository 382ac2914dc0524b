/**
 * The text of a block as a person sees it, without drawing it: what the search looks through.
 *
 * For Markdown a look at each line, not a parser: markers of structure and emphasis go, what they mark stays. Breaks
 * inside of a paragraph are blanks, breaks between lines that stand apart are line feeds.
 */
import { type BlockState, type Json, JsonReal } from "@blockwire/core";

/** Characters of one block that are looked through. Beyond, nobody reads on a page. */
export const SEARCHED_MAX = 4_000_000;

/** Characters of one value of a tool. */
const VALUE_MAX = 65_536;

/** The text of a block; empty where it shows none. */
export function blockText(block: BlockState): string {
  if (block.type === "prose") return markdownText(block.textSince(0).slice(0, SEARCHED_MAX));
  if (block.field !== undefined) return block.textSince(0).slice(0, SEARCHED_MAX);
  const members = block.block as unknown as Readonly<Record<string, Json | undefined>>;
  const text = (name: string) => (typeof members[name] === "string" ? [members[name]] : []);
  switch (block.type) {
    case "code":
    case "speech":
      return text("text").join("").slice(0, SEARCHED_MAX);
    case "tool":
      return [
        ...text("tool"),
        ...["input", "output", "error"].flatMap((name) => {
          const value = members[name];
          return value === undefined ? [] : [valueText(value).slice(0, VALUE_MAX)];
        }),
      ].join("\n");
    case "error":
    case "notice":
      return text("message").join("\n");
    case "attachment":
      return text("name").join("\n");
    default:
      return text("fallback_text").join("\n");
  }
}

/** A value of JSON with a line for each member and item, as cards show it. */
function valueText(value: Json, indent = ""): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (value === null || typeof value !== "object" || value instanceof JsonReal)
    return String(value);
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    if (value.length === 0) return "[]";
    return `[\n${value.map((item) => inner + valueText(item, inner)).join(",\n")}\n${indent}]`;
  }
  const members = Object.entries(value).map(
    ([name, item]) => `${inner}${JSON.stringify(name)}: ${valueText(item as Json, inner)}`,
  );
  return members.length === 0 ? "{}" : `{\n${members.join(",\n")}\n${indent}}`;
}

const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/;
const OUTER = /^(?: {0,3}(?:>|[-+*](?=\s)|\d{1,9}[.)](?=\s)) ?)+/;
const HEADING = /^ {0,3}#{1,6}(?:\s+|$)(.*?)(?:\s+#+)?\s*$/;

/** Characters of a line in which structure is looked for; a longer one is words. Some patterns go back and forth. */
const STRUCTURE_MAX = 2_000;

const RULE = /^ {0,3}(?:(?:-\s*){3,}|(?:_\s*){3,}|(?:\*\s*){3,}|=+\s*)$/;
const TABLE_RULE = /^ {0,3}\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;
const DEFINITION = /^ {0,3}\[[^\]]+\]:\s/;

/** Markdown as text. Linear in its length. */
export function markdownText(source: string): string {
  const parts: string[] = [];
  let paragraph: string[] = [];
  let fence = "";
  const flush = () => {
    if (paragraph.length > 0) parts.push(inlineText(paragraph.join(" ")));
    paragraph = [];
  };
  for (const whole of source.split(/\r\n|\r|\n/)) {
    const outer = OUTER.exec(whole)?.[0] ?? "";
    const line = whole.slice(outer.length);
    const mark = FENCE.exec(line);
    const isShort = line.length <= STRUCTURE_MAX;
    if (fence !== "") {
      const isEnd = mark?.[1]?.startsWith(fence) === true && mark[2]?.trim() === "";
      if (isEnd) fence = "";
      else parts.push(outer.includes(">") ? line : whole);
    } else if (mark !== null && !(mark[1]?.startsWith("`") && mark[2]?.includes("`"))) {
      flush();
      fence = mark[1] ?? "";
    } else if (line.trim() === "" || (isShort && (RULE.test(line) || DEFINITION.test(line)))) {
      flush();
    } else if (isShort && line.includes("|") && TABLE_RULE.test(line)) flush();
    else if (line.includes("|") && /^\s*\|/.test(line)) {
      flush();
      const cells = line
        .trim()
        .replace(/^\||\|$/g, "")
        .split(/(?<!\\)\|/);
      parts.push(cells.map((cell) => inlineText(cell.trim())).join("\n"));
    } else {
      const heading = isShort ? HEADING.exec(line) : null;
      if (outer !== "" || heading !== null) flush();
      paragraph.push(heading?.[1] ?? line.trim());
      if (heading !== null) flush();
    }
  }
  flush();
  return parts.join("\n");
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00a0",
};

// In their order: code first, which holds no other; then what is escaped; links; tags; emphasis.
const INLINE =
  /(?<!`)(`{1,8})(?!`)([\s\S]*?[^`])\1(?!`)|\\([!-/:-@[-`{-~])|!?\[((?:[^[\]\\]|\\.)*)\](?:\([^()\s]*(?:\s+"[^"]*")?\)|\[[^\]]*\])|<((?:https?|mailto):[^<>\s]*)>|&(#x?[0-9a-f]+|[a-z]+);|(\*{1,3}|~~|(?<![\p{L}\p{N}])_{1,3}|_{1,3}(?![\p{L}\p{N}]))/giu;

/** The words of a paragraph without what marks them up. */
function inlineText(source: string): string {
  if (!/[`\\[<&*_~]/.test(source)) return source;
  return source.replace(
    INLINE,
    (
      found: string,
      _ticks?: string,
      code?: string,
      escaped?: string,
      label?: string,
      address?: string,
      entity?: string,
      mark?: string,
      at?: number,
    ) => {
      if (code !== undefined) return code.replace(/^ (.*\S.*) $/, "$1");
      if (escaped !== undefined) return escaped;
      if (label !== undefined) return inlineText(label);
      if (address !== undefined) return address;
      if (entity !== undefined) return entityText(entity) ?? found;
      return mark !== undefined && isMark(source, at ?? 0, mark) ? "" : found;
    },
  );
}

/** Whether stars and the like stand at a word; among blanks they are what they look like. */
function isMark(source: string, at: number, mark: string): boolean {
  const before = source[at - 1] ?? " ";
  const after = source[at + mark.length] ?? " ";
  return !(/\s/.test(before) && /\s/.test(after));
}

function entityText(name: string): string | undefined {
  if (!name.startsWith("#")) return ENTITIES[name.toLowerCase()];
  const isHex = name[1] === "x" || name[1] === "X";
  const scalar = Number.parseInt(name.slice(isHex ? 2 : 1), isHex ? 16 : 10);
  return scalar > 0 && scalar <= 0x10ffff ? String.fromCodePoint(scalar) : undefined;
}

/**
 * Text ready to be compared: no capitals, any run of blanks one blank. With `map` the caller learns where each unit
 * came from: it is called for every unit that is kept, with its index in `text`.
 */
export function folded(text: string, map?: (index: number) => void): string {
  let lower = text.toLowerCase();
  // One letter (İ) has two when it is small: then letter by letter, so that places stay right.
  if (lower.length !== text.length) {
    lower = Array.from({ length: text.length }, (_, at) => {
      const unit = text[at] ?? "";
      const small = unit.toLowerCase();
      return small.length === 1 ? small : unit;
    }).join("");
  }
  lower = lower.replaceAll("ς", "σ");
  if (map === undefined) return lower.replace(/[^\S\n]+/g, " ");
  let folded = "";
  let wasBlank = false;
  for (let at = 0; at < lower.length; at += 1) {
    const unit = lower[at] ?? "";
    const isBlank = unit !== "\n" && /\s/.test(unit);
    if (isBlank && wasBlank) continue;
    wasBlank = isBlank;
    folded += isBlank ? " " : unit;
    map(at);
  }
  return folded;
}

/** Where a folded query stands in a folded text; matches do not overlap. */
export function placesOf(query: string, text: string): number[] {
  const places: number[] = [];
  if (query === "") return places;
  for (let at = text.indexOf(query); at >= 0; at = text.indexOf(query, at + query.length)) {
    places.push(at);
  }
  return places;
}
