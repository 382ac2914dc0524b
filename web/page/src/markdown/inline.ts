/**
 * Words of Markdown as HTML: a string, made of the tokens of markdown-it.
 *
 * All tags are written here, text of others passes `escapeHtml`; the sanitiser (sanitise.ts) that
 * reads it afterwards must find nothing to take away.
 */

import createParser, { type MarkdownIt } from "markdown-it";
import { strings } from "../strings.ts";
import type { Definition } from "./definitions.ts";
import { isMisleading, LINK_REL, linkTitle, safeTarget, type Target } from "./links.ts";
import { addMaths } from "./mathsrule.ts";
import { escapeHtml } from "./text.ts";

type Token = ReturnType<MarkdownIt["parseInline"]>[number];

/** Emphasis inside of emphasis; deeper words are shown without it. */
const INLINE_LEVELS_MAX = 16;

function makeParser(maths: boolean): MarkdownIt {
  const parser = createParser("commonmark", { html: false, linkify: true, maxNesting: 64 });
  parser.enable(["strikethrough", "linkify"]);
  parser.inline.ruler.disable("html_inline");
  // Names of files look like names of hosts: only what says its scheme is an address.
  parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });
  parser.linkify.add("//", null).add("ftp:", null);
  // Hosts in Punycode stay so: decoded, they may look like others.
  const readable = parser.normalizeLinkText.bind(parser);
  parser.normalizeLinkText = (url) => (/xn--/i.test(url) ? url : readable(url));
  if (maths) addMaths(parser);
  return parser;
}

const parsers = new Map<boolean, MarkdownIt>();

function parserFor(maths: boolean): MarkdownIt {
  let parser = parsers.get(maths);
  if (parser === undefined) {
    parser = makeParser(maths);
    parsers.set(maths, parser);
  }
  return parser;
}

export interface InlineResult {
  readonly html: string;
  /** Labels that were looked up and not found, normalised. */
  readonly missing: ReadonlySet<string>;
  readonly tokens: readonly Token[];
}

export interface InlineContext {
  readonly maths: boolean;
  readonly definitions: ReadonlyMap<string, Definition>;
}

/** Parses the words of one leaf. */
export function parseInline(source: string, context: InlineContext): InlineResult {
  const missing = new Set<string>();
  const references = new Proxy<Record<string, Definition>>(Object.create(null), {
    get(_target, label) {
      if (typeof label !== "string") return undefined;
      const found = context.definitions.get(label);
      if (found === undefined) missing.add(label);
      return found;
    },
  });
  const [first] = parserFor(context.maths).parseInline(source, { references });
  const tokens = first?.children ?? [];
  return { html: new InlineWriter().write(tokens), missing, tokens };
}

/** What a picture shows as words. */
function plainWords(tokens: readonly Token[] | null): string {
  let words = "";
  for (const token of tokens ?? []) {
    if (token.type === "image") words += plainWords(token.children);
    else if (token.type === "softbreak" || token.type === "hardbreak") words += " ";
    else words += token.content;
  }
  return words;
}

interface OpenLink {
  readonly target: Target | null;
  readonly address: string;
  /** The words are the address. */
  readonly isNamed: boolean;
  words: string;
}

class InlineWriter {
  #out = "";
  readonly #closing: string[] = [];
  #link: OpenLink | null = null;

  write(tokens: readonly Token[]): string {
    for (const token of tokens) this.#token(token);
    return this.#out;
  }

  #token(token: Token): void {
    if (token.nesting > 0) this.#openTag(token);
    else if (token.nesting < 0) this.#closeTag(token);
    else if (token.type === "hardbreak") this.#out += "<br>\n";
    else if (token.type === "softbreak") this.#text("\n");
    else if (token.type === "code_inline") {
      this.#out += "<code>";
      this.#text(token.content);
      this.#out += "</code>";
    } else if (token.type === "image") this.#image(token);
    else if (token.type === "maths") {
      const display = token.markup === "$$" || token.markup === "\\[" ? " md-display" : "";
      this.#out += `<span class="md-maths${display}">${escapeHtml(token.content)}</span>`;
    } else this.#text(token.content);
  }

  #text(text: string): void {
    this.#out += escapeHtml(text);
    if (this.#link !== null) this.#link.words += text;
  }

  #openTag(token: Token): void {
    if (token.type === "link_open") {
      this.#openLink(token);
      return;
    }
    const isShown = this.#closing.length < INLINE_LEVELS_MAX;
    if (isShown) this.#out += `<${token.tag}>`;
    this.#closing.push(isShown ? `</${token.tag}>` : "");
  }

  #openLink(token: Token): void {
    const address = String(token.attrGet("href") ?? "");
    const target = this.#link === null ? safeTarget(address) : null;
    const isNamed = token.markup === "autolink" || token.markup === "linkify";
    if (target !== null) {
      const title = linkTitle(address, String(token.attrGet("title") ?? ""));
      const odd = target.isOdd ? " md-odd" : "";
      this.#out += `<a class="md-link${odd}" href="${escapeHtml(target.href)}" title="${title}" target="_blank" rel="${LINK_REL}">`;
      this.#closing.push("</a>");
    } else {
      this.#out += '<span class="md-no-link">';
      this.#closing.push("</span>");
    }
    this.#link = { target, address, isNamed, words: "" };
  }

  #closeTag(token: Token): void {
    const end = this.#closing.pop() ?? "";
    const link = this.#link;
    this.#out += end;
    if (token.type !== "link_close" || link === null) return;
    this.#link = null;
    const isShown =
      link.target === null
        ? !link.isNamed && link.words !== link.address
        : link.target.isOdd || (!link.isNamed && isMisleading(link.words, link.address));
    if (isShown) this.#shownAddress(link.address, link.target !== null);
  }

  /** Shows an address beside words that do not say it. */
  #shownAddress(address: string, isWarning: boolean): void {
    if (address === "") return;
    const kind = isWarning ? "md-target md-warning" : "md-target";
    this.#out += ` <span class="${kind}">(${escapeHtml(address)})</span>`;
  }

  #image(token: Token): void {
    const address = String(token.attrGet("src") ?? "");
    const words = plainWords(token.children).trim();
    const target = this.#link === null ? safeTarget(address) : null;
    const shown = escapeHtml(words === "" ? strings.markdown.image : words);
    if (this.#link !== null) this.#link.words += words;
    if (target === null || target.host === "") {
      this.#out += `<span class="md-no-image">${shown}</span>`;
      if (this.#link === null) this.#shownAddress(address, false);
      return;
    }
    const title = linkTitle(address, String(token.attrGet("title") ?? ""));
    const note = escapeHtml(strings.markdown.imageAt(target.host));
    this.#out +=
      `<a class="md-image${target.isOdd ? " md-odd" : ""}" href="${escapeHtml(target.href)}" title="${title}" target="_blank" rel="${LINK_REL}">` +
      `<span class="md-image-words">${shown}</span> <span class="md-image-note">${note}</span></a>`;
  }
}
