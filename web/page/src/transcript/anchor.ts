/**
 * What in the document a reader looks at: the element that must not move.
 *
 * The way down is that of CSS scroll anchoring: the first child that is wholly in the window, else the first that
 * is partly in it, and on inside of that one. The whole way is kept, so that an element that goes (an open
 * tail that is parsed again) leaves its parent in its place.
 */
export interface Step {
  /** An element, or a character of the line at the upper edge. */
  readonly element: Element | Range;
  /** Top of the element in the scrolled content, in pixels. */
  readonly contentTop: number;
}

/** Innermost first; empty where nothing is in the window. */
export type Anchor = readonly Step[];

/** Children from which on the first one in the window is found by halving instead of by looking at each. */
const HALVING_MIN = 8;

/** Pixels below the upper edge at which the line there is looked for. */
const INTO_LINE_PX = 6;

/** Levels below a row that are looked at: list in list in quote is deep enough. */
const DEPTH_MAX = 12;

/** Find the anchor among rows that are mounted, in their order. `top` is the window's, in client pixels. */
export function findAnchor(
  rows: readonly Element[],
  top: number,
  bottom: number,
  scrollTop: number,
): Anchor {
  const way: Step[] = [];
  const offset = scrollTop - top;
  let children: ArrayLike<Element> = rows;
  for (let depth = 0; depth <= DEPTH_MAX; depth += 1) {
    const found = firstBelow(children, top, bottom);
    if (found === null) break;
    way.push({ element: found.element, contentTop: found.top + offset });
    // Wholly below the upper edge: nothing inside of it is above what is seen.
    if (found.top >= top) break;
    children = found.element.children;
  }
  return way.reverse();
}

/** By how many pixels what the reader looks at moved in the content. 0 if all of it is gone. */
export function movement(anchor: Anchor, top: number, scrollTop: number): number {
  for (const { element, contentTop } of anchor) {
    const node = element instanceof Range ? element.startContainer : element;
    if (!node.isConnected) continue;
    const now = element.getBoundingClientRect();
    if (now.height === 0 && now.width === 0) continue;
    return now.top + scrollTop - top - contentTop;
  }
  return 0;
}

/**
 * The anchor with the line of text at the upper edge, where that lies inside of a text: with another width the text
 * is broken elsewhere, and what was read is still read. Costs a look at the point; for when nothing scrolls.
 */
export function withLine(anchor: Anchor, top: number, scrollTop: number): Anchor {
  const innermost = anchor[0]?.element;
  if (!(innermost instanceof Element)) return anchor;
  const box = innermost.getBoundingClientRect();
  if (box.top >= top) return anchor;
  const caret = caretAt(box.left + box.width / 2, top + INTO_LINE_PX);
  if (caret === null || !(caret.node instanceof Text) || !innermost.contains(caret.node)) {
    return anchor;
  }
  const line = document.createRange();
  const at = Math.min(caret.offset, caret.node.length - 1);
  line.setStart(caret.node, Math.max(0, at));
  line.setEnd(caret.node, Math.max(0, at) + 1);
  const place = line.getBoundingClientRect();
  if (place.height === 0) return anchor;
  return [{ element: line, contentTop: place.top + scrollTop - top }, ...anchor];
}

function caretAt(x: number, y: number): { node: Node; offset: number } | null {
  if (typeof document.caretPositionFromPoint === "function") {
    const found = document.caretPositionFromPoint(x, y);
    return found === null ? null : { node: found.offsetNode, offset: found.offset };
  }
  const range = document.caretRangeFromPoint?.(x, y) ?? null;
  return range === null ? null : { node: range.startContainer, offset: range.startOffset };
}

/** The anchor after the content around it was moved by this many pixels. */
export function movedBy(anchor: Anchor, pixels: number): Anchor {
  return pixels === 0
    ? anchor
    : anchor.map(({ element, contentTop }) => ({ element, contentTop: contentTop + pixels }));
}

function firstBelow(
  children: ArrayLike<Element>,
  top: number,
  bottom: number,
): { element: Element; top: number } | null {
  let low = 0;
  let high = children.length;
  while (high - low > HALVING_MIN) {
    const middle = (low + high) >> 1;
    const element = children[middle];
    if (element === undefined) break;
    // Boxes of blocks come in their order; one without a box says nothing, and is above for us.
    if (element.getBoundingClientRect().bottom <= top) low = middle + 1;
    else high = middle + 1;
  }
  for (let at = low; at < Math.min(children.length, high + HALVING_MIN); at += 1) {
    const element = children[at];
    if (element === undefined) break;
    const box = element.getBoundingClientRect();
    if (box.height === 0 || box.bottom <= top || !isInFlow(element)) continue;
    return box.top < bottom ? { element, top: box.top } : null;
  }
  return null;
}

/** What is stuck to the window or laid over something does not move with the text around it. */
function isInFlow(element: Element): boolean {
  const { position } = getComputedStyle(element);
  return position === "static" || position === "relative";
}
