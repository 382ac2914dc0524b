/**
 * The second fence: DOMPurify with a closed list reads all HTML that the page makes of text of
 * others. The writers (inline.ts, temml) make nothing that it takes away; `removedCount` says so.
 */

import createDOMPurify, { type Config } from "dompurify";

// "body": what the sanitiser itself puts around what it reads; it is no part of the result.
const WORDS = {
  ALLOWED_TAGS: ["body", "a", "br", "code", "em", "s", "span", "strong", "#text"],
  ALLOWED_ATTR: ["class", "href", "rel", "target", "title"],
  // Of what is allowed, only `href` is an address.
  ADD_URI_SAFE_ATTR: ["rel", "target"],
  ALLOWED_URI_REGEXP: /^(?:https?:\/\/|mailto:)/i,
  ALLOW_ARIA_ATTR: false,
  ALLOW_DATA_ATTR: false,
  ALLOW_SELF_CLOSE_IN_ATTR: false,
  SANITIZE_DOM: true,
  RETURN_DOM_FRAGMENT: true,
} as const satisfies Config;

const MATHS = {
  ALLOWED_TAGS: [
    "body",
    "math",
    "menclose",
    "merror",
    "mfenced",
    "mfrac",
    "mi",
    "mmultiscripts",
    "mn",
    "mo",
    "mover",
    "mpadded",
    "mphantom",
    "mprescripts",
    "mroot",
    "mrow",
    "ms",
    "mspace",
    "msqrt",
    "mstyle",
    "msub",
    "msubsup",
    "msup",
    "mtable",
    "mtd",
    "mtext",
    "mtr",
    "munder",
    "munderover",
    "none",
    "#text",
  ],
  ALLOWED_ATTR: [
    "accent",
    "accentunder",
    "class",
    "columnalign",
    "columnlines",
    "columnspacing",
    "columnspan",
    "depth",
    "display",
    "displaystyle",
    "fence",
    "form",
    "height",
    "largeop",
    "linebreak",
    "linethickness",
    "lspace",
    "mathbackground",
    "mathcolor",
    "mathsize",
    "mathvariant",
    "maxsize",
    "minsize",
    "movablelimits",
    "notation",
    "rowalign",
    "rowlines",
    "rowspacing",
    "rowspan",
    "rspace",
    "scriptlevel",
    "separator",
    "stretchy",
    "symmetric",
    "voffset",
    "width",
  ],
  ALLOW_ARIA_ATTR: false,
  ALLOW_DATA_ATTR: false,
  SANITIZE_DOM: true,
  NAMESPACE: "http://www.w3.org/1999/xhtml",
  RETURN_DOM_FRAGMENT: true,
} as const satisfies Config;

let purify: ReturnType<typeof createDOMPurify> | null = null;
let removed = 0;

/** Elements and attributes that the sanitiser took away since the page was opened: 0. */
export function removedCount(): number {
  return removed;
}

function clean(html: string, config: typeof WORDS | typeof MATHS): DocumentFragment {
  purify ??= createDOMPurify(window);
  // The same object each time: else it would be read anew.
  const fragment = purify.sanitize(html, config);
  removed += purify.removed.length;
  return fragment;
}

/** Words, as inline.ts writes them. */
export function cleanWords(html: string): DocumentFragment {
  return clean(html, WORDS);
}

/** MathML, as temml writes it without its inline styles. */
export function cleanMaths(html: string): DocumentFragment {
  return clean(html, MATHS);
}
