/**
 * The rows that are in the document, and where they stand: the one place of the transcript that measures and
 * that writes heights and offsets.
 *
 * Reading and writing never alternate: an update writes what is shown (once a frame), the browser lays out, and
 * the observer of sizes, before anything is painted, reads what became of it and puts the reader back.
 */
import { type Anchor, movedBy, movement, withLine } from "./anchor.ts";
import { Estimator } from "./estimate.ts";
import { Layout, type Range } from "./layout.ts";
import { type Mounted, MountedRows, type MountOptions, type Row } from "./mounted.ts";
import { isShort, rangeAround, Sight } from "./sight.ts";
import { Spacing } from "./spacing.ts";

export interface StageOptions extends MountOptions {
  /** Whether the end is followed now. */
  isPinned(): boolean;
  /** Whether the last row is the last one there is. */
  isWhole(): boolean;
  /** Sizes changed and everything is where it belongs. */
  onSettled(): void;
  /** Not everything that is wanted is in the document yet. */
  onUnfinished(): void;
}

/** A row that is higher has its blocks laid out only when they come near. */
const LONG_ROW_PX = 6_000;

/** Pixels above the first and below the last row; with a notice, what it needs. */
const EDGE_PX = 24;
const NOTICE_PX = 64;

export class Stage {
  readonly scroller: HTMLElement;
  readonly layout = new Layout();
  readonly estimator = new Estimator();
  readonly #options: StageOptions;
  readonly #spacing: Spacing;
  readonly #sizes: ResizeObserver;
  readonly #shown: MountedRows;
  readonly #sight: Sight;
  #rows: Row[] = [];
  #anchor: Anchor = [];
  #width = 0;
  #wasPinned = false;

  constructor(options: StageOptions, scroller: HTMLElement, head: Node, foot: Node) {
    this.#options = options;
    this.scroller = scroller;
    this.#spacing = new Spacing(head, foot);
    this.#sizes = new ResizeObserver((entries) => this.#resized(entries));
    this.#shown = new MountedRows(options, scroller, this.#sizes);
    this.#sight = new Sight(scroller, this.#shown);
    scroller.append(this.#spacing.lead, this.#shown.element, this.#spacing.trail);
    this.#sizes.observe(scroller);
    this.layout.setEdges(EDGE_PX, EDGE_PX);
  }

  get rows(): readonly Row[] {
    return this.#rows;
  }

  get mounted(): readonly Mounted[] {
    return this.#shown.all;
  }

  /** Greatest offset of the scroll container, as the document has it. */
  get scrollEnd(): number {
    return this.scroller.scrollHeight - this.scroller.clientHeight;
  }

  indexOf(id: string): number {
    return this.#shown.of(id)?.index ?? this.#rows.findIndex((row) => row.id === id);
  }

  mountedOf(id: string): Mounted | null {
    return this.#shown.of(id) ?? null;
  }

  /** The row that an element stands in. */
  rowOf(node: Node | null): Mounted | null {
    return this.#shown.around(node);
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
      this.#shown.rearrange(places);
      return;
    }
    const kept = this.#sight.survivor(places);
    this.#shown.clear();
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
    this.#shown.refresh();
  }

  /** Put into the document what is in the window and around it, and take out what is far away. */
  update(): void {
    const { layout } = this;
    if (layout.viewport === 0) this.#setViewport();
    const isPinned = this.#options.isPinned();
    const before = layout.scrollTop;
    if (isPinned) layout.toEnd();
    else if (layout.mustSettle) layout.settle();
    const isMoved = this.#mount(rangeAround(this.layout));
    if (isPinned) {
      // A text that only grew is followed once it is laid out: see #resized.
      if (this.#writeHeights() || isMoved || !this.#wasPinned) this.pin();
    } else {
      // Where the lead had not enough, lead and offset moved together: the anchor went with them.
      this.#anchor = movedBy(this.#anchor, layout.scrollTop - before);
      this.#write();
      if (this.#anchor.length === 0) this.#anchor = this.#sight.expected(this.layout);
      // What left or came above was as high as the model says, but for a row that changed in this frame.
      if (isMoved) this.#correct();
    }
    this.#wasPinned = isPinned;
  }

  /** Whether a scroll made rows wanted that are not there. */
  get isShort(): boolean {
    return isShort(this.layout);
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

  /** Pay what is owed, and look closer at what is read; when nothing scrolls. */
  settle(): void {
    const before = this.layout.scrollTop;
    if (this.layout.settle()) {
      this.#anchor = movedBy(this.#anchor, this.layout.scrollTop - before);
      this.#write();
    }
    this.#anchor = withLine(this.#anchor, this.#sight.top, this.scroller.scrollTop);
  }

  /** Put a row at a distance from the top of the window, then a part of it. Nothing moves if it is seen. */
  reveal(index: number, partOf: (mounted: Mounted) => Element | null, y: number): void {
    const seen = this.#shown.at(index);
    if (seen !== undefined && this.#sight.holds(partOf(seen) ?? seen.wrapper)) {
      this.#findAnchor();
      return;
    }
    this.#anchor = [];
    // First its beginning: whether `y` is in this row or far behind it, only its real height tells.
    this.layout.reveal(index, Math.max(y, 0), false);
    this.#mountMeasured();
    const mounted = this.#shown.at(index);
    if (mounted === undefined) return;
    // A place inside of a very long text: all of it has to stand there.
    if (y < 0) mounted.view.complete?.();
    const part = partOf(mounted) ?? mounted.wrapper;
    this.layout.measure(index, mounted.wrapper.getBoundingClientRect().height);
    const error = part.getBoundingClientRect().top - this.#sight.top - y;
    this.layout.hold(this.scroller.scrollTop + Math.round(error), this.#options.isWhole());
    const stood = this.#sight.contentTop(part) - this.layout.scrollTop;
    this.#mountMeasured();
    // Rows that came with the second step stand above it, perhaps higher than they were thought to be.
    this.layout.moved(this.#sight.contentTop(part) - this.layout.scrollTop - stood);
    this.#write();
    this.#anchor = [{ element: part, contentTop: this.#sight.contentTop(part) }];
  }

  /** Mount what is in the window now, and take its heights at once: somebody waits for a place in it. */
  #mountMeasured(): void {
    this.#mount(rangeAround(this.layout));
    this.#write();
    for (const { index, wrapper } of this.#shown.all) {
      this.layout.measure(index, wrapper.getBoundingClientRect().height);
    }
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
    this.#shown.clear();
  }

  /** Returns whether rows came or went. */
  #mount(wanted: Range): boolean {
    const { layout } = this;
    const { range, isChanged, isFinished } = this.#shown.show(
      this.#rows,
      wanted,
      layout.wanted(0),
      layout.mounted,
    );
    const isMoved = range.first !== layout.mounted.first || range.last !== layout.mounted.last;
    if (isMoved) layout.mount(range);
    if (!isFinished) this.#options.onUnfinished();
    return isChanged || isMoved;
  }

  /** Sizes changed, were laid out and are not painted yet. */
  #resized(entries: readonly ResizeObserverEntry[]): void {
    for (const entry of entries) {
      if (entry.target === this.scroller) this.#setViewport();
      const mounted = this.#shown.ofWrapper(entry.target);
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
    layout.moved(movement(this.#anchor, this.#sight.top, scroller.scrollTop));
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
    return this.#spacing.write(this.layout, this.#shown.all);
  }

  #findAnchor(): void {
    this.#anchor = this.#sight.anchor();
  }
}
