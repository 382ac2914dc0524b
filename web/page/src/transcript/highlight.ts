/** Matches in the document: found in what is drawn, and marked without changing it. */
import { folded, placesOf } from "./plain.ts";

/** Matches that are marked at the same time. */
const MARKED_MAX = 1_000;

/** What stands around a text and is not of it: controls, and what is not shown. */
const NOT_TEXT = "button, select, input, textarea, [aria-hidden=true], .tr-hidden, [data-not-text]";

/** Elements that stand in a line with the words around them. */
const IN_LINE = /^(inline|contents|ruby)/;

/** Ranges of the matches of a folded query in an element, in its order. */
export function findRanges(element: Element, query: string): Range[] {
  const nodes: { node: Text; from: number }[] = [];
  let text = "";
  let lastBlock: Element | null = null;
  const walker = document.createTreeWalker(
    element,
    NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT,
    (node) =>
      node instanceof Element && node.matches(NOT_TEXT)
        ? NodeFilter.FILTER_REJECT
        : NodeFilter.FILTER_ACCEPT,
  );
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    if (!(node instanceof Text)) continue;
    const block = blockOf(node, element);
    if (lastBlock !== null && block !== lastBlock) text += "\n";
    lastBlock = block;
    nodes.push({ node, from: text.length });
    const isPre = block.closest("pre") !== null;
    text += isPre ? node.data : node.data.replaceAll("\n", " ");
  }
  const map: number[] = [];
  const plain = folded(text, (index) => map.push(index));
  return placesOf(query, plain).flatMap((place) => {
    const begin = map[place];
    const end = map[place + query.length - 1];
    if (begin === undefined || end === undefined) return [];
    const range = document.createRange();
    const first = nodeAt(nodes, begin);
    const last = nodeAt(nodes, end);
    if (first === null || last === null) return [];
    range.setStart(first.node, Math.min(begin - first.from, first.node.length));
    range.setEnd(last.node, Math.min(end - last.from + 1, last.node.length));
    return [range];
  });
}

function blockOf(node: Text, root: Element): Element {
  let at = node.parentElement ?? root;
  while (at !== root && at.parentElement !== null && IN_LINE.test(getComputedStyle(at).display)) {
    at = at.parentElement;
  }
  return at;
}

function nodeAt(
  nodes: readonly { node: Text; from: number }[],
  offset: number,
): { node: Text; from: number } | null {
  let low = 0;
  let high = nodes.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((nodes[middle]?.from ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return nodes[low] ?? null;
}

/** Marks matches: by the browser's own highlights, or by a line around the block where it has none. */
export class Marker {
  #outlined: Element[] = [];

  show(found: readonly Range[], current: Range | null): void {
    this.clear();
    if (typeof Highlight === "undefined" || CSS.highlights === undefined) {
      const element = current?.startContainer.parentElement?.closest("[data-block-id]") ?? null;
      if (element !== null) {
        element.classList.add("tr-found-block");
        this.#outlined.push(element);
      }
      return;
    }
    CSS.highlights.set("tr-found", new Highlight(...found.slice(0, MARKED_MAX)));
    if (current === null) return;
    const highlight = new Highlight(current);
    highlight.priority = 1;
    CSS.highlights.set("tr-found-current", highlight);
  }

  clear(): void {
    for (const element of this.#outlined) element.classList.remove("tr-found-block");
    this.#outlined = [];
    if (typeof Highlight === "undefined" || CSS.highlights === undefined) return;
    CSS.highlights.delete("tr-found");
    CSS.highlights.delete("tr-found-current");
  }
}
