/**
 * The tree of blocks in the document. Only its right edge is looked at when it grew: what is closed
 * was shown for good, and its elements are not touched again.
 */

import { strings } from "../strings.ts";
import { isWholeMaths } from "./blockmarks.ts";
import { CodeView } from "./codeview.ts";
import { setDirection } from "./direction.ts";
import type { BlockNode, CodeNode, ContainerNode, ProseNode, TableNode } from "./nodes.ts";
import { Parts } from "./parts.ts";
import { type WordsContext, WordsView } from "./wordsview.ts";

/** Headings of prose stand below those of the page and of the message. */
const HEADING_SHIFT = 2;
const HEADING_MAX = 6;
const TASK = /^\[([ xX])\][ \t]/;
const TASK_CHARS = 4;

export interface ViewContext extends WordsContext {
  copyCode(text: string): void;
}

/** Shows one node. */
interface View {
  readonly element: HTMLElement;
  /** There is something to see. */
  readonly isVisible: boolean;
  /** Whether it can show `node` instead of what it showed. */
  takes(node: BlockNode): boolean;
  /** @param isOpen - What is shown may yet be taken back or go on. */
  update(node: BlockNode, isOpen: boolean): void;
  destroy(): void;
}

function element(tag: string, className: string): HTMLElement {
  const made = document.createElement(tag);
  made.className = className;
  return made;
}

function makeView(node: BlockNode, context: ViewContext): View {
  switch (node.kind) {
    case "prose":
      return new ProseView(node, context);
    case "code":
      return new CodeBlockView(node, context);
    case "table":
      return new TableView(node, context);
    case "rule":
      return new RuleView();
    default:
      return new ContainerView(node, context);
  }
}

class RuleView implements View {
  readonly element = element("hr", "md-rule");
  readonly isVisible = true;
  takes(node: BlockNode): boolean {
    return node.kind === "rule";
  }
  update(): void {}
  destroy(): void {}
}

class ProseView implements View {
  readonly element: HTMLElement;
  readonly #words: WordsView;
  readonly #level: number;
  /** Characters that stand for the mark of a task. */
  skip = 0;

  constructor(node: ProseNode, context: ViewContext) {
    this.#level = node.level;
    const level = Math.min(node.level + HEADING_SHIFT, HEADING_MAX);
    this.element =
      node.role === "heading"
        ? element(`h${level}`, `md-heading md-heading-${node.level}`)
        : element("p", "md-paragraph");
    this.#words = new WordsView(this.element, context);
  }

  get isVisible(): boolean {
    return this.#level > 0 || this.#words.hasWords;
  }

  takes(node: BlockNode): boolean {
    return node.kind === "prose" && node.level === this.#level;
  }

  update(node: BlockNode, isOpen: boolean): void {
    if (node.kind !== "prose") return;
    if (node.role === "maths") {
      this.element.classList.toggle("md-formula", isWholeMaths(node.source.toString()));
    }
    this.#words.show(node.source, this.skip, node.isClosed && !isOpen);
  }

  destroy(): void {}
}

class CodeBlockView implements View {
  readonly element: HTMLElement;
  readonly isVisible = true;
  readonly #code: CodeView;
  readonly #node: CodeNode;
  #shown = 0;

  constructor(node: CodeNode, context: ViewContext) {
    this.#node = node;
    this.#code = new CodeView({
      language: node.language,
      copyCode: (text) => context.copyCode(text),
    });
    this.element = this.#code.element;
  }

  takes(node: BlockNode): boolean {
    return node === this.#node;
  }

  update(_node: BlockNode, isOpen: boolean): void {
    const { source, isClosed } = this.#node;
    if (source.length > this.#shown) this.#code.append(source.since(this.#shown));
    this.#shown = source.length;
    if (isClosed && !isOpen) this.#code.finish();
  }

  destroy(): void {
    this.#code.destroy();
  }
}

class TableView implements View {
  readonly element: HTMLElement;
  readonly isVisible = true;
  readonly #node: TableNode;
  readonly #context: ViewContext;
  readonly #table = element("table", "");
  #body: HTMLElement | null = null;
  /** Views of the cells of rows that may change. */
  #openRows: { element: HTMLElement; cells: WordsView[] }[] = [];
  #settledRows = 0;

  constructor(node: TableNode, context: ViewContext) {
    this.#node = node;
    this.#context = context;
    this.element = element("div", "md-table");
    this.element.tabIndex = 0;
    // No landmark: there may be many.
    this.element.setAttribute("role", "group");
    this.element.setAttribute("aria-label", strings.markdown.table);
    const head = document.createElement("thead");
    const row = this.#makeRow("th", node.header.length);
    this.#fill(row.cells, node.header);
    head.append(row.element);
    this.#table.append(head);
    this.element.append(this.#table);
  }

  takes(node: BlockNode): boolean {
    return node === this.#node;
  }

  update(_node: BlockNode, isOpen: boolean): void {
    const { rows } = this.#node;
    for (let index = this.#settledRows; index < rows.length; index++) {
      let row = this.#openRows[index - this.#settledRows];
      if (row === undefined) {
        row = this.#makeRow("td", this.#node.aligns.length);
        if (this.#body === null) {
          this.#body = document.createElement("tbody");
          this.#table.append(this.#body);
        }
        this.#body.append(row.element);
        this.#openRows.push(row);
      }
      this.#fill(row.cells, rows[index] ?? []);
    }
    for (const row of this.#openRows.splice(rows.length - this.#settledRows)) row.element.remove();
    if (rows.length === 0 && this.#body !== null) {
      this.#body.remove();
      this.#body = null;
    }
    const settled = isOpen ? Math.max(this.#settledRows, rows.length - 1) : rows.length;
    this.#openRows.splice(0, settled - this.#settledRows);
    this.#settledRows = settled;
  }

  destroy(): void {}

  #makeRow(tag: "td" | "th", count: number): { element: HTMLElement; cells: WordsView[] } {
    const row = document.createElement("tr");
    const cells: WordsView[] = [];
    for (let index = 0; index < count; index++) {
      const align = this.#node.aligns[index] ?? "";
      const cell = document.createElement(tag);
      if (tag === "th") cell.setAttribute("scope", "col");
      if (align !== "") cell.className = `md-${align}`;
      row.append(cell);
      cells.push(new WordsView(cell, this.#context));
    }
    return { element: row, cells };
  }

  #fill(views: readonly WordsView[], cells: readonly string[]): void {
    for (const [index, view] of views.entries()) view.show(cells[index] ?? "", 0, true);
  }
}

export class ContainerView implements View {
  readonly element: HTMLElement;
  readonly #context: ViewContext;
  #node: ContainerNode;
  readonly #views: View[] = [];
  readonly #parts: Parts;
  /** Children that were shown for good. */
  #settled = 0;
  #task: HTMLInputElement | null = null;
  #taskSource: object | null = null;

  constructor(node: ContainerNode, context: ViewContext, root?: HTMLElement) {
    this.#node = node;
    this.#context = context;
    this.element = root ?? ContainerView.#make(node);
    this.#parts = new Parts(this.element);
  }

  static #make(node: ContainerNode): HTMLElement {
    if (node.kind === "quote") return element("blockquote", "md-quote");
    if (node.kind === "item") return element("li", "md-item");
    if (node.start === null) return element("ul", "md-list");
    const list = element("ol", "md-list");
    if (node.start !== 1) list.setAttribute("start", String(node.start));
    return list;
  }

  get isVisible(): boolean {
    return true;
  }

  takes(node: BlockNode): boolean {
    return (
      node === this.#node ||
      (this.#settled === 0 &&
        "children" in node &&
        node.kind === this.#node.kind &&
        node.start === this.#node.start)
    );
  }

  update(node: BlockNode, isOpen: boolean): void {
    if (!("children" in node)) return;
    this.#node = node;
    if (node.kind === "list") this.#setTight(node.isTight);
    const { children } = node;
    for (const view of this.#views.splice(children.length)) this.#remove(view);
    if (node.kind === "item") this.#showTask();
    for (let index = this.#settled; index < children.length; index++) {
      const child = children[index];
      if (child === undefined) break;
      this.#show(child, index, isOpen);
      if (child.isClosed && !isOpen && index === this.#settled) this.#settled += 1;
    }
  }

  destroy(): void {
    for (const view of this.#views) view.destroy();
  }

  #setTight(isTight: boolean): void {
    if (this.element.classList.contains("md-tight") === isTight) return;
    this.element.classList.toggle("md-tight", isTight);
    this.#parts.setTight(isTight);
  }

  #remove(view: View): void {
    view.element.remove();
    view.destroy();
    this.#parts.trim();
  }

  #show(child: BlockNode, index: number, isOpen: boolean): void {
    let view = this.#views[index];
    if (view !== undefined && !view.takes(child)) {
      this.#remove(view);
      view = undefined;
    }
    if (view === undefined) {
      view = makeView(child, this.#context);
      this.#views[index] = view;
    }
    if (view instanceof ProseView) view.skip = index === 0 && this.#task !== null ? TASK_CHARS : 0;
    view.update(child, isOpen);
    // Inside of others, each block runs as its own words do by the style sheet.
    if (this.#node.kind === "document" && child.kind !== "code") setDirection(view.element);
    const isThere = view.element.parentNode !== null;
    if (view.isVisible && !isThere) {
      const holder = this.#parts.holder(this.#node, index);
      const next = this.#views.slice(index + 1).find(({ element: it }) => it.parentNode !== null);
      const isBeside = next?.element.parentNode === holder;
      holder.insertBefore(view.element, isBeside ? next.element : this.#parts.after(holder));
    } else if (!view.isVisible && isThere) {
      view.element.remove();
      this.#parts.trim();
    }
  }

  /** Shows a box before an item that is a task. */
  #showTask(): void {
    const first = this.#node.children[0];
    if (first?.kind !== "prose" || first.role === "heading") {
      this.#setTask(null);
      return;
    }
    // What its first characters are is known once they are there.
    if (this.#taskSource === first.source) return;
    const found = TASK.exec(first.source.toString());
    if (first.source.length >= TASK_CHARS) this.#taskSource = first.source;
    this.#setTask(found === null ? null : found[1] !== " ");
  }

  #setTask(isDone: boolean | null): void {
    if (isDone === null) {
      this.#task?.remove();
      this.#task = null;
      this.element.classList.remove("md-task");
      return;
    }
    if (this.#task === null) {
      this.#task = document.createElement("input");
      this.#task.type = "checkbox";
      this.#task.disabled = true;
      this.element.prepend(this.#task);
      this.element.classList.add("md-task");
    }
    this.#task.toggleAttribute("checked", isDone);
    const { taskDone, taskOpen } = strings.markdown;
    this.#task.setAttribute("aria-label", isDone ? taskDone : taskOpen);
  }
}
