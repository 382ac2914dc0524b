/** How much of words that grow is decided: shown once and not parsed again. */

import type { InlineResult } from "./inline.ts";

/** A tail at most so long is parsed whenever it grows. */
export const TAIL_CHARS_MAX = 2_048;
/** A longer one is parsed when one part in so many is new. */
const TAIL_GROWTH_SHARE = 8;
/** A tail shorter than this is not worth deciding. */
export const TAIL_CHARS_MIN = 256;

/**
 * Words are read in sections of at most so many characters, each by itself. So no words cost more
 * than their length, whatever they are made of.
 */
export const SECTION_CHARS_MAX = 8_192;
/** Where a section might end is tried at so many places, so many characters from each other. */
const SECTION_TRIES = 4;
const SECTION_STEP_CHARS = 1_024;

/**
 * How long the section is that begins `text`; 0: as long as the text. It ends where nothing is
 * open; where there is no such place near its end, what opens in it and would end behind it is text.
 */
export function sectionLength(text: string, isClosedBefore: (words: string) => boolean): number {
  if (text.length <= SECTION_CHARS_MAX) return 0;
  let longest = 0;
  for (let turn = 0; turn < SECTION_TRIES; turn++) {
    const cut = lastCut(text.slice(0, SECTION_CHARS_MAX - turn * SECTION_STEP_CHARS));
    if (cut <= SECTION_CHARS_MAX >> 1) break;
    if (longest === 0) longest = cut;
    if (isClosedBefore(text.slice(0, cut))) return cut;
  }
  if (longest > 0) return longest;
  const isInPair = /[\ud800-\udbff]/.test(text.charAt(SECTION_CHARS_MAX - 1));
  return isInPair ? SECTION_CHARS_MAX - 1 : SECTION_CHARS_MAX;
}

/** Whether a tail of `length` that was parsed at `parsedLength` is parsed again. */
export function isDue(length: number, parsedLength: number): boolean {
  return length <= TAIL_CHARS_MAX || (length - parsedLength) * TAIL_GROWTH_SHARE > length;
}

const WIDE = /[\u3001-\u30ff\u3400-\u9fff\uac00-\ud7af\uff01-\uff5e]/;
/** What makes a place between two ideographs undecided: an address or entity may go on. */
const GOES_ON = /[<&:]/;

/**
 * The last place of `tail` where it may be cut in two that are parsed by themselves, as far as the
 * characters around the place say; 0: none.
 */
export function lastCut(tail: string): number {
  const mayCutWide = !GOES_ON.test(tail);
  for (let at = tail.length - 1; at > 1; at--) {
    const before = tail.charAt(at - 1);
    const after = tail.charAt(at);
    if (before === " " && !/\s/.test(after) && !/\s/.test(tail.charAt(at - 2))) return at;
    if (after === "\n" && !/[\s\\]/.test(before)) return at;
    if (mayCutWide && WIDE.test(before) && WIDE.test(after)) return at;
  }
  return 0;
}

// A "*" before a blank opens nothing, and neither does a "_" inside a word.
const OPEN = /`|\*(?=\S|$)|(?<![\p{L}\p{N}])_(?=\S|$)|~~|\$(?=\S|$)|\\$/u;

/** Whether what was parsed stays as it is, whatever follows behind a place that `lastCut` found. */
export function isDecided(result: InlineResult, source: string, maths: boolean): boolean {
  // A formula may yet be closed; what it escapes is not among the tokens.
  if (maths && /\\[([]/.test(source)) return false;
  let brackets = 0;
  let depth = 0;
  for (const token of result.tokens) {
    depth += token.nesting;
    if (token.type !== "text") continue;
    if (OPEN.test(token.content)) return false;
    for (const char of token.content) {
      if (char === "[") brackets += 1;
      else if (char === "]") brackets = Math.max(0, brackets - 1);
    }
  }
  return brackets === 0 && depth === 0;
}
