/** The rows that are in the document: made, put at their place among the others, and taken out again. */
import type { MessageState } from "@blockwire/core";
import { el } from "../platform/dom.ts";
import type { Range } from "./layout.ts";
import type { TranscriptView } from "./types.ts";

/** A message in the list. */
export interface Row {
  readonly id: string;
  message: MessageState;
}

export interface Mounted {
  index: number;
  readonly row: Row;
  readonly wrapper: HTMLElement;
  readonly view: TranscriptView;
  shown: MessageState;
  isMeasured: boolean;
}

export interface MountOptions {
  makeView(message: MessageState): TranscriptView;
  /** The state of a row's message now; it may have changed while it was out of sight. */
  newest(row: Row): MessageState;
  /** Rows that stay in the document wherever they are: ids. */
  held(): ReadonlySet<string>;
  /** A row was put into the document. */
  onMounted(mounted: Mounted): void;
}

/** Milliseconds of one frame that mounting rows which are not seen yet may take. */
const MOUNT_BUDGET_MS = 6;

/** A row with more text has its blocks laid out only when they come near, from the first time on. */
const LONG_ROW_UNITS = 30_000;

/** What `show` did. */
export interface Shown {
  readonly range: Range;
  /** Whether rows came or went. */
  readonly isChanged: boolean;
  /** Whether everything that was wanted is there; else the frame had no time for it. */
  readonly isFinished: boolean;
}

export class MountedRows {
  readonly element: HTMLElement = el("div", { class: "tr-rows" });
  readonly #options: MountOptions;
  readonly #scroller: HTMLElement;
  readonly #sizes: ResizeObserver;
  readonly #byWrapper = new Map<Element, Mounted>();
  #all: Mounted[] = [];

  /** @param sizes Is told of every row that comes and goes. */
  constructor(options: MountOptions, scroller: HTMLElement, sizes: ResizeObserver) {
    this.#options = options;
    this.#scroller = scroller;
    this.#sizes = sizes;
  }

  /** In their order. */
  get all(): readonly Mounted[] {
    return this.#all;
  }

  at(index: number): Mounted | undefined {
    return this.#all.find((mounted) => mounted.index === index);
  }

  of(id: string): Mounted | undefined {
    return this.#all.find(({ row }) => row.id === id);
  }

  ofWrapper(wrapper: Element): Mounted | undefined {
    return this.#byWrapper.get(wrapper);
  }

  /** The row that a node stands in. */
  around(node: Node | null): Mounted | null {
    const element = node instanceof Element ? node : (node?.parentElement ?? null);
    const wrapper = element?.closest(".tr-row") ?? null;
    return wrapper === null ? null : (this.#byWrapper.get(wrapper) ?? null);
  }

  /** Rows stand elsewhere in the list; those that are not in `places` go. */
  rearrange(places: ReadonlyMap<string, number>): void {
    for (const mounted of [...this.#all]) {
      const index = places.get(mounted.row.id);
      if (index === undefined) this.#take(mounted);
      else mounted.index = index;
    }
    this.#all.sort((a, b) => a.index - b.index);
  }

  clear(): void {
    for (const mounted of [...this.#all]) this.#take(mounted);
  }

  /** Show the newest states. */
  refresh(): void {
    for (const mounted of this.#all) {
      const message = this.#options.newest(mounted.row);
      mounted.row.message = message;
      if (message === mounted.shown) continue;
      mounted.shown = message;
      mounted.view.update(message);
    }
  }

  /**
   * Put the wanted rows into the document, those that are seen first and the others from there outwards, as far as
   * the frame has time; take out the others.
   */
  show(rows: readonly Row[], wanted: Range, seen: Range, before: Range): Shown {
    const held = this.#options.held();
    const isThere = (index: number) => index >= before.first && index <= before.last;
    const began = performance.now();
    let { first, last } = seen;
    let isFinished = true;
    let isChanged = false;
    while (first > wanted.first || last < wanted.last) {
      const isDown =
        last < wanted.last && (first <= wanted.first || last - seen.last <= seen.first - first);
      const next = isDown ? last + 1 : first - 1;
      if (!isThere(next) && performance.now() - began > MOUNT_BUDGET_MS) {
        isFinished = false;
        break;
      }
      if (isDown) last = next;
      else first = next;
      if (this.#put(rows, next)) isChanged = true;
    }
    for (const mounted of [...this.#all]) {
      const isIn = mounted.index >= first && mounted.index <= last;
      if (isIn || held.has(mounted.row.id)) continue;
      this.#take(mounted);
      isChanged = true;
    }
    for (let index = Math.max(0, seen.first); index <= seen.last; index += 1) {
      if (this.#put(rows, index)) isChanged = true;
    }
    return { range: { first, last }, isChanged, isFinished };
  }

  /** Makes the row's view if there is none, at its place in the document; returns whether it did. */
  #put(rows: readonly Row[], index: number): boolean {
    const at = this.#all.findIndex((mounted) => mounted.index >= index);
    if (at >= 0 && this.#all[at]?.index === index) return false;
    const row = rows[index];
    if (row === undefined) return false;
    row.message = this.#options.newest(row);
    const view = this.#options.makeView(row.message);
    const wrapper = el("div", { class: "tr-row" }, view.element);
    // Before it is laid out for the first time: that would be most of the work.
    if (row.message.blocks.some(({ length }) => length > LONG_ROW_UNITS)) wrapper.dataset.long = "";
    const mounted: Mounted = { index, row, wrapper, view, shown: row.message, isMeasured: false };
    const next = at < 0 ? null : (this.#all[at]?.wrapper ?? null);
    this.element.insertBefore(wrapper, next);
    this.#all.splice(at < 0 ? this.#all.length : at, 0, mounted);
    // A feed without an article would be a mistake.
    if (this.#all.length === 1) this.element.setAttribute("role", "feed");
    this.#byWrapper.set(wrapper, mounted);
    this.#sizes.observe(wrapper);
    this.#options.onMounted(mounted);
    return true;
  }

  #take(mounted: Mounted): void {
    this.#sizes.unobserve(mounted.wrapper);
    this.#byWrapper.delete(mounted.wrapper);
    this.#all = this.#all.filter((other) => other !== mounted);
    if (this.#all.length === 0) this.element.removeAttribute("role");
    // The focus never falls out of the transcript: keys go on working.
    if (mounted.wrapper.contains(document.activeElement)) {
      this.#scroller.focus({ preventScroll: true });
    }
    mounted.view.destroy();
    mounted.wrapper.remove();
  }
}
