/** Where what is in the document stands to the window: reads of the layout, and nothing that changes it. */
import { type Anchor, findAnchor } from "./anchor.ts";
import type { Layout, Range } from "./layout.ts";
import type { MountedRows } from "./mounted.ts";

/** Pixels around the window whose rows are in the document; at least one window high. */
const OVERSCAN_MIN_PX = 600;

export class Sight {
  readonly #scroller: HTMLElement;
  readonly #shown: MountedRows;

  constructor(scroller: HTMLElement, shown: MountedRows) {
    this.#scroller = scroller;
    this.#shown = shown;
  }

  /** Upper edge of the window, in client pixels. */
  get top(): number {
    return this.#scroller.getBoundingClientRect().top + this.#scroller.clientTop;
  }

  /** Top of an element in the scrolled content. */
  contentTop(element: Element): number {
    return element.getBoundingClientRect().top - this.top + this.#scroller.scrollTop;
  }

  /** Whether all of an element is in the window. */
  holds(element: Element): boolean {
    const box = element.getBoundingClientRect();
    const { top } = this;
    return box.top >= top && box.bottom <= top + this.#scroller.clientHeight && box.height > 0;
  }

  /** What the reader looks at. */
  anchor(): Anchor {
    const { top } = this;
    return findAnchor(
      this.#shown.all.map(({ wrapper }) => wrapper),
      top,
      top + this.#scroller.clientHeight,
      this.#scroller.scrollTop,
    );
  }

  /** The row that should be at the top by the model, before anybody measured. */
  expected(layout: Layout): Anchor {
    const { index } = layout.place();
    const mounted = this.#shown.at(index);
    if (mounted === undefined) return [];
    return [{ element: mounted.wrapper, contentTop: layout.topOf(index) }];
  }

  /** The first row in the window that is among others, and where its top is. */
  survivor(places: ReadonlyMap<string, number>): { index: number; y: number } | null {
    const { top } = this;
    for (const { row, wrapper } of this.#shown.all) {
      const box = wrapper.getBoundingClientRect();
      const index = places.get(row.id);
      if (box.bottom > top && index !== undefined) return { index, y: box.top - top };
    }
    return null;
  }
}

/** Rows to have in the document: what is there already stays a little longer than what is not would come. */
export function rangeAround(layout: Layout): Range {
  const pixels = overscan(layout);
  const near = layout.wanted(pixels);
  const far = layout.wanted(pixels * 2);
  const { first, last } = layout.mounted;
  if (last < first || last < far.first || first > far.last) return near;
  return {
    first: Math.min(near.first, Math.max(first, far.first)),
    last: Math.max(near.last, Math.min(last, far.last)),
  };
}

/** Whether rows are wanted that are not there. */
export function isShort(layout: Layout): boolean {
  const wanted = layout.wanted(overscan(layout) / 2);
  return wanted.first < layout.mounted.first || wanted.last > layout.mounted.last;
}

function overscan(layout: Layout): number {
  return Math.max(OVERSCAN_MIN_PX, layout.viewport);
}
