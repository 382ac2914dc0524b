/**
 * The direction of a block, by the first letter of its words, as `dir="auto"` would find it.
 *
 * Browsers look for that letter again with every child that an element of `dir="auto"` gets: thousands
 * of line breaks or links in one paragraph would take seconds.
 */

/** So much of a block is looked at: nodes, and characters of each text. */
const NODES_MAX = 256;
const NODE_CHARS_MAX = 256;

const LETTER = /\p{L}/u;
const RIGHT_TO_LEFT =
  /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** Code says nothing about the words around it. */
function isRead(node: Node): number {
  const isCode = node instanceof HTMLElement && node.localName === "figure";
  return isCode ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT;
}

/** Gives `element` the direction of its first letter; from left to right where it has none. */
export function setDirection(element: HTMLElement): void {
  const what = NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT;
  const walker = document.createTreeWalker(element, what, isRead);
  let direction = "ltr";
  let node = walker.nextNode();
  for (let seen = 0; node !== null && seen < NODES_MAX; seen++) {
    const text = node instanceof Text ? node.data.slice(0, NODE_CHARS_MAX) : "";
    const letter = LETTER.exec(text)?.[0];
    if (letter !== undefined) {
      if (RIGHT_TO_LEFT.test(letter)) direction = "rtl";
      break;
    }
    node = walker.nextNode();
  }
  if (element.dir !== direction) element.dir = direction;
}
