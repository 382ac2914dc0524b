/**
 * Hits of the gateway's search, made ready to be shown as text.
 *
 * Spec: docs/spec/gateway/search.md, "Snippets".
 */
import { markdownText } from "../transcript/plain.ts";

/** A stretch of `text` that matched, in Unicode scalar values. */
export interface Match {
  readonly start: number;
  readonly end: number;
}

export interface SnippetPart {
  readonly text: string;
  readonly isMatch: boolean;
}

/** `text` cut where its matches begin and end; matches outside of it are cut to it. */
export function snippetParts(text: string, matches: readonly Match[]): SnippetPart[] {
  return cut(text, matches).map((part) => ({ ...part, text: readable(part.text) }));
}

/** What of its block a snippet has. */
export interface Edges {
  readonly at_start: boolean;
  readonly at_end: boolean;
}

// Around a match while its marks are read: letters, since only beside those an underscore is a part
// of a word, and cuneiform ones, which nobody misses where somebody writes them.
const BEGIN = "\u{12398}";
const END = "\u{12399}";
const MARKS = /[\u{12398}\u{12399}]/u;
const WELL_MARKED =
  /^[^\u{12398}\u{12399}]*(?:\u{12398}[^\u{12398}\u{12399}]*\u{12399}[^\u{12398}\u{12399}]*)*$/u;

/**
 * A snippet of Markdown without what marks it up. Where all that matched is in a mark (the
 * address of a link, the language of a fence), the snippet is shown as it was written.
 */
export function markdownParts(
  text: string,
  matches: readonly Match[],
  edges: Edges,
): SnippetPart[] {
  let marked = cut(text, matches)
    .map((part) => {
      const own = part.text.split(MARKS).join("");
      return part.isMatch ? BEGIN + own + END : own;
    })
    .join("");
  // Links that the snippet cuts.
  if (!edges.at_start) marked = marked.replace(/^([^[\]\n]*)\]\([^()\s]*\)/u, "$1");
  if (!edges.at_end) marked = marked.replace(/!?\[([^[\]\n]*)\]\([^()\s]*$/u, "$1");
  const plain = markdownText(marked).replace(/([^\s.!?:;,…])\n+/gu, "$1 · ");
  // Of several matches those that are seen are enough.
  const isWhole = WELL_MARKED.test(plain) && (plain.includes(BEGIN) || !marked.includes(BEGIN));
  if (!isWhole) return snippetParts(text, matches);
  return plain.split(MARKS).flatMap((stretch, index) => {
    return stretch === "" ? [] : [{ text: readable(stretch), isMatch: index % 2 === 1 }];
  });
}

function cut(text: string, matches: readonly Match[]): SnippetPart[] {
  // Places count scalars, strings count UTF-16 units.
  const scalars = Array.from(text);
  const parts: SnippetPart[] = [];
  let at = 0;
  const add = (end: number, isMatch: boolean): void => {
    if (end > at) parts.push({ text: scalars.slice(at, end).join(""), isMatch });
    at = Math.max(at, end);
  };
  for (const match of matches) {
    add(Math.min(match.start, scalars.length), false);
    add(Math.min(match.end, scalars.length), true);
  }
  add(scalars.length, false);
  return parts;
}

/** One line: breaks become blanks, other controls are shown as what Unicode has for them. */
function readable(text: string): string {
  let line = "";
  for (const character of text.replace(/\s+/gu, " ")) {
    const code = character.codePointAt(0) ?? 0;
    if (code < 0x20) line += String.fromCodePoint(0x2400 + code);
    else if (code === 0x7f) line += "\u2421";
    // Overrides of direction would turn the words around it.
    else if ((code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069)) continue;
    else line += character;
  }
  return line;
}

/** What a hit must have to be grouped. */
export interface HitLike {
  readonly conversation_id: string;
  readonly title?: string | undefined;
}

export interface HitGroup<T extends HitLike> {
  readonly conversationId: string;
  readonly title: string | undefined;
  readonly hits: readonly T[];
}

/** Hits by conversation; conversations, and hits within one, stay in the order of the search. */
export function groupHits<T extends HitLike>(hits: readonly T[]): HitGroup<T>[] {
  const groups = new Map<
    string,
    { conversationId: string; title: string | undefined; hits: T[] }
  >();
  for (const hit of hits) {
    const group = groups.get(hit.conversation_id);
    if (group) group.hits.push(hit);
    else {
      groups.set(hit.conversation_id, {
        conversationId: hit.conversation_id,
        title: hit.title,
        hits: [hit],
      });
    }
  }
  return [...groups.values()];
}
