/** Shows what a search found in the words that are drawn: goes to a match, and marks all that are in the document. */
import { findRanges, Marker } from "./highlight.ts";
import type { Current, Match, Matches } from "./matches.ts";

/** What shows matches: the transcript. */
export interface FindTarget {
  mountedBlocks(): Iterable<{ messageId: string; blockElement(id: string): HTMLElement | null }>;
  /** Lets a message be in the list, however far away it is. */
  bring(messageId: string): Promise<boolean>;
  scrollTo(messageId: string, blockId?: string): Promise<boolean>;
  revealElement(messageId: string, element: Element): void;
  place(): { readonly messageId: string } | null;
}

/** What is marked now. */
export interface Marked {
  /** Folded; empty where nothing is looked for. */
  readonly query: string;
  readonly matches: Matches;
  readonly current: Current | null;
}

export class FindView {
  readonly #target: FindTarget;
  readonly #marked: () => Marked;
  readonly #marker = new Marker();
  #frame = 0;

  constructor(target: FindTarget, marked: () => Marked) {
    this.#target = target;
    this.#marked = marked;
  }

  /** Bring a match into the window and open what is folded around it, unless another became the current one. */
  async show(match: Match, current: Current): Promise<void> {
    const target = this.#target;
    const { messageId } = match.found;
    const isGone = () => this.#marked().current !== current;
    if (!(await target.bring(messageId)) || isGone()) return;
    if (this.#blockOf(current) === null) await target.scrollTo(messageId, match.blockId);
    const block = this.#blockOf(current);
    if (block === null || isGone()) return;
    await openAround(block, this.#marked().query);
    const range = this.#currentRange();
    if (range !== null) {
      openDetails(range.startContainer);
      target.revealElement(messageId, range.startContainer.parentElement ?? block);
    } else await target.scrollTo(messageId, match.blockId);
    this.paintSoon();
  }

  /** Mark again what is in the document, once a frame. */
  paintSoon(): void {
    if (this.#frame !== 0) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.#paint();
    });
  }

  clear(): void {
    this.#marker.clear();
  }

  destroy(): void {
    cancelAnimationFrame(this.#frame);
    this.#marker.clear();
  }

  #blockOf(current: Current): HTMLElement | null {
    for (const { messageId, blockElement } of this.#target.mountedBlocks()) {
      if (messageId === current.messageId) return blockElement(current.blockId);
    }
    return null;
  }

  #currentRange(): Range | null {
    const { current, query } = this.#marked();
    const block = current === null ? null : this.#blockOf(current);
    if (current === null || block === null) return null;
    const ranges = findRanges(block, query);
    return ranges[Math.min(current.nth, ranges.length - 1)] ?? null;
  }

  #paint(): void {
    const { query, matches } = this.#marked();
    if (query === "") return;
    const ranges: Range[] = [];
    const byId = new Map([...matches.all()].map((found) => [found.messageId, found]));
    for (const { messageId, blockElement } of this.#target.mountedBlocks()) {
      for (const { blockId } of byId.get(messageId)?.blocks ?? []) {
        const element = blockElement(blockId);
        if (element !== null) ranges.push(...findRanges(element, query));
      }
    }
    this.#marker.show(ranges, this.#currentRange());
  }
}

function openDetails(node: Node): void {
  let at = node.parentElement?.closest("details") ?? null;
  for (; at !== null; at = at.parentElement?.closest("details") ?? null) at.open = true;
}

/** Open what is folded in a block, if the match is not in what is drawn: it may be made when it is opened. */
async function openAround(block: HTMLElement, query: string): Promise<void> {
  if (findRanges(block, query).length > 0) return;
  const inside = [...block.querySelectorAll("details")];
  if (block instanceof HTMLDetailsElement) inside.push(block);
  if (inside.every(({ open }) => open)) return;
  for (const details of inside) details.open = true;
  await new Promise<void>((resolve) => requestAnimationFrame(() => resolve()));
}
