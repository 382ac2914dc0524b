import { Heights } from "./heights.ts";

/** A range of rows, `last` included; empty where `last < first`. */
export interface Range {
  readonly first: number;
  readonly last: number;
}

/** What the scroll container is given: pixels before the mounted rows, behind them, and where it stands. */
export interface Frame {
  readonly lead: number;
  readonly trail: number;
  readonly scrollTop: number;
}

/** Row and pixels below the top of the window: what does not move while somebody reads. */
export interface Place {
  readonly index: number;
  readonly y: number;
}

/** Pixels below which two offsets are the same place: browsers round to 1/64. */
export const SAME_PX = 0.05;

/** Pixels from the end within which somebody is at the end: scroll offsets are rounded on some screens. */
export const END_PX = 2;

/**
 * Where the rows of a virtual list are, and what keeps a reader's place.
 *
 * Pure arithmetic, no DOM. There are two heights of everything that is above the mounted rows: what the
 * model thinks (`heights`), and what the scroll container was given (`lead`). They differ by a *debt*.
 * When something above the reader's place becomes higher, the lead becomes lower by as much, and the
 * scroll offset stays what it is: writing it would stop the momentum of a finger and fight with a
 * scroll bar that is held. When the reader rests, `settle` pays the debt. Only where the lead cannot
 * give enough is the offset written at once.
 *
 * Spec: docs/spec/page/transcript.md.
 */
export class Layout {
  readonly heights = new Heights();
  #mounted: Range = { first: 0, last: -1 };
  #lead = 0;
  #slack = 0;
  #scrollTop = 0;
  #viewport = 0;
  /** Pixels above the first row and below the last one that belong to the list: notices, padding. */
  #head = 0;
  #foot = 0;

  get mounted(): Range {
    return this.#mounted;
  }

  get viewport(): number {
    return this.#viewport;
  }

  get scrollTop(): number {
    return this.#scrollTop;
  }

  /** What the container is given now. */
  get frame(): Frame {
    return { lead: this.#lead, trail: this.#trail(), scrollTop: this.#scrollTop };
  }

  /** Pixels by which the lead is higher than what the model says is above. */
  get debt(): number {
    return this.#lead - this.#idealLead();
  }

  /** Height of all that can be scrolled. */
  get scrollHeight(): number {
    return Math.max(this.#contentEnd() + this.#slack, this.#viewport);
  }

  /** The greatest scroll offset at which there is no empty space below the list. */
  get end(): number {
    return Math.max(0, this.#contentEnd() - this.#viewport);
  }

  /** Whether the last row's end is in the window. */
  get isAtEnd(): boolean {
    return this.#scrollTop >= this.end - END_PX;
  }

  setViewport(height: number): void {
    this.#viewport = height;
  }

  /** Set what stands above the first and below the last row; the reader's place stays. */
  setEdges(head: number, foot: number): void {
    // The lead stays what it is: the difference is a debt.
    this.#head = head;
    this.#foot = foot;
    this.#slack = Math.max(0, this.#scrollTop - this.end);
  }

  /**
   * The reader scrolled. Empty space below goes as far as it is not seen; what rubber bands show beyond
   * the ends is no place.
   */
  scrolled(scrollTop: number): void {
    this.#scrollTop = Math.max(0, Math.min(scrollTop, this.end + this.#slack));
    this.#slack = Math.min(this.#slack, Math.max(0, this.#scrollTop - this.end));
  }

  /** Offset of a row's top in the scrolled content. */
  topOf(index: number): number {
    return this.#lead + this.heights.offsetOf(index) - this.heights.offsetOf(this.#mounted.first);
  }

  /** The row at an offset of the scrolled content; -1 if there is none. */
  rowAt(contentTop: number): number {
    return this.heights.indexAt(
      contentTop - this.#lead + this.heights.offsetOf(this.#mounted.first),
    );
  }

  /** What is at the top of the window. */
  place(): Place {
    const index = this.rowAt(this.#scrollTop);
    return { index, y: index < 0 ? 0 : this.topOf(index) - this.#scrollTop };
  }

  /** Rows to mount: those in the window and `overscan` pixels around it. */
  wanted(overscan: number): Range {
    if (this.heights.count === 0) return { first: 0, last: -1 };
    return {
      first: this.rowAt(this.#scrollTop - overscan),
      last: this.rowAt(this.#scrollTop + this.#viewport + overscan),
    };
  }

  /** Mount other rows. By the model nothing moves: what is mounted stands where the lead had it. */
  mount(range: Range): void {
    const top = this.topOf(range.first);
    this.#mounted = range;
    this.#lead = top;
    if (top < 0) {
      this.#lead = 0;
      this.#shift(-top);
    }
  }

  /**
   * A row has another height. What is below it in the content moves, by the model as in the document; say
   * then with `moved` by how much the reader's place did.
   */
  measure(index: number, height: number): void {
    this.heights.set(index, height);
  }

  /** What is at the reader's place moved down by this many pixels in the content: move it back. */
  moved(pixels: number): void {
    if (Math.abs(pixels) >= SAME_PX) this.#shift(pixels);
    this.#slack = Math.max(0, this.#scrollTop - this.end);
  }

  /** The offset that the browser made of the one that was written: what it rounded, the lead takes. */
  landed(scrollTop: number): void {
    const error = scrollTop - this.#scrollTop;
    if (Math.abs(error) >= 1 || error === 0) return;
    this.#scrollTop = scrollTop;
    this.#lead = Math.max(0, this.#lead + error);
  }

  /**
   * Other rows, in which the mounted ones stand side by side as before, from another index on. The picture
   * stays; what is above it became another height, which is a debt.
   */
  rearrange(heights: readonly number[], first: number): void {
    const count = this.#mounted.last - this.#mounted.first;
    this.heights.splice(0, this.heights.count, heights);
    this.#mounted = { first, last: first + count };
    this.#slack = Math.max(0, this.#scrollTop - this.end);
  }

  /** Everything goes and other rows come; nothing is mounted. */
  replace(heights: readonly number[]): void {
    this.heights.splice(0, this.heights.count, heights);
    this.#mounted = { first: 0, last: -1 };
    this.#lead = this.#head;
    this.#scrollTop = 0;
    this.#slack = 0;
  }

  /**
   * Put a row at a distance from the top of the window. Where the list is the whole (`isWhole`), only as near to it
   * as the end allows; else there is more to come below, and empty space until then.
   */
  reveal(index: number, y: number, isWhole: boolean): void {
    this.#lead = this.#idealLead();
    this.#slack = 0;
    this.hold(Math.round(this.topOf(index) - y), isWhole);
  }

  /** Stand at the end. */
  toEnd(): void {
    this.#lead = this.#idealLead();
    this.#slack = 0;
    this.#scrollTop = this.end;
  }

  /** Stand where the document says that the end is. */
  standAt(scrollTop: number): void {
    this.#scrollTop = scrollTop;
    this.#slack = 0;
  }

  /** Stand at an offset, with empty space below if the content ends before; not so if it is `isWhole`. */
  hold(scrollTop: number, isWhole = false): void {
    const top = isWhole ? Math.min(scrollTop, Math.floor(this.end)) : scrollTop;
    this.#scrollTop = Math.max(0, top);
    this.#slack = Math.max(0, this.#scrollTop - this.end);
  }

  /** Whether a debt cannot wait until the reader rests: the beginning comes into sight with it. */
  get mustSettle(): boolean {
    return (
      Math.abs(this.debt) >= 1 &&
      this.#mounted.first === 0 &&
      this.#scrollTop < this.#lead + this.#viewport
    );
  }

  /**
   * Pay the debt: lead and offset change by as much, so that the picture stays. Whole pixels only, which no
   * browser rounds.
   *
   * @returns whether anything has to be written.
   */
  settle(): boolean {
    const paid = Math.min(Math.round(this.debt), Math.floor(this.#scrollTop));
    if (paid === 0) return false;
    this.#lead -= paid;
    this.#scrollTop -= paid;
    return true;
  }

  #idealLead(): number {
    return this.#head + this.heights.offsetOf(this.#mounted.first);
  }

  #contentEnd(): number {
    return this.topOf(this.heights.count) + this.#foot;
  }

  #trail(): number {
    const { first, last } = this.#mounted;
    const behind = this.heights.total - this.heights.offsetOf(Math.max(last + 1, first));
    return behind + this.#foot + this.#slack;
  }

  /** Content above the place grew: take it from the lead, and from the offset what the lead has not. */
  #shift(pixels: number): void {
    const lead = this.#lead - pixels;
    if (lead >= 0) {
      this.#lead = lead;
      return;
    }
    const missing = Math.ceil(-lead);
    this.#lead = lead + missing;
    this.#scrollTop += missing;
  }
}
