/** Mathematics inside of words, where it is on: `$…$`, `$$…$$`, `\(…\)` and `\[…\]`. */

import type { MarkdownIt } from "markdown-it";

/** Longest formula. */
const MATHS_CHARS_MAX = 4_096;

/** Where the next end of each kind stands in a text; so that nobody searches for it twice. */
export type EndCache = Map<string, number>;

/** Whether `close` stands in `source` at or behind `from`, near enough. */
function hasEnd(source: string, close: string, from: number, cache: EndCache): boolean {
  let at = cache.get(close) ?? -1;
  if (at < from) {
    at = source.indexOf(close, from);
    if (at < 0) at = source.length + MATHS_CHARS_MAX;
    cache.set(close, at);
  }
  return at - from <= MATHS_CHARS_MAX;
}

/** Where the formula that begins at `start` ends, and its delimiter; null: none begins. */
export function mathsAt(
  source: string,
  start: number,
  cache: EndCache,
): { end: number; open: string } | null {
  const two = source.slice(start, start + 2);
  const open = two === "$$" || two === "\\(" || two === "\\[" ? two : two.charAt(0);
  const close = { $: "$", $$: "$$", "\\(": "\\)", "\\[": "\\]" }[open];
  if (close === undefined) return null;
  const from = start + open.length;
  if (open === "$" && /^(?:\s|$)/.test(source.charAt(from))) return null;
  if (!hasEnd(source, close, from, cache)) return null;
  const until = Math.min(source.length, from + MATHS_CHARS_MAX);
  for (let at = from; at < until; at++) {
    if (source.startsWith(close, at)) {
      // Money: "$5 and $6".
      const isMoney =
        open === "$" && (/\s/.test(source.charAt(at - 1)) || /\d/.test(source.charAt(at + 1)));
      if (at > from && !isMoney) return { end: at + close.length, open };
      if (open === "$") return null;
    }
    if (source.charAt(at) === "\\") at += 1;
  }
  return null;
}

/** Teaches `parser` formulas; each is a token of type `maths` with its source, as written. */
export function addMaths(parser: MarkdownIt): void {
  const caches = new WeakMap<object, EndCache>();
  parser.inline.ruler.before("escape", "maths", (state, silent) => {
    const char = state.src.charAt(state.pos);
    if (char !== "$" && char !== "\\") return false;
    let cache = caches.get(state);
    if (cache === undefined) {
      cache = new Map();
      caches.set(state, cache);
    }
    const found = mathsAt(state.src, state.pos, cache);
    if (found === null || found.end > state.posMax) return false;
    if (!silent) {
      const token = state.push("maths", "", 0);
      token.content = state.src.slice(state.pos, found.end);
      token.markup = found.open;
    }
    state.pos = found.end;
    return true;
  });
}
