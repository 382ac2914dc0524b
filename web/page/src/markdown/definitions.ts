/** What of a text is decided by markdown-it's own rules for blocks: link definitions, info strings. */

import MarkdownIt from "markdown-it";

export interface Definition {
  readonly href: string;
  readonly title: string;
}

/** Longest address of a definition, which many links may name with few characters each. */
export const DEFINED_CHARS_MAX = 1_024;

const FOOTNOTE = /^\[\^/;
const parser = new MarkdownIt("zero");
parser.block.ruler.enable(["reference", "paragraph"]);

interface Found {
  /** Characters that the definitions take. */
  readonly length: number;
  readonly definitions: ReadonlyMap<string, Definition>;
}

const NONE: Found = { length: 0, definitions: new Map() };

/**
 * The link definitions with which a paragraph begins. Those of footnotes are text: they would
 * vanish.
 *
 * @param source - Lines without blanks before them.
 */
export function takeDefinitions(source: string): Found {
  if (!source.startsWith("[") || FOOTNOTE.test(source)) return NONE;
  const env: { references?: Record<string, Definition> } = {};
  const tokens: InstanceType<typeof parser.core.State>["tokens"] = [];
  parser.block.parse(source, parser, env, tokens);
  let lines = 0;
  for (const token of tokens) {
    if (token.type !== "reference_definition" || token.map === null) break;
    lines = token.map[1];
  }
  if (lines === 0) return NONE;
  let length = 0;
  for (let line = 0; line < lines; line++) {
    const end = source.indexOf("\n", length);
    length = end < 0 ? source.length : end + 1;
  }
  const definitions = new Map<string, Definition>();
  for (const [label, { href, title }] of Object.entries(env.references ?? {})) {
    if (href.length <= DEFINED_CHARS_MAX) definitions.set(label, { href, title });
  }
  return { length, definitions };
}

/** Whether text with more behind it may be a definition, as far as its label shows. */
export function mayDefine(source: string): boolean {
  return /^\[(?!\^)(?:\\[\s\S]|[^[\]\\]){0,999}(?:\]:|\]?$)/.test(source);
}

/** The language of a fence: the first word of what stands behind its marks. */
export function fenceLanguage(info: string): string {
  return parser.utils.unescapeAll(info.trim()).split(/\s+/)[0] ?? "";
}
