/**
 * Text of others before it becomes part of the page: one kind of line end, and labels in place of
 * what acts without being seen (docs/spec/text.md).
 */

import { strings } from "../strings.ts";

const ALWAYS =
  "[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\\xad\\u061c\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u2064\\u2066-\\u2069\\ufeff\\u{d800}-\\u{dfff}\\u{e0000}-\\u{e007f}]";
/** The flag of a subdivision: the only emoji with tags there are. */
const FLAG = "\\u{1f3f4}[\\u{e0030}-\\u{e0039}\\u{e0061}-\\u{e007a}]{3,6}\\u{e007f}";
/**
 * Marks on one letter that are shown, as many as in Unicode's stream-safe text (UAX #15). Browsers take seconds for some
 * ten thousand, and they would paint over the lines around them.
 */
export const MARKS_MAX = 30;
const MARKS = `(?<=\\p{M}{${MARKS_MAX}})\\p{M}+`;
const ACTING = new RegExp(`${FLAG}|${ALWAYS}|${MARKS}`, "gu");
const MARK = /^\p{M}/u;
const MARKS_AT_END = new RegExp(`\\p{M}{1,${MARKS_MAX}}$`, "u");

function label(found: string): string {
  const scalar = found.codePointAt(0) ?? 0;
  if (scalar === 0x1f3f4) return found;
  if (scalar < 0x20) return String.fromCharCode(0x2400 + scalar);
  if (scalar === 0x7f) return "\u2421";
  if (MARK.test(found)) return strings.markdown.marks([...found].length);
  if (scalar >= 0xd800 && scalar <= 0xdfff) return "\ufffd";
  return `<U+${scalar.toString(16).toUpperCase().padStart(4, "0")}>`;
}

/** `text` with labels in place of controls, invisible formatting and too many marks; line feeds and tabs stay. */
export function labelControls(text: string): string {
  return text.replace(ACTING, label);
}

/** What to add to a text that is shown: marks go on counting those at its end. */
export function labelMore(shown: string, more: string): string {
  if (!MARK.test(more)) return labelControls(more);
  const marks = MARKS_AT_END.exec(shown.slice(-2 * MARKS_MAX))?.[0] ?? "";
  return labelControls(marks + more).slice(marks.length);
}

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};

/** Literal text as HTML, for element content and for values in double quotes. */
export function escapeHtml(text: string): string {
  return labelControls(text).replace(/[&<>"]/g, (found) => ESCAPES[found] ?? found);
}

/** Cuts text that arrives in pieces at line ends: LF, CRLF and CR are one end each. */
export class LineEnds {
  #hasReturn = false;

  /**
   * `text` with LF line ends and U+0000 shown. A CR at the end is kept back: it may be the first
   * half of a CRLF.
   */
  feed(text: string): string {
    let whole = this.#hasReturn ? `\r${text}` : text;
    this.#hasReturn = whole.endsWith("\r");
    if (this.#hasReturn) whole = whole.slice(0, -1);
    return whole.replace(/\r\n?/g, "\n").replaceAll("\0", "\u2400");
  }

  /** What was kept back: there will be no more text. */
  finish(): string {
    const rest = this.#hasReturn ? "\n" : "";
    this.#hasReturn = false;
    return rest;
  }
}
