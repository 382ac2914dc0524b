/** The tree of blocks that grows at its right edge, where each change can be taken back. */

import { isContainer } from "./blockmarks.ts";
import { type Definition, takeDefinitions } from "./definitions.ts";
import {
  type BlockNode,
  type CodeNode,
  type ContainerNode,
  container,
  type ProseNode,
} from "./nodes.ts";

export class OpenTree {
  readonly root: ContainerNode = container("document");
  /** Of the line that is read. */
  lineNumber = 0;
  /** Where the last line of the open paragraph begins; -1: it cannot be the header of a table. */
  headerStart = -1;
  readonly #onDefinition: (label: string, definition: Definition) => void;
  /** From the document to the innermost open block. */
  readonly #open: BlockNode[] = [this.root];
  #undo: (() => void)[] | null = null;
  #closing: ProseNode[] = [];

  constructor(onDefinition: (label: string, definition: Definition) => void) {
    this.#onDefinition = onDefinition;
  }

  /** Changes from here on may be taken back. */
  get isProvisional(): boolean {
    return this.#undo !== null;
  }

  /** Open blocks, the document among them. */
  get depth(): number {
    return this.#open.length;
  }

  /** The open block at a depth, 0 for the document. */
  at(depth: number): BlockNode | undefined {
    return this.#open[depth];
  }

  beginProvisional(): void {
    this.#undo = [];
  }

  /** What was changed since then stays. */
  keep(): void {
    this.#undo = null;
  }

  /** Takes back what was changed since then. */
  takeBack(): void {
    if (this.#undo === null) return;
    for (const undo of this.#undo.reverse()) undo();
    this.#undo = null;
    this.#closing = [];
  }

  /** How a change is taken back that was made elsewhere. */
  onUndo(undo: () => void): void {
    this.#undo?.push(undo);
  }

  /** Puts a block in the place of the innermost open one. */
  replaceTip(by: BlockNode): boolean {
    const parent = this.#open.at(-2);
    const node = this.#open.at(-1);
    if (!isContainer(parent) || node === undefined) return false;
    this.#open.pop();
    parent.children.pop();
    parent.children.push(by);
    this.#open.push(by);
    this.#undo?.push(() => {
      this.#open.pop();
      parent.children.pop();
      parent.children.push(node);
      this.#open.push(node);
    });
    return true;
  }

  get tip(): BlockNode {
    return this.#open.at(-1) ?? this.root;
  }

  close(): void {
    const node = this.#open.pop();
    if (node === undefined) return;
    node.isClosed = true;
    if (node.kind === "prose") this.#closing.push(node);
    this.#undo?.push(() => {
      node.isClosed = false;
      this.#open.push(node);
    });
  }

  closeTo(depth: number): void {
    while (this.#open.length > depth) this.close();
  }

  add(node: BlockNode): void {
    let parent = this.tip;
    // Nothing stands in leaves, and only items in lists.
    while (!isContainer(parent) || (parent.kind === "list" && node.kind !== "item")) {
      this.close();
      parent = this.tip;
    }
    const holder: ContainerNode = parent;
    if (holder.children.length > 0 && holder.blankLine === this.lineNumber - 1) {
      this.#loosen(holder);
    }
    holder.children.push(node);
    this.#open.push(node);
    this.#undo?.push(() => {
      this.#open.pop();
      holder.children.pop();
    });
  }

  #loosen(parent: ContainerNode): void {
    // It is the innermost open block.
    const list = parent.kind === "item" ? this.#open.at(-2) : parent;
    if (!isContainer(list) || list.kind !== "list" || !list.isTight) return;
    list.isTight = false;
    this.#undo?.push(() => {
      list.isTight = true;
    });
  }

  markBlank(): void {
    for (let index = this.#open.length - 1; index >= 0; index--) {
      const node = this.#open[index];
      if (!isContainer(node)) continue;
      const before = node.blankLine;
      node.blankLine = this.lineNumber;
      this.#undo?.push(() => {
        node.blankLine = before;
      });
      if (node.kind === "quote") return;
    }
  }

  addText(node: ProseNode | CodeNode, text: string): void {
    const { length } = node.source;
    node.source.append(text);
    this.#undo?.push(() => node.source.truncate(length));
  }

  setHeader(start: number): void {
    const before = this.headerStart;
    this.headerStart = start;
    this.#undo?.push(() => {
      this.headerStart = before;
    });
  }

  /** Takes link definitions out of the paragraphs that ended. */
  settleClosed(): void {
    if (this.#undo !== null || this.#closing.length === 0) return;
    for (const node of this.#closing) {
      const source = node.source.toString();
      if (node.role === "maths" || !source.startsWith("[")) continue;
      const { length, definitions } = takeDefinitions(source);
      if (length === 0) continue;
      for (const [name, definition] of definitions) this.#onDefinition(name, definition);
      node.source.truncate(0);
      node.source.append(source.slice(length));
      node.isVoid = node.source.length === 0;
    }
    this.#closing = [];
  }
}
