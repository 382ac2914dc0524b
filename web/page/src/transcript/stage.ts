/**
 * The rows that are in the document, and where they stand: the one place of the transcript that measures and
 * that writes heights and offsets.
 *
 * Reading and writing never alternate: an update writes what is shown (once a frame), the browser lays out, and
 * the observer of sizes, before anything is painted, reads what became of it and puts the reader back.
 */
import type { MessageState } from "@blockwire/core";
import { el } from "../platform/dom.ts";
import { type Anchor, findAnchor, movedBy, movement } from "./anchor.ts";
import { Estimator } from "./estimate.ts";
import { Layout, type Range } from "./layout.ts";
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

export interface StageOptions {
  makeView(message: MessageState): TranscriptView;
  /** The state of a row's message now; it may have changed while it was out of sight. */
  newest(row: Row): MessageState;
  /** Whether the end is followed now. */
  isPinned(): boolean;
  /** Whether the last row is the last one there is. */
  isWhole(): boolean;
  /** Rows that stay in the document wherever they are: ids. */
  held(): ReadonlySet<string>;
  /** A row was put into the document. */
  onMounted(mounted: Mounted): void;
  /** Sizes changed and everything is where it belongs. */
  onSettled(): void;
  /** Not everything that is wanted is in the document yet. */
  onUnfinished(): void;
}

/** Pixels around the window whose rows are in the document; at least one window high. */
const OVERSCAN_MIN_PX = 600;

/** Milliseconds of one frame that mounting rows which are not seen yet may take. */
const MOUNT_BUDGET_MS = 6;

/** A row that is higher, or has more text, has its blocks laid out only when they come near. */
const LONG_ROW_PX = 6_000;
const LONG_ROW_UNITS = 30_000;

/** Pixels above the first and below the last row; with a notice, what it needs. */
const EDGE_PX = 24;
const NOTICE_PX = 64;

export class Stage {
  readonly scroller: HTMLElement;
  readonly layout = new Layout();
  readonly estimator = new Estimator();
  readonly #options: StageOptions;
  readonly #feed: HTMLElement;
  readonly #lead: HTMLElement;
  readonly #trail: HTMLElement;
  readonly #sizes: ResizeObserver;
  readonly #byWrapper = new Map<Element, Mounted>();
  #rows: Row[] = [];
  #mounted: Mounted[] = [];
  #anchor: Anchor = [];
  #width = 0;
  #wasPinned = false;
  /** What the document was given last: equal values are not written. */
  #given = { lead: -1, trail: -1 };

  constructor(options: StageOptions, scroller: HTMLElement, head: Node, foot: Node) {
    this.#options = options;
    this.scroller = scroller;
    this.#lead = el("div", { class: "tr-lead" }, head);
    this.#trail = el("div", { class: "tr-trail" }, foot);
    this.#feed = el("div", { class: "tr-rows" });
    scroller.append(this.#lead, this.#feed, this.#trail);
    this.#sizes = new ResizeObserver((entries) => this.#resized(entries));
    this.#sizes.observe(scroller);
    this.layout.setEdges(EDGE_PX, EDGE_PX);
  }

  get rows(): readonly Row[] {
    return this.#rows;
  }

  get mounted(): readonly Mounted[] {
    return this.#mounted;
  }

  /** Greatest offset of the scroll container, as the document has it. */
  get scrollEnd(): number {
    return this.scroller.scrollHeight - this.scroller.clientHeight;
  }

  indexOf(id: string): number {
    const mounted = this.#mounted.find(({ row }) => row.id === id);
    return mounted?.index ?? this.#rows.findIndex((row) => row.id === id);
  }

  mountedOf(id: string): Mounted | null {
    return this.#mounted.find(({ row }) => row.id === id) ?? null;
  }

  /** The row that an element stands in. */
  rowOf(node: Node | null): Mounted | null {
    const element = node instanceof Element ? node : (node?.parentElement ?? null);
    const wrapper = element?.closest(".tr-row") ?? null;
    return wrapper === null ? null : (this.#byWrapper.get(wrapper) ?? null);
  }

  /** Rows behind the last one: the way of a conversation that goes on. */
  append(rows: readonly Row[]): void {
    for (const row of rows) {
      this.#rows.push(row);
      this.layout.heights.push(this.estimator.height(row.message));
    }
  }

  /** Other rows altogether, some of them perhaps the same: what is seen stays where it is. */
  setRows(rows: Row[]): void {
    const { first, last } = this.layout.mounted;
    const seen = this.#rows.slice(first, last + 1);
    const old = new Map(this.#rows.map((row, at) => [row.id, this.layout.heights.at(at)]));
    const heights = rows.map((row) => old.get(row.id) ?? this.estimator.height(row.message));
    const places = new Map(rows.map((row, at) => [row.id, at]));
    const begin = seen.length === 0 ? -1 : (places.get(seen[0]?.id ?? "") ?? -1);
    const isWhole = begin >= 0 && seen.every((row, at) => rows[begin + at]?.id === row.id);
    this.#rows = rows;
    if (isWhole) {
      this.layout.rearrange(heights, begin);
      for (const mounted of [...this.#mounted]) {
        const index = places.get(mounted.row.id);
        if (index === undefined) this.#unmount(mounted);
        else mounted.index = index;
      }
      this.#mounted.sort((a, b) => a.index - b.index);
      return;
    }
    const kept = this.#survivor(places);
    for (const mounted of [...this.#mounted]) this.#unmount(mounted);
    this.#anchor = [];
    this.layout.replace(heights);
    if (kept !== null) this.layout.reveal(kept.index, kept.y, false);
  }

  /** What stands above the first and below the last row. */
  setNotices(head: boolean, foot: boolean): void {
    this.layout.setEdges(head ? NOTICE_PX : EDGE_PX, foot ? NOTICE_PX : EDGE_PX);
  }

  /** Show the newest states of the rows that are in the document. */
  refresh(): void {
    for (const mounted of this.#mounted) {
      const message = this.#options.newest(mounted.row);
      mounted.row.message = message;
      if (message === mounted.shown) continue;
      mounted.shown = message;
      mounted.view.update(message);
    }
  }

  /** Put into the document what is in the window and around it, and take out what is far away. */
  update(): void {
    const { layout } = this;
    if (layout.viewport === 0) this.#setViewport();
    const isPinned = this.#options.isPinned();
    const before = layout.scrollTop;
    if (isPinned) layout.toEnd();
    else if (layout.mustSettle) layout.settle();
    const isMoved = this.#mount(this.#range());
    if (isPinned) {
      // A text that only grew is followed once it is laid out: see #resized.
      if (this.#writeHeights() || isMoved || !this.#wasPinned) this.pin();
    } else {
      // Where the lead had not enough, lead and offset moved together: the anchor went with them.
      this.#anchor = movedBy(this.#anchor, layout.scrollTop - before);
      this.#write();
      if (this.#anchor.length === 0) this.#expectAnchor();
      // What left or came above was as high as the model says, but for a row that changed in this frame.
      if (isMoved) this.#correct();
    }
    this.#wasPinned = isPinned;
  }

  /** Whether a scroll made rows wanted that are not there. */
  get isShort(): boolean {
    const { mounted } = this.layout;
    const wanted = this.layout.wanted(this.#overscan() / 2);
    return wanted.first < mounted.first || wanted.last > mounted.last;
  }

  /** Take the offset that the document has as the reader's. */
  readScroll(): void {
    this.layout.scrolled(this.scroller.scrollTop);
    this.#findAnchor();
  }

  /** What the reader looks at, found anew: for when following ends. */
  holdPlace(): void {
    this.#findAnchor();
  }

  /** Pay what is owed; when nothing scrolls. */
  settle(): void {
    const before = this.layout.scrollTop;
    if (!this.layout.settle()) return;
    this.#anchor = movedBy(this.#anchor, this.layout.scrollTop - before);
    this.#write();
  }

  /** Put a row at a distance from the top of the window, then a part of it. Nothing moves if it is seen. */
  reveal(index: number, partOf: (mounted: Mounted) => Element | null, y: number): void {
    const seen = this.#mounted.find((mounted) => mounted.index === index);
    if (seen !== undefined && this.#isSeen(partOf(seen) ?? seen.wrapper)) {
      this.#findAnchor();
      return;
    }
    this.#anchor = [];
    // First its beginning: whether `y` is in this row or far behind it, only its real height tells.
    this.layout.reveal(index, Math.max(y, 0), false);
    this.#mountMeasured();
    const mounted = this.#mounted.find((at) => at.index === index);
    if (mounted === undefined) return;
    // A place inside of a very long text: all of it has to stand there.
    if (y < 0) mounted.view.complete?.();
    const part = partOf(mounted) ?? mounted.wrapper;
    this.layout.measure(index, mounted.wrapper.getBoundingClientRect().height);
    const error = part.getBoundingClientRect().top - this.#top() - y;
    this.layout.hold(this.scroller.scrollTop + Math.round(error), this.#options.isWhole());
    const stood = this.#contentTop(part) - this.layout.scrollTop;
    this.#mountMeasured();
    // Rows that came with the second step stand above it, perhaps higher than they were thought to be.
    this.layout.moved(this.#contentTop(part) - this.layout.scrollTop - stood);
    this.#write();
    this.#anchor = [{ element: part, contentTop: this.#contentTop(part) }];
  }

  /** Mount what is in the window now, and take its heights at once: somebody waits for a place in it. */
  #mountMeasured(): void {
    this.#mount(this.#range());
    this.#write();
    for (const { index, wrapper } of this.#mounted) {
      this.layout.measure(index, wrapper.getBoundingClientRect().height);
    }
  }

  #contentTop(element: Element): number {
    return element.getBoundingClientRect().top - this.#top() + this.scroller.scrollTop;
  }

  /** Follow the end: the document as it is laid out now. */
  pin(): void {
    this.layout.toEnd();
    this.#writeHeights();
    const { scroller } = this;
    const end = this.scrollEnd;
    // Beyond the end a rubber band is at work; it comes back by itself.
    if (scroller.scrollTop < end - 0.5) scroller.scrollTop = end + 1;
    this.layout.standAt(Math.min(scroller.scrollTop, end));
  }

  destroy(): void {
    this.#sizes.disconnect();
    for (const mounted of [...this.#mounted]) this.#unmount(mounted);
  }

  #overscan(): number {
    return Math.max(OVERSCAN_MIN_PX, this.layout.viewport);
  }

  #range(): Range {
    const { layout } = this;
    const near = layout.wanted(this.#overscan());
    const far = layout.wanted(this.#overscan() * 2);
    const { first, last } = layout.mounted;
    if (last < first || last < far.first || first > far.last) return near;
    // What is there already stays a little longer than what is not would come.
    return {
      first: Math.min(near.first, Math.max(first, far.first)),
      last: Math.max(near.last, Math.min(last, far.last)),
    };
  }

  /** Returns whether rows came or went. */
  #mount(wanted: Range): boolean {
    const { layout } = this;
    const held = this.#options.held();
    const seen = layout.wanted(0);
    const isThere = (index: number) =>
      index >= layout.mounted.first && index <= layout.mounted.last;
    const began = performance.now();
    let { first, last } = seen;
    let isFinished = true;
    let isChanged = false;
    // From what is seen outwards, as far as the frame has time.
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
      if (this.#view(next)) isChanged = true;
    }
    const range = { first, last };
    for (const mounted of [...this.#mounted]) {
      const isIn = mounted.index >= first && mounted.index <= last;
      if (isIn || held.has(mounted.row.id)) continue;
      this.#unmount(mounted);
      isChanged = true;
    }
    for (let index = Math.max(0, seen.first); index <= seen.last; index += 1) {
      if (this.#view(index)) isChanged = true;
    }
    if (range.first !== layout.mounted.first || range.last !== layout.mounted.last) {
      layout.mount(range);
      isChanged = true;
    }
    if (!isFinished) this.#options.onUnfinished();
    return isChanged;
  }

  /** Makes the row's view if there is none, at its place in the document; returns whether it did. */
  #view(index: number): boolean {
    const at = this.#mounted.findIndex((mounted) => mounted.index >= index);
    if (at >= 0 && this.#mounted[at]?.index === index) return false;
    const row = this.#rows[index];
    if (row === undefined) return false;
    row.message = this.#options.newest(row);
    const view = this.#options.makeView(row.message);
    const wrapper = el("div", { class: "tr-row" }, view.element);
    // Before it is laid out for the first time: that would be most of the work.
    if (row.message.blocks.some(({ length }) => length > LONG_ROW_UNITS)) wrapper.dataset.long = "";
    const mounted: Mounted = { index, row, wrapper, view, shown: row.message, isMeasured: false };
    const next = at < 0 ? null : (this.#mounted[at]?.wrapper ?? null);
    this.#feed.insertBefore(wrapper, next);
    this.#mounted.splice(at < 0 ? this.#mounted.length : at, 0, mounted);
    // A feed without an article would be a mistake.
    if (this.#mounted.length === 1) this.#feed.setAttribute("role", "feed");
    this.#byWrapper.set(wrapper, mounted);
    this.#sizes.observe(wrapper);
    this.#options.onMounted(mounted);
    return true;
  }

  #unmount(mounted: Mounted): void {
    this.#sizes.unobserve(mounted.wrapper);
    this.#byWrapper.delete(mounted.wrapper);
    this.#mounted = this.#mounted.filter((other) => other !== mounted);
    if (this.#mounted.length === 0) this.#feed.removeAttribute("role");
    // The focus never falls out of the transcript: keys go on working.
    if (mounted.wrapper.contains(document.activeElement)) {
      this.scroller.focus({ preventScroll: true });
    }
    mounted.view.destroy();
    mounted.wrapper.remove();
  }

  /** Sizes changed, were laid out and are not painted yet. */
  #resized(entries: readonly ResizeObserverEntry[]): void {
    for (const entry of entries) {
      if (entry.target === this.scroller) this.#setViewport();
      const mounted = this.#byWrapper.get(entry.target);
      const height = entry.borderBoxSize[0]?.blockSize;
      if (mounted === undefined || height === undefined) continue;
      this.layout.measure(mounted.index, height);
      if (height > LONG_ROW_PX) mounted.wrapper.dataset.long = "";
      if (mounted.isMeasured) continue;
      mounted.isMeasured = true;
      this.estimator.learn(mounted.shown, height);
    }
    if (this.#options.isPinned()) this.pin();
    else this.#correct();
    this.#options.onSettled();
  }

  #setViewport(): void {
    const { clientHeight, clientWidth } = this.scroller;
    this.layout.setViewport(clientHeight);
    if (clientWidth === this.#width) return;
    this.#width = clientWidth;
    this.estimator.setWidth(Math.min(clientWidth, 736));
  }

  /** Put what the reader looks at back to where it was. */
  #correct(): void {
    const { layout, scroller } = this;
    const before = layout.scrollTop;
    layout.moved(movement(this.#anchor, this.#top(), scroller.scrollTop));
    this.#anchor = movedBy(this.#anchor, layout.scrollTop - before);
    this.#write();
    if (this.#anchor.length === 0) this.#findAnchor();
  }

  #write(): void {
    this.#writeHeights();
    const { layout, scroller } = this;
    if (Math.abs(scroller.scrollTop - layout.scrollTop) < 0.5) return;
    const wanted = layout.scrollTop;
    scroller.scrollTop = wanted;
    layout.landed(scroller.scrollTop);
    this.#anchor = movedBy(this.#anchor, layout.scrollTop - wanted);
    this.#writeHeights();
  }

  /** Returns whether anything changed. */
  #writeHeights(): boolean {
    const { layout } = this;
    const { trail } = layout.frame;
    let bottom = 0;
    let lead = 0;
    for (const { index, wrapper } of this.#mounted) {
      const top = layout.topOf(index);
      const gap = Math.max(0, top - bottom);
      if (bottom === 0 && wrapper === this.#mounted[0]?.wrapper) {
        lead = Math.max(0, top);
        setMargin(wrapper, 0);
      } else setMargin(wrapper, gap > 0.02 ? gap : 0);
      bottom = top + layout.heights.at(index);
    }
    if (this.#mounted.length === 0) lead = layout.frame.lead;
    const last = this.#mounted.at(-1)?.index ?? -1;
    // A row that is held below the window stands in what would be the trail.
    const held =
      last > layout.mounted.last
        ? layout.heights.offsetOf(last + 1) - layout.heights.offsetOf(layout.mounted.last + 1)
        : 0;
    const given = { lead, trail: Math.max(0, trail - held) };
    const isLead = given.lead !== this.#given.lead;
    const isTrail = given.trail !== this.#given.trail;
    if (isLead) this.#lead.style.height = `${given.lead}px`;
    if (isTrail) this.#trail.style.height = `${given.trail}px`;
    this.#given = given;
    return isLead || isTrail;
  }

  #top(): number {
    return this.scroller.getBoundingClientRect().top + this.scroller.clientTop;
  }

  #findAnchor(): void {
    const top = this.#top();
    this.#anchor = findAnchor(
      this.#mounted.map(({ wrapper }) => wrapper),
      top,
      top + this.scroller.clientHeight,
      this.scroller.scrollTop,
    );
  }

  /** The row that should be at the top by the model, before anybody measured. */
  #expectAnchor(): void {
    const { index } = this.layout.place();
    const mounted = this.#mounted.find((at) => at.index === index);
    if (mounted === undefined) return;
    this.#anchor = [{ element: mounted.wrapper, contentTop: this.layout.topOf(index) }];
  }

  /** The first row in the window that is among others, and where its top is. */
  #survivor(places: ReadonlyMap<string, number>): { index: number; y: number } | null {
    const top = this.#top();
    const below = this.#mounted.filter(
      ({ wrapper }) => wrapper.getBoundingClientRect().bottom > top,
    );
    for (const { row, wrapper } of below) {
      const index = places.get(row.id);
      if (index !== undefined) return { index, y: wrapper.getBoundingClientRect().top - top };
    }
    return null;
  }

  #isSeen(element: Element): boolean {
    const box = element.getBoundingClientRect();
    const top = this.#top();
    return box.top >= top && box.bottom <= top + this.scroller.clientHeight && box.height > 0;
  }
}

function setMargin(wrapper: HTMLElement, pixels: number): void {
  const margin = pixels === 0 ? "" : `${pixels}px`;
  if (wrapper.style.marginTop !== margin) wrapper.style.marginTop = margin;
}
