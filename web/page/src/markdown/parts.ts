/**
 * Where the blocks in a long block stand: the first ones in its own element, those behind them in parts.
 *
 * Browsers lay out a part only near the view, and look at none of its blocks otherwise. Which part a block
 * stands in depends on its number alone, so it never moves to another one.
 */

import type { BlockNode, ContainerNode } from "./nodes.ts";

/** Blocks of a part. */
export const PART_BLOCKS = 64;
/** What a line of a part that was never laid out is taken for: characters, and the space of a block in lines. */
const LINE_CHARS = 80;
const SPACE_LINES = 0.65;

interface Part {
  /** A child of the block. */
  readonly element: HTMLElement;
  /** What the blocks stand in. */
  readonly holder: HTMLElement;
}

export class Parts {
  readonly #home: HTMLElement;
  readonly #parts: Part[] = [];

  constructor(home: HTMLElement) {
    this.#home = home;
  }

  /** What the block with this number stands in. */
  holder(node: ContainerNode, index: number): HTMLElement {
    const number = Math.floor(index / PART_BLOCKS) - 1;
    // An item is rarely long, and its spaces depend on its list.
    if (number < 0 || node.kind === "item") return this.#home;
    for (let at = this.#parts.length; at <= number; at++) this.#add(node, at);
    const part = this.#parts[number];
    if (part === undefined) return this.#home;
    return part.holder;
  }

  /** What stands behind the last block of a holder. */
  after(holder: HTMLElement): HTMLElement | null {
    return holder === this.#home ? (this.#parts[0]?.element ?? null) : null;
  }

  /** Takes away the parts at the end that hold nothing any more. */
  trim(): void {
    for (let last = this.#parts.at(-1); last !== undefined; last = this.#parts.at(-1)) {
      if (last.holder.firstChild !== null) break;
      last.element.remove();
      this.#parts.pop();
      // More may come into the one before.
      const before = this.#parts.at(-1)?.element;
      before?.classList.remove("md-part-full");
      before?.removeAttribute("style");
    }
  }

  /** Whether the list is tight: each part is a list of its own. */
  setTight(isTight: boolean): void {
    for (const { holder } of this.#parts) holder.classList.toggle("md-tight", isTight);
  }

  #add(node: ContainerNode, at: number): void {
    this.#settle(node, at - 1);
    const part = node.kind === "list" ? makeListPart(this.#home, node, at) : makePart();
    markBefore(part.element, node.children[(at + 1) * PART_BLOCKS - 1]);
    this.#parts.push(part);
    this.#home.append(part.element);
  }

  /** The part has all its blocks: out of view it need not be laid out. */
  #settle(node: ContainerNode, at: number): void {
    const element = this.#parts[at]?.element;
    if (element === undefined) return;
    const from = (at + 1) * PART_BLOCKS;
    let lines = 0;
    for (const child of node.children.slice(from, from + PART_BLOCKS)) lines += linesOf(child);
    element.style.setProperty("contain-intrinsic-block-size", `auto ${Math.round(lines)}lh`);
    element.classList.add("md-part-full");
  }
}

/** How many lines a block takes, about; of its text alone, so that it is the same however that was cut. */
function linesOf(node: BlockNode): number {
  if ("children" in node) {
    let lines = SPACE_LINES;
    for (const child of node.children) lines += linesOf(child);
    return node.kind === "item" ? Math.max(1, lines - 2 * SPACE_LINES) : lines;
  }
  if (node.kind === "table") return (node.rows.length + 1) * 1.5 + SPACE_LINES;
  if (node.kind === "rule") return 2;
  if (node.kind === "prose") {
    return node.isVoid ? 0 : Math.ceil(node.source.length / LINE_CHARS) + SPACE_LINES;
  }
  // Its lines are not counted: that would read all of it.
  return node.source.length / (LINE_CHARS / 2) + 2;
}

/** What stands before a part decides about the space between them. */
function markBefore(element: HTMLElement, before: BlockNode | undefined): void {
  const isHeading = before?.kind === "prose" && before.role === "heading";
  element.classList.toggle("md-after-heading", isHeading);
  element.classList.toggle("md-after-rule", before?.kind === "rule");
}

function makePart(): Part {
  const element = document.createElement("div");
  element.className = "md-part";
  return { element, holder: element };
}

/** In lists stand items only: the part is one that is none, with a list that goes on in it. */
function makeListPart(home: HTMLElement, node: ContainerNode, at: number): Part {
  const element = document.createElement("li");
  element.className = "md-part";
  element.setAttribute("role", "none");
  const holder = document.createElement(home.localName);
  holder.className = "md-list";
  holder.classList.toggle("md-tight", node.isTight);
  if (node.start !== null) {
    holder.setAttribute("start", String(node.start + (at + 1) * PART_BLOCKS));
  }
  element.append(holder);
  return { element, holder };
}
